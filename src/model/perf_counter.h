/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_PERF_COUNTER_H
#define KWHY_MODEL_PERF_COUNTER_H

#include <stdint.h>

/*
 * The performance counters of a GPU that `kwhy record --counters` samples (perf_counters.def). Recordings
 * store counts in this order.
 */
enum kwhy_perf_counter {
#define X(counter, name, metric) KWHY_PERF_##counter,
#include "model/perf_counters.def"
#undef X
	KWHY_PERF_COUNTER_COUNT
};

const char *kwhy_perf_counter_name(enum kwhy_perf_counter counter); /* name in machine profiles */

/* What the performance counters of a device counted in the length_ns nanoseconds from start_ns on. */
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
