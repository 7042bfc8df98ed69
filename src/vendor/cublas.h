/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_CUBLAS_H
#define KWHY_VENDOR_CUBLAS_H

#include "base/status.h"
#include "vendor/cublas_abi.h"

/* cuBLAS as found on this machine: of the toolkit or of a framework that ships its own. */
struct kwhy_cublas {
	void *library;
#define X(name, need) __typeof__(name) *name;
#include "vendor/cublas_symbols.def"
#undef X
};

/* KWHY_E_UNSUPPORTED, with the cure, where it is missing. End with kwhy_cublas_close(). */
KWHY_MUST_USE enum kwhy_status kwhy_cublas_open(struct kwhy_cublas *out, struct kwhy_error *error);
void kwhy_cublas_close(struct kwhy_cublas *cublas);

#endif
