/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_TEMPORARY_H
#define KWHY_BASE_TEMPORARY_H

/* The folder for temporary files: that of TMPDIR, which programs with other rights ignore, or /tmp. */
const char *kwhy_temporary_folder(void);

/* Opens an empty file without a name in this folder, to read and write. -1: failed, errno says why. */
int kwhy_temporary_file(void);

#endif
