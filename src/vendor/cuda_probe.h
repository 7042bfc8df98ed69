/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_CUDA_PROBE_H
#define KWHY_VENDOR_CUDA_PROBE_H

#include "base/status.h"
#include "vendor/cuda_abi.h"

/*
 * The CUDA driver of a program that has initialised it, for work in that program's own streams. The pointer
 * to an optional call that the driver lacks is NULL.
 */
struct kwhy_cuda_probe {
#define X(name, need) __typeof__(name) *name;
#include "vendor/cuda_probe_symbols.def"
#undef X
};

/* Finds the calls in the driver, which stays loaded. KWHY_E_UNSUPPORTED: a required call is missing. */
KWHY_MUST_USE enum kwhy_status kwhy_cuda_probe_open(struct kwhy_cuda_probe *out, struct kwhy_error *error);

#endif
