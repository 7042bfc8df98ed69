/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_COLLECTION_H
#define KWHY_INJECT_COLLECTION_H

#include "inject/windows.h"

#include <pthread.h>
#include <stddef.h>

enum { KWHY_INJECT_COLLECTION_ENDED = 1 << 12 };

/* Collection begins so long before a window of the plan: short queues of the device have drained by then. */
#define KWHY_INJECT_COLLECTION_LEAD_NS INT64_C(5000000)
/* Collection goes on so long after a range: a loop that enters it again does not switch each time. */
#define KWHY_INJECT_COLLECTION_LINGER_NS INT64_C(200000000)

/* An interval in which everything was collected that was launched at `since_mono_ns` (0: ever) or later. */
struct kwhy_inject_window {
	int64_t start_mono_ns, end_mono_ns, since_mono_ns;
};

/*
 * Switches the collection of activity on and off: inside the windows of a plan and, where a pattern is given,
 * only while at least one range of a matching name is open on whatever thread. Any thread may call; one that
 * switches is waited for, at the program's end with a timeout (inject/timed_lock.h). The memory is zeroed
 * before kwhy_inject_collection_init().
 */
struct kwhy_inject_collection {
	pthread_mutex_t lock; /* held while collection is switched */
	struct kwhy_inject_windows windows;
	const char *pattern; /* of names, as fnmatch(3) has it; "": ranges do not matter */
	/* Switches; gives CLOCK_MONOTONIC after. */
	int64_t (*switch_to)(void *context, bool is_on);
	void *context;
	unsigned open_ranges;
	bool has_begun, is_on, is_leading, is_scheduled, is_claimed;
	int64_t since_mono_ns, start_mono_ns, off_due_mono_ns, off_mono_ns;
	/* Those that nobody has taken yet; one that finds no space counts as not collected. */
	struct kwhy_inject_window ended[KWHY_INJECT_COLLECTION_ENDED];
	size_t ended_first, ended_count;
	int64_t switching_ns;
	uint64_t switches;
};

/* `pattern` is borrowed. */
void kwhy_inject_collection_init(struct kwhy_inject_collection *collection,
	const struct kwhy_inject_plan *plan, const char *pattern,
	int64_t (*switch_to)(void *context, bool is_on), void *context);

/* Collection is on and nothing was launched yet: from now on there is something to collect. */
void kwhy_inject_collection_begin(struct kwhy_inject_collection *collection, int64_t now_mono_ns);

/* Does what the plan wants by now; gives the time of the next call, INT64_MAX: none is needed. */
int64_t kwhy_inject_collection_advance(struct kwhy_inject_collection *collection, int64_t now_mono_ns);

/* Does a range of that name matter? Then its beginning and its end are to be told. */
bool kwhy_inject_collection_wants(const struct kwhy_inject_collection *collection, const char *name);
void kwhy_inject_collection_enter(struct kwhy_inject_collection *collection, int64_t now_mono_ns);
void kwhy_inject_collection_leave(struct kwhy_inject_collection *collection, int64_t now_mono_ns);

/* Ends the current window, permanently; the next call of advance() switches off. False: it could not be
 * waited for. */
bool kwhy_inject_collection_end(struct kwhy_inject_collection *collection, int64_t now_mono_ns);

/* The next window that ended at that time or before. False: none, or none to be had. */
bool kwhy_inject_collection_take(
	struct kwhy_inject_collection *collection, int64_t ended_by_mono_ns, struct kwhy_inject_window *out);

/* Has nothing been collected for so long that nothing more is to come? */
bool kwhy_inject_collection_is_idle(struct kwhy_inject_collection *collection, int64_t now_mono_ns);

/* Time spent in switching, and how often. False: it could not be waited for. */
bool kwhy_inject_collection_cost(
	struct kwhy_inject_collection *collection, int64_t *out_spent_ns, uint64_t *out_switches);

#endif
