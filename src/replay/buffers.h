/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_BUFFERS_H
#define KWHY_REPLAY_BUFFERS_H

#include "replay/pattern.h"

#include <stdatomic.h>

/*
 * Memory for the copies of a pattern. Copies whose sizes have the same power of two, and whose host memory is
 * of the same kind, share a ring of buffers on the host. A ring for copies below 256 KiB has a single buffer,
 * because programs reuse small buffers. A ring for larger copies has one buffer for each of its copies, or as
 * many as fit into a limit of bytes, so that their data is not in the processor's cache. On the device all
 * copies share one source and one destination.
 */
enum { KWHY_REPLAY_SIZES = 64, KWHY_REPLAY_HOST_KINDS = 2 };

struct kwhy_replay_ring {
	struct kwhy_gpu_host host;
	size_t slot_bytes;
	uint32_t slots; /* number of buffers, which are used in turn; 0: no copy of the pattern uses this ring
			 */
	atomic_uint next;
};

struct kwhy_replay_buffers {
	struct kwhy_gpu *gpu;
	uint64_t from, to; /* device addresses of the source and the destination of all copies */
	struct kwhy_replay_ring rings[KWHY_REPLAY_HOST_KINDS][KWHY_REPLAY_SIZES];
};

/*
 * Allocates the host's pageable and page-locked buffers and the device's two. End with
 * kwhy_replay_buffers_done(), also after a failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_replay_buffers_init(struct kwhy_replay_buffers *buffers,
	struct kwhy_gpu *gpu, const struct kwhy_replay_pattern *pattern, struct kwhy_error *error);
void kwhy_replay_buffers_done(struct kwhy_replay_buffers *buffers);

/*
 * Source and destination of a copy. On the host it is the next buffer of the copy's ring. Any thread may call
 * it.
 */
struct kwhy_gpu_copy kwhy_replay_buffers_take(
	struct kwhy_replay_buffers *buffers, const struct kwhy_replay_work *work);

#endif
