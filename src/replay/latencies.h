/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_LATENCIES_H
#define KWHY_REPLAY_LATENCIES_H

#include "replay/proxy.h"

#include <string.h>

/*
 * What a call that issues work and one that waits for it take on this GPU beside the work: medians of round
 * trips in an idle stream, of a kernel, of a graph, and of small copies by direction and memory.
 */
enum kwhy_replay_call { /* what a call asks for */
	KWHY_REPLAY_CALL_LAUNCH,
	KWHY_REPLAY_CALL_COPY, /* of page-locked memory */
	KWHY_REPLAY_CALL_PAGEABLE,
	KWHY_REPLAY_CALL_DEVICE, /* a copy within the device */
	KWHY_REPLAY_CALL_FILL,
	KWHY_REPLAY_CALL_GRAPH,
	KWHY_REPLAY_CALL_COUNT
};

/* Calls that wait for nothing: medians as recorded and as made here. */
struct kwhy_replay_call_times {
	uint64_t count;
	double recorded_ns, here_ns;
};

struct kwhy_replay_latencies {
	double kernel_ns; /* less what the kernel waits */
	double graph_ns;  /* of a graph of two kernels, less what those take beyond one; as kernel_ns without
			     graphs */
	double copy_ns[2][2]; /* [way: to the device, from it][page-locked] with the copy itself */
	struct kwhy_replay_call_times calls[KWHY_REPLAY_CALL_COUNT];
	double late_ns; /* by which a wait of a replay returned later than it did: taken off the others */
};

/*
 * Whether a queued copy has ended when its call returns, so that nothing need wait for it: on CUDA read-backs
 * to pageable memory (CUDA Driver API, API synchronization behavior).
 */
static inline bool kwhy_replay_ends_with_call(
	const struct kwhy_gpu *gpu, enum kwhy_replay_direction way, enum kwhy_gpu_host_kind host)
{
	return way == KWHY_REPLAY_D2H && host == KWHY_GPU_HOST_PAGEABLE &&
		strcmp(gpu->ops->name, "cuda") == 0;
}

/* The part before the work begins, and the part after its end. */
struct kwhy_replay_overhead {
	double issue_ns, return_ns;
};

const char *kwhy_replay_call_name(enum kwhy_replay_call call); /* "launch", "pageable-copy", ... */

/*
 * What such a call of this many pieces took longer when it was recorded: a recorder puts each piece away.
 * Negative on a slower machine; 0 where the recording has none of its kind. Pure.
 */
double kwhy_replay_added_ns(
	const struct kwhy_replay_latencies *latencies, enum kwhy_replay_call kind, uint32_t pieces);

/* What of late_ns a round trip can explain: no other pattern has the rest. Pure. */
double kwhy_replay_late_of_waits_ns(const struct kwhy_replay_latencies *latencies);

KWHY_MUST_USE enum kwhy_status kwhy_replay_latencies_measure(
	const struct kwhy_proxies *proxies, struct kwhy_replay_latencies *out, struct kwhy_error *error);

/*
 * Of one piece of work of a pattern. A round trip shows its two parts together alone: they are divided as in
 * the recording, evenly where that does not tell. Pure.
 */
struct kwhy_replay_overhead kwhy_replay_overhead_of(const struct kwhy_replay_latencies *latencies,
	const struct kwhy_proxies *proxies, const struct kwhy_replay_pattern *pattern,
	const struct kwhy_replay_work *work);

#endif
