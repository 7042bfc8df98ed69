/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the command `kwhy bench ops` on the host back end. */
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
		"--seconds", "0.01", "--memory", "1", "--update-profile", path, "--json")));
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
			"--seconds", "0.01", "--memory", "1", "--update-profile", path);

		assert_int_equal(spawned.exit, 2);
		assert_non_null(strstr(spawned.err.data, "is the profile of another"));
		spawned_done(&spawned);
	}
	unlink(path);
}

static void wrong_words_of_ops_are_usage_errors(void **state)
{
	(void)state;
	assert_fails(SPAWN("bench", "ops", "--backend", "host", "--device", ""), 2, "names no GPU");
	assert_fails(SPAWN("bench", "ops", "--backend", "host", "--device", "1,0,1"), 2, "GPU '1' twice");
	assert_fails(SPAWN("bench", "ops", "--backend", "host", "--only", "fp12"), 2, "no operation 'fp12'");
	assert_fails(SPAWN("bench", "ops", "--backend", "host", "--only", ""), 2, "no operation ''");
	assert_fails(SPAWN("bench", "ops", "--backend", "host", "--only", "nccl"), 2,
		"'kwhy bench pairs --engine nccl,all-reduce'");
	assert_fails(SPAWN("bench", "ops", "--backend", "host", "--memory", "0"), 2, "--memory takes 1 to");
	assert_fails(SPAWN("bench", "ops", "--backend", "host", "--seconds", "0"), 2, "--seconds takes");
	assert_fails(SPAWN("bench", "ops", "--backend", "host", "-o", "x.html"), 2, "--csv FILE");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_have_rates_and_say_what_is_missing),
		cmocka_unit_test(the_text_of_operations_tells_what_each_was_divided_from),
		cmocka_unit_test(figures_go_into_a_profile_of_the_same_device),
		cmocka_unit_test(wrong_words_of_ops_are_usage_errors),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
