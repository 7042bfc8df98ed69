/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/small_file.h"

#include <fcntl.h>
#include <unistd.h>

bool kwhy_small_file_read(const char *path, char *out, size_t out_bytes, size_t *out_length)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t length = 0;
	ssize_t got = 0;

	if (file < 0)
		return false;
	while (length + 1 < out_bytes && (got = read(file, out + length, out_bytes - 1 - length)) > 0)
		length += (size_t)got;
	close(file);
	out[length] = '\0';
	*out_length = length;
	return got >= 0;
}
