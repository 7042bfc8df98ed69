/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_SEGMENTS_H
#define KWHY_WHATIF_SEGMENTS_H

#include "whatif/change.h"

/*
 * Segments of a thread's calls in which the thread only issues work and waits for nothing. They lie between
 * waits, blocking copies, allocations, long pauses and steps. `rows` is borrowed until the next call.
 */
struct kwhy_whatif_segment {
	uint32_t first_call, end_call; /* calls of one thread */
	const uint32_t *rows;	       /* rows that the calls issued and that are not dropped, in order */
	size_t row_count;
};

struct kwhy_whatif_segments {
	struct kwhy_whatif *whatif;
	uint32_t *rows; /* buffer of the current segment's rows */
	size_t thread, next;
	bool rhythm_is_whole; /* unnamed steps end no segment, however long it is; false by default */
	uint32_t steps;	      /* most steps in a segment, counted from the first step; 0: each named step is a
				 segment of its own */
};

/* False: out of memory. End with kwhy_whatif_segments_done(). */
bool kwhy_whatif_segments_init(struct kwhy_whatif_segments *segments, struct kwhy_whatif *whatif);
bool kwhy_whatif_segments_next(struct kwhy_whatif_segments *segments, struct kwhy_whatif_segment *out);
void kwhy_whatif_segments_done(struct kwhy_whatif_segments *segments);

#endif
