/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_NVTX_H
#define KWHY_INJECT_NVTX_H

#include "vendor/nvtx_abi.h"

#include <stdbool.h>

/* Puts our functions into the tables that a program's NVTX lends. False: it has none that we know. */
bool kwhy_inject_nvtx_attach(kwhy_nvtx_export *export);

#endif
