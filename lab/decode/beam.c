/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Beam search: of every sequence the likeliest ways on are kept, each in a slot. A slot keeps the keys and
 * values of the tokens that it was given; a table says which slot has each place of a way, so that a way that
 * goes on from another one copies numbers of slots and no keys. Prompts are read and kept once for a
 * sequence.
 */
#include "lab/decode/inside.h"

#include <math.h>
#include <stdlib.h>

enum { CHOOSING_THREADS = 512, BEAM_THREADS = 64 };

bool kwhy_decode_has_beams(const struct kwhy_decode *decode)
{
	return decode->request.beams > 1;
}

uint32_t kwhy_decode_readers(const struct kwhy_decode *decode)
{
	return decode->args.beams > 1 ? decode->args.sequences : decode->args.slots;
}

enum kwhy_status kwhy_decode_beam_check_request(
	const struct kwhy_decode_request *request, struct kwhy_error *error)
{
	if (request->beams < 2)
		return KWHY_OK;
	if (request->beams > KWHY_DECODE_BEAMS_MOST || request->slots % request->beams)
		return kwhy_fail(error, KWHY_E_INPUT,
			"decode: %u slots for sequences of %u beams; there may be %d, and each sequence has "
			"all",
			request->slots, request->beams, KWHY_DECODE_BEAMS_MOST);
	if (request->launching == KWHY_DECODE_DEVICE)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"all tokens in one launch are the likeliest; to keep beams launch a graph instead");
	if (request->choice.temperature > 0)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"tokens of beams are not drawn; leave out the temperature or the beams");
	if (request->peer_count)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"to rank beams takes all logits on one GPU; keep beams on one, or none on several");
	return KWHY_OK;
}

void kwhy_decode_issue_beams(struct kwhy_decode_issue *issue)
{
	const struct kwhy_decode_args *args = &issue->decode->args;

	if (args->beams < 2)
		return;
	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){
			.kernel = KWHY_DECODE_BEAM_RANK, .blocks = args->slots, .threads = CHOOSING_THREADS});
	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){.kernel = KWHY_DECODE_BEAM_CHOOSE,
			.blocks = args->sequences,
			.threads = BEAM_THREADS,
			.numbers = {args->each > 1 ? 1 : args->beams}});
}

/* The tokens of places `from` to `to`, and the next one, of the way that a slot goes; *score: of all of it.
 */
static enum kwhy_status follow(struct kwhy_decode *decode, uint32_t slot, uint32_t from, uint32_t to,
	uint32_t *out_tokens, double *out_score, struct kwhy_error *error)
{
	const struct kwhy_decode_args *args = &decode->args;
	size_t slots = args->slots, room = args->room;
	uint32_t *sources = malloc(room * sizeof(*sources)), *chosen = malloc(slots * room * sizeof(*chosen));
	uint64_t best = 0;
	float score = NAN;
	enum kwhy_status status = !sources || !chosen ? kwhy_fail_memory(error, "the tokens of beams")
						      : KWHY_OK;

	if (!status)
		status = kwhy_decode_copy(decode, kwhy_gpu_address(sources),
			args->sources + ((to + 1) % 2 * slots + slot) * room * sizeof(*sources),
			room * sizeof(*sources), error);
	if (!status)
		status = kwhy_decode_copy(decode, kwhy_gpu_address(chosen), args->chosen,
			slots * room * sizeof(*chosen), error);
	if (!status)
		status = kwhy_decode_copy(decode, kwhy_gpu_address(&best), args->best + slot * sizeof(best),
			sizeof(best), error);
	if (!status)
		status = kwhy_decode_copy(decode, kwhy_gpu_address(&score),
			args->scores + slot * sizeof(score), sizeof(score), error);
	for (uint32_t i = from; !status && i <= to; i++)
		out_tokens[i - from] = chosen[sources[i] * room + i];
	if (!status) {
		out_tokens[to - from + 1] = kwhy_decode_token(best);
		*out_score = (double)score;
	}
	free(sources);
	free(chosen);
	return status;
}

enum kwhy_status kwhy_decode_beam(struct kwhy_decode *decode, uint32_t sequence, uint32_t *out_tokens,
	double *out_score, struct kwhy_error *error)
{
	uint32_t prompt = decode->request.prompt;

	if (decode->args.beams < 2 || sequence >= decode->args.sequences)
		return kwhy_fail(error, KWHY_E_INPUT, "decode: sequence %u has no beams", sequence);
	return follow(
		decode, sequence, prompt, prompt + decode->request.tokens - 1, out_tokens, out_score, error);
}

/* --- Against the reference --- */

/* The logarithm of the probability of a sequence's tokens behind its prompt. */
static enum kwhy_status expect(const struct kwhy_decode *decode, const uint32_t *tokens, uint32_t prompt,
	uint32_t count, double *out, struct kwhy_error *error)
{
	const struct kwhy_decode_shape *shape = decode->whole;
	float *logits = malloc((size_t)(count - prompt) * shape->vocabulary * sizeof(*logits));
	enum kwhy_status status;

	if (!logits)
		return kwhy_fail_memory(error, "the reference's logits");
	/* The last token is only chosen. */
	status = (decode->request.weights == KWHY_DECODE_SPARSE
			? kwhy_decode_reference_pruned
			: kwhy_decode_reference)(shape, tokens, count - 1, prompt - 1, logits, error);
	*out = 0;
	for (uint32_t i = prompt; !status && i < count; i++) {
		const float *row = logits + (size_t)(i - prompt) * shape->vocabulary;
		double sum = 0;

		for (uint32_t k = 0; k < shape->vocabulary; k++)
			sum += exp((double)row[k]);
		*out += (double)row[tokens[i]] - log(sum);
	}
	free(logits);
	return status;
}

static enum kwhy_status send(struct kwhy_decode *decode, struct kwhy_error *error)
{
	const uint32_t each = KWHY_DECODE_CHECK_PROMPT;
	size_t count = (size_t)decode->args.slots * each;
	uint32_t *prompts = malloc(count * sizeof(*prompts));
	enum kwhy_status status;

	if (!prompts)
		return kwhy_fail_memory(error, "the prompts of a check");
	for (uint32_t i = 0; i < count; i++)
		prompts[i] = kwhy_decode_prompt_token(decode->whole, i / each % 2, i % each);
	status = kwhy_decode_copy(
		decode, decode->args.prompt, kwhy_gpu_address(prompts), count * sizeof(*prompts), error);
	free(prompts);
	return status;
}

static enum kwhy_status keep_first(struct kwhy_decode *decode, struct kwhy_error *error)
{
	uint32_t slots = decode->args.slots;
	enum kwhy_status status = kwhy_decode_copy(
		decode, decode->first, decode->args.best, slots * sizeof(uint64_t), error);

	return status ? status
		      : kwhy_decode_copy(decode, decode->args.first_scores, decode->args.scores,
				slots * sizeof(float), error);
}

enum kwhy_status kwhy_decode_beam_check(struct kwhy_decode *decode, double *out_off, struct kwhy_error *error)
{
	const uint32_t prompt = KWHY_DECODE_CHECK_PROMPT, steps = KWHY_DECODE_CHECK_STEPS;
	struct kwhy_decode_issue issue = {decode, error, KWHY_OK};
	uint32_t tokens[KWHY_DECODE_REFERENCE_MOST];
	double found = NAN, expected = NAN;

	decode->is_prefilled = decode->is_recorded = false;
	issue.status = send(decode, error);
	kwhy_decode_issue_prompts(&issue, prompt);
	issue.status = kwhy_decode_await(&issue);
	if (!issue.status)
		issue.status = keep_first(decode, error);
	if (!issue.status)
		issue.status = kwhy_decode_capture(decode, error);
	kwhy_decode_issue_reset(&issue, prompt - 1, decode->first);
	kwhy_decode_issue_steps(&issue, steps);
	issue.status = kwhy_decode_await(&issue);
	for (uint32_t i = 0; i < prompt; i++)
		tokens[i] = kwhy_decode_prompt_token(decode->whole, 0, i);
	if (!issue.status)
		issue.status = follow(decode, 0, prompt, prompt + steps - 1, tokens + prompt, &found, error);
	if (!issue.status)
		issue.status = expect(decode, tokens, prompt, prompt + steps + 1, &expected, error);
	kwhy_decode_forget_graphs(decode);
	*out_off = fabs(found - expected) / (steps + 1);
	return issue.status;
}
