/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_CALIBRATION_GRAPH_COSTS_H
#define KWHY_BENCH_CALIBRATION_GRAPH_COSTS_H

#include "gpu/gpu.h"
#include "model/profile.h"

/*
 * Other load on a host delays it for tenths of a second at a time, so host-side timings pause this long in
 * between.
 */
enum { KWHY_COST_SETTLE_NS = 100000000 };

/*
 * The time of one additional empty kernel, from chains of 16 and of 80 of them: medians of many pairs, with
 * half the interquartile range as spread. NAN: the back end has no graphs, or the longer chain did not take
 * longer.
 */
struct kwhy_graph_costs {
	struct kwhy_measured launch_node_s; /* host time of a graph's launch, for each additional node */
	struct kwhy_measured
		start_node_s; /* from the launch to the first kernel's start, for each additional node */
	struct kwhy_measured node_s;	      /* device time in a graph */
	struct kwhy_measured queued_kernel_s; /* device time, launched one by one into a full queue */
};

struct kwhy_graph_costs kwhy_graph_costs_unknown(void);

/* `launch` describes an empty kernel on the GPU's own stream. Needs an idle GPU; takes under two seconds. */
KWHY_MUST_USE enum kwhy_status kwhy_graph_costs_measure(struct kwhy_gpu *gpu,
	const struct kwhy_gpu_launch *launch, struct kwhy_graph_costs *out, struct kwhy_error *error);

#endif
