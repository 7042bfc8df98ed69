/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/changes.h"

#include "base/plural.h"
#include "base/quantity.h"
#include "model/held_cause.h"
#include "model/host_time.h"
#include "whatif/edits.h"
#include "whatif/parts.h"

#include <math.h>

/* Changes to waits, allocations and pauses of the host. */

/* Whether a call is outermost (not inside another call) and not removed. */
static bool is_left(const struct kwhy_whatif *whatif, size_t call)
{
	return whatif->graph->outer[call] == call && !kwhy_whatif_call_is_dropped(whatif, (uint32_t)call);
}

/*
 * Sets *issues if the call issued work that is not removed, even if a graph launches it now. Sets *reads if
 * that work includes a copy to the host. Otherwise *issues and *reads are unchanged.
 */
static void look_at_issued(const struct kwhy_whatif *whatif, size_t call, bool *issues, bool *reads)
{
	for (size_t i = whatif->first_issued[call]; i < whatif->first_issued[call + 1]; i++) {
		uint32_t row = whatif->issued[i];

		if (kwhy_whatif_row_is_dropped(whatif, row))
			continue;
		*issues = true;
		*reads |= kwhy_whatif_is_copy(whatif, row, KWHY_COPY_D2H);
	}
}

static uint32_t waited_for(const struct kwhy_whatif *whatif, size_t call)
{
	return whatif->graph->nodes[kwhy_whatif_call_node(whatif->graph, (uint32_t)call)]
		.from[KWHY_LINK_JOIN];
}

/*
 * Whether any work of the thread's process, except removed work, ended in the recording between the ends of
 * two waits of the thread, `wait` and `later`. Both ends are moved by KWHY_WHATIF_CLOCKS_NS, because the
 * clocks of host and device differ.
 */
static bool work_ended_between(const struct kwhy_whatif *whatif, size_t thread, size_t wait, size_t later)
{
	const struct kwhy_recording *recording = whatif->recording;
	const struct kwhy_whatif_graph *graph = whatif->graph;
	int64_t from_ns = recording->calls.end_ns[wait] + KWHY_WHATIF_CLOCKS_NS;
	int64_t until_ns = recording->calls.end_ns[later] + KWHY_WHATIF_CLOCKS_NS;

	for (uint32_t d = 0; d < recording->device_count; d++) {
		size_t end = kwhy_whatif_ended_before(graph, d, until_ns);

		for (size_t at = kwhy_whatif_ended_before(graph, d, from_ns); at < end; at++) {
			uint32_t row = kwhy_whatif_row_by_end(graph, at);
			uint32_t stream = recording->activities.stream[row];

			if (recording->streams[stream].process == recording->threads[thread].process &&
				!kwhy_whatif_row_is_dropped(whatif, row))
				return true;
		}
	}
	return false;
}

/*
 * Removes redundant waits of a thread and returns their number. A wait is redundant if, since the thread's
 * previous wait, it issued nothing and no work ended. (If work ended, the previous wait was for one stream or
 * event only, and this one is for other work.)
 */
static uint64_t drop_waits_of_thread(struct kwhy_whatif *whatif, size_t thread)
{
	const struct kwhy_calls *calls = &whatif->recording->calls;
	bool pending = true, reads = false;
	uint64_t dropped = 0;
	size_t last = 0; /* previous wait; not read before there was one */

	for (size_t i = calls->first[thread]; i < calls->first[thread + 1]; i++) {
		kwhy_whatif_fetch_calls_ahead(whatif, i, calls->first[thread + 1], KWHY_CALL_SYNC);
		look_at_issued(whatif, i, &pending, &reads);
		if (!is_left(whatif, i) || calls->class[i] != KWHY_CALL_SYNC)
			continue;
		if (!pending && !work_ended_between(whatif, thread, last, i)) {
			kwhy_whatif_drop_call(whatif, (uint32_t)i);
			dropped++;
		}
		pending &= waited_for(whatif, i) == KWHY_NONE;
		last = i;
	}
	return dropped;
}

void kwhy_whatif_drop_waits(struct kwhy_whatif *whatif, uint32_t number, struct kwhy_whatif_effect *effect)
{
	(void)number;
	for (size_t t = 0; t < whatif->recording->thread_count; t++)
		effect->places += drop_waits_of_thread(whatif, t);
	if (effect->places)
		kwhy_whatif_say(effect,
			"%s waits go: since their thread waited last it had issued nothing, and no work had "
			"ended",
			KWHY_WHATIF_COUNT(effect->places));
	else
		kwhy_whatif_refuse(effect,
			"every wait follows work of its thread, or work ended since its thread waited last");
}

/*
 * The last wait of a thread, which stays, since the thread must know that all work has ended;
 * calls->first[thread + 1]: it never waits.
 */
static size_t last_wait(const struct kwhy_whatif *whatif, size_t thread)
{
	const struct kwhy_calls *calls = &whatif->recording->calls;
	size_t last = calls->first[thread + 1];

	for (size_t i = calls->first[thread]; i < calls->first[thread + 1]; i++)
		if (is_left(whatif, i) && calls->class[i] == KWHY_CALL_SYNC)
			last = i;
	return last;
}

/* The stream of the next work that the thread issues after a call; KWHY_NONE: it issues no more work. */
static uint32_t next_stream(const struct kwhy_whatif *whatif, size_t call)
{
	const struct kwhy_calls *calls = &whatif->recording->calls;
	uint32_t end = whatif->first_issued[calls->first[calls->thread[call] + 1]];

	for (uint32_t i = whatif->first_issued[call + 1]; i < end; i++)
		if (!kwhy_whatif_row_is_dropped(whatif, whatif->issued[i]))
			return whatif->recording->activities.stream[whatif->issued[i]];
	return KWHY_NONE;
}

/*
 * Replaces a wait of the host by an event for which the stream of its next work waits. If that is the stream
 * of the work waited for (`target`), its order suffices, and the wait is removed without an event, except for
 * the lower bound of the saving.
 */
static void replace_wait(struct kwhy_whatif *whatif, size_t call, uint32_t target, double event_ns)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;
	bool in_order = next_stream(whatif, call) == rows->stream[target];

	if (in_order && whatif->corner != KWHY_CORNER_SLOW)
		kwhy_whatif_drop_call(whatif, (uint32_t)call);
	else
		kwhy_whatif_unblock_call(whatif, (uint32_t)call, event_ns);
}

static uint64_t use_events_in_thread(struct kwhy_whatif *whatif, size_t thread)
{
	const struct kwhy_calls *calls = &whatif->recording->calls;
	double event_ns = kwhy_whatif_cost_at(&whatif->costs.event, whatif->corner);
	bool issues = false, reads = false;
	size_t last = last_wait(whatif, thread);
	uint64_t replaced = 0;

	for (size_t i = calls->first[thread]; i < last; i++) {
		uint32_t target;

		kwhy_whatif_fetch_calls_ahead(whatif, i, last, KWHY_CALL_SYNC);
		look_at_issued(whatif, i, &issues, &reads);
		if (!is_left(whatif, i) || calls->class[i] != KWHY_CALL_SYNC)
			continue;
		target = waited_for(whatif, i);
		if (!reads && target != KWHY_NONE) {
			replace_wait(whatif, i, target, event_ns);
			replaced++;
		}
		reads = false;
	}
	return replaced;
}

void kwhy_whatif_use_events(struct kwhy_whatif *whatif, uint32_t number, struct kwhy_whatif_effect *effect)
{
	char cost[KWHY_QUANTITY_BYTES];

	(void)number;
	effect->is_generic = whatif->costs.event.is_generic;
	for (size_t t = 0; t < whatif->recording->thread_count; t++)
		effect->places += use_events_in_thread(whatif, t);
	if (effect->places)
		kwhy_whatif_say(effect,
			"%s waits after which the host has read nothing go, or become events of %s where "
			"work of another stream follows; it waits where it reads results, and at its end",
			KWHY_WHATIF_COUNT(effect->places),
			kwhy_whatif_time_words(cost, whatif->costs.event.expected_ns));
	else
		kwhy_whatif_refuse(effect, "every wait follows a read-back or is the last of its thread");
}

/*
 * Whether all work that a call issues, except removed work, is copies to the host; true if the call issues
 * nothing. Sets *issues to whether the call issues anything.
 */
static bool issues_read_backs_alone(const struct kwhy_whatif *whatif, size_t call, bool *issues)
{
	bool alone = true;

	*issues = false;
	for (size_t i = whatif->first_issued[call]; i < whatif->first_issued[call + 1]; i++) {
		if (kwhy_whatif_row_is_dropped(whatif, whatif->issued[i]))
			continue;
		*issues = true;
		alone &= kwhy_whatif_is_copy(whatif, whatif->issued[i], KWHY_COPY_D2H);
	}
	return alone;
}

static bool waits_for_read_back(const struct kwhy_whatif *whatif, size_t call)
{
	uint32_t target = waited_for(whatif, call);

	return target != KWHY_NONE && kwhy_whatif_is_copy(whatif, target, KWHY_COPY_D2H);
}

/*
 * Removes the waits of a thread for a copy to the host if the next work that it issues is another copy to the
 * host. Returns the number of removed waits.
 */
static uint64_t join_waits_of_thread(struct kwhy_whatif *whatif, size_t thread)
{
	const struct kwhy_calls *calls = &whatif->recording->calls;
	bool reads_next = false;
	uint64_t dropped = 0;

	for (size_t i = calls->first[thread + 1]; i-- > calls->first[thread];) {
		bool issues, alone = issues_read_backs_alone(whatif, i, &issues);

		kwhy_whatif_fetch_calls_after(whatif, i, calls->first[thread], KWHY_CALL_SYNC);
		if (issues)
			reads_next = alone;
		else if (reads_next && is_left(whatif, i) && calls->class[i] == KWHY_CALL_SYNC &&
			waits_for_read_back(whatif, i)) {
			kwhy_whatif_drop_call(whatif, (uint32_t)i);
			dropped++;
		}
	}
	return dropped;
}

void kwhy_whatif_join_waits(struct kwhy_whatif *whatif, uint32_t number, struct kwhy_whatif_effect *effect)
{
	(void)number;
	for (size_t t = 0; t < whatif->recording->thread_count; t++)
		effect->places += join_waits_of_thread(whatif, t);
	if (effect->places)
		kwhy_whatif_say(effect,
			"%s waits go whose thread issues another read-back next: it looks at what it read "
			"once all of them are there",
			KWHY_WHATIF_COUNT(effect->places));
	else
		kwhy_whatif_refuse(effect, "no wait for a read-back comes before another read-back");
}

static bool is_device_memory(const struct kwhy_whatif *whatif, size_t call)
{
	return !kwhy_whatif_call_is(whatif->graph, call, KWHY_MARK_ASYNC | KWHY_MARK_ELSEWHERE);
}

/*
 * Counts of a thread's calls. frees_in_rows: frees in series of EMPTIED_ROW or more; allocs_alone:
 * allocations directly before and after which the thread makes another kind of call.
 */
struct memory_calls {
	uint64_t frees, frees_in_rows, allocs, allocs_alone;
};

enum { EMPTIED_ROW = 3 /* smallest number of frees in a row that count as emptying a cache */ };

static void end_row(struct memory_calls *sum, enum kwhy_call_class class, uint64_t row)
{
	if (class == KWHY_CALL_FREE) {
		sum->frees += row;
		sum->frees_in_rows += row >= EMPTIED_ROW ? row : 0;
	} else if (class == KWHY_CALL_ALLOC) {
		sum->allocs += row;
		sum->allocs_alone += row == 1;
	}
}

/*
 * Whether the thread empties the framework's memory cache again and again. Such a cache allocates single
 * blocks from the driver when it has none that fits, and frees all of them in a row when the program empties
 * it. True if most frees are in rows and most allocations are alone.
 */
static bool empties_cache(const struct kwhy_whatif *whatif, size_t thread)
{
	const struct kwhy_calls *calls = &whatif->recording->calls;
	struct memory_calls sum = {0};
	enum kwhy_call_class class = KWHY_CALL_OTHER;
	uint64_t row = 0;

	for (size_t i = calls->first[thread]; i < calls->first[thread + 1]; i++) {
		enum kwhy_call_class here = calls->class[i];

		if (whatif->graph->outer[i] != i)
			continue;
		if (here != class)
			end_row(&sum, class, row);
		row = here == class ? row + 1 : 1;
		class = here;
	}
	end_row(&sum, class, row);
	return 2 * sum.frees_in_rows > sum.frees && 2 * sum.allocs_alone > sum.allocs;
}

/*
 * call_ns: host time of a call to a stream-ordered memory pool (cudaMallocAsync). any_freed, any_emptied:
 * whether any thread frees device memory, and whether one empties a cache again and again.
 */
struct pool {
	double call_ns;
	bool any_freed, any_emptied;
};

static uint64_t use_pool_in_thread(struct kwhy_whatif *whatif, size_t thread, struct pool *pool)
{
	const struct kwhy_calls *calls = &whatif->recording->calls;
	bool emptied = empties_cache(whatif, thread);
	uint64_t replaced = 0, freed = 0;

	for (size_t i = calls->first[thread]; i < calls->first[thread + 1]; i++) {
		bool frees = calls->class[i] == KWHY_CALL_FREE;

		if (!is_left(whatif, i) || (!frees && calls->class[i] != KWHY_CALL_ALLOC) ||
			!is_device_memory(whatif, i) || (!frees && !freed))
			continue;
		freed = frees ? freed + 1 : freed - 1;
		pool->any_freed = true;
		pool->any_emptied |= emptied;
		if (emptied)
			kwhy_whatif_drop_call(whatif, (uint32_t)i);
		else if ((double)(calls->end_ns[i] - calls->start_ns[i]) > pool->call_ns)
			kwhy_whatif_unblock_call(whatif, (uint32_t)i, pool->call_ns);
		else
			continue;
		replaced++;
	}
	return replaced;
}

void kwhy_whatif_use_pool(struct kwhy_whatif *whatif, uint32_t number, struct kwhy_whatif_effect *effect)
{
	struct pool pool = {.call_ns = kwhy_whatif_cost_at(&whatif->costs.pool, whatif->corner)};
	char cost[KWHY_QUANTITY_BYTES];

	(void)number;
	effect->is_generic = whatif->costs.pool.is_generic;
	for (size_t t = 0; t < whatif->recording->thread_count; t++)
		effect->places += use_pool_in_thread(whatif, t, &pool);
	if (effect->places && pool.any_emptied)
		kwhy_whatif_say(effect,
			"%s allocations and frees go, of a cache that is emptied again and again: it has "
			"what it is asked for; the first allocations, before anything was freed, stay as "
			"they are",
			KWHY_WHATIF_COUNT(effect->places));
	else if (effect->places)
		kwhy_whatif_say(effect,
			"%s allocations and frees take %s in a pool and wait for nothing; the first "
			"allocations, before anything was freed, stay as they are",
			KWHY_WHATIF_COUNT(effect->places),
			kwhy_whatif_time_words(cost, whatif->costs.pool.expected_ns));
	else if (pool.any_freed)
		kwhy_whatif_refuse(effect,
			"frees, and allocations after them, already take no longer than the %s of one in a "
			"pool",
			kwhy_whatif_time_words(cost, whatif->costs.pool.expected_ns));
	else
		kwhy_whatif_refuse(effect, "no memory of a device is freed");
}

enum { PAUSE_MIN_NS = 100000, PAUSE_MAX_NS = 1000000000 };

/*
 * Part in ns of the pause before a call that remains if input is prefetched: the usual pause before calls of
 * its class. The result is 0 in two cases: the usual pause is itself PAUSE_MIN_NS or more; or the call is
 * removed, and its usual pause was removed with it.
 */
static int64_t prefetched_ns(const struct kwhy_whatif *whatif, uint32_t call)
{
	int64_t usual_ns = whatif->costs.usual_gap_ns[whatif->recording->calls.class[call]];

	return usual_ns < PAUSE_MIN_NS && !kwhy_whatif_call_is_dropped(whatif, call) ? usual_ns : 0;
}

static int64_t longer_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The latest pause that prefetching removed: its thread, and the time of its end in the recording. */
struct prefetched {
	uint32_t thread;
	int64_t end_ns;
};

/*
 * Part in ns of a pause that remains with prefetching, for the lower bound of the saving; else 0. For this
 * bound, one other thread is taken to prepare all input: it begins with the next input when the last removed
 * pause ended, takes pause_ns, and the call waits for the rest.
 */
static int64_t waited_for_ns(
	const struct kwhy_whatif *whatif, const struct prefetched *last, uint32_t call, int64_t pause_ns)
{
	const struct kwhy_calls *calls = &whatif->recording->calls;
	int64_t start_ns = calls->start_ns[call] - pause_ns;

	if (whatif->corner != KWHY_CORNER_SLOW || last->thread != calls->thread[call])
		return 0;
	return pause_ns - (start_ns - last->end_ns);
}

/* First start and last end in ns of the work of all steps; if steps are unknown, all time. */
struct stretch_ns {
	int64_t start, end;
};

/*
 * Finds the time of all steps. Only pauses in it can be for input: those before the first step and after the
 * last are spent on other things.
 */
static struct stretch_ns steps_ns(const struct kwhy_whatif *whatif)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;
	struct stretch_ns stretch = {INT64_MAX, INT64_MIN};

	for (size_t i = 0; i < rows->count; i++) {
		if (whatif->step[i] == KWHY_NONE)
			continue;
		stretch.start = rows->start_ns[i] < stretch.start ? rows->start_ns[i] : stretch.start;
		stretch.end = longer_of(stretch.end, rows->end_ns[i]);
	}
	return stretch.start <= stretch.end ? stretch : (struct stretch_ns){INT64_MIN, INT64_MAX};
}

static bool is_prefetched(const struct kwhy_whatif *whatif, uint32_t call, struct stretch_ns steps)
{
	const struct kwhy_whatif_node *node = &whatif->graph
						       ->nodes[kwhy_whatif_call_node(whatif->graph, call)];
	const int64_t start_ns = whatif->recording->calls.start_ns[call];
	const int64_t pause_ns = kwhy_whatif_lag_ns(whatif->graph, node, KWHY_LINK_ORDER);

	return whatif->graph->outer[call] == call && node->from[KWHY_LINK_ORDER] != KWHY_NONE &&
		pause_ns >= PAUSE_MIN_NS && pause_ns <= PAUSE_MAX_NS && start_ns >= steps.start &&
		start_ns <= steps.end;
}

/*
 * Whether other threads could do in advance what the host does in the pause before a call, judged by the host
 * range that covers most of it. Not if the range is an operator of a model or reads back results, which only
 * this thread can do. True if the recording has no host ranges, or none in the pause.
 */
static bool is_ahead(const struct kwhy_whatif *whatif, uint32_t call, int64_t pause_ns)
{
	const struct kwhy_calls *calls = &whatif->recording->calls;
	uint32_t range;

	if (!whatif->recording->host_ranges.count)
		return true;
	range = kwhy_host_range_over(whatif->recording, calls->thread[call], calls->start_ns[call] - pause_ns,
		calls->start_ns[call]);
	return range == KWHY_NONE || kwhy_held_is_ahead(kwhy_held_cause_of(whatif->recording, range));
}

void kwhy_whatif_prefetch(struct kwhy_whatif *whatif, uint32_t number, struct kwhy_whatif_effect *effect)
{
	const struct stretch_ns steps = steps_ns(whatif);
	struct prefetched last = {.thread = KWHY_NONE};
	double removed_ns = 0;
	uint64_t kept = 0;
	char words[KWHY_QUANTITY_BYTES];

	(void)number;
	for (uint32_t call = 0; call < whatif->recording->calls.count; call++) {
		uint32_t at = kwhy_whatif_call_node(whatif->graph, call);
		int64_t pause_ns = kwhy_whatif_lag_ns(
				whatif->graph, &whatif->graph->nodes[at], KWHY_LINK_ORDER),
			left_ns;
		struct kwhy_whatif_node *changed;

		if (!is_prefetched(whatif, call, steps))
			continue;
		if (!is_ahead(whatif, call, pause_ns)) {
			kept++;
			continue;
		}
		changed = kwhy_whatif_edit(whatif->graph, at);
		whatif->out_of_memory |= !changed;
		if (!changed)
			return;
		left_ns = longer_of(
			prefetched_ns(whatif, call), waited_for_ns(whatif, &last, call, pause_ns));
		kwhy_whatif_set_lag(whatif->graph, changed, KWHY_LINK_ORDER, left_ns);
		last = (struct prefetched){
			whatif->recording->calls.thread[call], whatif->recording->calls.start_ns[call]};
		removed_ns += (double)(pause_ns - left_ns);
		effect->places++;
	}
	if (effect->places)
		kwhy_whatif_say(effect,
			"%s %s, %s in all: other threads do that work ahead of time, at the slow end one "
			"alone",
			KWHY_WHATIF_COUNT(effect->places),
			kwhy_plural(effect->places,
				"pause of the host of 0.1 ms to 1 s becomes as short as is usual between its "
				"calls, or goes where such pauses are the usual ones",
				"pauses of the host of 0.1 ms to 1 s become as short as is usual between its "
				"calls, or go where such pauses are the usual ones"),
			kwhy_whatif_time_words(words, removed_ns));
	else
		kwhy_whatif_refuse(effect, "the host makes no pause of 0.1 ms to 1 s between calls%s",
			kept ? ", except where it runs the model, reads results back or empties the cache, "
			       "which other threads cannot do for it"
			     : "");
}
