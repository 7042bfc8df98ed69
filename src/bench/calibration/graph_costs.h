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
 * Times per empty kernel, in seconds. Each is the difference between the times of a chain of 80 and of one of
 * 16 kernels, divided by 64: the median over many pairs of chains, with half the interquartile range as its
 * spread. A negative launch_node_s or start_node_s becomes 0. NAN: the back end has no graphs, or the longer
 * chain did not take longer on the device.
 */
struct kwhy_graph_costs {
	struct kwhy_measured launch_node_s; /* host time of a graph's launch, per node */
	struct kwhy_measured
		/* additional time per node from the launch call to the start of the first kernel */
		start_node_s;
	struct kwhy_measured node_s; /* time on the device per kernel of a graph */
	/*
	 * device time of a kernel that is launched without a graph, while earlier work still holds its stream
	 */
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
