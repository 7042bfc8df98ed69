/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_LATENCIES_H
#define KWHY_REPLAY_LATENCIES_H

#include "replay/proxy.h"

#include <string.h>

/*
 * Time on this GPU of a call that issues work and of one that waits for it, without the work itself: medians
 * of round trips in an idle stream, of a kernel, of a graph, and of small copies by direction and memory.
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

/* Calls that wait for nothing: median lengths in the recording and on this GPU. */
struct kwhy_replay_call_times {
	uint64_t count;
	double recorded_ns, here_ns;
};

struct kwhy_replay_latencies {
	double kernel_ns; /* round trip of a kernel, less the time that the kernel waits */
	double graph_ns;  /* round trip of a graph of two kernels, less their time beyond one kernel; equals
			     kernel_ns on GPUs without graphs */
	double copy_ns[2][2]; /* [way: to the device, from it][page-locked] round trip, copy included */
	struct kwhy_replay_call_times calls[KWHY_REPLAY_CALL_COUNT];
	double late_ns; /* by which waits of a replay return later than the recorded ones; later waits are
			   shortened by it */
};

/*
 * Whether a queued copy has ended when its call returns, so that no wait is needed. On CUDA that holds for
 * copies from the device to pageable memory (CUDA Driver API, API synchronization behavior).
 */
static inline bool kwhy_replay_ends_with_call(
	const struct kwhy_gpu *gpu, enum kwhy_replay_direction way, enum kwhy_gpu_host_kind host)
{
	return way == KWHY_REPLAY_D2H && host == KWHY_GPU_HOST_PAGEABLE &&
		strcmp(gpu->ops->name, "cuda") == 0;
}

/* Round-trip latency in two parts: before the work begins and after its end. */
struct kwhy_replay_overhead {
	double issue_ns, return_ns;
};

const char *kwhy_replay_call_name(enum kwhy_replay_call call); /* "launch", "pageable-copy", ... */

/*
 * Added time of a call of that kind with `pieces` pieces of work in the recording, since a recorder stores a
 * record for each piece. Negative: this machine is slower. 0: the recording has no call of the kind. Pure.
 */
double kwhy_replay_added_ns(
	const struct kwhy_replay_latencies *latencies, enum kwhy_replay_call kind, uint32_t pieces);

/* The part of late_ns that a round trip can explain; the rest is specific to the pattern. Pure. */
double kwhy_replay_late_of_waits_ns(const struct kwhy_replay_latencies *latencies);

KWHY_MUST_USE enum kwhy_status kwhy_replay_latencies_measure(
	const struct kwhy_proxies *proxies, struct kwhy_replay_latencies *out, struct kwhy_error *error);

/*
 * Latency of one piece of work of a pattern. A round trip measures only the sum of both parts. It is divided
 * in the proportion of the recording, or evenly where that is unknown. Pure.
 */
struct kwhy_replay_overhead kwhy_replay_overhead_of(const struct kwhy_replay_latencies *latencies,
	const struct kwhy_proxies *proxies, const struct kwhy_replay_pattern *pattern,
	const struct kwhy_replay_work *work);

#endif
