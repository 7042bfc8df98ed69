/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_CUPTI_H
#define KWHY_VENDOR_CUPTI_H

#include "base/status.h"
#include "vendor/cupti_abi.h"

/*
 * The CUPTI library of this process or of this machine. The pointer to an optional call that it lacks is
 * NULL.
 */
struct kwhy_cupti {
	void *library;
#define X(name, need) __typeof__(name) *name;
#include "vendor/cupti_symbols.def"
#undef X
};

/*
 * Opens the CUPTI library at `path`. If `path` is NULL or "", it opens the first of these that exists: the
 * library that the process has already loaded, because two do not work in one process; the one that belongs
 * to the loaded CUDA runtime; the newest one in the loader's path or below /usr/local/cuda.
 * KWHY_E_UNSUPPORTED: there is none; the message says what to do. End with kwhy_cupti_close().
 */
KWHY_MUST_USE enum kwhy_status kwhy_cupti_open(
	struct kwhy_cupti *out, const char *path, struct kwhy_error *error);
void kwhy_cupti_close(struct kwhy_cupti *cupti);

/* Gets the text that says why a call failed, to follow "...: " in a message. The library owns the string. */
const char *kwhy_cupti_words(const struct kwhy_cupti *cupti, enum kwhy_cupti_result result);

#endif
