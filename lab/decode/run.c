/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/decode/run.h"

#include "base/clock.h"
#include "lab/decode/library.h"

#include <stdlib.h>
#include <string.h>

enum { CHECKED_MOST = 4, OUTPUTS = 1 + KWHY_DECODE_CHECK_STEPS };

uint32_t kwhy_decode_kernel_count(const struct kwhy_decode *decode)
{
	return decode->step_kernels;
}

const char *kwhy_decode_products(const struct kwhy_decode *decode, bool is_reading)
{
	uint32_t tokens = is_reading ? decode->args.sequences * decode->request.prompt
				     : decode->request.slots;

	return !decode->library || kwhy_decode_library_takes(decode, tokens, is_reading) ? decode->products
											 : "own kernels";
}

uint64_t kwhy_decode_weights_bytes(const struct kwhy_decode *decode)
{
	return decode->weight_bytes;
}

uint64_t kwhy_decode_cache_bytes(const struct kwhy_decode *decode)
{
	const struct kwhy_decode_args *args = &decode->args;
	uint64_t positions = args->page ? (uint64_t)args->page_count * args->page
					: (uint64_t)args->cache_slots * args->room;

	return positions * kwhy_decode_token_bytes(decode);
}

uint64_t kwhy_decode_token_bytes(const struct kwhy_decode *decode)
{
	const struct kwhy_decode_shape *shape = decode->request.shape;

	return (uint64_t)2 * shape->layers * shape->heads * KWHY_DECODE_HEAD *
		kwhy_decode_kept_bytes(&decode->request);
}

enum kwhy_status kwhy_decode_copy(
	struct kwhy_decode *decode, uint64_t to, uint64_t from, size_t bytes, struct kwhy_error *error)
{
	const struct kwhy_gpu_copy copy = {to, from, bytes};
	struct kwhy_gpu *gpu = decode->gpu;
	enum kwhy_status status = kwhy_decode_synchronize(decode, error);

	if (!status)
		status = gpu->ops->copy_now(gpu, &copy, error);
	return status ? status : kwhy_decode_peers_copy(decode, to, from, bytes, error);
}

static double seconds_since(int64_t start_ns)
{
	return (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
}

static enum kwhy_status send_prompts(
	struct kwhy_decode *decode, const uint32_t *prompts, uint32_t each, struct kwhy_error *error)
{
	size_t bytes = (size_t)decode->args.slots * each * sizeof(*prompts);

	return kwhy_decode_copy(decode, decode->args.prompt, kwhy_gpu_address(prompts), bytes, error);
}

static void issue_reading(struct kwhy_decode_issue *issue)
{
	struct kwhy_decode *decode = issue->decode;

	if (!decode->reading)
		kwhy_decode_issue_prompts(issue, decode->request.prompt);
	else if (!issue->status)
		issue->status = kwhy_decode_launch_graphs(decode, true, issue->error);
}

enum kwhy_status kwhy_decode_prefill(struct kwhy_decode *decode, double *out_s, struct kwhy_error *error)
{
	struct kwhy_decode_issue issue = {decode, error, KWHY_OK};
	int64_t start_ns;

	issue.status = send_prompts(decode, decode->prompts, decode->request.prompt, error);
	if (!issue.status && !decode->reading)
		issue.status = kwhy_decode_capture_reading(decode, error);
	start_ns = kwhy_clock_mono_ns();
	issue_reading(&issue);
	issue.status = kwhy_decode_await(&issue);
	if (out_s)
		*out_s = seconds_since(start_ns);
	if (!issue.status)
		issue.status = kwhy_decode_copy(decode, decode->first, decode->args.best,
			decode->args.slots * sizeof(*decode->bests), error);
	if (!issue.status && kwhy_decode_has_beams(decode))
		issue.status = kwhy_decode_copy(decode, decode->args.first_scores, decode->args.scores,
			decode->args.slots * sizeof(float), error);
	if (!issue.status && !decode->graph)
		issue.status = kwhy_decode_capture(decode, error);
	decode->is_prefilled = decode->is_recorded = !issue.status;
	return issue.status;
}

enum kwhy_status kwhy_decode_write(struct kwhy_decode *decode, double *out_s, struct kwhy_error *error)
{
	struct kwhy_decode_issue issue = {decode, error, KWHY_OK};
	int64_t start_ns = kwhy_clock_mono_ns();

	if (!decode->is_prefilled)
		return kwhy_fail(
			error, KWHY_E_INPUT, "decode: tokens are written behind a prompt; read one first");
	kwhy_decode_issue_reset(&issue, decode->request.prompt - 1, decode->first);
	kwhy_decode_issue_steps(&issue, decode->request.tokens);
	issue.status = kwhy_decode_await(&issue);
	if (out_s)
		*out_s = seconds_since(start_ns);
	return issue.status;
}

enum kwhy_status kwhy_decode_tokens(
	struct kwhy_decode *decode, uint32_t slot, uint32_t *out_tokens, struct kwhy_error *error)
{
	uint64_t place = (uint64_t)slot * decode->args.room + decode->request.prompt;

	return kwhy_decode_copy(decode, kwhy_gpu_address(out_tokens),
		decode->args.chosen + place * sizeof(*out_tokens),
		decode->request.tokens * sizeof(*out_tokens), error);
}

enum kwhy_status kwhy_decode_steps(struct kwhy_decode *decode, double *out_s, struct kwhy_error *error)
{
	uint32_t first = decode->request.prompt;
	enum kwhy_status status = kwhy_decode_copy(decode, kwhy_gpu_address(decode->times),
		decode->args.times, decode->args.room * sizeof(*decode->times), error);

	for (uint32_t i = 0; !status && i + 1 < decode->request.tokens; i++)
		out_s[i] = (double)(decode->times[first + i + 1] - decode->times[first + i]) * 1e-9;
	return status;
}

/* --- Against the reference --- */

static enum kwhy_status answer_of(const struct kwhy_decode_shape *shape, bool is_pruned,
	struct kwhy_decode_answer *out, struct kwhy_error *error)
{
	uint32_t count = KWHY_DECODE_CHECK_PROMPT + KWHY_DECODE_CHECK_STEPS;
	struct kwhy_decode_answer answer = {.shape = shape};
	enum kwhy_status status = KWHY_OK;

	for (uint32_t s = 0; !status && s < 2; s++) {
		answer.logits[s] = malloc((size_t)OUTPUTS * shape->vocabulary * sizeof(float));
		if (!answer.logits[s])
			status = kwhy_fail_memory(error, "the reference's logits");
		for (uint32_t i = 0; i < count; i++)
			answer.tokens[s][i] = kwhy_decode_prompt_token(shape, s, i);
		if (!status)
			status = (is_pruned ? kwhy_decode_reference_pruned : kwhy_decode_reference)(shape,
				answer.tokens[s], count, KWHY_DECODE_CHECK_PROMPT - 1, answer.logits[s],
				error);
	}
	if (status)
		kwhy_decode_answer_done(&answer);
	else
		*out = answer;
	return status;
}

enum kwhy_status kwhy_decode_answer_init(
	const struct kwhy_decode_shape *shape, struct kwhy_decode_answer *out, struct kwhy_error *error)
{
	return answer_of(shape, false, out, error);
}

enum kwhy_status kwhy_decode_answer_init_pruned(
	const struct kwhy_decode_shape *shape, struct kwhy_decode_answer *out, struct kwhy_error *error)
{
	return answer_of(shape, true, out, error);
}

void kwhy_decode_answer_done(struct kwhy_decode_answer *answer)
{
	free(answer->logits[0]);
	free(answer->logits[1]);
	answer->logits[0] = answer->logits[1] = NULL;
}

/* A check under way. Slots take the two sequences by turns. */
struct check {
	struct kwhy_decode *decode;
	const struct kwhy_decode_answer *answer;
	float *logits; /* of a slot */
	double squares, errors, most;
	uint32_t tokens, agreed;
};

static uint32_t likeliest(const float *logits, uint32_t count)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < count; i++)
		best = logits[i] > logits[best] ? i : best;
	return best;
}

static void compare(struct check *check, const float *expected)
{
	uint32_t count = check->answer->shape->vocabulary;

	for (uint32_t i = 0; i < count; i++) {
		double off = (double)check->logits[i] - expected[i];

		check->squares += (double)expected[i] * expected[i];
		check->errors += off * off;
		/* What is no number is as far off as can be. */
		check->most = off == off ? fmax(check->most, fabs(off)) : INFINITY;
	}
	check->tokens++;
	check->agreed += likeliest(check->logits, count) == likeliest(expected, count);
}

static enum kwhy_status compare_slots(struct check *check, uint32_t output, struct kwhy_error *error)
{
	struct kwhy_decode *decode = check->decode;
	uint32_t slots = decode->args.slots, checked = slots < CHECKED_MOST ? slots : CHECKED_MOST,
		 vocabulary = check->answer->shape->vocabulary;
	size_t bytes = vocabulary * sizeof(float);
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < checked; i++) {
		uint32_t slot = checked == 1 ? 0 : i * (slots - 1) / (checked - 1);

		status = kwhy_decode_copy(
			decode, kwhy_gpu_address(check->logits), decode->logits + slot * bytes, bytes, error);
		if (!status)
			compare(check, check->answer->logits[slot % 2] + (size_t)output * vocabulary);
	}
	return status;
}

/* The next token of every slot is told, not chosen, so that both read the same. */
static enum kwhy_status tell(struct check *check, uint32_t step, struct kwhy_error *error)
{
	struct kwhy_decode *decode = check->decode;

	for (uint32_t slot = 0; slot < decode->args.slots; slot++)
		decode->bests[slot] = (uint32_t)~check->answer
					      ->tokens[slot % 2][KWHY_DECODE_CHECK_PROMPT + step];
	return kwhy_decode_copy(decode, decode->args.best, kwhy_gpu_address(decode->bests),
		decode->args.slots * sizeof(*decode->bests), error);
}

static enum kwhy_status check_prompt(struct check *check, struct kwhy_error *error)
{
	const uint32_t each = KWHY_DECODE_CHECK_PROMPT;
	uint32_t slots = check->decode->args.slots,
		 *prompts = malloc((size_t)slots * each * sizeof(*prompts));
	struct kwhy_decode_issue issue = {check->decode, error, KWHY_OK};

	if (!prompts)
		return kwhy_fail_memory(error, "the prompts of a check");
	for (uint32_t i = 0; i < slots * each; i++)
		prompts[i] = check->answer->tokens[i / each % 2][i % each];
	issue.status = send_prompts(check->decode, prompts, each, error);
	kwhy_decode_issue_prompts(&issue, each);
	issue.status = kwhy_decode_await(&issue);
	free(prompts);
	return issue.status ? issue.status : compare_slots(check, 0, error);
}

static enum kwhy_status check_steps(struct check *check, struct kwhy_error *error)
{
	struct kwhy_decode_issue issue = {check->decode, error, KWHY_OK};

	for (uint32_t step = 0; !issue.status && step < KWHY_DECODE_CHECK_STEPS; step++) {
		kwhy_decode_issue_reset(&issue, KWHY_DECODE_CHECK_PROMPT - 1 + step, 0);
		issue.status = kwhy_decode_await(&issue);
		if (!issue.status)
			issue.status = tell(check, step, error);
		kwhy_decode_issue_steps(&issue, 1);
		if (!issue.status)
			issue.status = compare_slots(check, step + 1, error);
	}
	return issue.status;
}

enum kwhy_status kwhy_decode_check(struct kwhy_decode *decode, const struct kwhy_decode_answer *answer,
	struct kwhy_decode_error *out, struct kwhy_error *error)
{
	struct check check = {.decode = decode, .answer = answer};
	enum kwhy_status status;

	check.logits = malloc(answer->shape->vocabulary * sizeof(float));
	if (!check.logits)
		return kwhy_fail_memory(error, "the logits of a check");
	decode->is_prefilled = decode->is_recorded = false;
	kwhy_decode_set_choice(decode, false, true);
	status = check_prompt(&check, error);
	if (!status)
		status = kwhy_decode_capture(decode, error);
	if (!status)
		status = check_steps(&check, error);
	kwhy_decode_set_choice(decode, true, false);
	/* What was recorded writes logits; the next prefill records what does not. */
	kwhy_decode_forget_graphs(decode);
	free(check.logits);
	if (status)
		return status;
	out->relative = sqrt(check.errors / check.squares);
	out->most = check.most;
	out->agreed = (double)check.agreed / check.tokens;
	return KWHY_OK;
}
