/* SPDX-License-Identifier: Apache-2.0 */
/* Tests `kwhy whatif` on a real recording of a training loop on an H200. */
#include "../golden/schema_check.h"
#include "spawned_checks.h"
#include "whatif/whatif.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXAMPLE KWHY_SOURCE_DIR "/examples/h200-train/"
#define TRACE                                                                          \
	EXAMPLE "trace.json.zst", "--power", EXAMPLE "power.csv", "--machine-profile", \
		KWHY_SOURCE_DIR "/profiles/nvidia-h200.json", "-q"

#define TINY KWHY_SOURCE_DIR "/tests/golden/tiny.csv"

static json_t *load(const struct spawned *spawned)
{
	json_t *document = json_in(spawned);

	assert_keeps_to_schema("whatif", document);
	return document;
}

static json_int_t number(const json_t *plan, const char *part, const char *key)
{
	return json_integer_value(json_object_get(json_object_get(plan, part), key));
}

static void a_plan_saves_time_and_energy_within_its_bounds(void **state)
{
	struct spawned spawned = SPAWN("whatif", "--plan", "--json", TRACE);
	json_t *plan = load(&spawned), *change;
	size_t i;

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_true(json_array_size(json_object_get(plan, "changes")) > 0);
	assert_true(number(plan, "after", "time_ns") < number(plan, "before", "time_ns"));
	assert_true(number(plan, "after", "energy_nj") < number(plan, "before", "energy_nj"));
	json_array_foreach(json_object_get(plan, "changes"), i, change)
	{
		assert_true(number(change, "after", "time_low_ns") <= number(change, "after", "time_ns"));
		assert_true(number(change, "after", "time_high_ns") >= number(change, "after", "time_ns"));
		assert_true(number(change, "after", "low_nj") <= number(change, "after", "energy_nj"));
		assert_true(number(change, "after", "high_nj") >= number(change, "after", "energy_nj"));
	}
	json_decref(plan);
	spawned_done(&spawned);
}

static void a_report_has_the_same_plan_where_it_is_asked_for(void **state)
{
	struct spawned whatif = SPAWN("whatif", "--plan", "--json", TRACE);
	struct spawned with = SPAWN("report", "--plan", "--json", TRACE);
	struct spawned without = SPAWN("report", "--json", TRACE), text = SPAWN("report", "--plan", TRACE);
	struct spawned windows = SPAWN("report", "--plan", "-q", KWHY_SOURCE_DIR "/tests/golden/windows.csv");
	json_t *plan = load(&whatif), *report = json_in(&with), *bare = json_in(&without);
	json_t *reported = json_object_get(report, "plan");

	(void)state;
	assert_keeps_to_schema("report", report);
	assert_keeps_to_schema("whatif", reported);
	assert_true(json_equal(json_object_get(plan, "changes"), json_object_get(reported, "changes")));
	assert_true(json_equal(json_object_get(plan, "left_out"), json_object_get(reported, "left_out")));
	assert_true(json_is_null(json_object_get(bare, "plan")));
	assert_non_null(strstr(text.out.data, "\nPlan"));
	assert_int_equal(windows.exit, 0);
	assert_non_null(strstr(windows.out.data, "none: the recording knows what ran"));
	assert_fails(SPAWN("report", "--plan", "--csv", "accounts", TRACE), 2, "not into CSV");
	json_decref(plan);
	json_decref(report);
	json_decref(bare);
	spawned_done(&whatif);
	spawned_done(&with);
	spawned_done(&without);
	spawned_done(&text);
	spawned_done(&windows);
}

static void changes_are_made_in_the_order_of_the_table(void **state)
{
	struct spawned spawned = SPAWN("whatif", "--graph", "--pinned", "--json", TRACE);
	json_t *plan = load(&spawned), *changes = json_object_get(plan, "changes");

	(void)state;
	assert_int_equal(json_array_size(changes), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(changes, 0), "id")), "pinned");
	assert_string_equal(json_string_value(json_object_get(json_array_get(changes, 1), "id")), "graph");
	json_decref(plan);
	spawned_done(&spawned);
}

static void a_number_that_may_be_left_out_stands_behind_an_equals_sign(void **state)
{
	struct spawned bare = SPAWN("whatif", "--graph", "-q", TRACE),
		       given = SPAWN("whatif", "--graph=2", "-q", TRACE);

	(void)state;
	assert_int_equal(bare.exit, 0);
	assert_non_null(strstr(bare.out.data, "[--graph]"));
	assert_int_equal(given.exit, 0);
	assert_non_null(strstr(given.out.data, "[--graph=2]"));
	spawned_done(&bare);
	spawned_done(&given);
	assert_fails(SPAWN("whatif", "--graph=two", TRACE), 2, "--graph takes a whole number, not 'two'");
}

static void the_words_of_a_plan_are_explained_below_it(void **state)
{
	struct spawned spawned = SPAWN("whatif", "--prefetch", "--graph", "-q", TRACE);

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "risk: order: right only if nothing relies on the order"));
	assert_null(strstr(spawned.out.data, "numerics"));
	spawned_done(&spawned);
}

static void the_help_lists_every_change_with_its_argument(void **state)
{
	struct spawned spawned = SPAWN("whatif", "--help");

	(void)state;
	for (size_t i = 0; i < kwhy_whatif_change_count; i++) {
		const struct kwhy_whatif_change *change = &kwhy_whatif_changes[i];
		const char *argument = change->argument;
		char option[64];

		snprintf(option, sizeof(option), "--%s%s%s", change->id,
			!argument		     ? ""
				: argument[0] == '[' ? "[="
						     : " ",
			!argument ? "" : argument + (argument[0] == '['));
		if (!strstr(spawned.out.data, option))
			fail_msg("the help has no '%s'", option);
	}
	spawned_done(&spawned);
}

static void where_no_change_can_be_made_that_is_a_failure_with_its_reason(void **state)
{
	struct spawned some = SPAWN("whatif", "--graph", "--host-speed", "200", "-q", TINY);

	(void)state;
	assert_fails(SPAWN("whatif", "--graph", "-q", TINY), 1,
		"--graph cannot be made: no sequence of 4 launches");
	assert_fails(SPAWN("whatif", "--graph", "--pinned", "--json", "-q", TINY), 1, "; --graph cannot be");
	assert_int_equal(some.exit, 0);
	assert_non_null(strstr(some.out.data, "  - graph: no sequence of 4 launches"));
	spawned_done(&some);
}

/*
 * Runs kwhy with the option of each row of kwhy_whatif_changes. The result must list the row's change, or the
 * error message must name it.
 */
static void every_option_asks_for_the_change_of_its_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < kwhy_whatif_change_count; i++) {
		const struct kwhy_whatif_change *change = &kwhy_whatif_changes[i];
		char option[64], id[64], refused[64];
		struct spawned spawned;

		snprintf(option, sizeof(option), "--%s%s", change->id, change->argument ? "=3" : "");
		snprintf(id, sizeof(id), "\"id\": \"%s\"", change->id);
		snprintf(refused, sizeof(refused), "--%s cannot be made", change->id);
		spawned = SPAWN("whatif", option, "--json", "-q", TINY);
		if (spawned.exit ? !strstr(spawned.err.data, refused) : !strstr(spawned.out.data, id))
			fail_msg("%s makes no %s: %s", option, change->id, spawned.err.data);
		spawned_done(&spawned);
	}
}

/*
 * Compares the projection of a change with run B, in which the change should have been made. Here B is the
 * recorded run A itself, so the projection is off by all of its saving.
 */
static void compare_says_how_far_a_projection_was_off(void **state)
{
	char path[] = "kwhy-whatif-XXXXXX.json";
	int file = mkstemps(path, 5);
	struct spawned made = SPAWN("whatif", "--thin-collectives", "2", "-o", path, "-q", TINY);
	struct spawned text = SPAWN("compare", "--projected", path, "-q", TINY, TINY);
	struct spawned json = SPAWN("compare", "--projected", path, "--json", "-q", TINY, TINY);
	struct spawned other = SPAWN("compare", "--projected", TINY, "-q", TINY, TINY);

	(void)state;
	assert_true(file >= 0);
	close(file);
	unlink(path);
	assert_int_equal(made.exit, 0);
	assert_non_null(strstr(text.out.data, "B measured"));
	assert_non_null(strstr(json.out.data, "\"is_of_a\": true"));
	assert_int_equal(other.exit, 1);
	assert_non_null(strstr(other.err.data, "is not JSON"));
	spawned_done(&made);
	spawned_done(&text);
	spawned_done(&json);
	spawned_done(&other);
}

/*
 * Compares a projection with run B, for which the test takes the recording of run A once more.
 * Energy metered before the first and after the last activity must be part neither of the projected
 * nor of the measured energy.
 */
static void energies_are_compared_of_the_work_alone(void **state)
{
	static const char profile[] = KWHY_SOURCE_DIR "/profiles/nvidia-h200.json";
	char path[] = "kwhy-whatif-XXXXXX.json";
	int file = mkstemps(path, 5);
	struct spawned made = SPAWN("whatif", "--graph", "-o", path, TRACE);
	struct spawned compared = SPAWN("compare", "--projected", path, "--json", "-q", "--machine-profile",
		profile, "--power-a", EXAMPLE "power.csv", "--power-b", EXAMPLE "power.csv",
		EXAMPLE "trace.json.zst", EXAMPLE "trace.json.zst");
	json_t *plan = json_load_file(path, 0, NULL);
	json_t *root = json_loadb(compared.out.data, compared.out.length, 0, NULL);
	const json_t *projection = json_object_get(root, "projection");
	double saved_ratio;

	(void)state;
	assert_true(file >= 0);
	close(file);
	unlink(path);
	if (made.exit || compared.exit || !plan || !projection)
		fail_msg("%s%s", made.err.data, compared.err.data);
	saved_ratio = (double)number(plan, "after", "energy_nj") /
		(double)number(plan, "before", "energy_nj");
	assert_float_equal(
		json_number_value(json_object_get(projection, "energy_error_ratio")), saved_ratio - 1, 1e-6);
	/* B is the same run as A, so its measured net energy is that of A before the projected change */
	assert_float_equal((double)json_integer_value(json_object_get(projection, "measured_net_nj")),
		(double)number(plan, "before", "net_nj"), 1e3);
	assert_float_equal(json_number_value(json_object_get(projection, "launch_ratio")), 1, 1e-9);
	assert_int_equal(json_array_size(json_object_get(projection, "by_change")), 1);
	assert_int_equal(json_integer_value(json_object_get(
				 json_array_get(json_object_get(projection, "by_change"), 0), "saved_ns")),
		number(plan, "before", "time_ns") - number(plan, "after", "time_ns"));
	assert_true(number(plan, "before", "net_low_nj") < number(plan, "before", "net_nj"));
	json_decref(plan);
	json_decref(root);
	spawned_done(&made);
	spawned_done(&compared);
}

/*
 * The projection supposes that the host is as fast as recorded (100 %) or twice as fast. B is the same run as
 * A, so its host took 1.00 times as long, which must be reported only where a faster host was supposed.
 */
static void a_host_of_another_speed_than_supposed_is_told(void **state)
{
	static const struct {
		const char *speed;
		bool is_reported;
	} cases[] = {{"100", false}, {"200", true}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char path[] = "/tmp/kwhy-projected-XXXXXX.json";
		int file = mkstemps(path, 5);
		struct spawned made = SPAWN(
			"whatif", "--graph", "--host-speed", cases[i].speed, "-o", path, TRACE);
		struct spawned compared = SPAWN(
			"compare", "--projected", path, EXAMPLE "trace.json.zst", EXAMPLE "trace.json.zst");

		assert_true(file >= 0);
		close(file);
		unlink(path);
		assert_int_equal(made.exit, 0);
		assert_int_equal(compared.exit, 0);
		assert_int_equal(
			strstr(compared.out.data, "took 1.00 times as long") != NULL, cases[i].is_reported);
		spawned_done(&made);
		spawned_done(&compared);
	}
}

static void wrong_usage_is_reported(void **state)
{
	(void)state;
	assert_fails(SPAWN("whatif", TRACE), 2, "needs --plan or changes");
	assert_fails(SPAWN("whatif", "--plan", "--graph", TRACE), 2, "name no other with it");
	assert_fails(
		SPAWN("whatif", "--batch", "1", TRACE), 2, "--batch takes a number from 2 to 4294967295");
	assert_fails(SPAWN("whatif", "--plan"), 2, "needs a recording");
	assert_fails(SPAWN("whatif", "--plan", "-o", "x.csv", TRACE), 2, ".txt, .json and .html");
}

static void what_holds_no_work_of_a_device_cannot_be_changed(void **state)
{
	static const char trace[] = "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":"
				    "\"cudaLaunchKernel\",\"ts\":1,"
				    "\"dur\":2,\"pid\":1,\"tid\":1,\"args\":{\"correlation\":1}}]}";
	char path[] = "kwhy-whatif-XXXXXX.json";
	int fd = mkstemps(path, 5);
	struct spawned spawned;

	(void)state;
	assert_int_equal(write(fd, trace, sizeof(trace) - 1), sizeof(trace) - 1);
	close(fd);
	spawned = SPAWN("whatif", "--plan", path);
	unlink(path);
	assert_int_equal(spawned.exit, 1);
	assert_non_null(strstr(spawned.err.data, "no activity of a device"));
	assert_int_equal(spawned.out.length, 0);
	spawned_done(&spawned);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_saves_time_and_energy_within_its_bounds),
		cmocka_unit_test(a_report_has_the_same_plan_where_it_is_asked_for),
		cmocka_unit_test(a_number_that_may_be_left_out_stands_behind_an_equals_sign),
		cmocka_unit_test(the_words_of_a_plan_are_explained_below_it),
		cmocka_unit_test(changes_are_made_in_the_order_of_the_table),
		cmocka_unit_test(the_help_lists_every_change_with_its_argument),
		cmocka_unit_test(where_no_change_can_be_made_that_is_a_failure_with_its_reason),
		cmocka_unit_test(every_option_asks_for_the_change_of_its_name),
		cmocka_unit_test(compare_says_how_far_a_projection_was_off),
		cmocka_unit_test(energies_are_compared_of_the_work_alone),
		cmocka_unit_test(a_host_of_another_speed_than_supposed_is_told),
		cmocka_unit_test(wrong_usage_is_reported),
		cmocka_unit_test(what_holds_no_work_of_a_device_cannot_be_changed),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
