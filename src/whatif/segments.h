/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_SEGMENTS_H
#define KWHY_WHATIF_SEGMENTS_H

#include "whatif/change.h"

/*
 * Stretches of a thread's calls in which it only issues work, and waits for nothing: between waits, blocking
 * copies, allocations, long pauses and steps. Pieces of the arrays are borrowed until the next call.
 */
struct kwhy_whatif_segment {
	uint32_t first_call, end_call; /* calls of one thread */
	const uint32_t *rows;	       /* issued and left, in order */
	size_t row_count;
};

struct kwhy_whatif_segments {
	struct kwhy_whatif *whatif;
	uint32_t *rows; /* room */
	size_t thread, next;
	bool rhythm_is_whole; /* steps without a name part nothing, however long; false unless set */
	uint32_t steps; /* that lie in a stretch at most, counted from the first; 0: named ones part, each */
};

/* False: no memory. End with kwhy_whatif_segments_done(). */
bool kwhy_whatif_segments_init(struct kwhy_whatif_segments *segments, struct kwhy_whatif *whatif);
bool kwhy_whatif_segments_next(struct kwhy_whatif_segments *segments, struct kwhy_whatif_segment *out);
void kwhy_whatif_segments_done(struct kwhy_whatif_segments *segments);

#endif
