/* SPDX-License-Identifier: Apache-2.0 */
/* `kwhy-lab decode` as a shell sees it, on the host's back end. */
#include "spawned_checks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SMALL "decode", "--backend", "host", "--shape", "small", "--prompt", "4", "--tokens", "4"

static void every_batch_and_launching_is_a_row_with_its_error_and_rates(void **state)
{
	struct spawned spawned = SPAWN(SMALL, "--batch", "2,17", "--weights", "bf16,int8", "--launch",
		"graph,device", "--repeat", "2", "--json");
	json_t *root = json_loads(spawned.out.data, 0, NULL), *rows = json_object_get(root, "rows"), *row;
	size_t i, missing = 0;

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_string_equal(json_string_value(json_object_get(root, "schema")), "kwhy.decode/1");
	assert_int_equal(json_array_size(rows), 8);
	json_array_foreach(rows, i, row)
	{
		if (!json_is_null(json_object_get(row, "missing"))) {
			missing++;
			continue;
		}
		assert_true(number_in(row, "error", "relative") > 0);
		assert_true(number_in(row, "error", "relative") < 0.1);
		assert_true(number_in(row, "reading", "tokens_per_s") > 0);
		assert_memory_equal(
			json_string_value(json_object_get(json_object_get(row, "reading"), "products")),
			"own kernels", 11);
		assert_true(number_in(row, "writing", "tokens_per_s") > 0);
		assert_true(json_is_null(json_object_get(json_object_get(row, "writing"), "tokens_per_j")));
		assert_int_equal(number_in(row, "token_s", "count"), 2 * 3);
	}
	assert_int_equal(missing, 2); /* 17 sequences in one launch */
	json_decref(root);
	spawned_done(&spawned);
}

/* A model's shape takes minutes there. */
static void what_is_left_open_is_small_on_the_host(void **state)
{
	struct spawned spawned = SPAWN(
		"decode", "--backend", "host", "--prompt", "4", "--tokens", "2", "--repeat", "1", "--json");
	json_t *root = json_loads(spawned.out.data, 0, NULL), *rows = json_object_get(root, "rows");

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(root, "shape"), "name")), "small");
	assert_int_equal(json_array_size(rows), 2);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(rows, 1), "batch")), 8);
	json_decref(root);
	spawned_done(&spawned);
}

static void sequences_that_arrive_are_served_in_two_ways(void **state)
{
	struct spawned spawned = SPAWN(SMALL, "--batch", "2", "--launch", "graph,device", "--repeat", "1",
		"--arrivals", "20", "--json");
	json_t *root = json_loads(spawned.out.data, 0, NULL), *rows = json_object_get(root, "rows");
	static const char *const ways[] = {"together", "continuous"};

	(void)state;
	assert_int_equal(spawned.exit, 0);
	for (int i = 0; i < 2; i++) {
		const json_t *graph = json_array_get(rows, 0);

		assert_true(number_in(graph, ways[i], "sequences") == 20);
		assert_true(number_in(graph, ways[i], "tokens_per_s") > 0);
		assert_true(number_in(graph, ways[i], "busy_ratio") > 0 &&
			number_in(graph, ways[i], "busy_ratio") <= 1);
		assert_true(json_is_string(
			json_object_get(json_object_get(json_array_get(rows, 1), ways[i]), "missing")));
	}
	json_decref(root);
	spawned_done(&spawned);
}

/* What waiting costs is the difference to the run without it. */
static void assert_exposed(json_t *row)
{
	const json_t *run = json_object_get(json_object_get(row, "writing"), "run_s"),
		     *alone = json_object_get(
			     json_object_get(json_object_get(row, "alone"), "writing"), "run_s");
	double run_s = json_number_value(json_object_get(run, "median")),
	       longer_s = run_s - json_number_value(json_object_get(alone, "median"));
	json_t *exposed = json_object_get(row, "exposed");

	assert_true(run_s > 0);
	assert_true(fabs(number_in(exposed, "writing", "ratio") - longer_s / run_s) < 1e-6);
	assert_true(fabs(number_in(exposed, "writing", "s_per_token") *
				    number_in(row, "writing", "tokens_a_run") -
			    longer_s) < 1e-6 * run_s);
}

static void on_two_gpus_a_row_says_what_waiting_costs_and_the_table_is_for_model_scale(void **state)
{
	struct spawned spawned = SPAWN(SMALL, "--batch", "2", "--repeat", "1", "--tp", "1,2", "--json",
		"--csv", "/dev/stderr", "-q");
	json_t *root = json_loads(spawned.out.data, 0, NULL), *rows = json_object_get(root, "rows"),
	       *one = json_array_get(rows, 0), *two = json_array_get(rows, 1);

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_string_equal(json_string_value(json_object_get(two, "id")), "bf16 b2 graph tp2");
	assert_int_equal(json_integer_value(json_object_get(two, "gpus")), 2);
	assert_true(json_is_null(json_object_get(two, "missing")));
	assert_true(json_is_null(json_object_get(one, "exposed")));
	assert_true(number_in(json_object_get(two, "alone"), "writing", "tokens_per_s") > 0);
	assert_exposed(two);
	assert_memory_equal(spawned.err.data, "workers,throughput,power_w\n1,", 29);
	json_decref(root);
	spawned_done(&spawned);
	assert_fails(SPAWN(SMALL, "--tp", "0"), 2, "--tp takes numbers of GPUs from 1 to 8");
	assert_fails(SPAWN(SMALL, "--batch", "1,2", "--csv", "x.csv"), 2, "--csv is of one kind of weights");
	assert_fails(SPAWN(SMALL, "--batch", "1", "--page", "0,64", "--csv", "x.csv"), 2,
		"one page and one cache");
}

static void sequences_that_come_and_go_leave_their_pages_to_others(void **state)
{
	struct spawned spawned = SPAWN(
		SMALL, "--batch", "2", "--repeat", "1", "--page", "0,64", "--arrivals", "10", "--json", "-q");
	json_t *root = json_loads(spawned.out.data, 0, NULL), *rows = json_object_get(root, "rows"),
	       *row = json_array_get(rows, 1);

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_string_equal(json_string_value(json_object_get(row, "id")), "bf16 b2 graph page64");
	assert_int_equal(json_integer_value(json_object_get(row, "page_tokens")), 64);
	assert_true(number_in(row, "continuous", "pages_most") >= 1 &&
		number_in(row, "continuous", "pages_most") <= 2);
	assert_true(number_in(row, "continuous", "pages_mean") <= number_in(row, "continuous", "pages_most"));
	assert_null(json_object_get(json_object_get(json_array_get(rows, 0), "continuous"), "pages_most"));
	json_decref(root);
	spawned_done(&spawned);
	assert_fails(SPAWN(SMALL, "--page", "16"), 2, "--page takes multiples of 64 tokens");
}

static void keys_and_values_in_8_bits_take_half_the_room_and_say_what_they_err(void **state)
{
	struct spawned spawned = SPAWN(SMALL, "--batch", "2", "--repeat", "1", "--cache", "auto,fp8",
		"--page", "0,64", "--json", "-q");
	json_t *root = json_loads(spawned.out.data, 0, NULL), *rows = json_object_get(root, "rows"),
	       *whole = json_array_get(rows, 0), *half = json_array_get(rows, 1),
	       *paged = json_array_get(rows, 3);
	double error = number_in(half, "error", "relative");

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_string_equal(json_string_value(json_object_get(half, "id")), "bf16 b2 graph kv-fp8");
	assert_string_equal(json_string_value(json_object_get(half, "cache")), "fp8");
	assert_string_equal(json_string_value(json_object_get(whole, "cache")), "auto");
	assert_int_equal(2 * json_integer_value(json_object_get(half, "cache_bytes")),
		json_integer_value(json_object_get(whole, "cache_bytes")));
	assert_true(error > 2 * number_in(whole, "error", "relative") && error < 0.05);
	assert_float_equal(number_in(paged, "error", "relative"), error, 1e-6);
	json_decref(root);
	spawned_done(&spawned);
	assert_fails(SPAWN(SMALL, "--cache", "int8"), 2, "--cache takes auto and fp8");
	spawned = SPAWN(SMALL, "--batch", "1", "--repeat", "1", "--weights", "tf32", "--cache", "fp8");
	assert_int_equal(spawned.exit, 1); /* a row that says why it has no figures */
	assert_non_null(strstr(spawned.out.data, "activations of 16 bits; take other weights"));
	spawned_done(&spawned);
}

static void sequences_that_arrive_are_served_with_keys_and_values_in_8_bits_on_two_gpus(void **state)
{
	struct spawned spawned = SPAWN(SMALL, "--batch", "2", "--repeat", "1", "--cache", "auto,fp8", "--tp",
		"1,2", "--arrivals", "20", "--json", "-q");
	json_t *root = json_loads(spawned.out.data, 0, NULL), *rows = json_object_get(root, "rows"),
	       *whole = json_array_get(rows, 0), *half = json_array_get(rows, 1),
	       *both = json_array_get(rows, 3);
	size_t i;
	json_t *row;

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_int_equal(json_array_size(rows), 4);
	assert_string_equal(json_string_value(json_object_get(both, "id")), "bf16 b2 graph tp2 kv-fp8");
	json_array_foreach(rows, i, row)
	{
		assert_true(json_is_null(json_object_get(row, "missing")));
		assert_true(number_in(row, "together", "sequences") == 20);
		assert_true(number_in(row, "continuous", "sequences") == 20);
		assert_true(number_in(row, "together", "tokens") == number_in(whole, "together", "tokens"));
		assert_true(number_in(row, "continuous", "tokens_per_s") > 0);
	}
	assert_int_equal(2 * json_integer_value(json_object_get(both, "cache_bytes")),
		json_integer_value(json_object_get(half, "cache_bytes")));
	assert_float_equal(number_in(both, "error", "relative"), number_in(half, "error", "relative"),
		0.5 * number_in(half, "error", "relative"));
	assert_exposed(both);
	json_decref(root);
	spawned_done(&spawned);
}

static void beams_are_held_against_the_reference_and_their_tokens_count_once(void **state)
{
	struct spawned spawned = SPAWN(SMALL, "--batch", "2", "--repeat", "1", "--beam", "3", "--json", "-q");
	json_t *root = json_loads(spawned.out.data, 0, NULL),
	       *row = json_array_get(json_object_get(root, "rows"), 0);

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_int_equal(json_integer_value(json_object_get(root, "beams")), 3);
	assert_true(json_number_value(json_object_get(row, "beam_error")) < 0.1);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(row, "writing"), "tokens_a_run")), 8);
	json_decref(root);
	spawned_done(&spawned);
}

static void sparse_weights_stand_beside_what_dropping_the_others_costs(void **state)
{
	struct spawned spawned = SPAWN(
		SMALL, "--batch", "1", "--repeat", "1", "--weights", "fp16-2:4", "--json", "-q");
	json_t *root = json_loads(spawned.out.data, 0, NULL),
	       *row = json_array_get(json_object_get(root, "rows"), 0);

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_true(json_is_null(json_object_get(row, "missing")));
	assert_true(number_in(row, "error", "relative") > 0.3);
	assert_true(json_number_value(json_object_get(row, "pruned_error")) < 0.01);
	json_decref(root);
	spawned_done(&spawned);
}

static void where_nothing_could_be_run_the_status_is_1(void **state)
{
	struct spawned spawned = SPAWN(SMALL, "--batch", "1", "--tp", "3");

	(void)state;
	assert_int_equal(spawned.exit, 1);
	assert_non_null(strstr(spawned.out.data, "is not available: this machine has 2 of the 3 GPUs"));
	assert_null(strstr(spawned.out.data, "Reading prompts"));
	spawned_done(&spawned);
	spawned = SPAWN("train", "--backend", "host", "--variant", "cublas", "--repeat", "1");
	assert_int_equal(spawned.exit, 1);
	spawned_done(&spawned);
	spawned = SPAWN("flow", "--backend", "host", "--variant", "n6", "--flows", "10", "--repeat", "1");
	assert_int_equal(spawned.exit, 1);
	spawned_done(&spawned);
}

static void the_text_is_no_wider_than_80_columns(void **state)
{
	struct spawned spawned = SPAWN(SMALL, "--batch", "1", "--repeat", "1", "--weights", "fp16",
		"--temperature", "0.8", "--top-k", "40", "--top-p", "0.9", "--arrivals", "10");

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_fits_80_columns(spawned.out.data);
	assert_non_null(strstr(spawned.out.data, "fp16 b1 graph"));
	assert_non_null(strstr(spawned.out.data, "drawn  at temperature 0.8"));
	assert_non_null(
		strstr(spawned.out.data, "energy not available: the host back end has no GPU's meters"));
	spawned_done(&spawned);
}

static void long_names_of_rows_are_no_wider_either_and_whole(void **state)
{
	struct spawned spawned = SPAWN(SMALL, "--batch", "2", "--repeat", "1", "--cache", "fp8", "--tp",
		"1,2", "--page", "64", "--arrivals", "20", "-q");

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_fits_80_columns(spawned.out.data);
	assert_non_null(strstr(spawned.out.data, "\n  bf16 b2 graph tp2 page64 kv-fp8  "));
	assert_null(strstr(spawned.out.data, "Energy of a token"));
	spawned_done(&spawned);
}

static void wrong_words_are_usage_errors(void **state)
{
	(void)state;
	assert_fails(SPAWN(SMALL, "--weights", "fp4"), 2, "--weights takes fp32, tf32");
	assert_fails(SPAWN(SMALL, "--batch", "0"), 2, "--batch takes numbers from 1 to 1024");
	assert_fails(SPAWN(SMALL, "--batch", "8x"), 2, "not '8x'");
	assert_fails(SPAWN(SMALL, "--launch", "stream"), 2, "--launch takes calls, graph, early and device");
	assert_fails(SPAWN(SMALL, "--products", "mkl"), 2, "--products takes best, own or cublaslt");
	assert_fails(SPAWN(SMALL, "--weights", ""), 2, "nothing to run");
	assert_fails(SPAWN(SMALL, "--repeat", "0"), 2, "--repeat takes 1 to 1000");
	assert_fails(SPAWN(SMALL, "--beam", "9"), 2, "--beam takes 1 to 8");
	assert_fails(SPAWN(SMALL, "--top-k", "5"), 2, "give --temperature, such as 1, too");
	assert_fails(SPAWN(SMALL, "--temperature", "1", "--top-p", "0"), 2, "--top-p takes a share above 0");
	assert_fails(SPAWN(SMALL, "-o", "x.csv"), 2, "writes .txt or .json");
	assert_fails(SPAWN("decode", "--backend", "host", "--shape", "gpt-2"), 2, "--shape takes opt-125m");
	assert_fails(SPAWN("decode", "--backend", "host", "--shape", "opt-125m", "--prompt", "2048"), 2,
		"the 2048 positions of opt-125m");
	assert_fails(SPAWN("decode", "--backend", "tpu"), 2, "--backend takes cuda, hip or host");
}

/* On fakes of the driver and of the meters of an idle H200. */
static void on_a_gpu_tokens_have_joules_with_their_interval(void **state)
{
	struct spawned spawned;
	json_t *root, *phase, *joules;

	(void)state;
	setenv("LD_LIBRARY_PATH", KWHY_FAKE_CUDA_DIR ":" KWHY_FAKE_NVML_DIR, 1);
	setenv("KWHY_FAKE_NVML", KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/h200_idle.txt", 1);
	setenv("KWHY_FAKE_GPU_KERNELS", KWHY_FAKE_KERNELS, 1);
	setenv("XDG_CACHE_HOME", "/dev/null", 1);
	spawned = SPAWN("decode", "--shape", "small", "--batch", "2", "--launch", "early", "--prompt", "2",
		"--tokens", "2", "--repeat", "1", "--seconds", "1", "--json", "-q");
	root = json_loads(spawned.out.data, 0, NULL);
	if (!root)
		fail_msg("%s", spawned.err.data);
	assert_true(json_is_null(json_object_get(root, "energy_missing")));
	phase = json_object_get(json_array_get(json_object_get(root, "rows"), 0), "writing");
	joules = json_object_get(phase, "gross_j_per_token");
	assert_true(json_number_value(json_object_get(phase, "window_s")) >= 1);
	assert_true(json_number_value(json_object_get(joules, "low")) > 0);
	assert_true(json_number_value(json_object_get(joules, "low")) <
		json_number_value(json_object_get(joules, "high")));
	assert_float_equal(json_number_value(json_object_get(phase, "tokens_per_j")) *
			json_number_value(json_object_get(joules, "value")),
		1, 1e-6);
	json_decref(root);
	spawned_done(&spawned);
	spawned = SPAWN("decode", "--shape", "small", "--batch", "2", "--launch", "early", "--prompt", "2",
		"--tokens", "2", "--repeat", "1", "--seconds", "1", "--arrivals", "50", "-q");
	assert_non_null(strstr(spawned.out.data, "\nEnergy of a token\n"));
	assert_non_null(strstr(spawned.out.data, "continuous"));
	assert_fits_80_columns(spawned.out.data);
	spawned_done(&spawned);
	unsetenv("LD_LIBRARY_PATH");
}

/* Kernels of each wait for what those of the other tell them. */
static void two_gpus_of_a_driver_come_to_the_tokens_of_one(void **state)
{
	struct spawned spawned;
	json_t *root, *row;

	(void)state;
	setenv("LD_LIBRARY_PATH", KWHY_FAKE_CUDA_DIR, 1);
	setenv("KWHY_FAKE_GPU_KERNELS", KWHY_FAKE_KERNELS, 1);
	setenv("KWHY_FAKE_CUDA_DEVICES", "2", 1);
	setenv("KWHY_FAKE_CUDA", "kernels-meet", 1);
	setenv("XDG_CACHE_HOME", "/dev/null", 1);
	spawned = SPAWN("decode", "--shape", "small", "--batch", "2", "--launch", "graph,calls", "--prompt",
		"4", "--tokens", "4", "--repeat", "1", "--tp", "2", "--json", "-q");
	root = json_loads(spawned.out.data, 0, NULL);
	if (spawned.exit || json_array_size(json_object_get(root, "rows")) != 2)
		fail_msg("exit %d: %s", spawned.exit, spawned.err.data);
	for (size_t i = 0; i < 2; i++) {
		row = json_array_get(json_object_get(root, "rows"), i);
		assert_int_equal(json_integer_value(json_object_get(row, "gpus")), 2);
		assert_true(json_is_null(json_object_get(row, "missing")));
		assert_exposed(row);
	}
	json_decref(root);
	spawned_done(&spawned);
	unsetenv("LD_LIBRARY_PATH");
	unsetenv("KWHY_FAKE_CUDA_DEVICES");
	unsetenv("KWHY_FAKE_CUDA");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_batch_and_launching_is_a_row_with_its_error_and_rates),
		cmocka_unit_test(what_is_left_open_is_small_on_the_host),
		cmocka_unit_test(sequences_that_arrive_are_served_in_two_ways),
		cmocka_unit_test(on_two_gpus_a_row_says_what_waiting_costs_and_the_table_is_for_model_scale),
		cmocka_unit_test(sequences_that_come_and_go_leave_their_pages_to_others),
		cmocka_unit_test(keys_and_values_in_8_bits_take_half_the_room_and_say_what_they_err),
		cmocka_unit_test(sequences_that_arrive_are_served_with_keys_and_values_in_8_bits_on_two_gpus),
		cmocka_unit_test(beams_are_held_against_the_reference_and_their_tokens_count_once),
		cmocka_unit_test(sparse_weights_stand_beside_what_dropping_the_others_costs),
		cmocka_unit_test(where_nothing_could_be_run_the_status_is_1),
		cmocka_unit_test(the_text_is_no_wider_than_80_columns),
		cmocka_unit_test(long_names_of_rows_are_no_wider_either_and_whole),
		cmocka_unit_test(on_a_gpu_tokens_have_joules_with_their_interval),
		cmocka_unit_test(two_gpus_of_a_driver_come_to_the_tokens_of_one),
		cmocka_unit_test(wrong_words_are_usage_errors),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
