/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_NSYS_EXPORT_H
#define KWHY_IMPORT_NSYS_EXPORT_H

#include "base/temporary.h"

/*
 * The result of exporting a report of Nsight Systems: an SQLite database and the output of nsys (`log`), both
 * in a temporary folder.
 */
struct kwhy_nsys_export {
	char folder[KWHY_TEMPORARY_BYTES], database[KWHY_TEMPORARY_BYTES + 16],
		log[KWHY_TEMPORARY_BYTES + 16];
};

/*
 * Exports `report` with the program nsys from PATH into a new temporary folder. KWHY_E_UNSUPPORTED: nsys
 * cannot be run. KWHY_E_INPUT: nsys failed or exceeded the timeout; the message has the last line of its
 * output. After success, remove the folder with kwhy_nsys_export_remove().
 */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_export_make(
	struct kwhy_nsys_export *made, const char *report, int timeout_ms, struct kwhy_error *error);
void kwhy_nsys_export_remove(const struct kwhy_nsys_export *made);

#endif
