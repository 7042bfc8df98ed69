/* SPDX-License-Identifier: Apache-2.0 */
#include "model/host_wait.h"

#include "base/column.h"
#include "base/sort.h"

#include <stdlib.h>

static const uint8_t state_of_class[KWHY_CALL_CLASS_COUNT] = {
	[KWHY_CALL_OTHER] = KWHY_HOST_ELSEWHERE,
	[KWHY_CALL_LAUNCH] = KWHY_HOST_LAUNCH,
	[KWHY_CALL_COPY] = KWHY_HOST_SYNC,
	[KWHY_CALL_SYNC] = KWHY_HOST_SYNC,
	[KWHY_CALL_ALLOC] = KWHY_HOST_ALLOC,
	[KWHY_CALL_FREE] = KWHY_HOST_ALLOC,
};

/*
 * Moves to the next interval in which the thread is in a state other than ELSEWHERE; start_ns and end_ns
 * become INT64_MAX after the last one. Calls are sorted by start, the outer first. Time that two calls share
 * belongs to the one that started earlier, unless the state of that one is ELSEWHERE.
 */
static void walk_next(struct kwhy_host_walk *walk, const struct kwhy_calls *calls)
{
	while (walk->next < walk->end) {
		size_t row = walk->next++;
		int64_t start_ns = calls->start_ns[row];

		walk->state = state_of_class[calls->class[row]];
		if (walk->state == KWHY_HOST_ELSEWHERE || calls->end_ns[row] <= walk->covered_ns)
			continue;
		walk->start_ns = start_ns > walk->covered_ns ? start_ns : walk->covered_ns;
		walk->end_ns = walk->covered_ns = calls->end_ns[row];
		return;
	}
	walk->start_ns = walk->end_ns = INT64_MAX;
}

static struct kwhy_host_walk walk_start(const struct kwhy_calls *calls, size_t thread)
{
	struct kwhy_host_walk walk = {
		.begun = true,
		.next = calls->first[thread],
		.end = calls->first[thread + 1],
		.covered_ns = INT64_MIN,
	};

	walk_next(&walk, calls);
	return walk;
}

enum kwhy_status kwhy_host_wait_init(struct kwhy_host_wait *wait, const struct kwhy_recording *recording,
	uint32_t device, struct kwhy_error *error)
{
	*wait = (struct kwhy_host_wait){.recording = recording, .device = device};
	wait->threads = calloc(recording->thread_count + 1, sizeof(*wait->threads));
	if (!wait->threads)
		return kwhy_fail_memory(error, "what the host did");
	return KWHY_OK;
}

void kwhy_host_wait_done(struct kwhy_host_wait *wait)
{
	free(wait->threads);
	for (size_t i = 0; i < KWHY_HOST_ELSEWHERE; i++)
		free(wait->unions[i].spans);
	*wait = (struct kwhy_host_wait){.recording = NULL};
}

/*
 * Intervals of the calls of all threads of the processes that use the device, with the host's state in each
 * interval, unsorted.
 */
struct gathered {
	struct kwhy_host_span *spans;
	uint8_t *states;
	size_t count, capacity, state_capacity;
};

static enum kwhy_status gather_thread(
	struct gathered *all, const struct kwhy_calls *calls, size_t thread, struct kwhy_error *error)
{
	struct kwhy_host_walk walk = walk_start(calls, thread);
	enum kwhy_status status = KWHY_OK;

	for (; !status && walk.end_ns != INT64_MAX; walk_next(&walk, calls)) {
		status = kwhy_column_reserve((void **)&all->spans, &all->capacity, all->count + 1,
			sizeof(*all->spans), "what the host did", error);
		if (!status)
			status = kwhy_column_reserve((void **)&all->states, &all->state_capacity,
				all->count + 1, sizeof(*all->states), "what the host did", error);
		if (status)
			break;
		all->spans[all->count] = (struct kwhy_host_span){walk.start_ns, walk.end_ns};
		all->states[all->count++] = (uint8_t)walk.state;
	}
	return status;
}

static enum kwhy_status gather(
	const struct kwhy_host_wait *wait, struct gathered *all, struct kwhy_error *error)
{
	const struct kwhy_recording *recording = wait->recording;
	bool *uses = calloc(recording->process_count + 1, sizeof(*uses));
	enum kwhy_status status = KWHY_OK;

	if (!uses)
		return kwhy_fail_memory(error, "what the host did");
	for (size_t i = 0; i < recording->stream_count; i++)
		if (recording->streams[i].device == wait->device)
			uses[recording->streams[i].process] = true;
	for (size_t thread = 0; !status && thread < recording->thread_count; thread++)
		if (uses[recording->threads[thread].process])
			status = gather_thread(all, &recording->calls, thread, error);
	free(uses);
	return status;
}

static int compare_starts(const void *context, uint32_t a, uint32_t b)
{
	const struct kwhy_host_span *spans = context;

	return kwhy_sort_by(spans[a].start_ns, spans[b].start_ns);
}

/* Computes the union of the sorted spans in `state` and in the states that take precedence over it. */
static void join(struct kwhy_host_union *out, const struct gathered *all, const uint32_t *order,
	enum kwhy_host_state state)
{
	for (size_t i = 0; i < all->count; i++) {
		size_t item = order ? order[i] : i;
		struct kwhy_host_span *last = out->spans + out->count - 1;

		if (all->states[item] > state)
			continue;
		if (out->count == 0 || all->spans[item].start_ns > last->end_ns)
			out->spans[out->count++] = all->spans[item];
		else if (all->spans[item].end_ns > last->end_ns)
			last->end_ns = all->spans[item].end_ns;
	}
}

static enum kwhy_status merge_threads(struct kwhy_host_wait *wait, struct kwhy_error *error)
{
	struct gathered all = {0};
	uint32_t *order = NULL;
	enum kwhy_status status = gather(wait, &all, error);

	if (!status)
		status = kwhy_sort_order(all.count, compare_starts, all.spans, &order, error);
	for (int state = 0; !status && state < KWHY_HOST_ELSEWHERE; state++) {
		wait->unions[state].spans = malloc((all.count + 1) * sizeof(*all.spans));
		if (wait->unions[state].spans)
			join(&wait->unions[state], &all, order, (enum kwhy_host_state)state);
		else
			status = kwhy_fail_memory(error, "what the host did");
	}
	free(order);
	free(all.spans);
	free(all.states);
	wait->merged = status == KWHY_OK;
	return status;
}

static int64_t common_ns(const struct kwhy_host_span *gap, int64_t start_ns, int64_t end_ns)
{
	if (start_ns < gap->start_ns)
		start_ns = gap->start_ns;
	if (end_ns > gap->end_ns)
		end_ns = gap->end_ns;
	return end_ns > start_ns ? end_ns - start_ns : 0;
}

static void divide_by_thread(struct kwhy_host_wait *wait, uint32_t thread, const struct kwhy_host_span *gap,
	int64_t part_ns[KWHY_HOST_STATE_COUNT])
{
	const struct kwhy_calls *calls = &wait->recording->calls;
	struct kwhy_host_walk *walk = &wait->threads[thread];

	if (!walk->begun)
		*walk = walk_start(calls, thread);
	while (walk->start_ns < gap->end_ns) {
		part_ns[walk->state] += common_ns(gap, walk->start_ns, walk->end_ns);
		if (walk->end_ns > gap->end_ns)
			break;
		walk_next(walk, calls);
	}
}

static int64_t union_in_gap_ns(struct kwhy_host_union *all, const struct kwhy_host_span *gap)
{
	int64_t sum_ns = 0;

	while (all->next < all->count && all->spans[all->next].start_ns < gap->end_ns) {
		const struct kwhy_host_span *span = &all->spans[all->next];

		sum_ns += common_ns(gap, span->start_ns, span->end_ns);
		if (span->end_ns > gap->end_ns)
			break;
		all->next++;
	}
	return sum_ns;
}

static void divide_by_all(
	struct kwhy_host_wait *wait, const struct kwhy_host_span *gap, int64_t part_ns[KWHY_HOST_STATE_COUNT])
{
	int64_t before_ns = 0;

	for (int state = 0; state < KWHY_HOST_ELSEWHERE; state++) {
		int64_t now_ns = union_in_gap_ns(&wait->unions[state], gap);

		part_ns[state] = now_ns - before_ns;
		before_ns = now_ns;
	}
}

enum kwhy_status kwhy_host_wait_divide(struct kwhy_host_wait *wait, const struct kwhy_host_span *gap,
	uint32_t activity, int64_t out_part_ns[KWHY_HOST_STATE_COUNT], struct kwhy_error *error)
{
	uint32_t call = wait->recording->activities.call[activity];
	int64_t part_ns[KWHY_HOST_STATE_COUNT] = {0};
	enum kwhy_status status = KWHY_OK;

	if (call == KWHY_NONE && !wait->merged)
		status = merge_threads(wait, error);
	if (status)
		return status;
	if (call == KWHY_NONE)
		divide_by_all(wait, gap, part_ns);
	else
		divide_by_thread(wait, wait->recording->calls.thread[call], gap, part_ns);
	part_ns[KWHY_HOST_ELSEWHERE] = gap->end_ns - gap->start_ns - part_ns[KWHY_HOST_LAUNCH] -
		part_ns[KWHY_HOST_ALLOC] - part_ns[KWHY_HOST_SYNC];
	for (int state = 0; state < KWHY_HOST_STATE_COUNT; state++)
		out_part_ns[state] = part_ns[state];
	return KWHY_OK;
}
