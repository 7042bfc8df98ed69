/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_CALLS_H
#define KWHY_INJECT_CALLS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Calls of the CUDA runtime and driver are identified by name, because CUPTI's numbers for them differ
 * between its versions. Only calls that start work, wait, or allocate or free memory are recorded: a PyTorch
 * program makes hundreds of thousands of other calls per second.
 */
enum { KWHY_INJECT_CALL_NAME_BYTES = 96 };

/*
 * Writes the plain name of a call, without the suffixes of its variants: "cudaLaunchKernel_ptsz_v7000"
 * becomes cudaLaunchKernel, "cuMemAlloc_v2" becomes cuMemAlloc.
 */
void kwhy_inject_call_name(const char *cupti_name, char out[KWHY_INJECT_CALL_NAME_BYTES]);

/* Whether calls with this plain name are recorded. */
bool kwhy_inject_call_matters(const char *name);

#endif
