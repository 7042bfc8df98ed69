/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_COLLECTION_H
#define KWHY_INJECT_COLLECTION_H

#include "inject/windows.h"

#include <pthread.h>
#include <stddef.h>

enum { KWHY_INJECT_COLLECTION_ENDED = 1 << 12 };

/*
 * Collection starts this long before a window of the plan, so that work queued before collection started has
 * mostly run when the window starts.
 */
#define KWHY_INJECT_COLLECTION_LEAD_NS INT64_C(5000000)
/*
 * Time for which collection goes on after the last open range has ended, so that a loop that opens the range
 * again does not switch collection in each iteration.
 */
#define KWHY_INJECT_COLLECTION_LINGER_NS INT64_C(200000000)

/*
 * An interval in which collection was on. Everything that was launched at `since_mono_ns` or later and ran in
 * the interval has been collected. If since_mono_ns is 0, everything that ran in the interval has been
 * collected.
 */
struct kwhy_inject_window {
	int64_t start_mono_ns, end_mono_ns, since_mono_ns;
};

/*
 * Switches the collection of activity on and off. Collection is on inside the windows of a plan and, where a
 * pattern is given, only while some thread has an open range whose name matches it. Any thread may call the
 * functions below. They wait for a thread that is switching; those called at the program's end wait at most
 * two seconds (inject/timed_lock.h). The struct's memory is zeroed before kwhy_inject_collection_init().
 */
struct kwhy_inject_collection {
	pthread_mutex_t lock; /* protects the fields that change; also held while collection is switched */
	struct kwhy_inject_windows windows;
	const char *
		pattern; /* pattern of range names for fnmatch(3); "": collection does not depend on ranges */
	/* Switches collection on or off. Returns the time on CLOCK_MONOTONIC right after the switch. */
	int64_t (*switch_to)(void *context, bool is_on);
	void *context;
	unsigned open_ranges;
	bool has_begun, is_on, is_leading, is_scheduled, is_claimed;
	int64_t since_mono_ns, start_mono_ns, off_due_mono_ns, off_mono_ns;
	/*
	 * Ring buffer of ended windows that kwhy_inject_collection_take() has not returned yet. A window that
	 * ends while the ring is full is dropped, and its time counts as not collected.
	 */
	struct kwhy_inject_window ended[KWHY_INJECT_COLLECTION_ENDED];
	size_t ended_first, ended_count;
	int64_t switching_ns;
	uint64_t switches;
};

/* Borrows `pattern` and `context`. */
void kwhy_inject_collection_init(struct kwhy_inject_collection *collection,
	const struct kwhy_inject_plan *plan, const char *pattern,
	int64_t (*switch_to)(void *context, bool is_on), void *context);

/*
 * Call it when CUPTI collects and the program has launched nothing yet. From then on the plan and the ranges
 * decide whether collection is on.
 */
void kwhy_inject_collection_begin(struct kwhy_inject_collection *collection, int64_t now_mono_ns);

/*
 * Switches collection on or off as the plan requires at `now_mono_ns`. Returns the time of the next call that
 * is needed; INT64_MAX: no further call is needed.
 */
int64_t kwhy_inject_collection_advance(struct kwhy_inject_collection *collection, int64_t now_mono_ns);

/*
 * Whether collection depends on ranges of this name. If it does, their starts are passed to enter() and their
 * ends to leave().
 */
bool kwhy_inject_collection_wants(const struct kwhy_inject_collection *collection, const char *name);
void kwhy_inject_collection_enter(struct kwhy_inject_collection *collection, int64_t now_mono_ns);
void kwhy_inject_collection_leave(struct kwhy_inject_collection *collection, int64_t now_mono_ns);

/*
 * Ends the current window; no other window follows. The next call of kwhy_inject_collection_advance()
 * switches collection off. False: the lock was not free in time.
 */
bool kwhy_inject_collection_end(struct kwhy_inject_collection *collection, int64_t now_mono_ns);

/*
 * Writes the oldest ended window that was not taken yet, if it ended at `ended_by_mono_ns` or earlier. False:
 * there is no such window, or the lock was not free in time.
 */
bool kwhy_inject_collection_take(
	struct kwhy_inject_collection *collection, int64_t ended_by_mono_ns, struct kwhy_inject_window *out);

/* Whether collection has been off for so long that no more records are expected. */
bool kwhy_inject_collection_is_idle(struct kwhy_inject_collection *collection, int64_t now_mono_ns);

/* Writes the time spent in switching and the number of switches. False: the lock was not free in time. */
bool kwhy_inject_collection_cost(
	struct kwhy_inject_collection *collection, int64_t *out_spent_ns, uint64_t *out_switches);

#endif
