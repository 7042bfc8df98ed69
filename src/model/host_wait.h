/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_HOST_WAIT_H
#define KWHY_MODEL_HOST_WAIT_H

#include "base/status.h"
#include "model/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What the host did while a device was idle (a gap). It is the state of the thread that issued the activity
 * after the gap, and the state follows from the class of the outermost call that the thread is in; calls of
 * class KWHY_CALL_OTHER are skipped. If it is unknown which thread issued that activity, it is the first
 * state in the order below that any thread of the device's processes is in.
 */
enum kwhy_host_state {
	KWHY_HOST_LAUNCH, /* inside launch calls */
	KWHY_HOST_ALLOC,  /* inside malloc or free */
	KWHY_HOST_SYNC,	  /* inside a synchronising call or a copy that may block */
	KWHY_HOST_ELSEWHERE,
	KWHY_HOST_STATE_COUNT
};

/*
 * State of a walk over the intervals in which one thread is in one state, in order of time. Intervals in
 * state ELSEWHERE are left out.
 */
struct kwhy_host_walk {
	bool begun;
	size_t next, end;   /* the thread's calls not yet visited are rows [next, end) */
	int64_t covered_ns; /* latest end of the visited calls whose state is not ELSEWHERE */
	int64_t start_ns, end_ns;
	enum kwhy_host_state state;
};

struct kwhy_host_span {
	int64_t start_ns, end_ns;
};

/*
 * Disjoint intervals in which at least one thread is in a given state or in a state before it in enum
 * kwhy_host_state. next: index of the first interval that may overlap the next gap or a later one; gaps are
 * given in order of time.
 */
struct kwhy_host_union {
	struct kwhy_host_span *spans;
	size_t count, next;
};

struct kwhy_host_wait {
	const struct kwhy_recording *recording;
	uint32_t device;
	struct kwhy_host_walk *threads; /* [thread_count] */
	struct kwhy_host_union
		unions[KWHY_HOST_ELSEWHERE]; /* one for each state but ELSEWHERE; computed at the first gap
						for which the issuing thread is unknown */
	bool merged;
};

/* Prepares kwhy_host_wait_divide() for one device of a recording that has calls. */
KWHY_MUST_USE enum kwhy_status kwhy_host_wait_init(struct kwhy_host_wait *wait,
	const struct kwhy_recording *recording, uint32_t device, struct kwhy_error *error);
void kwhy_host_wait_done(struct kwhy_host_wait *wait);

/*
 * Writes to out_part_ns how long the host was in each state during the gap before activity row `activity`.
 * The parts add up to the length of the gap exactly. Gaps must be given in time order.
 */
KWHY_MUST_USE enum kwhy_status kwhy_host_wait_divide(struct kwhy_host_wait *wait,
	const struct kwhy_host_span *gap, uint32_t activity, int64_t out_part_ns[KWHY_HOST_STATE_COUNT],
	struct kwhy_error *error);

#endif
