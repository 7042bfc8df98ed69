/* SPDX-License-Identifier: Apache-2.0 */
#include "decoders.h"
#include "lab/decode/device.h"

#include "fakes/cuda/give_kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROMPT = 4, TOKENS = 5, SEQUENCES = 9 };

static struct kwhy_gpu *gpu;
static struct kwhy_decode_answer answer;

static enum kwhy_decode_products products;

static struct kwhy_decode *decoder_of(
	enum kwhy_decode_weights weights, enum kwhy_decode_launching launching, uint32_t slots)
{
	const struct kwhy_decode_request request = {.gpu = gpu,
		.products = products,
		.shape = answer.shape,
		.weights = weights,
		.launching = launching,
		.slots = slots,
		.prompt = PROMPT,
		.tokens = TOKENS};

	return opened(&request);
}

static struct kwhy_decode_error error_of(
	enum kwhy_decode_weights weights, enum kwhy_decode_launching launching, uint32_t slots)
{
	struct kwhy_decode *decode = decoder_of(weights, launching, slots);
	struct kwhy_decode_error found;
	struct kwhy_error error;

	if (kwhy_decode_check(decode, &answer, &found, &error))
		fail_msg("%s", error.text);
	kwhy_decode_close(decode);
	return found;
}

static void every_kind_of_weights_is_as_near_to_the_reference_as_its_digits_allow(void **state)
{
	static const double relative[] = {1e-5, 1e-5, 0.02, 0.003, 0.08, 0.03, 0.35};

	(void)state;
	for (int w = 0; w <= KWHY_DECODE_INT4; w++) {
		struct kwhy_decode_error found = error_of((enum kwhy_decode_weights)w, KWHY_DECODE_CALLS, 2);

		if (!(found.relative <= relative[w]))
			fail_msg("%s: %g", kwhy_decode_weights_name((enum kwhy_decode_weights)w),
				found.relative);
		assert_true(found.most > 0);
	}
}

/* What is dropped shows against all weights; what is kept is right. */
static void weights_that_keep_two_of_four_are_those_of_a_reference_that_does(void **state)
{
	struct kwhy_decode_error all, kept;
	struct kwhy_decode_answer pruned;
	struct kwhy_error error;

	(void)state;
	if (kwhy_decode_answer_init_pruned(answer.shape, &pruned, &error))
		fail_msg("%s", error.text);
	for (uint32_t slots = 2; slots <= 17; slots += 15) {
		struct kwhy_decode *decode = decoder_of(KWHY_DECODE_SPARSE, KWHY_DECODE_GRAPH, slots);

		if (kwhy_decode_check(decode, &answer, &all, &error) ||
			kwhy_decode_check(decode, &pruned, &kept, &error))
			fail_msg("%s", error.text);
		assert_true(all.relative > 0.3 && all.relative < 1.2);
		assert_true(kept.relative < 0.005);
		assert_int_equal(kwhy_decode_weights_bytes(decode), 2 * (2 * 196608 + 1024 * 128) / 2);
		kwhy_decode_close(decode);
	}
	kwhy_decode_answer_done(&pruned);
}

static void few_and_many_slots_pass_the_check_however_they_are_launched(void **state)
{
	(void)state;
	for (int launching = 0; launching < KWHY_DECODE_LAUNCHING_COUNT; launching++) {
		assert_true(error_of(KWHY_DECODE_FP16, (enum kwhy_decode_launching)launching, 3).relative <
			0.003);
		if (launching != KWHY_DECODE_DEVICE)
			assert_true(error_of(KWHY_DECODE_FP16, (enum kwhy_decode_launching)launching, 17)
					    .relative < 0.003);
	}
}

static void tokens_are_written_behind_a_prompt_and_have_times(void **state)
{
	/* Two kernels a layer where blocks form clusters. */
	static const uint32_t slots[] = {2, 20, 40},
			      clustered[] = {1 + 2 * 2 + 1, 1 + 2 * 2 + 2, 1 + 2 * 2 + 2},
			      others[] = {1 + 2 * 5 + 1, 1 + 2 * 7 + 2, 1 + 2 * 7 + 2};

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct kwhy_decode *decode = decoder_of(KWHY_DECODE_BF16, KWHY_DECODE_GRAPH, slots[i]);
		double prefill_s, write_s, steps[TOKENS - 1];
		struct kwhy_error error;

		assert_int_equal(kwhy_decode_write(decode, NULL, &error), KWHY_E_INPUT);
		assert_non_null(strstr(error.text, "read one first"));
		for (int run = 0; run < 2; run++)
			if (kwhy_decode_prefill(decode, &prefill_s, &error) ||
				kwhy_decode_write(decode, &write_s, &error) ||
				kwhy_decode_write(decode, &write_s, &error) ||
				kwhy_decode_steps(decode, steps, &error))
				fail_msg("%s", error.text);
		assert_true(prefill_s > 0 && write_s > 0);
		for (int s = 0; s < TOKENS - 1; s++)
			assert_true(steps[s] > 0 && steps[s] < write_s);
		assert_int_equal(kwhy_decode_kernel_count(decode),
			(gpu->facts.architecture >= 90 ? clustered : others)[i]);
		assert_int_equal(kwhy_decode_token_bytes(decode), 2 * 2 * 128 * 2);
		kwhy_decode_close(decode);
	}
}

static void serve(struct kwhy_decode *decode, bool continuous, struct kwhy_decode_served *out)
{
	const struct kwhy_decode_arrivals arrivals = {
		.rate_per_s = 1e6, .count = SEQUENCES, .seed = 3, .continuous = continuous};
	struct kwhy_error error;

	for (int i = 0; i < SEQUENCES; i++)
		out->first_s[i] = out->whole_s[i] = -1;
	if (kwhy_decode_serve(decode, &arrivals, out, &error))
		fail_msg("%s", error.text);
	for (int i = 0; i < SEQUENCES; i++) {
		assert_true(out->first_s[i] > 0);
		assert_true(out->whole_s[i] >= out->first_s[i] && out->whole_s[i] <= out->seconds);
	}
}

static void sequences_that_arrive_are_written_in_fewer_steps_where_free_slots_take_them(void **state)
{
	double first_s[SEQUENCES], whole_s[SEQUENCES];
	struct kwhy_decode_served together = {.first_s = first_s, .whole_s = whole_s}, apart = together;
	struct kwhy_decode *decode = decoder_of(KWHY_DECODE_BF16, KWHY_DECODE_GRAPH, 2);
	struct kwhy_error error;

	(void)state;
	if (kwhy_decode_prefill(decode, NULL, &error))
		fail_msg("%s", error.text);
	serve(decode, false, &together);
	serve(decode, true, &apart);
	assert_true(together.tokens == apart.tokens && apart.tokens > SEQUENCES);
	assert_true(apart.seat_steps == apart.tokens && together.seat_steps == together.tokens);
	assert_true(apart.steps < together.steps);
	kwhy_decode_close(decode);
}

static void a_library_makes_the_products_of_prompts_and_of_many_slots(void **state)
{
	static const double relative[] = {1e-5, 1e-5, 0.02, 0.003, 0.08, 0.03, 0.35};
	struct kwhy_decode *decode;

	(void)state;
	if (strcmp(gpu->ops->name, "cuda") != 0)
		kwhy_skip("cuBLASLt is called on CUDA alone");
	products = KWHY_DECODE_PRODUCTS_LIBRARY;
	for (int w = 0; w <= KWHY_DECODE_INT4; w++)
		assert_true(
			error_of((enum kwhy_decode_weights)w, KWHY_DECODE_GRAPH, 2).relative < relative[w]);
	assert_true(error_of(KWHY_DECODE_BF16, KWHY_DECODE_EARLY, 17).relative < 0.02);
	assert_true(error_of(KWHY_DECODE_TF32, KWHY_DECODE_CALLS, 17).relative < 1e-5);
	decode = decoder_of(KWHY_DECODE_BF16, KWHY_DECODE_GRAPH, 2);
	assert_string_equal(kwhy_decode_products(decode, true), "cuBLASLt 13.0.2");
	assert_string_equal(kwhy_decode_products(decode, false), "own kernels");
	kwhy_decode_close(decode);
	products = KWHY_DECODE_PRODUCTS_BEST;
}

static void without_a_library_own_kernels_say_why_they_multiply_long_prompts(void **state)
{
	struct kwhy_decode_request request = {.gpu = gpu,
		.shape = answer.shape,
		.weights = KWHY_DECODE_BF16,
		.slots = 2,
		.prompt = 256,
		.tokens = TOKENS};
	struct kwhy_decode *decode;

	(void)state;
	setenv("KWHY_FAKE_CUBLASLT", "refuses", 1);
	decode = opened(&request);
	assert_memory_equal(kwhy_decode_products(decode, true), "own kernels: cuBLASLt ", 22);
	kwhy_decode_close(decode);
	request.products = KWHY_DECODE_PRODUCTS_LIBRARY;
	expect_refusal(&request, KWHY_E_UNSUPPORTED, "");
	unsetenv("KWHY_FAKE_CUBLASLT");
	request.products = KWHY_DECODE_PRODUCTS_OWN;
	decode = opened(&request);
	assert_string_equal(kwhy_decode_products(decode, true), "own kernels");
	kwhy_decode_close(decode);
}

/* Pages that a slot's sequence leaves are the next one's. */
static void pages_that_lie_anywhere_pass_the_check_and_go_from_sequence_to_sequence(void **state)
{
	struct kwhy_decode_request request = {.gpu = gpu,
		.shape = answer.shape,
		.weights = KWHY_DECODE_FP16,
		.launching = KWHY_DECODE_GRAPH,
		.slots = 3,
		.prompt = 62,
		.tokens = 8,
		.page = 64};
	double first_s[SEQUENCES], whole_s[SEQUENCES];
	struct kwhy_decode_served served = {.first_s = first_s, .whole_s = whole_s};
	struct kwhy_decode_error found;
	struct kwhy_decode *decode;
	struct kwhy_error error;

	(void)state;
	if (kwhy_decode_open(&request, &decode, &error) ||
		kwhy_decode_check(decode, &answer, &found, &error) ||
		kwhy_decode_prefill(decode, NULL, &error) || kwhy_decode_write(decode, NULL, &error))
		fail_msg("%s", error.text);
	assert_true(found.relative < 0.003);
	assert_int_equal(kwhy_decode_cache_bytes(decode), 7 * 64 * kwhy_decode_token_bytes(decode));
	serve(decode, true, &served);
	assert_true(served.pages_most > 3 && served.pages_most <= 6);
	assert_true(served.page_steps >= served.seat_steps && served.page_steps <= 2 * served.seat_steps);
	assert_int_equal(kwhy_decode_write(decode, NULL, &error), KWHY_E_INPUT);
	serve(decode, false, &served);
	kwhy_decode_close(decode);
	request.page = 48;
	expect_refusal(&request, KWHY_E_INPUT, "pages of 48 tokens; they have 64 of them or a multiple");
}

/* Tokens do not depend on where keys and values lie. */
static void pages_change_no_token_of(enum kwhy_decode_weights weights, bool has_short_cache)
{
	uint32_t tokens[2][70];

	for (uint32_t paged = 0; paged < 2; paged++) {
		const struct kwhy_decode_request request = {.gpu = gpu,
			.shape = answer.shape,
			.weights = weights,
			.slots = 2,
			.prompt = 60,
			.tokens = 70,
			.page = paged * 64,
			.has_short_cache = has_short_cache};
		struct kwhy_decode *decode;
		struct kwhy_error error;

		if (kwhy_decode_open(&request, &decode, &error) ||
			kwhy_decode_prefill(decode, NULL, &error) ||
			kwhy_decode_write(decode, NULL, &error) ||
			kwhy_decode_tokens(decode, 1, tokens[paged], &error))
			fail_msg("%s", error.text);
		kwhy_decode_close(decode);
	}
	assert_memory_equal(tokens[0], tokens[1], sizeof(tokens[0]));
}

static void pages_change_no_token(void **state)
{
	(void)state;
	pages_change_no_token_of(KWHY_DECODE_FP32, false);
	pages_change_no_token_of(KWHY_DECODE_BF16, true);
}

static void what_cannot_be_run_is_said(void **state)
{
	struct kwhy_decode_request request = {.gpu = gpu,
		.shape = answer.shape,
		.launching = KWHY_DECODE_DEVICE,
		.slots = 17,
		.prompt = PROMPT,
		.tokens = TOKENS};

	(void)state;
	expect_refusal(&request, KWHY_E_UNSUPPORTED, "16 sequences at most; launch a graph instead");
	request.slots = 1;
	request.choice.temperature = 1;
	expect_refusal(&request, KWHY_E_UNSUPPORTED, "to draw them launch a graph instead");
	request.slots = 0;
	expect_refusal(&request, KWHY_E_INPUT, "");
	request.slots = 1;
	request.launching = KWHY_DECODE_CALLS;
	request.has_short_cache = true;
	expect_refusal(&request, KWHY_E_UNSUPPORTED, "other weights than fp32 and tf32");
	request.has_short_cache = false;
	request.tokens = 2048;
	expect_refusal(&request, KWHY_E_INPUT, "small knows 2048 positions");
}

/* Without arguments on the host; with "cuda" and the path of a fake driver on that. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_weights_is_as_near_to_the_reference_as_its_digits_allow),
		cmocka_unit_test(weights_that_keep_two_of_four_are_those_of_a_reference_that_does),
		cmocka_unit_test(few_and_many_slots_pass_the_check_however_they_are_launched),
		cmocka_unit_test(tokens_are_written_behind_a_prompt_and_have_times),
		cmocka_unit_test(sequences_that_arrive_are_written_in_fewer_steps_where_free_slots_take_them),
		cmocka_unit_test(a_library_makes_the_products_of_prompts_and_of_many_slots),
		cmocka_unit_test(without_a_library_own_kernels_say_why_they_multiply_long_prompts),
		cmocka_unit_test(pages_that_lie_anywhere_pass_the_check_and_go_from_sequence_to_sequence),
		cmocka_unit_test(pages_change_no_token),
		cmocka_unit_test(what_cannot_be_run_is_said),
	};
	enum kwhy_gpu_backend backend = argc > 2 ? KWHY_GPU_CUDA : KWHY_GPU_HOST;
	struct kwhy_error error;
	int failed;

	if (argc > 2)
		give_kernels_to_the_fake(argv[2], kwhy_decode_host_kernels);
	if (kwhy_gpu_open(backend, NULL, &gpu, &error) ||
		kwhy_decode_answer_init(kwhy_decode_shape_find("small"), &answer, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	failed = kwhy_test_main(tests, NULL, NULL);
	kwhy_decode_answer_done(&answer);
	gpu->ops->close(gpu);
	return failed;
}
