/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_CALIBRATION_COSTS_H
#define KWHY_BENCH_CALIBRATION_COSTS_H

#include "bench/calibration/graph_costs.h"
#include "bench/calibration/load.h"
#include "model/profile.h"

/* What single calls and copies cost on the host: medians of many, with half the middle half as spread. */
struct kwhy_call_costs {
	struct kwhy_measured launch_s, synchronize_s, copy_latency_s, graph_launch_s;
	struct kwhy_measured h2d_pinned, h2d_pageable, d2h_pinned, d2h_pageable; /* bytes a second */
	struct kwhy_graph_costs graph;
};

/* bytes of the copies that rates are of */
enum { KWHY_COST_COPY_BYTES = 256 << 20, KWHY_COST_LATENCY_BYTES = 38 };

/* Median, and half the distance of the quartiles. Sorts. */
struct kwhy_measured kwhy_cost_summary(double *values, size_t count);

/* All unknown. */
struct kwhy_call_costs kwhy_call_costs_unknown(void);

/* Measures them on an idle GPU; under six seconds. */
KWHY_MUST_USE enum kwhy_status kwhy_call_costs_measure(struct kwhy_gpu *gpu, const struct kwhy_loads *loads,
	uint32_t seed, struct kwhy_call_costs *out, struct kwhy_error *error);

#endif
