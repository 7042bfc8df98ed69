/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/collection.h"

#include "base/clock.h"
#include "inject/timed_lock.h"

#include <fnmatch.h>

/*
 * If the next window starts within this time, collection that is on stays on until then; switching it off and
 * on again would save too little.
 */
#define NOT_WORTH_NS (KWHY_INJECT_COLLECTION_LEAD_NS + 1000000)
/*
 * Time after collection is switched off in which records of work that was launched before still arrive. Work
 * that runs for longer is not waited for.
 */
#define RESTS_NS INT64_C(300000000)

/*
 * True while this thread is inside switch_to(). The libraries that it calls may open and close ranges, which
 * must not switch collection again.
 */
static _Thread_local bool is_switching;

void kwhy_inject_collection_init(struct kwhy_inject_collection *collection,
	const struct kwhy_inject_plan *plan, const char *pattern,
	int64_t (*switch_to)(void *context, bool is_on), void *context)
{
	pthread_mutex_init(&collection->lock, NULL);
	kwhy_inject_windows_init(&collection->windows, plan);
	collection->pattern = pattern;
	collection->switch_to = switch_to;
	collection->context = context;
}

static void turn(struct kwhy_inject_collection *collection, bool is_on)
{
	const int64_t before_ns = kwhy_clock_mono_ns();
	int64_t after_ns;

	is_switching = true;
	after_ns = collection->switch_to(collection->context, is_on);
	is_switching = false;
	collection->switching_ns += kwhy_clock_mono_ns() - before_ns;
	collection->switches++;
	collection->is_on = is_on;
	if (is_on)
		collection->since_mono_ns = after_ns;
	else
		collection->off_mono_ns = after_ns;
}

static void add_ended(struct kwhy_inject_collection *collection, int64_t end_mono_ns)
{
	const size_t place = (collection->ended_first + collection->ended_count) %
		KWHY_INJECT_COLLECTION_ENDED;

	if (end_mono_ns <= collection->start_mono_ns ||
		collection->ended_count == KWHY_INJECT_COLLECTION_ENDED)
		return;
	collection->ended[place] = (struct kwhy_inject_window){
		collection->start_mono_ns, end_mono_ns, collection->since_mono_ns};
	collection->ended_count++;
}

static bool is_wanted(const struct kwhy_inject_collection *collection)
{
	return collection->has_begun && collection->is_scheduled &&
		(!collection->pattern[0] || collection->open_ranges);
}

static void claim(struct kwhy_inject_collection *collection, int64_t at_mono_ns)
{
	if (!collection->is_on)
		turn(collection, true);
	collection->start_mono_ns = at_mono_ns > collection->since_mono_ns ? at_mono_ns
									   : collection->since_mono_ns;
	collection->is_claimed = true;
}

/*
 * Starts a window at `at_mono_ns` if the plan and the ranges want activity to be collected and no window is
 * open; ends the open window there if they no longer want it.
 */
static void settle(struct kwhy_inject_collection *collection, int64_t at_mono_ns)
{
	if (is_wanted(collection) && !collection->is_claimed) {
		claim(collection, at_mono_ns);
	} else if (!is_wanted(collection) && collection->is_claimed) {
		collection->is_claimed = false;
		add_ended(collection, at_mono_ns);
		collection->off_due_mono_ns = at_mono_ns +
			(collection->pattern[0] ? KWHY_INJECT_COLLECTION_LINGER_NS : 0);
	}
}

void kwhy_inject_collection_begin(struct kwhy_inject_collection *collection, int64_t now_mono_ns)
{
	pthread_mutex_lock(&collection->lock);
	collection->has_begun = collection->is_on = true;
	collection->since_mono_ns = 0;
	kwhy_inject_windows_pass(&collection->windows, now_mono_ns);
	collection->is_scheduled = collection->windows.start_mono_ns <= now_mono_ns;
	settle(collection, now_mono_ns);
	if (!collection->is_claimed)
		turn(collection, false);
	pthread_mutex_unlock(&collection->lock);
}

/* Opens and closes windows for all starts and ends in the plan up to `now_mono_ns`, in order of time. */
static void pass_edges(struct kwhy_inject_collection *collection, int64_t now_mono_ns)
{
	struct kwhy_inject_windows *windows = &collection->windows;

	while (windows->end_mono_ns <= now_mono_ns) {
		if (collection->is_scheduled) {
			collection->is_scheduled = false;
			settle(collection, windows->end_mono_ns);
		}
		kwhy_inject_windows_pass(windows, windows->end_mono_ns);
		collection->is_leading = false;
	}
	if (!collection->is_scheduled && windows->start_mono_ns <= now_mono_ns) {
		collection->is_scheduled = true;
		collection->is_leading = false;
		settle(collection, windows->start_mono_ns);
	}
}

/*
 * Switches collection on KWHY_INJECT_COLLECTION_LEAD_NS before a window of the plan starts, or keeps it on if
 * the window starts within NOT_WORTH_NS. Does nothing if collection depends on ranges.
 */
static void lead(struct kwhy_inject_collection *collection, int64_t now_mono_ns)
{
	const int64_t start_ns = collection->windows.start_mono_ns;

	if (!collection->has_begun || collection->is_scheduled || collection->pattern[0] ||
		start_ns == INT64_MAX)
		return;
	collection->is_leading = start_ns - now_mono_ns <=
		(collection->is_on ? NOT_WORTH_NS : KWHY_INJECT_COLLECTION_LEAD_NS);
	if (collection->is_leading && !collection->is_on)
		turn(collection, true);
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t next_time(const struct kwhy_inject_collection *collection)
{
	const int64_t start_ns = collection->windows.start_mono_ns;
	int64_t next_ns = collection->windows.end_mono_ns;

	if (!collection->is_scheduled && start_ns != INT64_MAX)
		next_ns = collection->is_leading ? start_ns : start_ns - KWHY_INJECT_COLLECTION_LEAD_NS;
	if (collection->is_on && !collection->is_claimed && !collection->is_leading)
		next_ns = earlier(next_ns, collection->off_due_mono_ns);
	return next_ns;
}

int64_t kwhy_inject_collection_advance(struct kwhy_inject_collection *collection, int64_t now_mono_ns)
{
	int64_t next_ns = INT64_MAX;

	pthread_mutex_lock(&collection->lock);
	pass_edges(collection, now_mono_ns);
	lead(collection, now_mono_ns);
	if (collection->is_on && !collection->is_claimed && !collection->is_leading &&
		now_mono_ns >= collection->off_due_mono_ns)
		turn(collection, false);
	next_ns = next_time(collection);
	pthread_mutex_unlock(&collection->lock);
	return next_ns;
}

bool kwhy_inject_collection_wants(const struct kwhy_inject_collection *collection, const char *name)
{
	return collection->pattern[0] && fnmatch(collection->pattern, name, 0) == 0;
}

void kwhy_inject_collection_enter(struct kwhy_inject_collection *collection, int64_t now_mono_ns)
{
	if (is_switching)
		return;
	pthread_mutex_lock(&collection->lock);
	collection->open_ranges++;
	settle(collection, now_mono_ns);
	pthread_mutex_unlock(&collection->lock);
}

void kwhy_inject_collection_leave(struct kwhy_inject_collection *collection, int64_t now_mono_ns)
{
	if (is_switching)
		return;
	pthread_mutex_lock(&collection->lock);
	if (collection->open_ranges) /* 0 if the range was opened in the parent process, before the fork that
					made this process */
		collection->open_ranges--;
	settle(collection, now_mono_ns);
	pthread_mutex_unlock(&collection->lock);
}

bool kwhy_inject_collection_end(struct kwhy_inject_collection *collection, int64_t now_mono_ns)
{
	if (!kwhy_inject_timed_lock(&collection->lock))
		return false;
	if (collection->windows.end_mono_ns < now_mono_ns)
		now_mono_ns = collection->windows.end_mono_ns;
	collection->has_begun = false;
	settle(collection, now_mono_ns);
	pthread_mutex_unlock(&collection->lock);
	return true;
}

bool kwhy_inject_collection_take(
	struct kwhy_inject_collection *collection, int64_t ended_by_mono_ns, struct kwhy_inject_window *out)
{
	bool is_given;

	if (!kwhy_inject_timed_lock(&collection->lock))
		return false;
	is_given = collection->ended_count &&
		collection->ended[collection->ended_first].end_mono_ns <= ended_by_mono_ns;
	if (is_given) {
		*out = collection->ended[collection->ended_first];
		collection->ended_first = (collection->ended_first + 1) % KWHY_INJECT_COLLECTION_ENDED;
		collection->ended_count--;
	}
	pthread_mutex_unlock(&collection->lock);
	return is_given;
}

bool kwhy_inject_collection_is_idle(struct kwhy_inject_collection *collection, int64_t now_mono_ns)
{
	bool rests;

	pthread_mutex_lock(&collection->lock);
	rests = !collection->is_on && now_mono_ns - collection->off_mono_ns > RESTS_NS;
	pthread_mutex_unlock(&collection->lock);
	return rests;
}

bool kwhy_inject_collection_cost(
	struct kwhy_inject_collection *collection, int64_t *out_spent_ns, uint64_t *out_switches)
{
	if (!kwhy_inject_timed_lock(&collection->lock))
		return false;
	*out_spent_ns = collection->switching_ns;
	*out_switches = collection->switches;
	pthread_mutex_unlock(&collection->lock);
	return true;
}
