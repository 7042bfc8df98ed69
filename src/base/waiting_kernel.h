/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_WAITING_KERNEL_H
#define KWHY_BASE_WAITING_KERNEL_H

#include <stdbool.h>

/*
 * Whether a kernel only waits for the host or for time to pass, judged by its name, mangled or not: XLA's
 * DelayKernel, PyTorch's spin_kernel, and similar ones. Such a kernel is not repeated to learn its power. Any
 * thread.
 */
bool kwhy_waiting_kernel(const char *name);

#endif
