/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_NSYS_EXPORT_H
#define KWHY_IMPORT_NSYS_EXPORT_H

#include "base/status.h"

/* A report of Nsight Systems as a database, made by the nsys that is on PATH. */
struct kwhy_nsys_export {
	char folder[64], database[80], log[80];
};

/*
 * Runs "nsys export" into a folder of its own. KWHY_E_UNSUPPORTED: there is no nsys. KWHY_E_INPUT: it failed,
 * with its last line, or took longer than that. After success kwhy_nsys_export_remove() removes the folder.
 */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_export_make(
	struct kwhy_nsys_export *made, const char *report, int timeout_ms, struct kwhy_error *error);
void kwhy_nsys_export_remove(const struct kwhy_nsys_export *made);

#endif
