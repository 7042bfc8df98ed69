/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/decode/rules.h"
#include "lab/kernels.h"

#include "cmocka_all.h"
#include "fakes/cuda/give_kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROMPT = 4, TOKENS = 5, SEQUENCES = 9, GPUS = 2 };

static struct kwhy_gpu *gpus[GPUS];
static bool on_cuda;
static struct lab_decode_answer answer, pruned;

static struct lab_decode_request request_of(enum lab_decode_weights weights, uint32_t batch)
{
	return (struct lab_decode_request){.gpus = gpus,
		.shape = answer.shape,
		.weights = weights,
		.launching = LAB_DECODE_GRAPH,
		.batch = batch,
		.prompt = PROMPT,
		.tokens = TOKENS,
		.choice = {.top_p = 1}};
}

static struct lab_decode *opened(const struct lab_decode_request *request)
{
	struct lab_decode *decode;
	struct kwhy_error error;

	if (lab_decode_open(request, &decode, &error))
		fail_msg("%s", error.text);
	return decode;
}

static void assert_near(const struct lab_decode_request *request)
{
	static const double relative[] = {1e-5, 0.003, 0.02, 0.003, 0.12, 0.03, 0.35, 0.005};
	struct lab_decode *decode = opened(request);
	struct lab_decode_error found;
	struct kwhy_error error;

	if (lab_decode_check(
		    decode, request->weights == LAB_DECODE_SPARSE ? &pruned : &answer, &found, &error))
		fail_msg("%s", error.text);
	if (!(found.relative <= relative[request->weights]))
		fail_msg("%s: %g", lab_decode_weights_names[request->weights], found.relative);
	assert_true(found.most > 0);
	assert_true(found.agreed > 0.7);
	lab_decode_close(decode);
}

static void every_kind_of_weights_is_as_near_to_the_reference_as_its_digits_allow(void **state)
{
	(void)state;
	for (uint32_t w = 0; w < LAB_DECODE_WEIGHTS_COUNT; w++) {
		struct lab_decode_request request = request_of((enum lab_decode_weights)w, 3);

		assert_near(&request);
		request.launching = LAB_DECODE_CALLS;
		assert_near(&request);
	}
}

/*
 * Opens a decoder, writes twice, and returns the tokens of the second time: [batch][tokens], freed by the
 * caller.
 */
static uint32_t *written(const struct lab_decode_request *request)
{
	uint32_t *all = malloc((size_t)request->batch * request->tokens * sizeof(*all));
	struct lab_decode *decode = opened(request);
	struct kwhy_error error;

	for (int run = 0; run < 2; run++)
		if (lab_decode_prefill(decode, NULL, &error) || lab_decode_write(decode, NULL, &error) ||
			lab_decode_write(decode, NULL, &error))
			fail_msg("%s", error.text);
	for (uint32_t s = 0; s < request->batch; s++)
		if (lab_decode_tokens(decode, s, all + (size_t)s * request->tokens, &error))
			fail_msg("%s", error.text);
	lab_decode_close(decode);
	return all;
}

static void assert_same(uint32_t *some, uint32_t *others, uint32_t sequences)
{
	assert_memory_equal(some, others, (size_t)sequences * TOKENS * sizeof(*some));
	free(some);
	free(others);
}

static uint32_t likeliest(const float *logits)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < answer.shape->vocabulary; i++)
		best = logits[i] > logits[best] ? i : best;
	return best;
}

static void tokens_are_those_that_the_reference_would_write(void **state)
{
	struct lab_decode_request request = request_of(LAB_DECODE_FP32, 2);
	uint32_t *tokens = written(&request), sequence[PROMPT + TOKENS];
	float *logits = malloc((TOKENS + 1) * answer.shape->vocabulary * sizeof(*logits));
	struct kwhy_error error;

	(void)state;
	for (uint32_t s = 0; s < 2; s++) {
		const struct lab_decode_sequence whole = {sequence, PROMPT + TOKENS, PROMPT - 1, false};

		for (uint32_t i = 0; i < PROMPT; i++)
			sequence[i] = lab_decode_prompt_token(answer.shape, s, i);
		memcpy(sequence + PROMPT, tokens + s * TOKENS, TOKENS * sizeof(*tokens));
		assert_int_equal(lab_decode_reference(answer.shape, &whole, logits, &error), KWHY_OK);
		for (uint32_t i = 0; i < TOKENS; i++)
			assert_int_equal(
				sequence[PROMPT + i], likeliest(logits + i * answer.shape->vocabulary));
	}
	free(tokens);
	free(logits);
}

static void tokens_do_not_depend_on_launching_and_on_other_sequences(void **state)
{
	static const enum lab_decode_weights some[] = {
		LAB_DECODE_BF16, LAB_DECODE_FP8, LAB_DECODE_INT8, LAB_DECODE_INT4};

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct lab_decode_request request = request_of(some[i], 35), few = request_of(some[i], 2);

		few.launching = LAB_DECODE_CALLS;
		assert_same(written(&request), written(&few), 2);
	}
}

static void steps_have_times_and_a_decoder_says_what_it_is(void **state)
{
	struct lab_decode_request request = request_of(LAB_DECODE_INT8, 2);
	struct lab_decode *decode = opened(&request);
	double reading_s = 0, writing_s = 0, steps[TOKENS - 1];
	struct lab_decode_facts facts;
	struct kwhy_error error;

	(void)state;
	assert_int_equal(lab_decode_write(decode, NULL, &error), KWHY_E_INPUT);
	if (lab_decode_prefill(decode, &reading_s, &error) || lab_decode_write(decode, &writing_s, &error) ||
		lab_decode_steps(decode, steps, &error))
		fail_msg("%s", error.text);
	assert_true(reading_s > 0 && writing_s > 0);
	for (int i = 0; i < TOKENS - 1; i++)
		assert_true(steps[i] > 0 && steps[i] < writing_s);
	lab_decode_facts(decode, &facts);
	assert_string_equal(facts.products, on_cuda ? "cuBLASLt 13.0.2" : "the host");
	assert_null(facts.gathers);
	assert_int_equal(facts.kernels, 1 + 2 * 11 + 3 - 2);
	assert_int_equal(facts.weight_bytes, 2 * 196608 + 1008 * 128);
	assert_int_equal(facts.token_bytes, 2 * 2 * 128 * 2);
	assert_int_equal(facts.cache_bytes, 2 * 39 * facts.token_bytes);
	lab_decode_close(decode);
}

static void a_draw_of_one_is_the_likeliest_and_other_draws_follow_their_seed(void **state)
{
	struct lab_decode_request likely = request_of(LAB_DECODE_FP32, 3), drawn = likely;
	uint32_t *one, *two;

	(void)state;
	drawn.choice = (struct lab_decode_choice){.temperature = 1, .top_p = 1, .top_k = 1, .seed = 7};
	assert_same(written(&likely), written(&drawn), 3);
	drawn.choice = (struct lab_decode_choice){.temperature = 1, .top_p = 1e-6F, .seed = 7};
	assert_same(written(&likely), written(&drawn), 3);
	drawn.choice.top_p = 0.9F;
	assert_same(written(&drawn), written(&drawn), 3);
	one = written(&drawn);
	drawn.choice.seed = 8;
	two = written(&drawn);
	assert_memory_not_equal(one, two, 3 * TOKENS * sizeof(*one));
	free(one);
	free(two);
}

/*
 * With top_k 4, the first token that each sequence writes is among the four likeliest of the reference, and
 * for some sequences it is not the likeliest.
 */
static void a_draw_is_among_the_likeliest_that_were_asked_for(void **state)
{
	struct lab_decode_request request = request_of(LAB_DECODE_FP32, 9);
	uint32_t *tokens, others = 0;

	(void)state;
	request.choice = (struct lab_decode_choice){.temperature = 2, .top_p = 1, .top_k = 4, .seed = 3};
	tokens = written(&request);
	for (uint32_t s = 0; s < 9; s++) {
		uint32_t sequence[PROMPT], larger = 0;
		const struct lab_decode_sequence whole = {sequence, PROMPT, PROMPT - 1, false};
		float *logits = malloc(answer.shape->vocabulary * sizeof(*logits));
		struct kwhy_error error;

		for (uint32_t i = 0; i < PROMPT; i++)
			sequence[i] = lab_decode_prompt_token(answer.shape, s, i);
		assert_int_equal(lab_decode_reference(answer.shape, &whole, logits, &error), KWHY_OK);
		for (uint32_t i = 0; i < answer.shape->vocabulary; i++)
			larger += logits[i] > logits[tokens[s * TOKENS]];
		assert_true(larger < 4);
		others += larger > 0;
		free(logits);
	}
	assert_true(others > 0);
	free(tokens);
}

static uint64_t steps_of(bool continuous, uint32_t *tokens, uint32_t *lengths)
{
	struct lab_decode_request request = request_of(LAB_DECODE_FP32, 2);
	const struct lab_decode_arrivals arrivals = {.rate_per_s = 1e9,
		.count = SEQUENCES,
		.continuous = continuous,
		.tokens = tokens,
		.lengths = lengths};
	struct lab_decode_served served;
	struct lab_decode *decode = opened(&request);
	struct kwhy_error error;

	if (lab_decode_serve(decode, &arrivals, &served, &error))
		fail_msg("%s", error.text);
	assert_true(served.first_s.least > 0 && served.whole_s.least >= served.first_s.least);
	assert_true(served.whole_s.p95 <= served.seconds);
	assert_true(served.busy_ratio > 0 && served.busy_ratio <= 1);
	lab_decode_close(decode);
	return served.steps;
}

static void every_sequence_that_arrives_is_answered_as_if_it_were_alone(void **state)
{
	struct lab_decode_request request = request_of(LAB_DECODE_FP32, SEQUENCES);
	uint32_t *alone = written(&request), tokens[2][SEQUENCES * TOKENS], lengths[2][SEQUENCES] = {{0}};
	uint64_t together = steps_of(false, tokens[0], lengths[0]),
		 continuous = steps_of(true, tokens[1], lengths[1]);

	(void)state;
	assert_true(continuous < together);
	for (int way = 0; way < 2; way++)
		for (int s = 0; s < SEQUENCES; s++) {
			assert_true(lengths[way][s] >= 2 && lengths[way][s] <= TOKENS);
			assert_memory_equal(tokens[way] + s * TOKENS, alone + s * TOKENS,
				lengths[way][s] * sizeof(*alone));
		}
	free(alone);
}

/*
 * lab_decode_serve() overwrites the prompts; afterwards the same tokens as before are written, so the prompts
 * of the request's sequences must be back.
 */
static void prompts_are_the_decoders_own_again_behind_arrivals(void **state)
{
	struct lab_decode_request request = request_of(LAB_DECODE_FP32, 2);
	const struct lab_decode_arrivals arrivals = {.rate_per_s = 1e9, .count = 5, .continuous = true};
	struct lab_decode_served served;
	struct lab_decode *decode = opened(&request);
	uint32_t *before = written(&request), after[TOKENS];
	struct kwhy_error error;

	(void)state;
	if (lab_decode_serve(decode, &arrivals, &served, &error) ||
		lab_decode_prefill(decode, NULL, &error) || lab_decode_write(decode, NULL, &error) ||
		lab_decode_tokens(decode, 0, after, &error))
		fail_msg("%s", error.text);
	assert_memory_equal(before, after, sizeof(after));
	free(before);
	lab_decode_close(decode);
}

static void gpus_that_share_a_decoder_are_as_near_and_write_the_tokens_of_one(void **state)
{
	struct lab_decode_request one = request_of(LAB_DECODE_FP32, 3), two;
	struct lab_decode_facts facts;
	struct lab_decode *decode;

	(void)state;
	for (uint32_t w = 0; w < LAB_DECODE_WEIGHTS_COUNT; w += w == 0 ? 4 : 1) {
		two = request_of((enum lab_decode_weights)w, 3);
		two.tp = 2;
		two.launching = LAB_DECODE_CALLS;
		assert_near(&two);
	}
	two = one;
	two.tp = 2;
	two.launching = LAB_DECODE_CALLS;
	assert_same(written(&one), written(&two), 3);
	one.choice = two.choice = (struct lab_decode_choice){
		.temperature = 1, .top_p = 0.9F, .top_k = 50, .seed = 5};
	assert_same(written(&one), written(&two), 3);
	decode = opened(&two);
	lab_decode_facts(decode, &facts);
	assert_string_equal(facts.gathers, on_cuda ? "nccl" : "own");
	lab_decode_close(decode);
}

static void decoders_that_share_the_sequences_write_the_tokens_of_one(void **state)
{
	struct lab_decode_request one = request_of(LAB_DECODE_BF16, 4), two = one;

	(void)state;
	two.dp = 2;
	assert_same(written(&one), written(&two), 4);
	assert_near(&two);
}

static void expect_refusal(
	const struct lab_decode_request *request, enum kwhy_status status, const char *says)
{
	struct lab_decode *decode = NULL;
	struct kwhy_error error = {0};

	assert_int_equal(lab_decode_open(request, &decode, &error), status);
	assert_null(decode);
	if (!strstr(error.text, says))
		fail_msg("'%s' without '%s'", error.text, says);
}

static void what_cannot_be_run_says_why(void **state)
{
	struct lab_decode_request request = request_of(LAB_DECODE_FP32, 3);

	(void)state;
	request.tp = 2;
	expect_refusal(&request, KWHY_E_UNSUPPORTED, "take --launch calls");
	request.tp = 3;
	expect_refusal(&request, KWHY_E_UNSUPPORTED, "2 heads of small cannot be divided among 3");
	request.tp = 1;
	request.dp = 2;
	expect_refusal(&request, KWHY_E_UNSUPPORTED, "take another batch");
	request.dp = 1;
	if (!on_cuda)
		return;
	setenv("KWHY_FAKE_CUBLASLT", "refuses", 1);
	expect_refusal(&request, KWHY_E_UNSUPPORTED, "no algorithm to multiply 12 x 128 by 128 x 384");
	unsetenv("KWHY_FAKE_CUBLASLT");
}

static enum kwhy_status open_all(enum kwhy_gpu_backend backend, struct kwhy_error *error)
{
	enum kwhy_status status = lab_decode_answer_init(&lab_decode_shapes[2], false, &answer, error);

	if (!status)
		status = lab_decode_answer_init(&lab_decode_shapes[2], true, &pruned, error);
	if (!status)
		status = kwhy_gpu_open(backend, "0", &gpus[0], error);
	return status ? status : kwhy_gpu_open(backend, "1", &gpus[1], error);
}

/*
 * Without arguments the tests run on the host back end; with "cuda" and the path of a fake driver they run
 * on that driver.
 */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_weights_is_as_near_to_the_reference_as_its_digits_allow),
		cmocka_unit_test(tokens_are_those_that_the_reference_would_write),
		cmocka_unit_test(tokens_do_not_depend_on_launching_and_on_other_sequences),
		cmocka_unit_test(steps_have_times_and_a_decoder_says_what_it_is),
		cmocka_unit_test(a_draw_of_one_is_the_likeliest_and_other_draws_follow_their_seed),
		cmocka_unit_test(a_draw_is_among_the_likeliest_that_were_asked_for),
		cmocka_unit_test(every_sequence_that_arrives_is_answered_as_if_it_were_alone),
		cmocka_unit_test(prompts_are_the_decoders_own_again_behind_arrivals),
		cmocka_unit_test(gpus_that_share_a_decoder_are_as_near_and_write_the_tokens_of_one),
		cmocka_unit_test(decoders_that_share_the_sequences_write_the_tokens_of_one),
		cmocka_unit_test(what_cannot_be_run_says_why),
	};
	struct kwhy_error error;
	int failed;

	on_cuda = argc > 2;
	if (on_cuda)
		give_kernels_to_the_fake(argv[2], lab_decode_host_kernels);
	if (open_all(on_cuda ? KWHY_GPU_CUDA : KWHY_GPU_HOST, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	failed = kwhy_test_main(tests, NULL, NULL);
	lab_decode_answer_done(&answer);
	lab_decode_answer_done(&pruned);
	for (int i = GPUS; i--;)
		gpus[i]->ops->close(gpus[i]);
	return failed;
}
