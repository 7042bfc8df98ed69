/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_HOST_WAIT_H
#define KWHY_MODEL_HOST_WAIT_H

#include "base/status.h"
#include "model/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What the host did while a device was idle. At each time of a gap it is the state of the thread that issued
 * the activity after the gap. The class of the thread's outermost call gives the state, where calls of class
 * OTHER are skipped. If it is unknown which thread issued that activity, all threads of the processes that
 * use the device count; the state of them that comes first in the order below then applies.
 */
enum kwhy_host_state {
	KWHY_HOST_LAUNCH, /* inside launch calls */
	KWHY_HOST_ALLOC,  /* inside malloc or free */
	KWHY_HOST_SYNC,	  /* blocked in a synchronising call or a copy that may block */
	KWHY_HOST_ELSEWHERE,
	KWHY_HOST_STATE_COUNT
};

/*
 * State of a walk over the intervals in which one thread is in one state, in order of time. Intervals in
 * state ELSEWHERE are left out.
 */
struct kwhy_host_walk {
	bool begun;
	size_t next, end;   /* rows of calls not yet visited */
	int64_t covered_ns; /* latest end of the calls visited */
	int64_t start_ns, end_ns;
	enum kwhy_host_state state;
};

struct kwhy_host_span {
	int64_t start_ns, end_ns;
};

/*
 * Disjoint spans in which some thread is in one state, or in a state that takes precedence over it.
 * `unions` below has one for each state.
 */
struct kwhy_host_union {
	struct kwhy_host_span *spans;
	size_t count, next;
};

struct kwhy_host_wait {
	const struct kwhy_recording *recording;
	uint32_t device;
	struct kwhy_host_walk *threads;			    /* [thread_count] */
	struct kwhy_host_union unions[KWHY_HOST_ELSEWHERE]; /* computed when first needed */
	bool merged;
};

/* Prepares kwhy_host_wait_divide() for one device of a recording that has calls. */
KWHY_MUST_USE enum kwhy_status kwhy_host_wait_init(struct kwhy_host_wait *wait,
	const struct kwhy_recording *recording, uint32_t device, struct kwhy_error *error);
void kwhy_host_wait_done(struct kwhy_host_wait *wait);

/*
 * Divides the gap before activity row `activity` by the host's states. The parts sum to the length of the gap
 * exactly. Gaps must be given in time order.
 */
KWHY_MUST_USE enum kwhy_status kwhy_host_wait_divide(struct kwhy_host_wait *wait,
	const struct kwhy_host_span *gap, uint32_t activity, int64_t out_part_ns[KWHY_HOST_STATE_COUNT],
	struct kwhy_error *error);

#endif
