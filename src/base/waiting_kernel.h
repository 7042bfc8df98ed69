/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_WAITING_KERNEL_H
#define KWHY_BASE_WAITING_KERNEL_H

#include <stdbool.h>

/*
 * Whether a kernel does nothing but wait, for the host or for time to pass, by its name, mangled or not:
 * XLA's DelayKernel, PyTorch's spin_kernel, and whatever is called so. Repeats of it would wait, too. Any
 * thread.
 */
bool kwhy_waiting_kernel(const char *name);

#endif
