/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "nouns.h"
#include "report/plan.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static struct kwhy_error error;

#define MS INT64_C(1000000)
#define J INT64_C(1000000000)

static struct kwhy_projection projection(int64_t time_ns, int64_t energy_nj)
{
	return (struct kwhy_projection){time_ns, time_ns, time_ns, energy_nj, energy_nj, energy_nj,
		KWHY_UNKNOWN_NJ, KWHY_UNKNOWN_NJ, KWHY_UNKNOWN_NJ};
}

/*
 * A plan that two changes take from 100 ms and 36 J to 80 ms and 30 J and then to 60 ms and 27 J. The saving
 * of the second one is an upper bound.
 */
struct planned {
	struct nouns nouns;
	struct kwhy_projected_change changes[2];
	struct kwhy_plan plan;
};

static void planned_init(struct planned *planned)
{
	*planned = (struct planned){
		.changes =
			{
				{.id = "pinned",
					.title = "page-locked host memory",
					.assumption = "copies are shorter",
					.places = 3,
					.after = projection(80 * MS, 30 * J),
					.saved_ns = 20 * MS,
					.saved_nj = 6 * J},
				{.id = "prefetch",
					.title = "prepare input ahead of time",
					.assumption = "pauses are shorter",
					.bound = KWHY_BOUND_UPPER,
					.places = 1,
					.after = projection(60 * MS, 27 * J),
					.saved_ns = 20 * MS,
					.saved_nj = 3 * J},
			},
		.plan = {.before = projection(100 * MS, 36 * J),
			.busy_before_ratio = 0.25,
			.busy_after_ratio = 0.4,
			.change_count = 2},
	};
	planned->plan.changes = planned->changes;
	nouns_init(&planned->nouns, "k");
	nouns_energy(&planned->nouns);
}

static struct kwhy_text text_of(const struct planned *planned)
{
	struct kwhy_text_style style = {.columns = 80};
	struct kwhy_text out = {0};

	assert_int_equal(
		kwhy_plan_text(&planned->plan, &planned->nouns.report, &style, &out, &error), KWHY_OK);
	return out;
}

static json_t *json_of(const struct planned *planned)
{
	struct kwhy_text out = {0};
	json_t *root;

	assert_int_equal(kwhy_plan_json(&planned->plan, &planned->nouns.report, &out, &error), KWHY_OK);
	root = json_loadb(out.data, out.length, 0, NULL);
	assert_non_null(root);
	kwhy_text_done(&out);
	return root;
}

static void a_sum_of_which_a_part_is_a_bound_is_a_bound(void **state)
{
	struct planned planned;
	struct kwhy_text text;
	json_t *root;

	(void)state;
	planned_init(&planned);
	text = text_of(&planned);
	root = json_of(&planned);
	assert_non_null(strstr(text.data, "all of them: ≤ 40.0 % of the time, ≤ 25.0 % of the energy"));
	assert_string_equal(json_string_value(json_object_get(root, "bound")), "upper");
	assert_non_null(strstr(text.data, "busy: 25.0 % of the time as recorded, 40.0 % with all of them"));
	assert_float_equal(
		json_real_value(json_object_get(json_object_get(root, "after"), "busy_ratio")), 0.4, 1e-9);
	kwhy_text_done(&text);
	json_decref(root);
	planned.plan.change_count = 1;
	text = text_of(&planned);
	root = json_of(&planned);
	assert_non_null(strstr(text.data, "all of them: 20.0 % of the time, 16.7 % of the energy"));
	assert_string_equal(json_string_value(json_object_get(root, "bound")), "expected");
	kwhy_text_done(&text);
	json_decref(root);
	nouns_done(&planned.nouns);
}

static void a_plan_says_where_rows_are_lost(void **state)
{
	struct planned planned;
	struct kwhy_text text;
	json_t *root;

	(void)state;
	planned_init(&planned);
	root = json_of(&planned);
	assert_true(json_is_null(json_object_get(root, "lost")));
	json_decref(root);
	planned.nouns.recording->lost.has_holes = true;
	text = text_of(&planned);
	root = json_of(&planned);
	assert_non_null(strstr(text.data, "rows are lost, and what ran in them counts as idle here"));
	assert_non_null(strstr(json_string_value(json_object_get(root, "lost")), "rows are lost"));
	kwhy_text_done(&text);
	json_decref(root);
	nouns_done(&planned.nouns);
}

/*
 * At 120 EUR/kWh the 36 J cost 0.0012 EUR. Each change must be followed by the cost and carbon that remain
 * after it.
 */
static void what_is_left_of_cost_and_carbon_stands_behind_each_change(void **state)
{
	struct planned planned;
	struct kwhy_text text;
	json_t *root, *changes;

	(void)state;
	planned_init(&planned);
	planned.nouns.report.price_per_kwh = planned.nouns.report.intensity_g_per_kwh = NAN;
	text = text_of(&planned);
	assert_null(strstr(text.data, "CO2e"));
	kwhy_text_done(&text);
	planned.nouns.report.price_per_kwh = 120;
	planned.nouns.report.currency = "EUR";
	planned.nouns.report.intensity_g_per_kwh = 2e6;
	text = text_of(&planned);
	root = json_of(&planned);
	changes = json_object_get(root, "changes");
	assert_non_null(strstr(text.data,
		"     change                       cost, EUR  CO2e, g  saved so far\n"
		"     as recorded                    0.00120     20.0\n"
		"  1  page-locked host memory        0.00100     16.7        16.7 %\n"
		"  2  prepare input ahead of time   0.000900     15.0      ≤ 25.0 %\n"));
	assert_float_equal(json_real_value(json_object_get(
				   json_object_get(json_array_get(changes, 0), "after"), "cost")),
		30.0 / 3.6e6 * 120, 1e-9);
	kwhy_text_done(&text);
	json_decref(root);
	nouns_done(&planned.nouns);
}

static void a_report_has_the_plan_in_short(void **state)
{
	struct kwhy_text_style style = {.columns = 80};
	struct kwhy_text out = {0};
	struct planned planned;

	(void)state;
	planned_init(&planned);
	planned.nouns.report.plan = &planned.plan;
	assert_int_equal(kwhy_report_text(&planned.nouns.report, &style, &out, &error), KWHY_OK);
	assert_non_null(strstr(out.data,
		"     change                       effort  risk  saved time  saved energy\n"
		"  1  page-locked host memory      lines   none      20.0 %        16.7 %\n"
		"  2  prepare input ahead of time  lines   none    ≤ 40.0 %      ≤ 25.0 %\n"));
	kwhy_text_clear(&out);
	assert_null(strstr(out.data, "counts as idle here: no more than this is saved"));
	planned.nouns.recording->lost.has_holes = true;
	kwhy_text_clear(&out);
	assert_int_equal(kwhy_report_text(&planned.nouns.report, &style, &out, &error), KWHY_OK);
	assert_non_null(
		strstr(out.data, "  rows are lost, and what ran in them counts as idle here: no more"));
	kwhy_text_clear(&out);
	planned.plan.change_count = 0;
	assert_int_equal(kwhy_report_text(&planned.nouns.report, &style, &out, &error), KWHY_OK);
	assert_non_null(strstr(out.data, "no change saves enough"));
	kwhy_text_clear(&out);
	planned.nouns.report.plan = NULL;
	assert_int_equal(kwhy_report_text(&planned.nouns.report, &style, &out, &error), KWHY_OK);
	assert_null(strstr(out.data, "\nPlan"));
	kwhy_text_clear(&out);
	planned.nouns.report.no_plan = "known in windows alone";
	assert_int_equal(kwhy_report_text(&planned.nouns.report, &style, &out, &error), KWHY_OK);
	assert_non_null(strstr(out.data, "none: known in windows alone"));
	kwhy_text_done(&out);
	nouns_done(&planned.nouns);
}

static void what_was_tried_and_left_out_says_what_it_would_bring(void **state)
{
	struct kwhy_refused_change refused[] = {
		{.id = "pool", .reason = "no memory is freed", .saved_ns = KWHY_UNKNOWN_NS},
		{.id = "pack-h2d", .reason = "packed", .saved_ns = -3 * MS, .saved_nj = -J},
		{.id = "drop-waits", .reason = "dropped", .saved_ns = 0, .saved_nj = 0},
		{.id = "pinned", .reason = "pinned", .saved_ns = MS / 2, .saved_nj = J / 10},
	};
	struct planned planned;
	struct kwhy_text text;

	(void)state;
	planned_init(&planned);
	planned.plan.refused = refused;
	planned.plan.refused_count = 4;
	text = text_of(&planned);
	assert_non_null(strstr(text.data,
		"Left out\n"
		"  - pool: no memory is freed\n"
		"  - pack-h2d: in addition to the others the run would take 3.0 % longer\n"
		"  - drop-waits: saves nothing beyond the others\n"
		"  - pinned: saves 0.5 % of the time, 0.3 % of the energy beyond the others, too\n"
		"    little (--min-gain)\n"));
	kwhy_text_done(&text);
	nouns_done(&planned.nouns);
}

static void a_plan_without_energy_says_why(void **state)
{
	struct planned planned;
	struct kwhy_text text;
	json_t *root;

	(void)state;
	planned_init(&planned);
	root = json_of(&planned);
	assert_true(json_is_null(json_object_get(root, "no_energy")));
	json_decref(root);
	planned.plan.before.energy_nj = KWHY_UNKNOWN_NJ;
	text = text_of(&planned);
	assert_non_null(strstr(text.data, "energy of the run: powers of part of"));
	kwhy_text_done(&text);
	planned.nouns.device.energy.known = false;
	root = json_of(&planned);
	assert_string_equal(json_string_value(json_object_get(root, "no_energy")),
		"no power readings; give --power FILE or --assume-power");
	json_decref(root);
	nouns_done(&planned.nouns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sum_of_which_a_part_is_a_bound_is_a_bound),
		cmocka_unit_test(a_plan_says_where_rows_are_lost),
		cmocka_unit_test(what_is_left_of_cost_and_carbon_stands_behind_each_change),
		cmocka_unit_test(what_was_tried_and_left_out_says_what_it_would_bring),
		cmocka_unit_test(a_report_has_the_plan_in_short),
		cmocka_unit_test(a_plan_without_energy_says_why),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
