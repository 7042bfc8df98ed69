/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_CUDA_H
#define KWHY_VENDOR_CUDA_H

#include "base/status.h"
#include "vendor/cuda_abi.h"

/*
 * The CUDA driver of this machine, for reading facts about its devices; vendor/driver.h is for running work
 * on them. The pointer to an optional call that the driver lacks is NULL.
 */
struct kwhy_cuda {
#define X(name, need) __typeof__(name) *name;
#include "vendor/cuda_symbols.def"
#undef X
};

/*
 * Loads and initialises the driver. No context is made, so the device's idle power does not change.
 * KWHY_E_UNSUPPORTED: the driver or its GPU is missing; the message says why and what to do. The driver stays
 * loaded; the programs in which this is called have loaded it anyway.
 */
KWHY_MUST_USE enum kwhy_status kwhy_cuda_open(struct kwhy_cuda *out, struct kwhy_error *error);

#endif
