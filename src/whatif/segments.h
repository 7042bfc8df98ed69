/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_SEGMENTS_H
#define KWHY_WHATIF_SEGMENTS_H

#include "whatif/change.h"

/*
 * Segment: a sequence of a thread's calls in which the thread only issues work and waits for nothing. It ends
 * at waits, copies that block, allocations, frees, graph launches, pauses above 1 ms, work handed over by
 * another thread, and new steps. `rows` is valid until the next segment is read.
 */
struct kwhy_whatif_segment {
	uint32_t first_call, end_call; /* range [first_call, end_call) of calls of one thread */
	/* activities that those calls issued and that are not removed, in the order of issue */
	const uint32_t *rows;
	size_t row_count;
};

struct kwhy_whatif_segments {
	struct kwhy_whatif *whatif;
	uint32_t *rows; /* memory for the activities of the current segment */
	size_t thread, next;
	bool rhythm_is_whole; /* true: steps without names end no segment; false: they end long ones */
	/*
	 * number of successive steps that may be in one segment, in groups counted from step 0; 0: each step
	 * that a range names begins a segment
	 */
	uint32_t steps;
};

/*
 * Begins to read the segments of all threads. False: out of memory. kwhy_whatif_segments_next() returns false
 * after the last one.
 */
bool kwhy_whatif_segments_init(struct kwhy_whatif_segments *segments, struct kwhy_whatif *whatif);
bool kwhy_whatif_segments_next(struct kwhy_whatif_segments *segments, struct kwhy_whatif_segment *out);
void kwhy_whatif_segments_done(struct kwhy_whatif_segments *segments);

/*
 * Whether the thread paused before a call for more than 1 ms, so that it did something other than launch
 * work; false if it waited for another thread's work.
 */
bool kwhy_whatif_is_after_pause(const struct kwhy_whatif *whatif, uint32_t call);

#endif
