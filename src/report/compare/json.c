/* SPDX-License-Identifier: Apache-2.0 */
#include "report/compare/parts.h"
#include "report/projection_check.h"

#include <math.h>

static void write_side(struct kwhy_json *json, const char *key, const struct kwhy_side *side,
	const struct kwhy_side_runs *runs)
{
	kwhy_json_row(json, key);
	kwhy_json_string(json, "path", side->label);
	kwhy_json_count(json, "runs", runs->count);
	kwhy_json_string(json, "device_name", *side->device ? side->device : NULL);
	kwhy_json_bool(json, "modelled", side->modelled);
	kwhy_json_bool(json, "truncated", side->truncated);
	kwhy_json_known(json, "energy_nj", side->energy_nj);
	kwhy_json_known(json, "run_nj", side->run_nj);
	kwhy_json_known(json, "idle_nj", side->idle_nj);
	kwhy_json_int(json, "span_ns", side->span_ns);
	kwhy_json_int(json, "idle_ns", side->idle_ns);
	kwhy_json_object_end(json);
}

/* Writes change, relative change and, for sides of several runs, the interval of the change. */
static void write_change(struct kwhy_json *json, const struct kwhy_comparison *comparison,
	const struct kwhy_difference *difference)
{
	const bool is_known = kwhy_comparison_is_repeated(comparison) && kwhy_difference_is_known(difference);

	kwhy_json_real(json, "change", difference->change);
	kwhy_json_real(json, "change_ratio", difference->ratio);
	kwhy_json_real(json, "low", is_known ? difference->low : NAN);
	kwhy_json_real(json, "high", is_known ? difference->high : NAN);
	if (is_known)
		kwhy_json_bool(json, "significant", kwhy_difference_is_significant(difference));
	else
		kwhy_json_null(json, "significant");
}

static void write_figures(struct kwhy_json *json, const struct kwhy_comparison *comparison)
{
	kwhy_json_array(json, "figures");
	for (int i = 0; i < KWHY_FIGURE_COUNT; i++) {
		const struct kwhy_change change = kwhy_change_of_figure(comparison, (enum kwhy_figure)i);

		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "name", kwhy_figure_name((enum kwhy_figure)i));
		kwhy_json_string(json, "unit", kwhy_figure_unit((enum kwhy_figure)i));
		kwhy_json_real(json, "a", change.a.mean);
		kwhy_json_real(json, "b", change.b.mean);
		write_change(json, comparison, &change.difference);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

/*
 * Writes the unit for which accounts are compared (step, unit of work or whole run), and what throughput
 * counts.
 */
static void write_unit(struct kwhy_json *json, const struct kwhy_comparison *comparison)
{
	static const char *const units[] = {
		[KWHY_FOR_STEP] = "step", [KWHY_FOR_WORK] = "work", [KWHY_FOR_RUN] = "run"};
	static const char *const rates[] = {[KWHY_RATE_UNKNOWN] = NULL,
		[KWHY_RATE_WORK] = "work",
		[KWHY_RATE_STEPS] = "steps",
		[KWHY_RATE_LAUNCHES] = "launches"};

	kwhy_json_row(json, "unit");
	kwhy_json_string(json, "kind", units[comparison->unit]);
	kwhy_json_string(json, "name", comparison->unit_name);
	kwhy_json_real(json, "a", comparison->unit_counts[0]);
	kwhy_json_real(json, "b", comparison->unit_counts[1]);
	kwhy_json_object_end(json);
	kwhy_json_row(json, "throughput_of");
	kwhy_json_string(json, "kind", rates[comparison->rate.kind]);
	kwhy_json_string(json, "name", comparison->rate.name);
	kwhy_json_object_end(json);
}

/*
 * Writes the array "work": joules per unit of work on both sides, for each unit in which both sides state
 * work.
 */
static void write_work(struct kwhy_json *json, const struct kwhy_comparison *comparison)
{
	kwhy_json_array(json, "work");
	for (size_t i = 0; i < comparison->a->work_count; i++) {
		const char *unit = comparison->a->work[i].unit;
		const struct kwhy_change change = kwhy_change_of_each(comparison, unit);

		if (!kwhy_side_work_of(comparison->b, unit))
			continue;
		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "unit", unit);
		kwhy_json_real(json, "a_each_j", change.a.mean);
		kwhy_json_real(json, "b_each_j", change.b.mean);
		kwhy_json_real(json, "change_ratio", change.difference.ratio);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

static void write_account(struct kwhy_json *json, const char *key, const struct kwhy_side_account *account)
{
	if (!account) {
		kwhy_json_null(json, key);
		return;
	}
	kwhy_json_row(json, key);
	kwhy_json_count(json, "count", account->count);
	kwhy_json_int(json, "time_ns", account->time_ns);
	kwhy_json_known(json, "gross_nj", account->gross_nj);
	kwhy_json_known(json, "low_nj", account->low_nj);
	kwhy_json_known(json, "high_nj", account->high_nj);
	kwhy_json_object_end(json);
}

/* Writes time or energy of an account for each step or unit of work that is compared. */
static void write_for_unit(struct kwhy_json *json, const char *key, const struct kwhy_comparison *comparison,
	const struct kwhy_change *change)
{
	kwhy_json_row(json, key);
	kwhy_json_real(json, "a", change->a.mean);
	kwhy_json_real(json, "b", change->b.mean);
	write_change(json, comparison, &change->difference);
	kwhy_json_object_end(json);
}

static void write_pair(struct kwhy_json *json, const struct kwhy_comparison *comparison,
	const struct kwhy_account_pair *pair)
{
	const bool is_repeated = kwhy_comparison_is_repeated(comparison);

	kwhy_json_object(json, NULL);
	kwhy_json_string(json, "category", pair->category);
	kwhy_json_string(json, "name", pair->name);
	write_account(json, "a", pair->a);
	write_account(json, "b", pair->b);
	/*
	 * If a side has several runs, the members change_nj to `significant`, which compare sums over the
	 * runs, are null. The members after them are means over the runs and are written in every case.
	 */
	kwhy_json_known(json, "change_nj", is_repeated ? KWHY_UNKNOWN_NJ : pair->change_nj);
	kwhy_json_known(json, "half_width_nj", is_repeated ? KWHY_UNKNOWN_NJ : pair->half_width_nj);
	if (is_repeated)
		kwhy_json_null(json, "change_ns");
	else
		kwhy_json_int(json, "change_ns", pair->change_ns);
	if (is_repeated || pair->half_width_nj == KWHY_UNKNOWN_NJ)
		kwhy_json_null(json, "significant");
	else
		kwhy_json_bool(json, "significant", pair->significant);
	write_for_unit(json, "unit_time_s", comparison, &pair->time);
	write_for_unit(json, "unit_energy_j", comparison, &pair->energy);
	kwhy_json_object_end(json);
}

static void write_findings(
	struct kwhy_json *json, const char *key, const struct kwhy_side *of, const struct kwhy_side *other)
{
	kwhy_json_array(json, key);
	for (size_t i = 0; i < of->finding_count; i++) {
		const struct kwhy_side_finding *finding = &of->findings[i];

		if (kwhy_side_has_finding(other, finding->id))
			continue;
		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "id", finding->id);
		kwhy_json_string(json, "title", finding->title);
		kwhy_json_int(json, "time_ns", finding->time_ns);
		kwhy_json_known(json, "energy_nj", finding->energy_nj);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

enum kwhy_status kwhy_compare_json(const struct kwhy_comparison *comparison,
	const struct kwhy_conditions *conditions, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_json json;

	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	kwhy_json_string(&json, "schema", "kwhy.compare/1");
	write_side(&json, "a", comparison->a, &comparison->runs[0]);
	write_side(&json, "b", comparison->b, &comparison->runs[1]);
	write_unit(&json, comparison);
	write_figures(&json, comparison);
	write_work(&json, comparison);
	kwhy_projection_check_json(comparison, &json);
	kwhy_json_array(&json, "accounts");
	for (size_t i = 0; i < comparison->pair_count; i++)
		write_pair(&json, comparison, &comparison->pairs[i]);
	kwhy_json_array_end(&json);
	write_findings(&json, "findings_gone", comparison->a, comparison->b);
	write_findings(&json, "findings_new", comparison->b, comparison->a);
	kwhy_compare_conditions_json(&json, conditions);
	kwhy_json_object_end(&json);
	return kwhy_text_check(out, error);
}
