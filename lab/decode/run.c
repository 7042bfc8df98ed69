/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "lab/decode/inside.h"

#include <stdlib.h>

/* --- Reading and writing --- */

static void begin(struct lab_decode *decode, struct kwhy_error *error)
{
	decode->tries = (struct lab_tries){KWHY_OK, error};
}

static void await_all(struct lab_decode *decode, int64_t start_ns, double *out_s)
{
	for (uint32_t i = 0; i < decode->replica_count; i++)
		lab_decode_wait(&decode->replicas[i]);
	if (out_s)
		*out_s = (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
}

static void keep_first(const struct lab_decode_replica *replica)
{
	for (uint32_t i = 0; i < replica->rank_count; i++)
		lab_rank_copy(&replica->ranks[i].base, replica->ranks[i].args.first,
			replica->ranks[i].args.best, replica->slots * sizeof(uint64_t));
}

enum kwhy_status lab_decode_prefill(struct lab_decode *decode, double *out_s, struct kwhy_error *error)
{
	int64_t start_ns = kwhy_clock_mono_ns();

	begin(decode, error);
	for (uint32_t i = 0; i < decode->replica_count; i++)
		lab_decode_issue(&decode->replicas[i], LAB_DECODE_READING);
	await_all(decode, start_ns, out_s);
	for (uint32_t i = 0; i < decode->replica_count; i++)
		keep_first(&decode->replicas[i]);
	decode->is_prefilled = !decode->tries.status;
	return decode->tries.status;
}

/*
 * Steps of the replicas are queued in turn (step 0 of each, step 1 of each, and so on), so that no replica
 * waits until the host has queued all steps of another.
 */
enum kwhy_status lab_decode_write(struct lab_decode *decode, double *out_s, struct kwhy_error *error)
{
	int64_t start_ns = kwhy_clock_mono_ns();

	if (!decode->is_prefilled)
		return kwhy_fail(
			error, KWHY_E_INPUT, "decode: tokens are written after prompts; read those first");
	begin(decode, error);
	for (uint32_t i = 0; i < decode->replica_count; i++)
		lab_decode_issue_reset(&decode->replicas[i], decode->request.prompt - 1, true);
	for (uint32_t step = 0; !decode->tries.status && step < decode->request.tokens; step++)
		for (uint32_t i = 0; i < decode->replica_count; i++)
			lab_decode_issue(&decode->replicas[i], LAB_DECODE_STEP);
	await_all(decode, start_ns, out_s);
	decode->is_written = !decode->tries.status;
	return decode->tries.status;
}

/* Reads what a GPU wrote in the last lab_decode_write(). */
static enum kwhy_status read_written(struct lab_decode *decode, const struct lab_rank *rank, void *to,
	uint64_t from, size_t bytes, struct kwhy_error *error)
{
	if (!decode->is_written)
		return kwhy_fail(error, KWHY_E_INPUT, "decode: no tokens have been written yet");
	begin(decode, error);
	lab_rank_copy(rank, kwhy_gpu_address(to), from, bytes);
	return decode->tries.status;
}

enum kwhy_status lab_decode_tokens(
	struct lab_decode *decode, uint32_t sequence, uint32_t *out_tokens, struct kwhy_error *error)
{
	const struct lab_decode_request *request = &decode->request;
	const struct lab_decode_replica *replica = &decode->replicas[sequence / decode->replicas[0].slots];
	const struct lab_decode_args *a = &replica->ranks[0].args;
	uint64_t place = (uint64_t)(sequence % replica->slots) * a->positions + request->prompt;

	return read_written(decode, &replica->ranks[0].base, out_tokens, a->chosen + place * sizeof(uint32_t),
		request->tokens * sizeof(uint32_t), error);
}

enum kwhy_status lab_decode_steps(struct lab_decode *decode, double *out_s, struct kwhy_error *error)
{
	const struct lab_decode_rank *rank = &decode->replicas[0].ranks[0];
	uint32_t count = decode->request.tokens;
	uint64_t *times = malloc(count * sizeof(*times));
	enum kwhy_status status;

	if (!times)
		return kwhy_fail_memory(error, "the times of tokens");
	status = read_written(decode, &rank->base, times,
		rank->args.times + decode->request.prompt * sizeof(uint64_t), count * sizeof(*times), error);
	for (uint32_t i = 1; !status && i < count; i++)
		out_s[i - 1] = (double)(times[i] - times[i - 1]) * 1e-9;
	free(times);
	return status;
}

/* --- Checks --- */

enum { CHECKED_SLOTS = 4, CHECK_PROMPT = LAB_DECODE_CHECK_PROMPT, CHECK_STEPS = LAB_DECODE_CHECK_STEPS };

enum kwhy_status lab_decode_answer_init(const struct lab_decode_shape *shape, bool is_pruned,
	struct lab_decode_answer *out, struct kwhy_error *error)
{
	size_t bytes = (1 + CHECK_STEPS) * (size_t)shape->vocabulary * sizeof(float);
	struct lab_decode_answer answer = {.shape = shape, .logits = {malloc(bytes), malloc(bytes)}};
	enum kwhy_status status = answer.logits[0] && answer.logits[1]
		? KWHY_OK
		: kwhy_fail_memory(error, "the logits of the reference");

	for (uint32_t s = 0; !status && s < 2; s++) {
		uint32_t tokens[CHECK_PROMPT + CHECK_STEPS];
		const struct lab_decode_sequence sequence = {
			tokens, CHECK_PROMPT + CHECK_STEPS, CHECK_PROMPT - 1, is_pruned};

		for (uint32_t i = 0; i < CHECK_PROMPT + CHECK_STEPS; i++)
			tokens[i] = lab_decode_prompt_token(shape, s, i);
		status = lab_decode_reference(shape, &sequence, answer.logits[s], error);
	}
	if (status)
		lab_decode_answer_done(&answer);
	else
		*out = answer;
	return status;
}

void lab_decode_answer_done(struct lab_decode_answer *answer)
{
	free(answer->logits[0]);
	free(answer->logits[1]);
	answer->logits[0] = answer->logits[1] = NULL;
}

/*
 * State of a check. off: sum of the squared differences of logits; all: sum of the squared logits of the
 * reference; most: largest difference; compared: number of positions; agreed: those of them where the
 * likeliest token is the same.
 */
struct checking {
	struct lab_decode_replica *replica;
	const struct lab_decode_answer *answer;
	float *logits; /* [vocabulary, rounded up] logits of a slot */
	double off, all, most;
	uint32_t compared, agreed;
};

static uint32_t likeliest(const float *logits, uint32_t count)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < count; i++)
		best = logits[i] > logits[best] ? i : best;
	return best;
}

/*
 * Copies a slot's logits from the GPUs, each of which has a part of the vocabulary, and adds their
 * differences from the reference's logits after `step` steps to the sums of the check.
 */
static void compare(struct checking *c, uint32_t slot, uint32_t step)
{
	const struct lab_decode_replica *replica = c->replica;
	uint32_t count = c->answer->shape->vocabulary;
	const float *expected = c->answer->logits[slot % 2] + (size_t)step * count;

	for (uint32_t i = 0; i < replica->rank_count; i++) {
		const struct lab_decode_args *a = &replica->ranks[i].args;

		lab_rank_copy(&replica->ranks[i].base, kwhy_gpu_address(c->logits + a->first_word),
			a->logits + (uint64_t)slot * a->word_count * sizeof(float),
			a->word_count * sizeof(float));
	}
	for (uint32_t i = 0; i < count; i++) {
		double off = fabs((double)c->logits[i] - expected[i]);

		c->off += off * off;
		c->all += (double)expected[i] * expected[i];
		c->most = off > c->most || isnan(off) ? off : c->most;
	}
	c->compared++;
	c->agreed += likeliest(c->logits, count) == likeliest(expected, count);
}

static void compare_all(struct checking *c, uint32_t step)
{
	lab_decode_wait(c->replica);
	for (uint32_t slot = 0; slot < c->replica->slots && slot < CHECKED_SLOTS; slot++)
		compare(c, slot, step);
}

/*
 * Makes step `step` of a check: the next token of each slot is set to that of the slot's known sequence (not
 * to the one that the decoder chose), the step is run, and the logits are compared.
 */
static void check_step(struct checking *c, uint32_t step)
{
	uint64_t next[LAB_DECODE_BATCH_MAX];
	uint32_t slots = c->replica->slots;

	for (uint32_t slot = 0; slot < slots; slot++)
		next[slot] = (uint32_t)~lab_decode_prompt_token(
			c->answer->shape, slot % 2, CHECK_PROMPT + step);
	lab_decode_send(c->replica, c->replica->ranks[0].args.best, next, slots * sizeof(*next));
	lab_decode_issue(c->replica, LAB_DECODE_STEP);
	compare_all(c, step + 1);
}

static void check_replica(struct checking *c)
{
	const struct lab_decode_prompts prompts = {c->replica->slots, CHECK_PROMPT, 0, 2};

	lab_decode_send_prompts(c->replica, &prompts);
	lab_decode_issue_prompts(c->replica, CHECK_PROMPT);
	compare_all(c, 0);
	for (uint32_t step = 0; step < CHECK_STEPS; step++)
		check_step(c, step);
	lab_decode_send_own_prompts(c->replica);
}

enum kwhy_status lab_decode_check(struct lab_decode *decode, const struct lab_decode_answer *answer,
	struct lab_decode_error *out, struct kwhy_error *error)
{
	const struct lab_decode_args *a = &decode->replicas[0].ranks[0].args;
	struct checking c = {.answer = answer, .logits = calloc(a->word_count * a->ranks, sizeof(*c.logits))};

	if (!c.logits)
		return kwhy_fail_memory(error, "the check of decode");
	begin(decode, error);
	decode->is_prefilled = decode->is_written = false;
	for (uint32_t i = 0; i < decode->replica_count; i++) {
		c.replica = &decode->replicas[i];
		check_replica(&c);
	}
	free(c.logits);
	if (!decode->tries.status)
		*out = (struct lab_decode_error){sqrt(c.off / c.all), c.most, (double)c.agreed / c.compared};
	return decode->tries.status;
}
