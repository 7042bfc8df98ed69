/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "lab/decode/inside.h"
#include "lab/next.h"

#include <stdlib.h>

/* --- Reading and writing --- */

enum kwhy_status lab_decode_send_prompts(const struct lab_decode_replica *replica, struct kwhy_error *error)
{
	const struct lab_decode_request *request = replica->request;
	uint32_t count = replica->slots * request->prompt, *prompts = malloc(count * sizeof(*prompts));
	enum kwhy_status status;

	if (!prompts)
		return kwhy_fail_memory(error, "the prompts of decode");
	for (uint32_t i = 0; i < count; i++)
		prompts[i] = lab_decode_prompt_token(
			request->shape, replica->first_sequence + i / request->prompt, i % request->prompt);
	status = lab_decode_send(
		replica, replica->ranks[0].args.prompt, prompts, count * sizeof(*prompts), error);
	free(prompts);
	return status;
}

/* Queues something on all replicas, then waits for all. */
static enum kwhy_status run_all(struct lab_decode *decode, void (*queue)(struct lab_decode_issue *issue),
	double *out_s, struct kwhy_error *error)
{
	int64_t start_ns = kwhy_clock_mono_ns();
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < decode->replica_count; i++) {
		struct lab_decode_issue issue = {&decode->replicas[i], error, KWHY_OK};

		queue(&issue);
		status = issue.status;
	}
	for (uint32_t i = 0; !status && i < decode->replica_count; i++) {
		struct lab_decode_issue issue = {&decode->replicas[i], error, KWHY_OK};

		status = lab_decode_await(&issue);
	}
	if (out_s)
		*out_s = (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
	return status;
}

static enum kwhy_status keep_first(const struct lab_decode *decode, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; i < decode->replica_count; i++) {
		const struct lab_decode_replica *replica = &decode->replicas[i];

		for (uint32_t k = 0; !status && k < replica->rank_count; k++)
			status = lab_decode_copy(&replica->ranks[k], replica->ranks[k].first,
				replica->ranks[k].args.best, replica->slots * sizeof(uint64_t), error);
	}
	return status;
}

enum kwhy_status lab_decode_prefill(struct lab_decode *decode, double *out_s, struct kwhy_error *error)
{
	enum kwhy_status status = run_all(decode, lab_decode_issue_reading, out_s, error);

	NEXT(status, keep_first(decode, error));
	decode->is_prefilled = !status;
	return status;
}

/* Steps of all replicas are queued alternately: run_all() would queue all of one before the next has any. */
static void queue_reset(struct lab_decode_issue *issue)
{
	lab_decode_issue_reset(issue, issue->replica->request->prompt - 1, true);
}

static enum kwhy_status queue_steps(struct lab_decode *decode, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t step = 0; step < decode->request.tokens; step++)
		for (uint32_t i = 0; !status && i < decode->replica_count; i++) {
			struct lab_decode_issue issue = {&decode->replicas[i], error, KWHY_OK};

			if (step == 0)
				queue_reset(&issue);
			lab_decode_issue_step(&issue);
			status = issue.status;
		}
	return status;
}

static void queue_nothing(struct lab_decode_issue *issue)
{
	(void)issue;
}

enum kwhy_status lab_decode_write(struct lab_decode *decode, double *out_s, struct kwhy_error *error)
{
	int64_t start_ns = kwhy_clock_mono_ns();
	enum kwhy_status status;

	if (!decode->is_prefilled)
		return kwhy_fail(
			error, KWHY_E_INPUT, "decode: tokens are written behind prompts; read those first");
	status = queue_steps(decode, error);
	NEXT(status, run_all(decode, queue_nothing, NULL, error));
	if (out_s)
		*out_s = (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
	decode->is_written = !status;
	return status;
}

static enum kwhy_status check_written(const struct lab_decode *decode, struct kwhy_error *error)
{
	return decode->is_written ? KWHY_OK
				  : kwhy_fail(error, KWHY_E_INPUT, "decode: no tokens have been written yet");
}

enum kwhy_status lab_decode_tokens(
	struct lab_decode *decode, uint32_t sequence, uint32_t *out_tokens, struct kwhy_error *error)
{
	const struct lab_decode_request *request = &decode->request;
	const struct lab_decode_replica *replica = &decode->replicas[sequence / decode->replicas[0].slots];
	const struct lab_decode_args *a = &replica->ranks[0].args;
	uint64_t place = (uint64_t)(sequence % replica->slots) * a->positions + request->prompt;
	enum kwhy_status status = check_written(decode, error);

	return status
		? status
		: lab_decode_copy(&replica->ranks[0], kwhy_gpu_address(out_tokens),
			  a->chosen + place * sizeof(uint32_t), request->tokens * sizeof(uint32_t), error);
}

enum kwhy_status lab_decode_steps(struct lab_decode *decode, double *out_s, struct kwhy_error *error)
{
	const struct lab_decode_rank *rank = &decode->replicas[0].ranks[0];
	uint32_t count = decode->request.tokens;
	uint64_t *times = malloc(count * sizeof(*times));
	enum kwhy_status status = check_written(decode, error);

	if (!times)
		return kwhy_fail_memory(error, "the times of tokens");
	NEXT(status,
		lab_decode_copy(rank, kwhy_gpu_address(times),
			rank->args.times + decode->request.prompt * sizeof(uint64_t), count * sizeof(*times),
			error));
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
		const struct lab_decode_sequence sequence = {
			answer.tokens[s], CHECK_PROMPT + CHECK_STEPS, CHECK_PROMPT - 1, is_pruned};

		for (uint32_t i = 0; i < CHECK_PROMPT + CHECK_STEPS; i++)
			answer.tokens[s][i] = lab_decode_prompt_token(shape, s, i);
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

/* A check under way. */
struct checking {
	struct lab_decode_replica *replica;
	const struct lab_decode_answer *answer;
	uint32_t *tokens; /* [slots][CHECK_PROMPT] */
	uint64_t *next;	  /* [slots] */
	float *logits;	  /* [vocabulary, rounded up] */
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

/* A slot's logits, of all GPUs, against those of the reference after a number of steps. */
static enum kwhy_status compare(struct checking *c, uint32_t slot, uint32_t step, struct kwhy_error *error)
{
	const struct lab_decode_replica *replica = c->replica;
	uint32_t count = c->answer->shape->vocabulary;
	const float *expected = c->answer->logits[slot % 2] + (size_t)step * count;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < replica->rank_count; i++) {
		const struct lab_decode_args *a = &replica->ranks[i].args;

		status = lab_decode_copy(&replica->ranks[i], kwhy_gpu_address(c->logits + a->first_word),
			a->logits + (uint64_t)slot * a->word_count * sizeof(float),
			a->word_count * sizeof(float), error);
	}
	for (uint32_t i = 0; !status && i < count; i++) {
		double off = fabs((double)c->logits[i] - expected[i]);

		c->off += off * off;
		c->all += (double)expected[i] * expected[i];
		c->most = off > c->most || isnan(off) ? off : c->most;
	}
	c->compared++;
	c->agreed += !status && likeliest(c->logits, count) == likeliest(expected, count);
	return status;
}

static enum kwhy_status compare_all(struct checking *c, uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t slot = 0; !status && slot < c->replica->slots && slot < CHECKED_SLOTS; slot++)
		status = compare(c, slot, step, error);
	return status;
}

static enum kwhy_status check_prompts(struct checking *c, struct kwhy_error *error)
{
	struct lab_decode_issue issue = {c->replica, error, KWHY_OK};
	uint32_t count = c->replica->slots * CHECK_PROMPT;

	for (uint32_t i = 0; i < count; i++)
		c->tokens[i] = c->answer->tokens[i / CHECK_PROMPT % 2][i % CHECK_PROMPT];
	issue.status = lab_decode_send(
		c->replica, c->replica->ranks[0].args.prompt, c->tokens, count * sizeof(*c->tokens), error);
	lab_decode_issue_prompts(&issue, CHECK_PROMPT);
	issue.status = lab_decode_await(&issue);
	return issue.status ? issue.status : compare_all(c, 0, error);
}

static enum kwhy_status check_step(struct checking *c, uint32_t step, struct kwhy_error *error)
{
	struct lab_decode_issue issue = {c->replica, error, KWHY_OK};
	uint32_t slots = c->replica->slots;

	for (uint32_t slot = 0; slot < slots; slot++)
		c->next[slot] = lab_decode_key(0, c->answer->tokens[slot % 2][CHECK_PROMPT + step]);
	issue.status = lab_decode_send(
		c->replica, c->replica->ranks[0].args.best, c->next, slots * sizeof(*c->next), error);
	lab_decode_issue_step(&issue);
	issue.status = lab_decode_await(&issue);
	return issue.status ? issue.status : compare_all(c, step + 1, error);
}

static enum kwhy_status check_replica(struct checking *c, struct kwhy_error *error)
{
	uint32_t slots = c->replica->slots,
		 words = c->replica->ranks[0].args.word_count * c->replica->rank_count;
	enum kwhy_status status;

	c->tokens = malloc((size_t)slots * CHECK_PROMPT * sizeof(*c->tokens));
	c->next = malloc(slots * sizeof(*c->next));
	c->logits = malloc(words * sizeof(*c->logits));
	status = c->tokens && c->next && c->logits ? check_prompts(c, error)
						   : kwhy_fail_memory(error, "the check of decode");
	for (uint32_t step = 0; !status && step < CHECK_STEPS; step++)
		status = check_step(c, step, error);
	NEXT(status, lab_decode_send_prompts(c->replica, error));
	free(c->tokens);
	free(c->next);
	free(c->logits);
	return status;
}

enum kwhy_status lab_decode_check(struct lab_decode *decode, const struct lab_decode_answer *answer,
	struct lab_decode_error *out, struct kwhy_error *error)
{
	struct checking c = {.answer = answer};
	enum kwhy_status status = KWHY_OK;

	decode->is_prefilled = decode->is_written = false;
	for (uint32_t i = 0; !status && i < decode->replica_count; i++) {
		c.replica = &decode->replicas[i];
		status = check_replica(&c, error);
	}
	if (!status)
		*out = (struct lab_decode_error){sqrt(c.off / c.all), c.most, (double)c.agreed / c.compared};
	return status;
}
