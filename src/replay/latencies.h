/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_LATENCIES_H
#define KWHY_REPLAY_LATENCIES_H

#include "replay/proxy.h"

#include <string.h>

/*
 * How long calls take on this GPU, apart from the work on the device. Round-trip latencies are medians of
 * round trips in an idle stream: of a kernel, of a graph, and of small copies by direction and kind of
 * memory.
 */
enum kwhy_replay_call { /* kind of work that a call issues */
	KWHY_REPLAY_CALL_LAUNCH,
	KWHY_REPLAY_CALL_COPY, /* copy from or to page-locked memory */
	KWHY_REPLAY_CALL_PAGEABLE,
	KWHY_REPLAY_CALL_DEVICE, /* a copy within the device */
	KWHY_REPLAY_CALL_FILL,
	KWHY_REPLAY_CALL_GRAPH,
	KWHY_REPLAY_CALL_COUNT
};

/*
 * Median durations of the `count` recorded calls of one kind that issue work and do not wait: as recorded,
 * and in a replay on this GPU.
 */
struct kwhy_replay_call_times {
	uint64_t count;
	double recorded_ns, here_ns;
};

struct kwhy_replay_latencies {
	/* round-trip latency of a kernel that waits for a given time, less that time */
	double kernel_ns;
	/*
	 * round-trip latency of a graph of two such kernels, less their waits and the time that a second
	 * kernel takes by itself; on GPUs without graphs it is kernel_ns
	 */
	double graph_ns;
	/*
	 * [direction: to the device, from it][memory: pageable, page-locked] round-trip latency of a small
	 * copy, with the copy itself
	 */
	double copy_ns[2][2];
	struct kwhy_replay_call_times calls[KWHY_REPLAY_CALL_COUNT];
	/*
	 * correction in ns that calibration finds: time by which waits of the replay return later than
	 * recorded. After each wait, a run continues its schedule as if the wait had returned earlier by this
	 * time.
	 */
	double late_ns;
};

/*
 * Whether a queued copy has ended when its call returns, so that no wait is needed. On CUDA this holds for
 * copies from the device to pageable memory (CUDA Driver API, API synchronization behavior).
 */
static inline bool kwhy_replay_ends_with_call(
	const struct kwhy_gpu *gpu, enum kwhy_replay_direction way, enum kwhy_gpu_host_kind host)
{
	return way == KWHY_REPLAY_D2H && host == KWHY_GPU_HOST_PAGEABLE &&
		strcmp(gpu->ops->name, "cuda") == 0;
}

/*
 * Latency of a round trip in two parts: issue_ns from the call to the start of the work, return_ns from the
 * end of the work to the return of the wait.
 */
struct kwhy_replay_overhead {
	double issue_ns, return_ns;
};

const char *kwhy_replay_call_name(enum kwhy_replay_call call); /* such as "launch" or "pageable-copy" */

/*
 * Time in ns by which a recorded call of the given kind with `pieces` pieces of work took longer than such a
 * call on this GPU without a recorder. The difference of the medians for one piece counts once per piece,
 * because a recorder stores a record for each; for a graph launch it counts once. It is negative if this
 * machine is slower than the recorded one, and 0 if the recording has no call of that kind. Pure.
 */
double kwhy_replay_added_ns(
	const struct kwhy_replay_latencies *latencies, enum kwhy_replay_call kind, uint32_t pieces);

/*
 * late_ns, limited to +- kernel_ns: a wait cannot return later by more than the latency of a round trip, so
 * what exceeds it has another cause in the pattern. Pure.
 */
double kwhy_replay_late_of_waits_ns(const struct kwhy_replay_latencies *latencies);

KWHY_MUST_USE enum kwhy_status kwhy_replay_latencies_measure(
	const struct kwhy_proxies *proxies, struct kwhy_replay_latencies *out, struct kwhy_error *error);

/*
 * Latency of one piece of work of a pattern, in two parts. A round trip measures only their sum. It is
 * divided in proportion to the recorded latencies pattern->issue_ns and return_ns, or evenly unless both are
 * above 0. Pure.
 */
struct kwhy_replay_overhead kwhy_replay_overhead_of(const struct kwhy_replay_latencies *latencies,
	const struct kwhy_proxies *proxies, const struct kwhy_replay_pattern *pattern,
	const struct kwhy_replay_work *work);

#endif
