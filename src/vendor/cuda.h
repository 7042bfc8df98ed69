/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_CUDA_H
#define KWHY_VENDOR_CUDA_H

#include "base/status.h"
#include "vendor/cuda_abi.h"

/*
 * The CUDA driver as found on this machine, for facts about its devices; vendor/driver.h is for work on them.
 * An optional call that is not there is a NULL slot.
 */
struct kwhy_cuda {
#define X(name, need) __typeof__(name) *name;
#include "vendor/cuda_symbols.def"
#undef X
};

/*
 * Loads and initialises the driver; makes no context, so the device stays as idle as it was.
 * KWHY_E_UNSUPPORTED, with the reason and the cure, where the driver or its GPU is missing. The
 * driver stays loaded: whoever asks runs in a program that has it anyway.
 */
KWHY_MUST_USE enum kwhy_status kwhy_cuda_open(struct kwhy_cuda *out, struct kwhy_error *error);

#endif
