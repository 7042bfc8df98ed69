/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_TEMPORARY_H
#define KWHY_BASE_TEMPORARY_H

#include "base/status.h"

/* The folder for temporary files: that of TMPDIR, which programs with other rights ignore, or /tmp. */
const char *kwhy_temporary_folder(void);

/* Opens an empty file without a name in this folder, to read and write. -1: failed, errno says why. */
int kwhy_temporary_file(void);

/* Bytes for the path of a folder; PATH_MAX leaves bytes for the name of a file in it. */
enum { KWHY_TEMPORARY_BYTES = 3840 };

/*
 * Makes a new folder of this user alone for temporary files; the caller removes it. `what` is a word in its
 * name, `holds` says in the message what there is no place for ("a recording"). KWHY_E_IO: it cannot be made;
 * out is "" then.
 */
KWHY_MUST_USE enum kwhy_status kwhy_temporary_folder_make(
	char out[KWHY_TEMPORARY_BYTES], const char *what, const char *holds, struct kwhy_error *error);

#endif
