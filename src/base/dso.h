/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_DSO_H
#define KWHY_BASE_DSO_H

#include "base/status.h"

#include <stddef.h>

/*
 * Opens, at run time, a library that may be missing on the machine, and looks up its functions into a struct
 * of function pointers (the table).
 */

enum kwhy_dso_need { KWHY_DSO_REQUIRED, KWHY_DSO_OPTIONAL };

struct kwhy_dso_symbol {
	const char *name;
	size_t offset; /* offset in bytes of the symbol's pointer in the table */
	enum kwhy_dso_need need;
};

struct kwhy_dso_library {
	const char *title;	    /* name for messages: "NVML, part of the NVIDIA driver" */
	const char *const *sonames; /* file names of the library, tried in order; ends with NULL */
	const struct kwhy_dso_symbol *symbols;
	size_t symbol_count;
	size_t table_bytes;
	/*
	 * device: path of a file that exists if the hardware of this library is present. device_cure: what to
	 * do if that file exists and the library is missing; it follows "; " in the message. NULL: none.
	 */
	const char *device, *device_cure;
};

/*
 * Opens the first soname that loads, and fills `out_table` (table_bytes) if every required symbol exists; a
 * missing optional symbol is NULL. KWHY_E_UNSUPPORTED: no soname loads or a required symbol is missing; the
 * message names the library, what is missing and the cure. Close with kwhy_dso_close(), which allows NULL.
 */
KWHY_MUST_USE enum kwhy_status kwhy_dso_open(
	const struct kwhy_dso_library *library, void *out_table, void **out_handle, struct kwhy_error *error);
void kwhy_dso_close(void *handle);

#endif
