/* SPDX-License-Identifier: Apache-2.0 */
/* `kwhy-lab decode`, run as a command. */
#include "spawned_checks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SMALL "decode", "--backend", "host", "--prompt", "4", "--tokens", "4", "--repeat", "1"

static const json_t *rows_of(const json_t *root)
{
	return json_object_get(root, "rows");
}

static const json_t *phase_of(const json_t *row, const char *name)
{
	const json_t *phases = json_object_get(row, "phases"), *phase;
	size_t i;

	json_array_foreach(phases, i,
		phase) if (strcmp(json_string_value(json_object_get(phase, "name")), name) == 0) return phase;
	fail_msg("no phase %s", name);
	return NULL;
}

static void every_combination_is_a_row_with_its_error_and_rates(void **state)
{
	json_t *root = json_of(SPAWN(SMALL, "--batch", "2,8", "--weights", "bf16,int8", "--launch",
		"calls,graph", "--json", "-q"));
	const json_t *rows = rows_of(root), *row;
	size_t i;

	(void)state;
	assert_string_equal(json_string_value(json_object_get(root, "schema")), "kwhy.decode/1");
	assert_string_equal(json_string_value(json_object_get(root, "shape")), "small");
	assert_int_equal(json_array_size(rows), 8);
	json_array_foreach(rows, i, row)
	{
		const json_t *writing = phase_of(row, "writing"), *reading = phase_of(row, "reading");

		assert_true(json_is_null(json_object_get(row, "missing")));
		assert_true(json_is_null(json_object_get(row, "wrong")));
		assert_true(number_in(row, "error", "relative") > 0);
		assert_true(number_in(row, "error", "relative") < 0.1);
		assert_true(number_in(writing, NULL, "items_per_s") > 0);
		assert_true(
			number_in(writing, NULL, "items_a_run") == number_in(row, "decoder", "batch") * 4);
		assert_true(number_in(reading, NULL, "items_per_s") > 0);
		assert_int_equal(number_in(row, "step_s", "count"), 3);
		assert_true(number_in(row, "decoder", "kernels_a_token") > 20);
	}
	json_decref(root);
}

static void sequences_that_arrive_are_served_in_two_ways(void **state)
{
	json_t *root = json_of(SPAWN(SMALL, "--batch", "2", "--arrivals", "20", "--json", "-q"));
	const json_t *row = json_array_get(rows_of(root), 0);
	static const char *const ways[] = {"together", "continuous"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_true(number_in(row, ways[i], "sequences") == 20);
		assert_true(number_in(row, ways[i], "busy_ratio") > 0 &&
			number_in(row, ways[i], "busy_ratio") <= 1);
		assert_true(number_in(phase_of(row, ways[i]), NULL, "items_per_s") > 0);
		assert_true(number_in(phase_of(row, ways[i]), NULL, "runs") == 1);
	}
	json_decref(root);
}

static void gpus_that_share_a_decoder_are_launched_on_by_calls(void **state)
{
	json_t *root = json_of(SPAWN(SMALL, "--batch", "2", "--tp", "1,2", "--json", "-q"));
	const json_t *rows = rows_of(root), *two = json_array_get(rows, 1);

	(void)state;
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(rows, 0), "id")), "bf16 b2 graph");
	assert_string_equal(json_string_value(json_object_get(two, "id")), "bf16 b2 calls tp2");
	assert_true(number_in(two, NULL, "gpus") == 2);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(two, "decoder"), "gathers")), "own");
	json_decref(root);
}

static void a_row_of_more_gpus_than_there_are_says_so_with_those_that_run(void **state)
{
	struct spawned spawned = SPAWN(SMALL, "--batch", "2", "--dp", "1,2", "--device", "0", "-q");

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "\n  bf16 b2 graph  "));
	assert_non_null(strstr(spawned.out.data, "it needs 2 GPUs, and --device names 1"));
	spawned_done(&spawned);
}

static void the_text_is_no_wider_than_80_columns(void **state)
{
	struct spawned spawned = SPAWN(SMALL, "--batch", "2", "--weights", "fp16-2:4", "--temperature", "0.8",
		"--top-k", "40", "--top-p", "0.9", "--arrivals", "10", "--dp", "1,2", "-q");

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_fits_80_columns(spawned.out.data);
	assert_non_null(strstr(spawned.out.data, "fp16-2:4 b2 graph dp2"));
	assert_non_null(strstr(spawned.out.data, "drawn  at temperature 0.8"));
	assert_non_null(strstr(spawned.out.data, "leave --dp out"));
	spawned_done(&spawned);
}

static void wrong_words_are_usage_errors(void **state)
{
	(void)state;
	assert_fails(SPAWN(SMALL, "--weights", "fp4"), 2, "--weights takes fp32, tf32");
	assert_fails(SPAWN(SMALL, "--batch", "0"), 2, "--batch takes numbers from 1 to 1024");
	assert_fails(SPAWN(SMALL, "--batch", "8x"), 2, "not '8x'");
	assert_fails(SPAWN(SMALL, "--launch", "early"), 2, "--launch takes calls or graph");
	assert_fails(SPAWN(SMALL, "--weights", ""), 2, "nothing to run");
	assert_fails(SPAWN(SMALL, "--tp", "9"), 2, "--tp takes numbers from 1 to 8");
	assert_fails(SPAWN(SMALL, "--top-k", "5"), 2, "give --temperature, such as 1, too");
	assert_fails(SPAWN(SMALL, "--temperature", "1", "--top-p", "0"), 2, "--top-p takes a share above 0");
	assert_fails(SPAWN(SMALL, "--shape", "gpt-2"), 2, "--shape takes opt-125m");
	assert_fails(SPAWN("decode", "--backend", "host", "--prompt", "2046", "--tokens", "3"), 2,
		"the 2048 positions of small");
}

/* Runs on fakes: of the CUDA driver, of cuBLASLt, and of NVML with the meters of an idle H200. */
static void on_a_gpu_tokens_have_joules_with_their_interval(void **state)
{
	json_t *root;
	const json_t *row, *phase, *joules;

	(void)state;
	setenv("LD_LIBRARY_PATH", KWHY_FAKE_CUDA_DIR ":" KWHY_FAKE_NVML_DIR ":" KWHY_FAKE_CUBLASLT_DIR, 1);
	setenv("KWHY_FAKE_NVML", KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/h200_idle.txt", 1);
	setenv("KWHY_FAKE_GPU_KERNELS", KWHY_FAKE_KERNELS, 1);
	setenv("XDG_CACHE_HOME", "/dev/null", 1);
	root = json_of(SPAWN("decode", "--shape", "small", "--batch", "2", "--weights", "fp8", "--prompt",
		"2", "--tokens", "2", "--repeat", "1", "--seconds", "1", "--json", "-q"));
	assert_true(json_is_null(json_object_get(root, "energy_missing")));
	row = json_array_get(rows_of(root), 0);
	assert_true(json_is_null(json_object_get(row, "missing")));
	assert_string_equal(json_string_value(json_object_get(json_object_get(row, "decoder"), "products")),
		"cuBLASLt 13.0.2");
	phase = phase_of(row, "writing");
	joules = json_object_get(phase, "gross_j_per_item");
	assert_true(number_in(joules, NULL, "low") > 0);
	assert_true(number_in(joules, NULL, "low") < number_in(joules, NULL, "high"));
	assert_true(
		fabs(number_in(phase, "items_per_j", "value") * number_in(joules, NULL, "value") - 1) < 1e-6);
	json_decref(root);
	unsetenv("LD_LIBRARY_PATH");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_combination_is_a_row_with_its_error_and_rates),
		cmocka_unit_test(sequences_that_arrive_are_served_in_two_ways),
		cmocka_unit_test(gpus_that_share_a_decoder_are_launched_on_by_calls),
		cmocka_unit_test(a_row_of_more_gpus_than_there_are_says_so_with_those_that_run),
		cmocka_unit_test(the_text_is_no_wider_than_80_columns),
		cmocka_unit_test(wrong_words_are_usage_errors),
		cmocka_unit_test(on_a_gpu_tokens_have_joules_with_their_interval),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
