/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_CALIBRATION_GRAPH_COSTS_H
#define KWHY_BENCH_CALIBRATION_GRAPH_COSTS_H

#include "gpu/gpu.h"
#include "model/profile.h"

/* Neighbours hold up a host for tenths of seconds at a time: what is timed on it is timed with such rests
 * between. */
enum { KWHY_COST_SETTLE_NS = 100000000 };

/*
 * What one more kernel costs that does nothing, by chains of 16 and of 80 of them: medians of many pairs,
 * with half the middle half as spread. NAN: the back end has no graphs, or the longer chain did not take
 * longer.
 */
struct kwhy_graph_costs {
	struct kwhy_measured launch_node_s; /* of a graph's launch, on the host, for each node more */
	struct kwhy_measured
		start_node_s;	     /* from the launch until the first kernel begins, for each node more */
	struct kwhy_measured node_s; /* on the device, in a graph */
	struct kwhy_measured
		queued_kernel_s; /* on the device, launched one by one into a queue ahead of it */
};

struct kwhy_graph_costs kwhy_graph_costs_unknown(void);

/* `launch` is of a kernel that does nothing, on the GPU's own stream. On an idle GPU; under two seconds. */
KWHY_MUST_USE enum kwhy_status kwhy_graph_costs_measure(struct kwhy_gpu *gpu,
	const struct kwhy_gpu_launch *launch, struct kwhy_graph_costs *out, struct kwhy_error *error);

#endif
