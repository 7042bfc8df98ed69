/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_PROBE_DRIVER_H
#define KWHY_TESTS_PROBE_DRIVER_H

#include "vendor/cuda_probe.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A driver for tests of the prober: device memory is the host's, whatever is launched runs at once. Kernels
 * are C functions of their parameters.
 */
enum { PROBE_PARAMETERS_MAX = 4 };

struct kwhy_cuda_function_opaque {
	void (*run)(void **arguments);
	size_t bytes[PROBE_PARAMETERS_MAX]; /* of each parameter; 0: no more */
	unsigned runs;
	int64_t run_ns; /* of the device's clock, see below */
};

/* What the driver is to be like; all zero: as usual. */
struct probe_driver {
	bool is_capturing, is_busy, is_managed, is_host, is_peer, has_no_parameters;
	enum kwhy_cuda_result copies_give; /* from the `fails_from`th copy on */
	unsigned fails_from, copies;
	unsigned memory_bytes_free;
	unsigned asked; /* how often a burst was begun */
	/*
	 * Bytes that the device copies in a nanosecond. With it, the device has a clock, by which events are
	 * timed: copies and runs of kernels advance it. 0: every interval between events takes 1 ms.
	 */
	size_t bytes_per_ns;
	int64_t now_ns;
};

/* Time of the device's clock that a copy takes, whatever its size, ns. */
enum { PROBE_COPY_NS = 2000 };

extern struct probe_driver probe_driver;

/* Memory of a program, of which the driver knows the limits. */
void *probe_driver_new(size_t bytes);
void probe_driver_clear(void);

struct kwhy_cuda_probe probe_driver_calls(void);

#endif
