/* SPDX-License-Identifier: Apache-2.0 */
/* Beams go the ways that a search of the reference's logits goes. */
#include "decoders.h"
#include "lab/decode/rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROMPT = 4, TOKENS = 3, BEAMS = 3, SEQUENCES = 2, WORDS = 1000, LENGTH = PROMPT + TOKENS + 1 };

static struct kwhy_gpu *gpu;
static struct kwhy_decode_answer answer;

static struct kwhy_decode_request request_of(enum kwhy_decode_launching launching, uint32_t page)
{
	return (struct kwhy_decode_request){.gpu = gpu,
		.shape = answer.shape,
		.weights = KWHY_DECODE_FP32,
		.launching = launching,
		.slots = SEQUENCES * BEAMS,
		.prompt = PROMPT,
		.tokens = TOKENS,
		.beams = BEAMS,
		.page = page};
}

/* A way of a sequence. */
struct way {
	uint32_t tokens[LENGTH];
	double score;
};

static double sum_of(const float *logits)
{
	double sum = 0;

	for (int i = 0; i < WORDS; i++)
		sum += exp((double)logits[i]);
	return log(sum);
}

/* Puts a way among the best ones, which are in order. */
static void keep(struct way *best, const struct way *way)
{
	int place = BEAMS;

	while (place > 0 && way->score > best[place - 1].score)
		place--;
	if (place == BEAMS)
		return;
	memmove(best + place + 1, best + place, (BEAMS - 1 - place) * sizeof(*best));
	best[place] = *way;
}

/* All ways on from `count` ways of `length` tokens. */
static void go_on(struct way *ways, int count, uint32_t length)
{
	static float logits[WORDS];
	struct way best[BEAMS], way;
	struct kwhy_error error;

	for (int k = 0; k < BEAMS; k++)
		best[k].score = -INFINITY;
	for (int k = 0; k < count; k++) {
		double sum;

		assert_int_equal(kwhy_decode_reference(
					 answer.shape, ways[k].tokens, length, length - 1, logits, &error),
			KWHY_OK);
		sum = sum_of(logits);
		for (uint32_t i = 0; i < WORDS; i++) {
			way = ways[k];
			way.tokens[length] = i;
			way.score += (double)logits[i] - sum;
			keep(best, &way);
		}
	}
	memcpy(ways, best, sizeof(best));
}

static void search(uint32_t sequence, struct way *out)
{
	struct way ways[BEAMS] = {0};

	for (uint32_t i = 0; i < PROMPT; i++)
		ways[0].tokens[i] = kwhy_decode_prompt_token(answer.shape, sequence, i);
	go_on(ways, 1, PROMPT);
	for (uint32_t i = PROMPT + 1; i < LENGTH; i++)
		go_on(ways, BEAMS, i);
	*out = ways[0];
}

static void beams_go_the_likeliest_ways_as_often_as_they_are_asked_to(void **state)
{
	struct way expected[SEQUENCES];
	struct kwhy_error error;

	(void)state;
	for (uint32_t s = 0; s < SEQUENCES; s++)
		search(s, &expected[s]);
	for (int l = 0; l < KWHY_DECODE_DEVICE; l++) {
		const struct kwhy_decode_request request = request_of((enum kwhy_decode_launching)l, l * 64);
		uint32_t tokens[TOKENS + 1];
		struct kwhy_decode *decode;
		double score;

		if (kwhy_decode_open(&request, &decode, &error) || kwhy_decode_prefill(decode, NULL, &error))
			fail_msg("%s", error.text);
		for (uint32_t run = 0; run < 2; run++)
			for (uint32_t s = 0; s < SEQUENCES; s++) {
				if (kwhy_decode_write(decode, NULL, &error) ||
					kwhy_decode_beam(decode, s, tokens, &score, &error))
					fail_msg("%s", error.text);
				assert_memory_equal(tokens, expected[s].tokens + PROMPT, sizeof(tokens));
				assert_float_equal(score, expected[s].score, 1e-3);
			}
		kwhy_decode_close(decode);
	}
}

static void their_likeliest_way_is_held_against_the_reference(void **state)
{
	const struct kwhy_decode_request request = request_of(KWHY_DECODE_GRAPH, 0);
	struct kwhy_decode_error found;
	struct kwhy_decode *decode;
	struct kwhy_error error;
	double off = 1;

	(void)state;
	if (kwhy_decode_open(&request, &decode, &error) ||
		kwhy_decode_check(decode, &answer, &found, &error) ||
		kwhy_decode_beam_check(decode, &off, &error))
		fail_msg("%s", error.text);
	assert_true(found.relative < 1e-5);
	assert_true(off < 1e-4);
	assert_int_equal(kwhy_decode_write(decode, NULL, &error), KWHY_E_INPUT);
	kwhy_decode_close(decode);
}

/* 32 slots of 39 tokens, the last of which has no place behind it: what is there is the score of the first.
 */
static void the_last_token_of_many_slots_leaves_scores_alone(void **state)
{
	struct kwhy_decode_request request = request_of(KWHY_DECODE_GRAPH, 0);
	struct kwhy_decode *decode;
	struct kwhy_error error;
	double off = 1;

	(void)state;
	request.beams = 8;
	request.slots = 32;
	if (kwhy_decode_open(&request, &decode, &error) || kwhy_decode_beam_check(decode, &off, &error))
		fail_msg("%s", error.text);
	assert_true(off < 1e-4);
	kwhy_decode_close(decode);
}

static void what_beams_cannot_do_is_said(void **state)
{
	struct kwhy_decode_request request = request_of(KWHY_DECODE_DEVICE, 0);

	(void)state;
	expect_refusal(&request, KWHY_E_UNSUPPORTED, "to keep beams launch a graph instead");
	request.launching = KWHY_DECODE_GRAPH;
	request.choice.temperature = 1;
	expect_refusal(&request, KWHY_E_UNSUPPORTED, "tokens of beams are not drawn");
	request.choice.temperature = 0;
	request.slots = 7;
	expect_refusal(&request, KWHY_E_INPUT, "7 slots for sequences of 3 beams");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(beams_go_the_likeliest_ways_as_often_as_they_are_asked_to),
		cmocka_unit_test(their_likeliest_way_is_held_against_the_reference),
		cmocka_unit_test(the_last_token_of_many_slots_leaves_scores_alone),
		cmocka_unit_test(what_beams_cannot_do_is_said),
	};
	struct kwhy_error error;
	int failed;

	if (kwhy_gpu_open(KWHY_GPU_HOST, NULL, &gpu, &error) ||
		kwhy_decode_answer_init(kwhy_decode_shape_find("small"), &answer, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	failed = kwhy_test_main(tests, NULL, NULL);
	kwhy_decode_answer_done(&answer);
	gpu->ops->close(gpu);
	return failed;
}
