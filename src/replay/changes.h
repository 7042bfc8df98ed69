/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_CHANGES_H
#define KWHY_REPLAY_CHANGES_H

#include "whatif/whatif.h"

enum kwhy_replay_became {
	KWHY_REPLAY_AS_IT_WAS,
	/*
	 * a copy that replaces several, together with a kernel that gathers their data before it or scatters
	 * them after it
	 */
	KWHY_REPLAY_PACKED,
	KWHY_REPLAY_FUSED /* a kernel that replaces several kernels, copies or fills */
};

/*
 * What the changes do to work beyond its times in the graph: the size of packed copies, the blocks of merged
 * kernels, and which copies use page-locked host memory.
 */
struct kwhy_replay_changes {
	uint64_t *bytes;  /* [activities] bytes of each copy after the changes */
	uint32_t *blocks; /* [activities] blocks of each kernel after the changes */
	uint8_t *became;  /* [activities] enum kwhy_replay_became: what each activity is after the changes */
	bool pinned;	  /* whether copies from and to pageable memory use page-locked memory */
	bool captured; /* whether each call that issues several pieces of work launches them as one graph */
};

/*
 * Resets the graph to the recording, makes the changes in the given order, and simulates the graph. Refused
 * changes are left out. End with kwhy_replay_changes_done().
 */
KWHY_MUST_USE enum kwhy_status kwhy_replay_change(struct kwhy_whatif *whatif,
	const struct kwhy_whatif_request *change_requests, size_t change_request_count,
	struct kwhy_replay_changes *out, struct kwhy_error *error);
void kwhy_replay_changes_done(struct kwhy_replay_changes *changes);

#endif
