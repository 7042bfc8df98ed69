/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_CALIBRATION_COSTS_H
#define KWHY_BENCH_CALIBRATION_COSTS_H

#include "bench/calibration/graph_costs.h"
#include "bench/calibration/load.h"
#include "model/profile.h"

/*
 * Costs of calls: how long a launch, a synchronisation, a small copy and a graph launch take on the host, in
 * seconds, and the rates of large copies. Each is the median of many repetitions, with half the interquartile
 * range as its spread.
 */
struct kwhy_call_costs {
	struct kwhy_measured launch_s, synchronize_s, copy_latency_s, graph_launch_s;
	/* rates of large copies, in bytes per second */
	struct kwhy_measured h2d_pinned, h2d_pageable, d2h_pinned, d2h_pageable;
	struct kwhy_graph_costs graph;
};

/*
 * Sizes of copies: KWHY_COST_COPY_BYTES (256 MiB) for the rates h2d_* and d2h_*, KWHY_COST_LATENCY_BYTES for
 * copy_latency_s.
 */
enum { KWHY_COST_COPY_BYTES = 256 << 20, KWHY_COST_LATENCY_BYTES = 38 };

/* Returns the median of the values, with half their interquartile range as spread. Sorts `values`. */
struct kwhy_measured kwhy_cost_summary(double *values, size_t count);

/* Returns costs that are all unknown (NAN). */
struct kwhy_call_costs kwhy_call_costs_unknown(void);

/* Measures the costs on an idle GPU, in under six seconds. */
KWHY_MUST_USE enum kwhy_status kwhy_call_costs_measure(struct kwhy_gpu *gpu, const struct kwhy_loads *loads,
	uint32_t seed, struct kwhy_call_costs *out, struct kwhy_error *error);

#endif
