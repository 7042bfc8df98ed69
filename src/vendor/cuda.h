/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_CUDA_H
#define KWHY_VENDOR_CUDA_H

#include "base/status.h"
#include "vendor/cuda_abi.h"

/*
 * The CUDA driver as found on this machine, to read facts about its devices; vendor/driver.h is for work on
 * them. The slot of a missing optional call is NULL.
 */
struct kwhy_cuda {
#define X(name, need) __typeof__(name) *name;
#include "vendor/cuda_symbols.def"
#undef X
};

/*
 * Loads and initialises the driver. It makes no context, so the device's idle power does not change.
 * KWHY_E_UNSUPPORTED, with the reason and what to do, if the driver or its GPU is missing. The driver stays
 * loaded, because the programs that this is called in have it loaded anyway.
 */
KWHY_MUST_USE enum kwhy_status kwhy_cuda_open(struct kwhy_cuda *out, struct kwhy_error *error);

#endif
