/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_CUPTI_H
#define KWHY_VENDOR_CUPTI_H

#include "base/status.h"
#include "vendor/cupti_abi.h"

/* CUPTI as found in this process or on this machine. An optional call that is not there is a NULL slot. */
struct kwhy_cupti {
	void *library;
#define X(name, need) __typeof__(name) *name;
#include "vendor/cupti_symbols.def"
#undef X
};

/*
 * Opens CUPTI: `path` when it is given (NULL or "": not). Else the one that the process has loaded already,
 * because two do not work side by side; else the one of the CUDA runtime that the process has loaded; else
 * the newest in the loader's path or below /usr/local/cuda. KWHY_E_UNSUPPORTED, with the cure, where there is
 * none. End with kwhy_cupti_close().
 */
KWHY_MUST_USE enum kwhy_status kwhy_cupti_open(
	struct kwhy_cupti *out, const char *path, struct kwhy_error *error);
void kwhy_cupti_close(struct kwhy_cupti *cupti);

/* Why a call failed, to follow "...: ". Lent by the library. */
const char *kwhy_cupti_words(const struct kwhy_cupti *cupti, enum kwhy_cupti_result result);

#endif
