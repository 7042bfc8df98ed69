/* SPDX-License-Identifier: Apache-2.0 */
/* A decoder on two GPUs, of the host. */
#include "decoders.h"
#include "lab/decode/device.h"

#include "fakes/cuda/give_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROMPT = 4, TOKENS = 5, GPUS = 2, SEQUENCES = 5 };

static struct kwhy_gpu *gpus[GPUS];
static struct kwhy_decode_answer answer;

static struct kwhy_decode_request request_of(
	enum kwhy_decode_weights weights, enum kwhy_decode_launching launching, uint32_t slots)
{
	return (struct kwhy_decode_request){.gpu = gpus[0],
		.peers = gpus + 1,
		.peer_count = GPUS - 1,
		.shape = answer.shape,
		.weights = weights,
		.launching = launching,
		.slots = slots,
		.prompt = PROMPT,
		.tokens = TOKENS};
}

static struct kwhy_decode *decoder_of(
	enum kwhy_decode_weights weights, enum kwhy_decode_launching launching, uint32_t slots)
{
	const struct kwhy_decode_request request = request_of(weights, launching, slots);

	return opened(&request);
}

static void two_gpus_are_as_near_to_the_reference_as_one_however_they_are_launched(void **state)
{
	static const double relative[] = {1e-5, 1e-5, 0.02, 0.003, 0.08, 0.03};
	static const uint32_t slots[] = {3, 17};
	struct kwhy_error error;

	(void)state;
	for (int w = 0; w < KWHY_DECODE_INT4; w++)
		for (int i = 0; i < 2; i++) {
			struct kwhy_decode *decode = decoder_of((enum kwhy_decode_weights)w,
				(enum kwhy_decode_launching)(w % KWHY_DECODE_DEVICE), slots[i]);
			struct kwhy_decode_error found;

			assert_int_equal(kwhy_decode_ranks(decode), 2);
			if (kwhy_decode_check(decode, &answer, &found, &error) ||
				kwhy_decode_met(decode, &error))
				fail_msg("%s", error.text);
			if (!(found.relative <= relative[w]))
				fail_msg("%s, %u: %g", kwhy_decode_weights_name((enum kwhy_decode_weights)w),
					slots[i], found.relative);
			assert_true(found.agreed > 0.9);
			kwhy_decode_close(decode);
		}
}

static void keys_and_values_in_8_bits_are_as_near_on_two_gpus_as_on_one(void **state)
{
	struct kwhy_decode_request request = request_of(KWHY_DECODE_BF16, KWHY_DECODE_EARLY, 3);
	struct kwhy_decode_error found[2];
	uint64_t bytes[2];
	struct kwhy_error error;

	(void)state;
	request.has_short_cache = true;
	for (uint32_t peers = 0; peers < 2; peers++) {
		struct kwhy_decode *decode;

		request.peer_count = peers;
		decode = opened(&request);
		if (kwhy_decode_check(decode, &answer, &found[peers], &error) ||
			kwhy_decode_met(decode, &error))
			fail_msg("%s", error.text);
		bytes[peers] = kwhy_decode_cache_bytes(decode);
		kwhy_decode_close(decode);
	}
	assert_true(found[0].relative > 0.005 && found[0].relative < 0.05);
	assert_true(found[1].relative < 1.5 * found[0].relative);
	assert_int_equal(bytes[0], 2 * bytes[1]); /* each has half of the heads */
}

static void write_tokens(struct kwhy_decode *decode)
{
	struct kwhy_error error;
	double seconds = -1;

	if (kwhy_decode_prefill(decode, NULL, &error) || kwhy_decode_write(decode, &seconds, &error) ||
		kwhy_decode_met(decode, &error))
		fail_msg("%s", error.text);
	assert_true(seconds > 0);
}

static void left_alone_nobody_waits_and_afterwards_all_is_right_again(void **state)
{
	struct kwhy_decode *decode = decoder_of(KWHY_DECODE_FP32, KWHY_DECODE_GRAPH, 2);
	struct kwhy_decode_error alone, together;
	struct kwhy_error error;

	(void)state;
	if (kwhy_decode_leave_alone(decode, true, &error) ||
		kwhy_decode_check(decode, &answer, &alone, &error))
		fail_msg("%s", error.text);
	assert_true(alone.relative > 0.01);
	write_tokens(decode);
	if (kwhy_decode_leave_alone(decode, false, &error) ||
		kwhy_decode_check(decode, &answer, &together, &error))
		fail_msg("%s", error.text);
	assert_true(together.relative < 1e-5);
	write_tokens(decode);
	kwhy_decode_close(decode);
}

/* Also on a driver whose work runs when somebody waits for it, and then one GPU's after the other's. */
static void alone_both_are_driven_however_they_are_launched(void **state)
{
	(void)state;
	for (int l = 0; l < KWHY_DECODE_DEVICE; l++)
		for (uint32_t slots = 2; slots <= 17; slots += 15) {
			struct kwhy_decode *decode = decoder_of(
				KWHY_DECODE_BF16, (enum kwhy_decode_launching)l, slots);
			struct kwhy_error error;

			if (kwhy_decode_leave_alone(decode, true, &error))
				fail_msg("%s", error.text);
			write_tokens(decode);
			kwhy_decode_close(decode);
		}
}

static void serve_both(bool has_short_cache, uint32_t page)
{
	const struct kwhy_decode_arrivals arrivals = {
		.rate_per_s = 1e6, .count = SEQUENCES, .seed = 3, .continuous = true};
	double times[2][SEQUENCES];
	struct kwhy_decode_served served = {.first_s = times[0], .whole_s = times[1]};
	struct kwhy_decode_request request = request_of(KWHY_DECODE_BF16, KWHY_DECODE_EARLY, 2);
	struct kwhy_decode *decode;
	struct kwhy_error error;

	request.has_short_cache = has_short_cache;
	request.page = page;
	decode = opened(&request);
	write_tokens(decode);
	if (kwhy_decode_serve(decode, &arrivals, &served, &error) || kwhy_decode_met(decode, &error))
		fail_msg("%s", error.text);
	assert_true(served.tokens >= SEQUENCES);
	kwhy_decode_close(decode);
}

static void sequences_that_arrive_are_served_by_both(void **state)
{
	(void)state;
	serve_both(false, 0);
	serve_both(true, 0);
	serve_both(true, 64);
}

static void each_gpu_has_its_part_of_the_weights_and_of_the_cache(void **state)
{
	struct kwhy_decode *decode = decoder_of(KWHY_DECODE_BF16, KWHY_DECODE_CALLS, 1);

	(void)state;
	/* Half of four squares and two inner matrices, of two layers, and the table of tokens whole. */
	assert_int_equal(kwhy_decode_weights_bytes(decode),
		2 * (2 * (4 * 128 * 128 + 2 * 128 * 512) / 2 + 1024 * 128));
	assert_int_equal(kwhy_decode_token_bytes(decode), 2 * 2 * 64 * 2);
	kwhy_decode_close(decode);
}

static void what_does_not_divide_and_what_needs_one_gpu_is_said(void **state)
{
	struct kwhy_decode_request request = request_of(KWHY_DECODE_INT4, KWHY_DECODE_GRAPH, 1);

	(void)state;
	expect_refusal(
		&request, KWHY_E_UNSUPPORTED, "do not divide among 2 GPUs by whole heads and by 128 columns");
	request = request_of(KWHY_DECODE_BF16, KWHY_DECODE_DEVICE, 1);
	expect_refusal(&request, KWHY_E_UNSUPPORTED, "all tokens in one launch are of one GPU");
	request = request_of(KWHY_DECODE_BF16, KWHY_DECODE_GRAPH, 1);
	request.choice.temperature = 1;
	expect_refusal(&request, KWHY_E_UNSUPPORTED, "takes all logits on one GPU");
}

/* Without arguments on the host; with "cuda" and the path of a fake driver on that. */
int main(int argc, char **argv)
{
	const struct CMUnitTest on_a_fake[] = {
		cmocka_unit_test(alone_both_are_driven_however_they_are_launched)};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_gpus_are_as_near_to_the_reference_as_one_however_they_are_launched),
		cmocka_unit_test(keys_and_values_in_8_bits_are_as_near_on_two_gpus_as_on_one),
		cmocka_unit_test(left_alone_nobody_waits_and_afterwards_all_is_right_again),
		cmocka_unit_test(alone_both_are_driven_however_they_are_launched),
		cmocka_unit_test(sequences_that_arrive_are_served_by_both),
		cmocka_unit_test(each_gpu_has_its_part_of_the_weights_and_of_the_cache),
		cmocka_unit_test(what_does_not_divide_and_what_needs_one_gpu_is_said),
	};
	enum kwhy_gpu_backend backend = argc > 2 ? KWHY_GPU_CUDA : KWHY_GPU_HOST;
	struct kwhy_error error;
	int failed;

	if (argc > 2)
		give_kernels_to_the_fake(argv[2], kwhy_decode_host_kernels);
	if (kwhy_gpu_open(backend, "0", &gpus[0], &error) || kwhy_gpu_open(backend, "1", &gpus[1], &error) ||
		kwhy_decode_answer_init(kwhy_decode_shape_find("small"), &answer, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	failed = argc > 2 ? kwhy_test_main(on_a_fake, NULL, NULL) : kwhy_test_main(tests, NULL, NULL);
	kwhy_decode_answer_done(&answer);
	for (int i = 0; i < GPUS; i++)
		gpus[i]->ops->close(gpus[i]);
	return failed;
}
