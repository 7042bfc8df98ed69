/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/summary.h"

#include "base/quantile.h"
#include "llm/pace.h"

#include <math.h>
#include <stdlib.h>

/* Collects values of one kind, in seconds. */
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

static void add(struct values *values, int64_t from_ns, int64_t to_ns)
{
	values->items[values->count++] = (double)(to_ns - from_ns) * 1e-9;
}

static bool is_inside(const struct kwhy_llm_run *run, int64_t time_ns)
{
	return time_ns >= run->steady_start_ns && time_ns < run->steady_end_ns;
}

static void add_times(struct measured *measured, const struct kwhy_llm_pace *pace)
{
	const struct kwhy_llm_record *record = pace->record;
	double token_s = kwhy_llm_pace_token_s(pace);

	add(&measured->answer, record->due_ns, record->end_ns);
	if (!record->piece_count)
		return;
	add(&measured->first, record->due_ns, record->pieces[0].at_ns);
	if (isfinite(token_s))
		measured->token.items[measured->token.count++] = token_s;
	for (size_t i = 1; i < record->piece_count; i++)
		add(&measured->gap, record->pieces[i - 1].at_ns, record->pieces[i].at_ns);
}

static void add_counts(struct kwhy_llm_summary *summary, const struct kwhy_llm_pace *pace)
{
	const struct kwhy_llm_record *record = pace->record;

	summary->stated += pace->basis == KWHY_LLM_PACE_STATED;
	if (!kwhy_llm_record_has_usage(record)) {
		summary->without_usage++;
		return;
	}
	if (record->is_counted) {
		summary->counted++;
		return;
	}
	summary->fewer_than_pieces += pace->basis == KWHY_LLM_PACE_EVENLY;
	summary->usage_tokens += (uint64_t)record->completion_tokens;
	summary->usage_pieces += record->piece_count;
}

/*
 * Adds a request to the amounts in the steady window (struct kwhy_llm_summary), times the share of its
 * answer's tokens that arrived in the window. An answer without pieces counts wholly or not at all, by the
 * time of its end. Requests that were not answered in full add only tokens.
 */
static void add_work(
	const struct kwhy_llm_run *run, struct kwhy_llm_summary *summary, const struct kwhy_llm_pace *pace)
{
	const struct kwhy_llm_record *record = pace->record;
	double share = is_inside(run, record->end_ns), inside = 0;

	for (size_t i = 0; i < record->piece_count; i++)
		if (is_inside(run, record->pieces[i].at_ns))
			inside += kwhy_llm_pace_of_piece(pace, i);
	if (record->piece_count)
		share = inside / pace->tokens;
	summary->tokens += share * fmax(pace->tokens, 0);
	if (record->outcome != KWHY_LLM_DONE || !(share > 0))
		return;
	summary->answers += share;
	summary->prompt_tokens += share * (record->prompt_tokens >= 0 ? (double)record->prompt_tokens : NAN);
	summary->cached_tokens += share * (record->cached_tokens >= 0 ? (double)record->cached_tokens : NAN);
}

static bool exceeds(double value_s, double limit_s)
{
	return !isnan(limit_s) && !isnan(value_s) && value_s > limit_s;
}

/*
 * Whether an answer keeps all limits. If an answer lacks one of the times (an answer of one token has no
 * time per token), it keeps the limit of this time.
 */
static bool is_good(const struct kwhy_llm_pace *pace, const struct kwhy_llm_limits *limits)
{
	const struct kwhy_llm_record *record = pace->record;
	double first_s = record->piece_count ? (double)(record->pieces[0].at_ns - record->due_ns) * 1e-9
					     : NAN;

	return !exceeds(first_s, limits->first_s) && !exceeds(kwhy_llm_pace_token_s(pace), limits->token_s) &&
		!exceeds((double)(record->end_ns - record->due_ns) * 1e-9, limits->answer_s);
}

static void add_record(const struct kwhy_llm_run *run, const struct kwhy_llm_limits *limits,
	struct kwhy_llm_summary *summary, struct measured *measured, const struct kwhy_llm_record *record)
{
	struct kwhy_llm_pace pace;

	kwhy_llm_pace_init(&pace, record);
	add_work(run, summary, &pace);
	summary->sent += record->sent_ns && is_inside(run, record->sent_ns);
	if (!is_inside(run, record->due_ns))
		return;
	summary->requests++;
	summary->outcomes[record->outcome]++;
	summary->late_s = fmax(summary->late_s, (double)(record->sent_ns - record->due_ns) * 1e-9);
	if (record->outcome == KWHY_LLM_STATUS && !summary->failed_status)
		summary->failed_status = record->http_status;
	if (record->outcome != KWHY_LLM_DONE)
		return;
	summary->good += is_good(&pace, limits);
	add_counts(summary, &pace);
	add_times(measured, &pace);
}

enum kwhy_status kwhy_llm_summarise(const struct kwhy_llm_run *run, const struct kwhy_llm_limits *limits,
	struct kwhy_llm_summary *out, struct kwhy_error *error)
{
	size_t pieces = 0;
	double *space;
	struct measured measured = {0};

	for (size_t i = 0; i < run->count; i++)
		pieces += run->records[i].piece_count;
	space = malloc((3 * run->count + pieces + 1) * sizeof(*space));
	if (!space)
		return kwhy_fail_memory(error, "the times of the requests");
	measured.first.items = space;
	measured.token.items = space + run->count;
	measured.answer.items = space + 2 * run->count;
	measured.gap.items = space + 3 * run->count;
	*out = (struct kwhy_llm_summary){
		.seconds = (double)(run->steady_end_ns - run->steady_start_ns) * 1e-9,
		.cpu_cores = run->cpu_s / ((double)(run->end_ns - run->start_ns) * 1e-9)};
	for (size_t i = 0; i < run->count; i++)
		add_record(run, limits, out, &measured, &run->records[i]);
	out->first_s = spread_of(&measured.first);
	out->token_s = spread_of(&measured.token);
	out->gap_s = spread_of(&measured.gap);
	out->answer_s = spread_of(&measured.answer);
	free(space);
	return KWHY_OK;
}
