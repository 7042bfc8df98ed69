/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_PROFILE_H
#define KWHY_MODEL_PROFILE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A measured figure: value and standard uncertainty, both NAN where unknown. */
struct kwhy_measured {
	double value;
	double spread;
};

/* A power known for kernels whose name contains `pattern`, while the device runs nothing else. */
struct kwhy_known_power {
	const char *pattern;
	struct kwhy_measured power_w;
};

/*
 * What one kind of machine can do, measured on it once (docs/formats/profile.md). Every figure may be
 * unknown (NAN): then the ledger uses a wide prior and says so.
 */
struct kwhy_profile {
	struct kwhy_arena arena;
	const char *path;	 /* where it was read from */
	const char *device_name; /* "NVIDIA H200" */
	const char *driver;	 /* version it was measured with */
	const char *measured_on; /* date, ISO 8601 */
	uint32_t sm_count, threads_per_sm, registers_per_sm, shared_bytes_per_sm; /* 0: unknown */
	double memory_rate_bytes_per_s;

	struct {
		struct kwhy_measured time_constant_s; /* of the first-order low-pass of the 20 ms ring */
		struct kwhy_measured delay_s;
		struct kwhy_measured sample_period_s, counter_period_s;
		double late_share;	     /* of stamps that come late */
		struct kwhy_measured late_s; /* by how much */
		double average_window_s;     /* of nvml.average_mw */
	} sensor;

	struct kwhy_measured clean_idle_w, context_idle_w;
	double limit_w;

	/* Costs measured on this kind of machine; seconds. */
	struct kwhy_measured launch_s, synchronize_s, copy_latency_s, graph_launch_s;
	struct kwhy_measured h2d_pinned_rate_bytes_per_s, h2d_pageable_rate_bytes_per_s,
		d2h_pinned_rate_bytes_per_s, d2h_pageable_rate_bytes_per_s;

	struct kwhy_known_power *known_powers;
	size_t known_power_count;
};

#endif
