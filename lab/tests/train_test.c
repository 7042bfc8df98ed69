/* SPDX-License-Identifier: Apache-2.0 */
/* `kwhy-lab train`, run as a command on the host back end and on fake GPUs. */
#include "spawned_checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SMALL "--width", "64", "--batch", "32", "--samples", "64"

static void every_variant_is_a_row_that_was_checked(void **state)
{
	json_t *root = json_of(SPAWN("train", "--backend", "host", SMALL, "--layers", "4", "--steps", "4",
		"--dp", "2", "--repeat", "2", "--json"));
	const json_t *rows = json_object_get(root, "rows");
	static const char *const ids[] = {"plain", "tf32", "bf16", "pinned", "prefetch", "queued", "fused",
		"graph", "checkpoint", "accumulate", "parallel"};

	(void)state;
	assert_string_equal(json_string_value(json_object_get(root, "schema")), "kwhy.train/1");
	assert_int_equal(json_array_size(rows), 11);
	assert_string_equal(json_string_value(json_object_get(root, "item")), "sample");
	assert_true(number_in(root, NULL, "flop_a_step") == 11 * 2.0 * 32 * 64 * 64);
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		const json_t *row = json_array_get(rows, i);

		assert_string_equal(json_string_value(json_object_get(row, "id")), ids[i]);
		assert_true(json_is_null(json_object_get(row, "missing")));
		assert_true(json_is_null(json_object_get(row, "wrong")));
		assert_true(number_in(row, NULL, "first_moment_error") < 0.1);
		assert_true(number_in(json_array_get(json_object_get(row, "phases"), 0), NULL,
				    "items_per_s") > 0);
		assert_true(number_in(row, NULL, "gpus") == (i == 10 ? 2 : 1));
		assert_true(number_in(row, NULL, "last_loss") > 0);
	}
	assert_true(number_in(json_array_get(rows, 8), NULL, "activation_bytes") <
		number_in(json_array_get(rows, 7), NULL, "activation_bytes"));
	json_decref(root);
}

static void the_text_is_no_wider_than_80_columns(void **state)
{
	struct spawned spawned = SPAWN("train", "--backend", "host", "--steps", "2", "--repeat", "1");

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_fits_80_columns(spawned.out.data);
	assert_non_null(strstr(spawned.out.data, "energy not available: the host back end"));
	spawned_done(&spawned);
}

static void losses_go_to_a_csv_without_joules_that_nobody_measured(void **state)
{
	static char path[] = "kwhy-train-XXXXXX";
	struct spawned spawned;
	char line[128];
	size_t lines = 0;
	FILE *file;
	int made = mkstemp(path);

	(void)state;
	assert_true(made >= 0);
	close(made);
	spawned = SPAWN("train", "--backend", "host", "--variant", "plain,graph", "--steps", "3", "--width",
		"32", "--check-width", "0", "--repeat", "1", "--csv", path);
	assert_int_equal(spawned.exit, 0);
	spawned_done(&spawned);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (lines++)
			assert_string_equal(line + strlen(line) - 2, ",\n");
	fclose(file);
	unlink(path);
	assert_int_equal(lines, 1 + 2 * 3);
}

/* Sets up a fake CUDA driver with two GPUs, whose meters always show 300 W and 200 W. */
static void fake_gpus(void)
{
	setenv("LD_LIBRARY_PATH", KWHY_FAKE_CUDA_DIR ":" KWHY_FAKE_CUBLASLT_DIR ":" KWHY_FAKE_NVML_DIR, 1);
	setenv("KWHY_FAKE_NVML", KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/pair_of_fake_cuda.txt", 1);
	setenv("KWHY_FAKE_GPU_KERNELS", KWHY_FAKE_KERNELS, 1);
	setenv("KWHY_FAKE_CUDA_DEVICES", "2", 1);
	setenv("XDG_CACHE_HOME", "/dev/null", 1);
}

static double value_in(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(json_object_get(object, key), "value"));
}

static void joules_are_those_of_gpus_of_known_power(void **state)
{
	static const struct {
		const char *id;
		double watts;
	} expected[] = {{"graph", 300}, {"parallel", 500}};
	const json_t *rows;
	json_t *root;

	(void)state;
	fake_gpus();
	root = json_of(SPAWN("train", SMALL, "--steps", "8", "--dp", "2", "--variant", "graph,parallel",
		"--repeat", "1", "--seconds", "0.3", "--quiet", "--json"));
	unsetenv("LD_LIBRARY_PATH");
	rows = json_object_get(root, "rows");
	assert_true(json_is_null(json_object_get(root, "energy_missing")));
	for (size_t i = 0; i < 2; i++) {
		const json_t *row = json_array_get(rows, i),
			     *phase = json_array_get(json_object_get(row, "phases"), 0);
		double samples = 8 * 32 * number_in(phase, NULL, "energy_runs"),
		       joules = expected[i].watts * number_in(phase, NULL, "window_s") / samples;

		assert_string_equal(json_string_value(json_object_get(row, "id")), expected[i].id);
		assert_string_equal(json_string_value(json_object_get(row, "products")), "cuBLASLt 13.0.2");
		assert_float_equal(value_in(phase, "gross_j_per_item"), joules, 0.05 * joules);
		assert_float_equal(value_in(phase, "items_per_j"), 1 / joules, 0.06 / joules);
	}
	json_decref(root);
}

static void a_gpu_that_is_lost_ends_it_with_what_was_measured(void **state)
{
	struct spawned spawned;

	(void)state;
	fake_gpus();
	setenv("KWHY_FAKE_CUDA", "fail:cuLaunchKernel:160:719", 1);
	spawned = SPAWN("train", SMALL, "--steps", "2", "--check-width", "0", "--repeat", "1", "--seconds",
		"0", "--quiet");
	unsetenv("KWHY_FAKE_CUDA");
	unsetenv("LD_LIBRARY_PATH");
	assert_int_equal(spawned.exit, 1);
	assert_non_null(strstr(spawned.out.data, "\n  plain "));
	assert_null(strstr(spawned.out.data, "\n  graph "));
	assert_non_null(strstr(spawned.out.data, "\nended"));
	spawned_done(&spawned);
}

static void without_the_library_rows_say_why(void **state)
{
	struct spawned spawned;

	(void)state;
	fake_gpus();
	setenv("KWHY_FAKE_CUBLASLT", "refuses", 1);
	spawned = SPAWN("train", SMALL, "--variant", "graph", "--seconds", "0", "--quiet");
	unsetenv("KWHY_FAKE_CUBLASLT");
	unsetenv("LD_LIBRARY_PATH");
	assert_int_equal(spawned.exit, 1);
	assert_non_null(strstr(spawned.out.data, "no algorithm to multiply"));
	spawned_done(&spawned);
}

static void wrong_words_are_usage_errors(void **state)
{
	(void)state;
#define HOST "train", "--backend", "host"
	assert_fails(SPAWN(HOST, "--variant", "fp64"), 2, "no variant 'fp64'");
	assert_fails(SPAWN(HOST, "--width", "100"), 2, "take a multiple of 32");
	assert_fails(SPAWN(HOST, "--layers", "0"), 2, "--layers takes 1 to 64");
	assert_fails(SPAWN(HOST, "--batch", "24"), 2, "each part takes a multiple of 8");
	assert_fails(SPAWN(HOST, "--batch", "0"), 2, "--batch takes 8 to 65536");
	assert_fails(SPAWN(HOST, "--samples", "100"), 2, "take a multiple of the batch");
	assert_fails(SPAWN(HOST, "--steps", "5000"), 2, "--steps takes 1 to 4096");
	assert_fails(SPAWN(HOST, "--check-width", "33"), 2, "take a multiple of 32");
	assert_fails(SPAWN(HOST, "--dp", "9"), 2, "--dp takes 2 to 8");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_variant_is_a_row_that_was_checked),
		cmocka_unit_test(the_text_is_no_wider_than_80_columns),
		cmocka_unit_test(losses_go_to_a_csv_without_joules_that_nobody_measured),
		cmocka_unit_test(joules_are_those_of_gpus_of_known_power),
		cmocka_unit_test(a_gpu_that_is_lost_ends_it_with_what_was_measured),
		cmocka_unit_test(without_the_library_rows_say_why),
		cmocka_unit_test(wrong_words_are_usage_errors),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
