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
 * If collection depends on ranges: time for which CUPTI keeps collecting after the last open range has ended,
 * although the window has ended. A loop that opens the range again thus does not switch CUPTI in each
 * iteration.
 */
#define KWHY_INJECT_COLLECTION_LINGER_NS INT64_C(200000000)

/*
 * A window: an interval of the program's run whose activity is collected. CUPTI was switched on at
 * `since_mono_ns`; all work that was launched then or later and ran in the window has been collected. 0:
 * CUPTI was on before the first launch, and all work that ran in the window has been collected.
 */
struct kwhy_inject_window {
	int64_t start_mono_ns, end_mono_ns, since_mono_ns;
};

/*
 * Switches the collection of activity on and off. Activity is collected inside the windows of a plan of times
 * and, if a pattern is given, only while also some thread has an open range whose name matches it. Any thread
 * may call the functions below. They wait for a thread that is switching; those called at the program's end
 * wait at most two seconds (inject/timed_lock.h). The struct's memory is zeroed before
 * kwhy_inject_collection_init().
 */
struct kwhy_inject_collection {
	pthread_mutex_t lock; /* protects all members that change after kwhy_inject_collection_init(); also
				 held while switch_to() runs */
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
 * Call it once, when CUPTI is on and before the program launches anything. Until then no window is opened;
 * from then on the plan and the ranges decide.
 */
void kwhy_inject_collection_begin(struct kwhy_inject_collection *collection, int64_t now_mono_ns);

/*
 * Opens and closes windows and switches CUPTI as the plan and the ranges require at `now_mono_ns`. Returns
 * the time on CLOCK_MONOTONIC at which it must be called again; INT64_MAX: it need not be.
 */
int64_t kwhy_inject_collection_advance(struct kwhy_inject_collection *collection, int64_t now_mono_ns);

/*
 * Whether collection depends on ranges of this name. If so, the caller must call
 * kwhy_inject_collection_enter() at the start of each such range and kwhy_inject_collection_leave() at its
 * end.
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
 * Takes the oldest ended window out of the ring and writes it to *out, if it ended at `ended_by_mono_ns` or
 * earlier. False: there is no such window, or the lock was not free in time.
 */
bool kwhy_inject_collection_take(
	struct kwhy_inject_collection *collection, int64_t ended_by_mono_ns, struct kwhy_inject_window *out);

/* Whether CUPTI has been off for 0.3 s, so that few or no more records are expected. */
bool kwhy_inject_collection_is_idle(struct kwhy_inject_collection *collection, int64_t now_mono_ns);

/*
 * Writes the total time spent in switch_to(), in ns, and the number of its calls so far. False: the lock was
 * not free in time.
 */
bool kwhy_inject_collection_cost(
	struct kwhy_inject_collection *collection, int64_t *out_spent_ns, uint64_t *out_switches);

#endif
