/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_CUBLASLT_H
#define KWHY_VENDOR_CUBLASLT_H

#include "base/status.h"
#include "vendor/cublaslt_abi.h"

/* The cuBLASLt of this machine: that of the toolkit, or of a framework that ships its own. */
struct kwhy_cublaslt {
	void *library;
#define X(name, need) __typeof__(name) *name;
#include "vendor/cublaslt_symbols.def"
#undef X
};

/*
 * Loads cuBLASLt. KWHY_E_UNSUPPORTED: the library is missing; the message says what to do. End with
 * kwhy_cublaslt_close().
 */
KWHY_MUST_USE enum kwhy_status kwhy_cublaslt_open(struct kwhy_cublaslt *out, struct kwhy_error *error);
void kwhy_cublaslt_close(struct kwhy_cublaslt *lt);

#endif
