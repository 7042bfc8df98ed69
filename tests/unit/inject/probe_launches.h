/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_PROBE_LAUNCHES_H
#define KWHY_TESTS_PROBE_LAUNCHES_H

#include "inject/probe/probe.h"
#include "probe_driver.h"

/* A program's launches on the driver of probe_driver.h, with a prober that begins a burst at each of them. */

#define PROBE_CONTEXT ((kwhy_cuda_context)(uintptr_t)64) /* NOLINT(performance-no-int-to-ptr) */

extern struct kwhy_probe *probe;

/* Setup and teardown of a test case. */
int probe_launches_begin(void **state);
int probe_launches_end(void **state);

/* A launch around which CUPTI calls the prober. The kernel runs unless the launch gives an error. */
void probe_launch_as(
	kwhy_cuda_function kernel, const char *name, void **arguments, enum kwhy_cuda_result result);
void probe_launch(kwhy_cuda_function kernel, const char *name, void **arguments);

#endif
