/* SPDX-License-Identifier: Apache-2.0 */
/* `kwhy-lab twin` and `kwhy-lab flow` as a shell sees them, on the host's back end. */
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
	json_t *root = json_of(SPAWN("twin", "--backend", "host", "--steps", "4", "--ranks", "2", "--device",
		"0,1", "--repeat", "2", "--json"));
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
	struct spawned spawned = SPAWN("twin", "--backend", "host", "--steps", "2", "--repeat", "1");

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
	spawned = SPAWN("twin", "--backend", "host", "--steps", "3", "--variant", "v5,v8", "--repeat", "2",
		"--csv", path);
	assert_int_equal(spawned.exit, 0);
	spawned_done(&spawned);
	assert_int_equal(lines_of(path), 1 + 2 * 2 * 3);
	unlink(path);
}

static void wrong_words_of_twin_are_usage_errors(void **state)
{
	(void)state;
	assert_fails(SPAWN("twin", "--backend", "host", "--variant", "v10"), 2, "no variant 'v10'");
	assert_fails(SPAWN("twin", "--backend", "host", "--variant", ""), 2, "no variant ''");
	assert_fails(SPAWN("twin", "--backend", "host", "--device", ""), 2, "names no GPU");
	assert_fails(SPAWN("twin", "--backend", "host", "--device", "0,0"), 2, "GPU '0' twice");
	assert_fails(SPAWN("twin", "--backend", "tpu"), 2, "--backend takes cuda, hip or host");
	assert_fails(SPAWN("twin", "--backend", "host", "--steps", "289"), 2, "--steps takes 1 to 288");
	assert_fails(SPAWN("twin", "--backend", "host", "--ranks", "9"), 2, "--ranks takes 1 to 8");
	assert_fails(SPAWN("twin", "--backend", "host", "--loop", "shut"), 2, "--loop takes");
	assert_fails(SPAWN("twin", "--backend", "host", "-o", "x.csv"), 2, "--csv FILE");
}

static void the_floor_is_left_out_where_it_is_not_wanted(void **state)
{
	json_t *root = json_of(SPAWN("twin", "--backend", "host", "--steps", "2", "--repeat", "1",
		"--variant", "v5", "--runs-only", "--json"));

	(void)state;
	assert_true(number_in(json_object_get(root, "floor_step_s"), NULL, "count") == 0);
	assert_true(number_in(row_of(json_object_get(root, "variants"), "v5"), "run_s", "median") > 0);
	json_decref(root);
}

static void numbers_and_busy_shares_of_flow_are_left_out_where_they_are_not_wanted(void **state)
{
	json_t *root = json_of(SPAWN("flow", "--backend", "host", "--flows", "10", "--steps", "2", "--repeat",
		"1", "--variant", "n3", "--runs-only", "--json"));
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
	};

	return kwhy_test_main(tests, NULL, NULL);
}
