/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_CALLS_H
#define KWHY_INJECT_CALLS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Calls of the CUDA runtime and driver: CUPTI numbers them anew in every version, so they are known by name.
 * Only those are recorded that start work, wait, or take and give back memory: a PyTorch program makes
 * hundreds of thousands of others a second.
 */
enum { KWHY_INJECT_CALL_NAME_BYTES = 96 };

/* A call's name as everybody writes it: "cudaLaunchKernel_ptsz_v7000" is cudaLaunchKernel, "cuMemAlloc_v2"
 * cuMemAlloc. */
void kwhy_inject_call_name(const char *cupti_name, char out[KWHY_INJECT_CALL_NAME_BYTES]);

/* Is a call of that plain name recorded? */
bool kwhy_inject_call_matters(const char *name);

#endif
