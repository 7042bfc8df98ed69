/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_NVTX_H
#define KWHY_INJECT_NVTX_H

#include "vendor/nvtx_abi.h"

#include <stdbool.h>

/*
 * Puts kwhy's functions into the function tables of the program's copy of NVTX. `export` is the function by
 * which that copy gives access to its tables. False: it has no table of a known kind.
 */
bool kwhy_inject_nvtx_attach(kwhy_nvtx_export *export);

#endif
