/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_NCCL_H
#define KWHY_VENDOR_NCCL_H

#include "base/status.h"
#include "vendor/nccl_abi.h"

/* The NCCL of this machine, version 2.7 or newer. */
struct kwhy_nccl {
	void *library;
#define X(name, need) __typeof__(name) *name;
#include "vendor/nccl_symbols.def"
#undef X
};

/* Loads NCCL. KWHY_E_UNSUPPORTED: it is missing; the message says what to do. End with kwhy_nccl_close(). */
KWHY_MUST_USE enum kwhy_status kwhy_nccl_open(struct kwhy_nccl *out, struct kwhy_error *error);
void kwhy_nccl_close(struct kwhy_nccl *nccl);

#endif
