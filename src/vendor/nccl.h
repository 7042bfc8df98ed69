/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_NCCL_H
#define KWHY_VENDOR_NCCL_H

#include "base/status.h"
#include "vendor/nccl_abi.h"

/* NCCL 2.7 or newer, as found on this machine. */
struct kwhy_nccl {
	void *library;
#define X(name, need) __typeof__(name) *name;
#include "vendor/nccl_symbols.def"
#undef X
};

/* Loads NCCL. KWHY_E_UNSUPPORTED, with what to do, if it is missing. End with kwhy_nccl_close(). */
KWHY_MUST_USE enum kwhy_status kwhy_nccl_open(struct kwhy_nccl *out, struct kwhy_error *error);
void kwhy_nccl_close(struct kwhy_nccl *nccl);

#endif
