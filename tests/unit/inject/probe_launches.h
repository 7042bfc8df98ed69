/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_PROBE_LAUNCHES_H
#define KWHY_TESTS_PROBE_LAUNCHES_H

#include "inject/probe/probe.h"
#include "probe_driver.h"

/*
 * Launches kernels as a program under kwhy probe does, on the driver of probe_driver.h. The prober begins a
 * burst at each launch.
 */

#define PROBE_CONTEXT ((kwhy_cuda_context)(uintptr_t)64) /* NOLINT(performance-no-int-to-ptr) */

extern struct kwhy_probe *probe;

/* Setup and teardown of a test. */
int probe_launches_begin(void **state);
int probe_launches_end(void **state);

/*
 * Launches a kernel with `result` as the result of the launch, and calls the prober before and after, as
 * CUPTI's callbacks do. The kernel runs only if `result` is success.
 */
void probe_launch_as(
	kwhy_cuda_function kernel, const char *name, void **arguments, enum kwhy_cuda_result result);
void probe_launch(kwhy_cuda_function kernel, const char *name, void **arguments);

#endif
