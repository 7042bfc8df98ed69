/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/work.h"

#include "base/quantile.h"
#include "llm/pace.h"

#include <stdlib.h>

/* Prompts of answers whose first pieces arrive at most this many ns apart count as processed in one batch. */
#define TOGETHER_NS 2000000

struct spreader {
	const struct kwhy_llm_metered *metered;
	struct kwhy_llm_shares *shares;
	size_t opened; /* index of the first share of the request that is being spread */
	/*
	 * [answers] arrival times of the first and of the last pieces of all answers; each array is sorted by
	 * itself
	 */
	int64_t *first_ns, *last_ns;
	size_t answers;
	double mean_prompt;
	bool failed; /* memory was exhausted */
};

/* Number of times in a sorted list that are before `at_ns`. */
static size_t count_before(const int64_t *times_ns, size_t count, int64_t at_ns)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (times_ns[middle] < at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Index of the interval that contains a time; SIZE_MAX: none does. */
static size_t interval_at(const struct kwhy_llm_metered *metered, int64_t at_ns)
{
	size_t low = 0, high = metered->reading_count - 1;

	if (at_ns < metered->readings[0].at_ns || at_ns > metered->readings[high].at_ns)
		return SIZE_MAX;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (metered->readings[middle].at_ns <= at_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Gets the share of a request in an interval, and adds it if there is none. NULL: out of memory. */
static struct kwhy_llm_share *share_in(struct spreader *spreader, size_t interval, size_t request)
{
	struct kwhy_llm_shares *shares = spreader->shares;

	for (size_t i = shares->count; i-- > spreader->opened;)
		if (shares->items[i].interval == interval)
			return &shares->items[i];
	if (shares->count == shares->capacity) {
		size_t capacity = shares->capacity ? 2 * shares->capacity : 1024;
		struct kwhy_llm_share *grown = realloc(shares->items, capacity * sizeof(*grown));

		if (!grown) {
			spreader->failed = true;
			return NULL;
		}
		shares->items = grown;
		shares->capacity = capacity;
	}
	shares->items[shares->count] = (struct kwhy_llm_share){
		.interval = (uint32_t)interval, .request = (uint32_t)request};
	return &shares->items[shares->count++];
}

/*
 * Divides work, which was done at a constant rate from start_ns to end_ns, among the intervals between
 * readings. Work before the first or after the last reading is left out; if start_ns equals end_ns, all of it
 * goes to the interval that contains this time.
 */
static void spread(struct spreader *spreader, size_t request, int64_t start_ns, int64_t end_ns,
	const double work[KWHY_LLM_WORK_COUNT])
{
	const struct kwhy_llm_metered *metered = spreader->metered;
	const struct kwhy_llm_reading *readings = metered->readings;
	int64_t first_ns = readings[0].at_ns, length_ns = end_ns - start_ns;
	size_t interval = interval_at(metered, start_ns > first_ns ? start_ns : first_ns);

	for (; interval < metered->reading_count - 1 && readings[interval].at_ns <= end_ns; interval++) {
		int64_t from_ns = readings[interval].at_ns, to_ns = readings[interval + 1].at_ns;
		double part = 1;
		struct kwhy_llm_share *share;

		from_ns = from_ns > start_ns ? from_ns : start_ns;
		to_ns = to_ns < end_ns ? to_ns : end_ns;
		if (length_ns > 0)
			part = (double)(to_ns - from_ns) / (double)length_ns;
		share = part > 0 ? share_in(spreader, interval, request) : NULL;
		for (size_t kind = 0; share && kind < KWHY_LLM_WORK_COUNT; kind++)
			share->work[kind] += part * work[kind];
		if (length_ns <= 0)
			return;
	}
}

static double prompt_of(const struct spreader *spreader, const struct kwhy_llm_record *record)
{
	return record->prompt_tokens >= 0 ? (double)record->prompt_tokens : spreader->mean_prompt;
}

static void spread_prompt(struct spreader *spreader, size_t request)
{
	const struct kwhy_llm_record *record = &spreader->metered->records[request];
	int64_t first_ns = record->pieces[0].at_ns, start_ns = record->sent_ns;
	size_t before = count_before(spreader->first_ns, spreader->answers, first_ns - TOGETHER_NS);
	size_t until = count_before(spreader->first_ns, spreader->answers, first_ns + TOGETHER_NS + 1);
	double tokens = prompt_of(spreader, record);
	double cached = record->cached_tokens > 0 ? (double)record->cached_tokens : 0;
	double work[KWHY_LLM_WORK_COUNT] = {0};

	cached = cached < tokens ? cached : tokens;
	if (before && spreader->first_ns[before - 1] > start_ns)
		start_ns = spreader->first_ns[before - 1];
	work[KWHY_LLM_WORK_PROMPT] = tokens - cached;
	work[KWHY_LLM_WORK_CACHED] = cached;
	work[KWHY_LLM_WORK_BATCH] = 1 / (double)(until - before);
	spread(spreader, request, start_ns, first_ns, work);
}

/* Number of answers that began before at_ns and did not end before it; at least 1. */
static double under_way(const struct spreader *spreader, int64_t at_ns)
{
	size_t begun = count_before(spreader->first_ns, spreader->answers, at_ns);
	size_t ended = count_before(spreader->last_ns, spreader->answers, at_ns);

	return begun > ended + 1 ? (double)(begun - ended) : 1;
}

static void spread_output(struct spreader *spreader, size_t request)
{
	const struct kwhy_llm_record *record = &spreader->metered->records[request];
	struct kwhy_llm_pace pace;
	double context = prompt_of(spreader, record); /* number of tokens in the context of the next token */

	kwhy_llm_pace_init(&pace, record);
	for (size_t i = 0; i < record->piece_count; i++) {
		int64_t at_ns = record->pieces[i].at_ns;
		double tokens = kwhy_llm_pace_of_piece(&pace, i) - (i == 0);
		double work[KWHY_LLM_WORK_COUNT] = {0};

		context += i == 0;
		if (!(tokens > 0))
			continue;
		work[KWHY_LLM_WORK_OUTPUT] = tokens;
		work[KWHY_LLM_WORK_STEP] = tokens / under_way(spreader, at_ns);
		work[KWHY_LLM_WORK_CONTEXT] = tokens * (context + (tokens - 1) / 2);
		context += tokens;
		spread(spreader, request, i ? record->pieces[i - 1].at_ns : at_ns, at_ns, work);
	}
}

/* Sorts shares by interval; the shares of an interval stay sorted by request. */
static enum kwhy_status sort_shares(
	struct kwhy_llm_shares *shares, size_t interval_count, struct kwhy_error *error)
{
	size_t *next = calloc(interval_count + 1, sizeof(*next));
	struct kwhy_llm_share *sorted = malloc((shares->count + 1) * sizeof(*sorted));

	if (!next || !sorted) {
		free(next);
		free(sorted);
		return kwhy_fail_memory(error, "the work of the requests");
	}
	for (size_t i = 0; i < shares->count; i++)
		next[shares->items[i].interval + 1]++;
	for (size_t i = 0; i < interval_count; i++)
		next[i + 1] += next[i];
	for (size_t i = 0; i < shares->count; i++)
		sorted[next[shares->items[i].interval]++] = shares->items[i];
	free(next);
	free(shares->items);
	shares->items = sorted;
	shares->capacity = shares->count + 1;
	return KWHY_OK;
}

static enum kwhy_status check(const struct kwhy_llm_metered *metered, struct kwhy_error *error)
{
	if (metered->reading_count < 2 || metered->reading_count > UINT32_MAX ||
		metered->record_count > UINT32_MAX)
		return kwhy_fail(error, KWHY_E_INPUT, "the meters gave fewer than two readings of the run");
	for (size_t i = 1; i < metered->reading_count; i++)
		if (metered->readings[i].at_ns <= metered->readings[i - 1].at_ns ||
			metered->readings[i].total_nj < metered->readings[i - 1].total_nj)
			return kwhy_fail(error, KWHY_E_INPUT, "the meters' energy falls at reading %zu", i);
	return KWHY_OK;
}

/* Fills first_ns and last_ns, and computes the mean number of tokens of the prompts for which it is known. */
static enum kwhy_status survey(struct spreader *spreader, struct kwhy_error *error)
{
	const struct kwhy_llm_metered *metered = spreader->metered;
	struct kwhy_llm_shares *shares = spreader->shares;
	double prompts = 0;

	spreader->first_ns = calloc(metered->record_count + 1, sizeof(*spreader->first_ns));
	spreader->last_ns = calloc(metered->record_count + 1, sizeof(*spreader->last_ns));
	if (!spreader->first_ns || !spreader->last_ns)
		return kwhy_fail_memory(error, "the work of the requests");
	for (size_t i = 0; i < metered->record_count; i++) {
		const struct kwhy_llm_record *record = &metered->records[i];

		if (!record->piece_count)
			continue;
		spreader->first_ns[shares->answered] = record->pieces[0].at_ns;
		spreader->last_ns[shares->answered++] = record->pieces[record->piece_count - 1].at_ns;
		shares->unknown_prompts += record->prompt_tokens < 0;
		prompts += record->prompt_tokens < 0 ? 0 : (double)record->prompt_tokens;
	}
	spreader->answers = shares->answered;
	kwhy_sort_integers(spreader->first_ns, spreader->answers);
	kwhy_sort_integers(spreader->last_ns, spreader->answers);
	if (shares->answered > shares->unknown_prompts)
		spreader->mean_prompt = prompts / (double)(shares->answered - shares->unknown_prompts);
	return KWHY_OK;
}

enum kwhy_status kwhy_llm_shares_make(
	const struct kwhy_llm_metered *metered, struct kwhy_llm_shares *out, struct kwhy_error *error)
{
	struct spreader spreader = {.metered = metered, .shares = out};
	enum kwhy_status status = check(metered, error);

	*out = (struct kwhy_llm_shares){0};
	if (!status)
		status = survey(&spreader, error);
	for (size_t i = 0; !status && i < metered->record_count; i++) {
		spreader.opened = out->count;
		if (!metered->records[i].piece_count)
			continue;
		spread_prompt(&spreader, i);
		spread_output(&spreader, i);
		if (spreader.failed)
			status = kwhy_fail_memory(error, "the work of the requests");
	}
	free(spreader.first_ns);
	free(spreader.last_ns);
	if (!status)
		status = sort_shares(out, metered->reading_count - 1, error);
	if (status)
		kwhy_llm_shares_done(out);
	return status;
}

void kwhy_llm_shares_done(struct kwhy_llm_shares *shares)
{
	free(shares->items);
	*shares = (struct kwhy_llm_shares){0};
}
