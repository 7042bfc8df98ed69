/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_PERF_COUNTER_H
#define KWHY_MODEL_PERF_COUNTER_H

#include <stdint.h>

/* Performance counters of a GPU; the order is part of the recording's format. */
enum kwhy_perf_counter {
#define X(counter, name, metric) KWHY_PERF_##counter,
#include "model/perf_counters.def"
#undef X
	KWHY_PERF_COUNTER_COUNT
};

const char *kwhy_perf_counter_name(enum kwhy_perf_counter counter); /* name in machine profiles */

/* What the performance counters of a device counted from start_ns on, for length_ns. */
struct kwhy_perf_sample {
	int64_t start_ns;
	uint32_t length_ns;
	uint32_t device; /* index into the recording's devices */
	float counts[KWHY_PERF_COUNTER_COUNT];
};

/* A time in which the performance counters of a device were enabled, which lets it draw more power. */
struct kwhy_counter_window {
	int64_t start_ns, end_ns;
	uint32_t device; /* index into the recording's devices */
};

#endif
