/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_CALIBRATION_GRAPH_COSTS_H
#define KWHY_BENCH_CALIBRATION_GRAPH_COSTS_H

#include "gpu/gpu.h"
#include "model/profile.h"

/*
 * Other programs delay the host for tenths of a second at a time. Timings on the host are separated by pauses
 * of this length, so that a single delay affects only some of them.
 */
enum { KWHY_COST_SETTLE_NS = 100000000 };

/*
 * Time that each additional empty kernel takes, in seconds. A cost is the difference between the times of
 * chains of 80 and of 16 kernels, divided by 64. The value is the median over many pairs of chains, the
 * spread half the interquartile range. NAN: the back end has no graphs, or the longer chain did not take
 * longer.
 */
struct kwhy_graph_costs {
	struct kwhy_measured launch_node_s; /* host time of a graph's launch, per node */
	struct kwhy_measured
		/* time from the launch to the start of the graph's first kernel, per node */
		start_node_s;
	struct kwhy_measured node_s; /* device time of a graph's kernel */
	/* device time of a kernel that is launched without a graph and queued before it can run */
	struct kwhy_measured queued_kernel_s;
};

struct kwhy_graph_costs kwhy_graph_costs_unknown(void);

/*
 * Measures the costs. `launch` describes an empty kernel on the GPU's own stream. The GPU must be idle. The
 * measurement takes under two seconds.
 */
KWHY_MUST_USE enum kwhy_status kwhy_graph_costs_measure(struct kwhy_gpu *gpu,
	const struct kwhy_gpu_launch *launch, struct kwhy_graph_costs *out, struct kwhy_error *error);

#endif
