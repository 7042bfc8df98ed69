/* SPDX-License-Identifier: Apache-2.0 */
#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *kwhy_temporary_folder(void)
{
	const char *folder = secure_getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
}

int kwhy_temporary_file(void)
{
	char *path;
	int file;

	if (asprintf(&path, "%s/kwhy-XXXXXX", kwhy_temporary_folder()) < 0)
		return -1;
	file = mkostemp(path, O_CLOEXEC);
	if (file >= 0)
		unlink(path);
	free(path);
	return file;
}

enum kwhy_status kwhy_temporary_folder_make(
	char out[KWHY_TEMPORARY_BYTES], const char *what, const char *holds, struct kwhy_error *error)
{
	const char *base = kwhy_temporary_folder();
	int length = snprintf(out, KWHY_TEMPORARY_BYTES, "%s/kwhy-%s-XXXXXX", base, what);
	int reason = length < KWHY_TEMPORARY_BYTES ? 0 : ENAMETOOLONG;

	if (!reason && !mkdtemp(out))
		reason = errno;
	if (!reason)
		return KWHY_OK;
	*out = '\0';
	return kwhy_fail(error, KWHY_E_IO,
		"cannot make a folder in %.200s: %s; set TMPDIR to a folder with room for %s", base,
		strerror(reason), holds);
}
