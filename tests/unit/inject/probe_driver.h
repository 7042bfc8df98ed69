/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_PROBE_DRIVER_H
#define KWHY_TESTS_PROBE_DRIVER_H

#include "vendor/cuda_probe.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A fake CUDA driver for tests of kwhy probe. Device memory is host memory; kernels are C functions of an
 * array of arguments, which run at their launch.
 */
enum { PROBE_PARAMETERS_MAX = 4 };

struct kwhy_cuda_function_opaque {
	void (*run)(void **arguments);
	size_t bytes[PROBE_PARAMETERS_MAX]; /* size of each parameter; 0 ends the list */
	unsigned runs;
	int64_t run_ns; /* duration on the device's clock, if bytes_per_ns is not 0 */
};

/* Settings of the driver and its counts. All zero: no faults. */
struct probe_driver {
	bool is_capturing, is_busy, is_managed, is_host, is_peer, has_no_parameters;
	enum kwhy_cuda_result copies_give; /* result of copies from number `fails_from` on */
	unsigned fails_from, copies;
	unsigned memory_bytes_free;
	unsigned asked; /* number of bursts begun */
	/*
	 * Rate of copies, bytes per nanosecond. If it is not 0, the device has a clock, which copies and
	 * kernels advance and by which events are timed. 0: the time between any two events is 1 ms.
	 */
	size_t bytes_per_ns;
	int64_t now_ns;
};

/* Time of a copy in addition to that of its bytes, ns. */
enum { PROBE_COPY_NS = 2000 };

extern struct probe_driver probe_driver;

/* Allocates zeroed device memory as the program under test would. The driver reports its start and size. */
void *probe_driver_new(size_t bytes);
void probe_driver_clear(void);

struct kwhy_cuda_probe probe_driver_calls(void);

#endif
