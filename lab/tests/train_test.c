/* SPDX-License-Identifier: Apache-2.0 */
/* `kwhy-lab train` as a shell sees it, on the host's back end. */
#include "spawned_checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void every_variant_is_a_row_that_was_checked(void **state)
{
	json_t *root = json_of(SPAWN("train", "--backend", "host", "--width", "64", "--layers", "4",
		"--batch", "32", "--steps", "4", "--samples", "64", "--repeat", "2", "--json"));
	const json_t *rows = json_object_get(root, "variants");
	static const char *const ids[] = {
		"fp32", "bf16", "queued", "cublas", "fused", "graph", "checkpoint", "accumulate"};

	(void)state;
	assert_string_equal(json_string_value(json_object_get(root, "schema")), "kwhy.train/1");
	assert_int_equal(json_array_size(rows), 8);
	assert_true(number_in(root, NULL, "flop_a_step") == 11 * 2.0 * 32 * 64 * 64);
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		const json_t *row = json_array_get(rows, i);

		assert_string_equal(json_string_value(json_object_get(row, "id")), ids[i]);
		if (strcmp(ids[i], "cublas") == 0) {
			assert_true(json_is_string(json_object_get(row, "missing")));
			continue;
		}
		assert_true(json_is_null(json_object_get(row, "missing")));
		assert_true(number_in(row, "errors", "first_moment") < 0.1);
		assert_true(number_in(row, NULL, "samples_per_s") > 0);
		assert_int_equal(json_array_size(json_object_get(row, "losses")), 4);
		assert_true(json_is_null(json_object_get(
			json_object_get(json_object_get(row, "energy"), "gross_j_a_step"), "value")));
	}
	assert_true(number_in(json_array_get(rows, 6), NULL, "activation_bytes") <
		number_in(json_array_get(rows, 5), NULL, "activation_bytes"));
	json_decref(root);
}

static void two_gpus_share_a_batch(void **state)
{
	json_t *root = json_of(SPAWN("train", "--backend", "host", "--width", "64", "--batch", "32",
		"--steps", "4", "--samples", "64", "--dp", "2", "--repeat", "1", "--json"));
	const json_t *rows = json_object_get(root, "variants"), *row = json_array_get(rows, 9);

	(void)state;
	assert_int_equal(json_array_size(rows), 10);
	assert_int_equal(json_array_size(json_object_get(root, "gpus")), 2);
	assert_string_equal(json_string_value(json_object_get(row, "id")), "parallel");
	assert_true(number_in(row, NULL, "gpus") == 2);
	assert_true(number_in(row, "errors", "first_moment") < 0.1);
	assert_true(number_in(json_array_get(rows, 5), NULL, "gpus") == 1);
	assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 8), "id")), "pipeline");
	assert_true(number_in(json_array_get(rows, 8), NULL, "gpus") == 2);
	json_decref(root);
}

static void the_text_is_no_wider_than_80_columns(void **state)
{
	struct spawned spawned = SPAWN("train", "--backend", "host", "--steps", "2", "--repeat", "1");

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_fits_80_columns(spawned.out.data);
	assert_non_null(strstr(spawned.out.data, "every run of a variant gave the same bits"));
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
	spawned = SPAWN("train", "--backend", "host", "--variant", "fp32,graph", "--steps", "3", "--width",
		"32", "--check-width", "0", "--repeat", "1", "--csv", path);
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "nothing was held against the reference"));
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

/* A fake driver and meters: 300 W and 200 W whatever the GPUs do. */
static void fake_gpus(void)
{
	setenv("LD_LIBRARY_PATH", KWHY_FAKE_CUDA_DIR ":" KWHY_FAKE_NVML_DIR, 1);
	setenv("KWHY_FAKE_NVML", KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/pair_of_fake_cuda.txt", 1);
	setenv("KWHY_FAKE_GPU_KERNELS", KWHY_FAKE_KERNELS, 1);
	setenv("KWHY_FAKE_CUDA_DEVICES", "2", 1);
	setenv("XDG_CACHE_HOME", "/dev/null", 1);
}

static double energy_of(const json_t *row, const char *key)
{
	return json_number_value(
		json_object_get(json_object_get(json_object_get(row, "energy"), key), "value"));
}

static void joules_are_those_of_gpus_of_known_power(void **state)
{
	static const struct {
		const char *id;
		double watts;
	} expected[] = {{"cublas", 300}, {"graph", 300}, {"parallel", 500}};
	const json_t *rows;
	json_t *root;

	(void)state;
	fake_gpus();
	root = json_of(SPAWN("train", "--width", "64", "--batch", "32", "--samples", "64", "--steps", "8",
		"--dp", "2", "--variant", "cublas,graph,parallel", "--repeat", "1", "--seconds", "0.3",
		"--quiet", "--json"));
	unsetenv("LD_LIBRARY_PATH");
	rows = json_object_get(root, "variants");
	assert_true(json_is_null(json_object_get(root, "energy_missing")));
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const json_t *row = json_array_get(rows, i);
		double steps = 8 * number_in(row, "energy", "runs"),
		       seconds = number_in(row, "energy", "window_s"),
		       joules = expected[i].watts * seconds / steps,
		       flop = number_in(root, NULL, "flop_a_step");

		assert_string_equal(json_string_value(json_object_get(row, "id")), expected[i].id);
		assert_true(steps >= 8 && seconds > 0.25);
		assert_float_equal(energy_of(row, "gross_j_a_step"), joules, 0.05 * joules);
		assert_float_equal(energy_of(row, "samples_per_j"), 32 / joules, 0.06 * 32 / joules);
		assert_float_equal(energy_of(row, "flop_per_j"), flop / joules, 0.06 * flop / joules);
	}
	json_decref(root);
}

/* Two GPUs of the fake driver's, or others, that do what the last line says. */
static void scenario_of(const char *first_pci, const char *last)
{
	const char *path = "kwhy-train-meters.txt";
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fprintf(file,
		"gpu \"NVIDIA H200\"\npci %s\npower constant 300\n%s\n"
		"gpu \"NVIDIA H200\"\npci 0:3b:0\npower constant 200\n",
		first_pci, last);
	assert_int_equal(fclose(file), 0);
	setenv("KWHY_FAKE_NVML", path, 1);
}

#define METERED                                                                                        \
	"train", "--width", "64", "--batch", "32", "--samples", "64", "--steps", "8", "--repeat", "1", \
		"--variant", "fp32,graph", "--quiet"

#define PAIR_METERED                                                                                   \
	"train", "--width", "64", "--batch", "32", "--samples", "64", "--steps", "8", "--repeat", "1", \
		"--device", "1,0", "--dp", "2", "--seconds", "0.3", "--quiet"

/* Within the look at the idle level, or the first window. */
static void a_meter_that_fails_on_the_way_is_told(void **state)
{
	struct spawned spawned;
	json_t *root;

	(void)state;
	fake_gpus();
	scenario_of("0:19:0", "lost_at_s 3");
	spawned = SPAWN(METERED, "--seconds", "1");
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "\nenergy not available: the device fell off the bus\n"));
	spawned_done(&spawned);
	root = json_of(SPAWN(METERED, "--seconds", "1", "--json"));
	assert_string_equal(
		json_string_value(json_object_get(root, "energy_missing")), "the device fell off the bus");
	json_decref(root);
	scenario_of("0:19:0", "energy_stuck_at_s 2\nfail nvmlDeviceGetSamples not_supported");
	spawned = SPAWN(METERED, "--seconds", "0.5");
	assert_int_equal(spawned.exit, 0);
	assert_null(strstr(spawned.out.data, "J a step"));
	assert_non_null(strstr(spawned.out.data,
		"\nenergy not available: the meter's readings ended before the window did\n"));
	spawned_done(&spawned);
	unsetenv("LD_LIBRARY_PATH");
	unlink("kwhy-train-meters.txt");
}

/* The second GPU is lost within the first look at the idle level. */
static void energy_is_missed_only_of_the_rows_that_lack_it(void **state)
{
	struct spawned spawned;
	json_t *root;

	(void)state;
	fake_gpus();
	scenario_of("0:19:0", "lost_at_s 1");
	spawned = SPAWN(PAIR_METERED, "--variant", "graph,parallel");
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "J a step"));
	assert_non_null(
		strstr(spawned.out.data, "\nenergy not available in 1 of 2 rows, first in 'parallel':"));
	spawned_done(&spawned);
	spawned = SPAWN(PAIR_METERED, "--variant", "graph");
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "J a step"));
	assert_null(strstr(spawned.out.data, "energy not available"));
	spawned_done(&spawned);
	root = json_of(SPAWN(PAIR_METERED, "--variant", "graph", "--json"));
	assert_true(json_is_null(json_object_get(root, "energy_missing")));
	json_decref(root);
	unsetenv("LD_LIBRARY_PATH");
	unlink("kwhy-train-meters.txt");
}

static void a_gpu_whose_meter_is_not_found_is_told_in_words_of_its_own(void **state)
{
	struct spawned spawned;

	(void)state;
	fake_gpus();
	scenario_of("0:77:0", "");
	spawned = SPAWN(METERED, "--seconds", "0.1");
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "\nenergy not available: no meter is of this GPU\n"));
	spawned_done(&spawned);
	unsetenv("LD_LIBRARY_PATH");
	unlink("kwhy-train-meters.txt");
}

/* A run of two steps is 21 launches, and the data one more: the second variant does not come to its end. */
static void a_gpu_that_is_lost_ends_it_with_what_was_measured(void **state)
{
	struct spawned spawned;

	(void)state;
	fake_gpus();
	setenv("KWHY_FAKE_CUDA", "fail:cuLaunchKernel:60:719", 1);
	spawned = SPAWN("train", "--width", "64", "--batch", "32", "--samples", "64", "--steps", "2",
		"--check-width", "0", "--repeat", "1", "--seconds", "0", "--quiet");
	unsetenv("KWHY_FAKE_CUDA");
	unsetenv("LD_LIBRARY_PATH");
	assert_int_equal(spawned.exit, 1);
	assert_non_null(strstr(spawned.out.data, "\n  fp32 "));
	assert_null(strstr(spawned.out.data, "\n  bf16 "));
	assert_non_null(strstr(spawned.out.data, "\nended"));
	spawned_done(&spawned);
}

static void nothing_is_said_of_runs_that_were_not_made(void **state)
{
	struct spawned spawned = SPAWN("train", "--backend", "host", "--device", "0", "--variant", "parallel",
		"--check-width", "0", "--quiet");

	(void)state;
	assert_int_equal(spawned.exit, 1);
	assert_non_null(strstr(spawned.out.data, "parallel takes 2 to 8 GPUs"));
	assert_null(strstr(spawned.out.data, "the same bits"));
	spawned_done(&spawned);
}

static void wrong_words_are_usage_errors(void **state)
{
	(void)state;
#define HOST "train", "--backend", "host"
	assert_fails(SPAWN(HOST, "--variant", "fp64"), 2, "no variant 'fp64'");
	assert_fails(SPAWN(HOST, "--variant", ""), 2, "no variant ''");
	assert_fails(SPAWN(HOST, "--width", "100"), 2, "--width takes a multiple of 32");
	assert_fails(SPAWN(HOST, "--width", "0"), 2, "--width takes a multiple of 32");
	assert_fails(SPAWN(HOST, "--layers", "0"), 2, "--layers takes 1 to 64");
	assert_fails(SPAWN(HOST, "--batch", "24"), 2, "--batch takes up to 65536 samples");
	assert_fails(SPAWN(HOST, "--batch", "0"), 2, "--batch takes up to 65536 samples");
	assert_fails(SPAWN(HOST, "--samples", "100"), 2, "--samples takes a multiple of --batch");
	assert_fails(SPAWN(HOST, "--samples", "0"), 2, "--samples takes a multiple of --batch");
	assert_fails(SPAWN(HOST, "--steps", "0"), 2, "--steps takes 1 to 4096");
	assert_fails(SPAWN(HOST, "--steps", "5000"), 2, "--steps takes 1 to 4096");
	assert_fails(SPAWN(HOST, "--check-width", "33"), 2, "--check-width takes a multiple of 32");
	assert_fails(SPAWN(HOST, "--dp", "9"), 2, "--dp and --pp take 1 to 8 GPUs");
	assert_fails(SPAWN(HOST, "--dp", "0"), 2, "--dp and --pp take 1 to 8 GPUs");
	assert_fails(SPAWN(HOST, "--pp", "0"), 2, "--dp and --pp take 1 to 8 GPUs");
	assert_fails(SPAWN(HOST, "--dp", "2", "--pp", "3"), 2, "give one number");
	assert_fails(SPAWN(HOST, "--dp", "3", "--device", "0,1"), 2, "--device names 2");
	assert_fails(SPAWN(HOST, "-o", "x.csv"), 2, "--csv FILE");
	assert_fails(SPAWN("train", "--backend", "tpu"), 2, "backend");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_variant_is_a_row_that_was_checked),
		cmocka_unit_test(two_gpus_share_a_batch),
		cmocka_unit_test(the_text_is_no_wider_than_80_columns),
		cmocka_unit_test(losses_go_to_a_csv_without_joules_that_nobody_measured),
		cmocka_unit_test(joules_are_those_of_gpus_of_known_power),
		cmocka_unit_test(a_meter_that_fails_on_the_way_is_told),
		cmocka_unit_test(energy_is_missed_only_of_the_rows_that_lack_it),
		cmocka_unit_test(a_gpu_whose_meter_is_not_found_is_told_in_words_of_its_own),
		cmocka_unit_test(a_gpu_that_is_lost_ends_it_with_what_was_measured),
		cmocka_unit_test(nothing_is_said_of_runs_that_were_not_made),
		cmocka_unit_test(wrong_words_are_usage_errors),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
