/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_NSYS_EXPORT_H
#define KWHY_IMPORT_NSYS_EXPORT_H

#include "base/temporary.h"

/* A report of Nsight Systems, exported to a database by the program nsys that is found in PATH. */
struct kwhy_nsys_export {
	char folder[KWHY_TEMPORARY_BYTES], database[KWHY_TEMPORARY_BYTES + 16],
		log[KWHY_TEMPORARY_BYTES + 16];
};

/*
 * Runs "nsys export" with a new folder for its output. KWHY_E_UNSUPPORTED: nsys is not installed.
 * KWHY_E_INPUT: nsys failed or exceeded the timeout; the message has the last line of its output. After
 * success, kwhy_nsys_export_remove() removes the folder.
 */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_export_make(
	struct kwhy_nsys_export *made, const char *report, int timeout_ms, struct kwhy_error *error);
void kwhy_nsys_export_remove(const struct kwhy_nsys_export *made);

#endif
