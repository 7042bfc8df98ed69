/* SPDX-License-Identifier: Apache-2.0 */
/* `kwhy bench twin` and `kwhy bench ops` as a shell sees them, on the host's back end. */
#include "spawned_checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const json_t *row_of(const json_t *rows, const char *id)
{
	size_t i;
	json_t *row;

	json_array_foreach(
		rows, i, row) if (strcmp(json_string_value(json_object_get(row, "id")), id) == 0) return row;
	fail_msg("no row %s", id);
	return NULL;
}

static void every_variant_of_twin_is_a_row_with_times_and_counts(void **state)
{
	json_t *root = json_of(SPAWN("bench", "twin", "--backend", "host", "--steps", "4", "--ranks", "2",
		"--device", "0,1", "--repeat", "2", "--json"));
	const json_t *rows = json_object_get(root, "variants");
	static const char *const ids[] = {"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v9b"};

	(void)state;
	assert_string_equal(json_string_value(json_object_get(root, "schema")), "kwhy.twin/1");
	assert_int_equal(json_array_size(rows), 12);
	assert_true(number_in(row_of(rows, "cpu"), "run_s", "median") > 0);
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		const json_t *row = row_of(rows, ids[i]);

		assert_true(json_is_null(json_object_get(row, "missing")));
		assert_true(number_in(row, "run_s", "median") > 0);
		assert_true(number_in(row, "step_s", "median") > 0);
		assert_true(number_in(row, "a_run", "calls") > 0);
		assert_true(json_is_null(json_object_get(
			json_object_get(json_object_get(row, "energy"), "gross_j_a_run"), "value")));
	}
	assert_true(number_in(row_of(rows, "v9"), NULL, "gpus") == 2);
	assert_true(number_in(row_of(rows, "v0"), "a_run", "h2d_copies") == 4 * 22 - 1);
	assert_true(number_in(row_of(rows, "v8"), "a_run", "h2d_copies") == 0);
	json_decref(root);
}

static void the_text_of_twin_is_no_wider_than_80_columns(void **state)
{
	struct spawned spawned = SPAWN("bench", "twin", "--backend", "host", "--steps", "2", "--repeat", "1");

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_fits_80_columns(spawned.out.data);
	assert_non_null(strstr(spawned.out.data, "every step of every run gave those of the reference"));
	spawned_done(&spawned);
}

static void the_steps_of_twin_go_to_a_csv(void **state)
{
	static char path[] = "kwhy-twin-XXXXXX";
	struct spawned spawned;
	int made = mkstemp(path);

	(void)state;
	assert_true(made >= 0);
	close(made);
	spawned = SPAWN("bench", "twin", "--backend", "host", "--steps", "3", "--variant", "v5,v8",
		"--repeat", "2", "--csv", path);
	assert_int_equal(spawned.exit, 0);
	spawned_done(&spawned);
	assert_int_equal(lines_of(path), 1 + 2 * 2 * 3);
	unlink(path);
}

static void wrong_words_of_twin_are_usage_errors(void **state)
{
	(void)state;
	assert_fails(SPAWN("bench", "twin", "--backend", "host", "--variant", "v10"), 2, "no variant 'v10'");
	assert_fails(SPAWN("bench", "twin", "--backend", "host", "--variant", ""), 2, "no variant ''");
	assert_fails(SPAWN("bench", "twin", "--backend", "host", "--device", ""), 2, "names no GPU");
	assert_fails(SPAWN("bench", "ops", "--backend", "host", "--device", ""), 2, "names no GPU");
	assert_fails(SPAWN("bench", "twin", "--backend", "host", "--device", "0,0"), 2, "GPU '0' twice");
	assert_fails(SPAWN("bench", "ops", "--backend", "host", "--device", "1,0,1"), 2, "GPU '1' twice");
	assert_fails(SPAWN("bench", "twin", "--backend", "tpu"), 2, "--backend takes cuda, hip or host");
	assert_fails(
		SPAWN("bench", "twin", "--backend", "host", "--steps", "289"), 2, "--steps takes 1 to 288");
	assert_fails(SPAWN("bench", "twin", "--backend", "host", "--ranks", "9"), 2, "--ranks takes 1 to 8");
	assert_fails(SPAWN("bench", "twin", "--backend", "host", "--loop", "shut"), 2, "--loop takes");
	assert_fails(SPAWN("bench", "twin", "--backend", "host", "-o", "x.csv"), 2, "--csv FILE");
}

static void operations_have_rates_and_say_what_is_missing(void **state)
{
	json_t *root = json_of(SPAWN("bench", "ops", "--backend", "host", "--device", "0,1", "--seconds",
		"0.01", "--memory", "1", "--json"));
	const json_t *rows = json_object_get(root, "operations");
	static const char *const there[] = {"fp64", "fp32", "int32", "memory-read", "memory-write",
		"memory-copy", "cache-read", "h2d-small", "d2h-small", "launch", "h2d-queued", "d2h-queued",
		"launch-queued", "graph-kernel", "h2d-large", "d2h-large", "peer", "mixed", "collective"};

	(void)state;
	assert_int_equal(json_array_size(rows), 27);
	for (size_t i = 0; i < sizeof(there) / sizeof(there[0]); i++) {
		assert_true(json_is_null(json_object_get(row_of(rows, there[i]), "missing")));
		assert_true(number_in(row_of(rows, there[i]), NULL, "rate_per_s") > 0);
	}
	assert_true(json_is_string(json_object_get(row_of(rows, "fp8-tensor"), "missing")));
	assert_true(json_is_null(json_object_get(row_of(rows, "fp8-tensor"), "rate_per_s")));
	assert_int_equal(json_array_size(json_object_get(root, "rooflines")), 3);
	json_decref(root);
}

static void the_text_of_operations_tells_what_each_was_divided_from(void **state)
{
	struct spawned spawned = SPAWN("bench", "ops", "--backend", "host", "--only",
		"fp64,bf16-tensor,d2h-small,collectives", "--seconds", "0.01", "--memory", "1");
	const char *windows = strstr(spawned.out.data, "\nWindows");

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_fits_80_columns(spawned.out.data);
	assert_non_null(windows);
	assert_non_null(strstr(windows, " done "));
	assert_non_null(strstr(windows, "\n  d2h-small "));
	assert_non_null(strstr(windows, "FLOP  "));
	assert_null(strstr(windows, "\n  bf16-tensor "));
	spawned_done(&spawned);
}

static void figures_go_into_a_profile_of_the_same_device(void **state)
{
	static char path[] = "kwhy-ops-XXXXXX";
	json_t *profile,
		*ops = json_of(SPAWN("bench", "ops", "--backend", "host", "--only", "fp32", "--seconds",
			"0.01", "--memory", "1", "--json"));
	const char *name = json_string_value(json_array_get(json_object_get(ops, "gpus"), 0));
	FILE *file;
	int made = mkstemp(path);

	(void)state;
	assert_true(made >= 0);
	file = fdopen(made, "w");
	fprintf(file, "{\"schema\": \"kwhy.profile/1\", \"device\": {\"name\": \"%s\"}, \"power\": {}}",
		name);
	fclose(file);
	json_decref(json_of(SPAWN("bench", "ops", "--backend", "host", "--only", "fp32,memory-copy",
		"--seconds", "0.01", "--memory", "1", "--profile", path, "--json")));
	profile = json_load_file(path, 0, NULL);
	assert_non_null(json_object_get(profile, "power"));
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(profile, "operations"), "operations")), 2);
	json_object_set_new(json_object_get(profile, "device"), "name", json_string("another"));
	json_dump_file(profile, path, 0);
	json_decref(profile);
	json_decref(ops);
	{
		struct spawned spawned = SPAWN("bench", "ops", "--backend", "host", "--only", "fp32",
			"--seconds", "0.01", "--memory", "1", "--profile", path);

		assert_int_equal(spawned.exit, 2);
		assert_non_null(strstr(spawned.err.data, "is the profile of another"));
		spawned_done(&spawned);
	}
	unlink(path);
}

static void wrong_words_of_ops_are_usage_errors(void **state)
{
	(void)state;
	assert_fails(SPAWN("bench", "ops", "--backend", "host", "--only", "fp12"), 2, "no operation 'fp12'");
	assert_fails(SPAWN("bench", "ops", "--backend", "host", "--only", ""), 2, "no operation ''");
	assert_fails(SPAWN("bench", "ops", "--backend", "host", "--only", "nccl"), 2,
		"'kwhy bench pairs --engine nccl,all-reduce'");
	assert_fails(SPAWN("bench", "ops", "--backend", "host", "--memory", "0"), 2, "--memory takes 1 to");
	assert_fails(SPAWN("bench", "ops", "--backend", "host", "--seconds", "0"), 2, "--seconds takes");
	assert_fails(SPAWN("bench", "ops", "--backend", "host", "-o", "x.html"), 2, "--csv FILE");
}

static void the_floor_is_left_out_where_it_is_not_wanted(void **state)
{
	json_t *root = json_of(SPAWN("bench", "twin", "--backend", "host", "--steps", "2", "--repeat", "1",
		"--variant", "v5", "--runs-only", "--json"));

	(void)state;
	assert_true(number_in(json_object_get(root, "floor_step_s"), NULL, "count") == 0);
	assert_true(number_in(row_of(json_object_get(root, "variants"), "v5"), "run_s", "median") > 0);
	json_decref(root);
}

static void numbers_and_busy_shares_of_flow_are_left_out_where_they_are_not_wanted(void **state)
{
	json_t *root = json_of(SPAWN("bench", "flow", "--backend", "host", "--flows", "10", "--steps", "2",
		"--repeat", "1", "--variant", "n3", "--runs-only", "--json"));
	const json_t *row = row_of(json_object_get(root, "variants"), "n3");

	(void)state;
	assert_true(json_is_null(json_object_get(row, "busy_ratio")));
	assert_null(json_object_get(row, "proof"));
	assert_true(number_in(row, "run_s", "median") > 0);
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_and_busy_shares_of_flow_are_left_out_where_they_are_not_wanted),
		cmocka_unit_test(the_floor_is_left_out_where_it_is_not_wanted),
		cmocka_unit_test(every_variant_of_twin_is_a_row_with_times_and_counts),
		cmocka_unit_test(the_text_of_twin_is_no_wider_than_80_columns),
		cmocka_unit_test(the_steps_of_twin_go_to_a_csv),
		cmocka_unit_test(wrong_words_of_twin_are_usage_errors),
		cmocka_unit_test(operations_have_rates_and_say_what_is_missing),
		cmocka_unit_test(the_text_of_operations_tells_what_each_was_divided_from),
		cmocka_unit_test(figures_go_into_a_profile_of_the_same_device),
		cmocka_unit_test(wrong_words_of_ops_are_usage_errors),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
