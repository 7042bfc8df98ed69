/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_NVRTC_H
#define KWHY_VENDOR_NVRTC_H

#include "base/status.h"
#include "vendor/nvrtc_abi.h"

/* The compiler of CUDA C as found on this machine: of the toolkit, or of a framework that ships its own. */
struct kwhy_nvrtc {
	void *library;
#define X(name, need) __typeof__(name) *name;
#include "vendor/nvrtc_symbols.def"
#undef X
};

/* KWHY_E_UNSUPPORTED, with the cure, where there is none. End with kwhy_nvrtc_close(). */
KWHY_MUST_USE enum kwhy_status kwhy_nvrtc_open(struct kwhy_nvrtc *out, struct kwhy_error *error);
void kwhy_nvrtc_close(struct kwhy_nvrtc *nvrtc);

/*
 * Compiles CUDA C to a cubin for `architecture` (90 for compute capability 9.0); the caller frees it. `name`
 * is what messages call the source; `options` ends with NULL, NULL: none.
 */
KWHY_MUST_USE enum kwhy_status kwhy_nvrtc_compile(const struct kwhy_nvrtc *nvrtc, const char *name,
	const char *source, const char *const *options, int architecture, char **out_cubin,
	struct kwhy_error *error);

#endif
