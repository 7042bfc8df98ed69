/* SPDX-License-Identifier: Apache-2.0 */
#include "base/temporary.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
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
