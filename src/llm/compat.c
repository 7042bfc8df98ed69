/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/compat.h"

#include "base/quantile.h"

#include <math.h>
#include <stdlib.h>

struct values {
	double *items;
	size_t count;
};

struct collected {
	struct values ttft, tpot, gap, answer;
	int64_t first_sent_ns, last_ns;
};

static void add(struct values *values, double value)
{
	values->items[values->count++] = value;
}

static struct kwhy_llm_compat_times times_of(struct values *values)
{
	struct kwhy_llm_compat_times times = {values->count, NAN, NAN, NAN, NAN};
	double sum = 0, squares = 0, count = (double)values->count;

	if (!values->count)
		return times;
	kwhy_sort_reals(values->items, values->count);
	for (size_t i = 0; i < values->count; i++)
		sum += values->items[i];
	times.mean = sum / count;
	for (size_t i = 0; i < values->count; i++)
		squares += (values->items[i] - times.mean) * (values->items[i] - times.mean);
	times.deviation = sqrt(squares / count); /* population standard deviation, as numpy.std computes it */
	times.median = kwhy_quantile(values->items, values->count, 0.5);
	times.p99 = kwhy_quantile(values->items, values->count, 0.99);
	return times;
}

static bool keeps(double value, double limit)
{
	return isnan(limit) || isnan(value) || value <= limit;
}

/* Times of an answer in seconds, by the definitions of a tool. */
struct answer_times {
	int64_t last_ns;
	/* s; ttft and tpot are NAN for an answer without a stream, tpot also for one of a single token */
	double ttft, tpot, answer;
};

static struct answer_times times_by(
	enum kwhy_llm_compat_tool tool, const struct kwhy_llm_record *record, double tokens)
{
	size_t pieces = record->piece_count;
	bool by_events = tool == KWHY_LLM_COMPAT_VLLM || !pieces;
	int64_t first_ns = by_events ? record->first_event_ns : record->pieces[0].at_ns;
	struct answer_times times = {
		by_events ? record->last_event_ns : record->pieces[pieces - 1].at_ns, NAN, NAN, NAN};

	if (!first_ns) {
		times.last_ns = record->end_ns;
		times.answer = (double)(record->end_ns - record->sent_ns) * 1e-9;
		return times;
	}
	times.ttft = (double)(first_ns - record->sent_ns) * 1e-9;
	times.answer = (double)(times.last_ns - record->sent_ns) * 1e-9;
	/*
	 * an answer of one token has no time per token (NAN), so no limit on it is exceeded, as in both tools
	 */
	times.tpot = tokens > 1 ? (times.answer - times.ttft) / (tokens - 1) : NAN;
	return times;
}

static void add_answer(struct collected *collected, struct kwhy_llm_compat *out,
	const struct kwhy_llm_record *record, const struct kwhy_llm_limits *limits)
{
	double tokens = kwhy_llm_record_has_usage(record) ? (double)record->completion_tokens
							  : (double)record->piece_count;
	struct answer_times times = times_by(out->tool, record, tokens);

	out->completed++;
	out->prompt_tokens += record->prompt_tokens > 0 ? (double)record->prompt_tokens : 0;
	out->output_tokens += tokens;
	out->good += keeps(times.ttft, limits->first_s) && keeps(times.tpot, limits->token_s) &&
		keeps(times.answer, limits->answer_s);
	add(&collected->answer, times.answer);
	if (!isnan(times.ttft))
		add(&collected->ttft, times.ttft);
	if (!isnan(times.tpot))
		add(&collected->tpot, times.tpot);
	for (size_t i = 1; i < record->piece_count; i++)
		add(&collected->gap, (double)(record->pieces[i].at_ns - record->pieces[i - 1].at_ns) * 1e-9);
	if (times.last_ns > collected->last_ns)
		collected->last_ns = times.last_ns;
}

enum kwhy_status kwhy_llm_compat_of(const struct kwhy_llm_run *run, enum kwhy_llm_compat_tool tool,
	const struct kwhy_llm_limits *limits, struct kwhy_llm_compat *out, struct kwhy_error *error)
{
	struct collected collected = {.first_sent_ns = INT64_MAX};
	size_t pieces = 0;
	double *space;

	*out = (struct kwhy_llm_compat){.tool = tool};
	for (size_t i = 0; i < run->count; i++)
		pieces += run->records[i].piece_count;
	space = malloc((3 * run->count + pieces + 1) * sizeof(*space));
	if (!space)
		return kwhy_fail_memory(error, "the times of the requests");
	collected.ttft.items = space;
	collected.tpot.items = space + run->count;
	collected.answer.items = space + 2 * run->count;
	collected.gap.items = space + 3 * run->count;
	for (size_t i = 0; i < run->count; i++) {
		const struct kwhy_llm_record *record = &run->records[i];

		if (record->sent_ns && record->sent_ns < collected.first_sent_ns)
			collected.first_sent_ns = record->sent_ns;
		if (record->outcome == KWHY_LLM_DONE)
			add_answer(&collected, out, record, limits);
		else
			out->failed++;
	}
	out->seconds = (double)(run->end_ns - run->start_ns) * 1e-9;
	if (tool == KWHY_LLM_COMPAT_AIPERF && collected.last_ns)
		out->seconds = (double)(collected.last_ns - collected.first_sent_ns) * 1e-9;
	out->ttft = times_of(&collected.ttft);
	out->tpot = times_of(&collected.tpot);
	out->gap = times_of(&collected.gap);
	out->answer = times_of(&collected.answer);
	free(space);
	return KWHY_OK;
}
