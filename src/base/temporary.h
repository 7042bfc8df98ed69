/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_TEMPORARY_H
#define KWHY_BASE_TEMPORARY_H

#include "base/status.h"

/*
 * The folder for temporary files: the value of TMPDIR or, if that is not set or empty, or if the program is
 * setuid or setgid, /tmp.
 */
const char *kwhy_temporary_folder(void);

/*
 * Opens an empty file that is not visible under any name, in the folder for temporary files, for reading and
 * writing. The caller closes it. -1: failed, errno says why.
 */
int kwhy_temporary_file(void);

/*
 * Size of a path of a folder with NUL; it is less than PATH_MAX, to leave 256 bytes for the name of a file in
 * the folder.
 */
enum { KWHY_TEMPORARY_BYTES = 3840 };

/*
 * Makes a new folder of this user alone for temporary files; the caller removes it. `what` is a word in its
 * name, `holds` says in the error message for what TMPDIR should have space ("a recording"). KWHY_E_IO: it
 * cannot be made; out is "" then.
 */
KWHY_MUST_USE enum kwhy_status kwhy_temporary_folder_make(
	char out[KWHY_TEMPORARY_BYTES], const char *what, const char *holds, struct kwhy_error *error);

#endif
