/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_CUPTI_H
#define KWHY_VENDOR_CUPTI_H

#include "base/status.h"
#include "vendor/cupti_abi.h"

/* CUPTI as found in this process or on this machine. The slot of a missing optional call is NULL. */
struct kwhy_cupti {
	void *library;
#define X(name, need) __typeof__(name) *name;
#include "vendor/cupti_symbols.def"
#undef X
};

/*
 * Opens CUPTI at `path`, if it is given (not NULL or ""). Otherwise opens the CUPTI that the process has
 * loaded already, because two do not work in one process; otherwise that of the CUDA runtime that the process
 * has loaded; otherwise the newest in the loader's path or below /usr/local/cuda. KWHY_E_UNSUPPORTED, with
 * what to do, if none is found. End with kwhy_cupti_close().
 */
KWHY_MUST_USE enum kwhy_status kwhy_cupti_open(
	struct kwhy_cupti *out, const char *path, struct kwhy_error *error);
void kwhy_cupti_close(struct kwhy_cupti *cupti);

/* The reason why a call failed, to follow "...: "; the library owns the string. */
const char *kwhy_cupti_words(const struct kwhy_cupti *cupti, enum kwhy_cupti_result result);

#endif
