/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/summary.h"

#include "base/quantile.h"

#include <math.h>
#include <stdlib.h>

/* Values of one kind that are collected, in seconds. */
struct values {
	double *items;
	size_t count;
};

struct measured {
	struct values first, token, gap, answer;
};

static double percentile(const struct values *values, unsigned percent)
{
	size_t rank = (values->count * percent + 99) / 100;

	return values->count && (percent <= 50 || values->count * (100 - percent) >= 100)
		? values->items[rank - 1]
		: NAN;
}

static struct kwhy_llm_distribution spread_of(const struct values *values)
{
	struct kwhy_llm_distribution spread = {values->count, NAN, NAN, NAN, NAN};
	double sum = 0;

	if (!values->count)
		return spread;
	kwhy_sort_reals(values->items, values->count);
	for (size_t i = 0; i < values->count; i++)
		sum += values->items[i];
	spread.mean = sum / (double)values->count;
	spread.p50 = percentile(values, 50);
	spread.p95 = percentile(values, 95);
	spread.p99 = percentile(values, 99);
	return spread;
}

static void add(struct values *values, int64_t from_ns, int64_t to_ns, double share)
{
	values->items[values->count++] = (double)(to_ns - from_ns) * 1e-9 / share;
}

static bool is_inside(const struct kwhy_llm_run *run, int64_t time_ns)
{
	return time_ns >= run->steady_start_ns && time_ns < run->steady_end_ns;
}

/* Tokens of an answer: as many as the server reports, otherwise one for each piece of text. */
static double tokens_of(const struct kwhy_llm_record *record)
{
	return record->completion_tokens >= 0 ? (double)record->completion_tokens
					      : (double)record->chunk_count;
}

static void add_times(struct measured *measured, const struct kwhy_llm_record *record)
{
	size_t last = record->chunk_count - 1;
	double tokens = tokens_of(record);

	add(&measured->answer, record->due_ns, record->end_ns, 1);
	if (!record->chunk_count)
		return;
	add(&measured->first, record->due_ns, record->chunk_ns[0], 1);
	if (tokens > 1 && last > 0)
		add(&measured->token, record->chunk_ns[0], record->chunk_ns[last], tokens - 1);
	for (size_t i = 1; i <= last; i++)
		add(&measured->gap, record->chunk_ns[i - 1], record->chunk_ns[i], 1);
}

static void add_counts(struct kwhy_llm_summary *summary, const struct kwhy_llm_record *record)
{
	summary->without_usage += record->completion_tokens < 0;
	if (record->completion_tokens < 0)
		return;
	summary->fewer_than_pieces += (uint64_t)record->completion_tokens < record->chunk_count;
	summary->usage_tokens += (uint64_t)record->completion_tokens;
	summary->usage_pieces += record->chunk_count;
}

/*
 * Adds the share of a request that lies inside the steady window. It assumes that tokens are spread evenly
 * over the answer's pieces. An answer without pieces counts at the time of its end.
 */
static void add_work(const struct kwhy_llm_run *run, struct kwhy_llm_summary *summary,
	const struct kwhy_llm_record *record)
{
	double share = is_inside(run, record->end_ns);
	size_t inside = 0;

	for (size_t i = 0; i < record->chunk_count; i++)
		inside += is_inside(run, record->chunk_ns[i]);
	if (record->chunk_count)
		share = (double)inside / (double)record->chunk_count;
	summary->tokens += share * tokens_of(record);
	if (record->outcome != KWHY_LLM_DONE || !(share > 0))
		return;
	summary->answers += share;
	summary->prompt_tokens += share * (record->prompt_tokens >= 0 ? (double)record->prompt_tokens : NAN);
}

static void add_record(const struct kwhy_llm_run *run, struct kwhy_llm_summary *summary,
	struct measured *measured, const struct kwhy_llm_record *record)
{
	add_work(run, summary, record);
	if (!is_inside(run, record->due_ns))
		return;
	summary->requests++;
	summary->outcomes[record->outcome]++;
	summary->late_s = fmax(summary->late_s, (double)(record->sent_ns - record->due_ns) * 1e-9);
	if (record->outcome == KWHY_LLM_STATUS && !summary->failed_status)
		summary->failed_status = record->http_status;
	if (record->outcome != KWHY_LLM_DONE)
		return;
	add_counts(summary, record);
	add_times(measured, record);
}

enum kwhy_status kwhy_llm_summarise(
	const struct kwhy_llm_run *run, struct kwhy_llm_summary *out, struct kwhy_error *error)
{
	size_t pieces = 0;
	double *space;
	struct measured measured = {0};

	for (size_t i = 0; i < run->count; i++)
		pieces += run->records[i].chunk_count;
	space = malloc((3 * run->count + pieces + 1) * sizeof(*space));
	if (!space)
		return kwhy_fail_memory(error, "the times of the requests");
	measured.first.items = space;
	measured.token.items = space + run->count;
	measured.answer.items = space + 2 * run->count;
	measured.gap.items = space + 3 * run->count;
	*out = (struct kwhy_llm_summary){
		.seconds = (double)(run->steady_end_ns - run->steady_start_ns) * 1e-9};
	for (size_t i = 0; i < run->count; i++)
		add_record(run, out, &measured, &run->records[i]);
	out->first_s = spread_of(&measured.first);
	out->token_s = spread_of(&measured.token);
	out->gap_s = spread_of(&measured.gap);
	out->answer_s = spread_of(&measured.answer);
	free(space);
	return KWHY_OK;
}
