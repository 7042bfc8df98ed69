/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_SEGMENTS_H
#define KWHY_WHATIF_SEGMENTS_H

#include "whatif/change.h"

/*
 * A sequence of a thread's calls in which the thread only issues work and waits for nothing. It ends at
 * waits, blocking copies, allocations, long pauses and new steps. `rows` is valid until the next segment is
 * read.
 */
struct kwhy_whatif_segment {
	uint32_t first_call, end_call; /* range of calls of one thread */
	/* activities that those calls issued and that are not removed, in the order of issue */
	const uint32_t *rows;
	size_t row_count;
};

struct kwhy_whatif_segments {
	struct kwhy_whatif *whatif;
	uint32_t *rows; /* memory for the activities of the current segment */
	size_t thread, next;
	bool rhythm_is_whole; /* true: a new step without a name ends no segment, however long the segment is
			       */
	/*
	 * largest number of steps in a segment, in groups counted from the first step of the run; 0: each
	 * named step is a segment of its own
	 */
	uint32_t steps;
};

/* Prepares reading segments. False: out of memory. End with kwhy_whatif_segments_done(). */
bool kwhy_whatif_segments_init(struct kwhy_whatif_segments *segments, struct kwhy_whatif *whatif);
bool kwhy_whatif_segments_next(struct kwhy_whatif_segments *segments, struct kwhy_whatif_segment *out);
void kwhy_whatif_segments_done(struct kwhy_whatif_segments *segments);

/* Whether the host paused before a call for so long that it did something other than launch work. */
bool kwhy_whatif_is_after_pause(const struct kwhy_whatif *whatif, uint32_t call);

#endif
