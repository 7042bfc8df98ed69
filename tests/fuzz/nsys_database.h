/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_NSYS_DATABASE_H
#define KWHY_TESTS_NSYS_DATABASE_H

#include "trace_input.h"

#include <fcntl.h>

/*
 * Writes the bytes to a new file and returns its name in `path`. The file has a name because SQLite cannot
 * open /proc/self/fd/N, which it resolves as a link. `tag` distinguishes files of one process. The caller
 * removes the file.
 */
static inline void database_write(const void *data, size_t length, char tag, char path[64])
{
	int file;

	snprintf(path, 64, "/dev/shm/kwhy-fuzz-%d%c", (int)getpid(), tag);
	file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file < 0) {
		snprintf(path, 64, "/tmp/kwhy-fuzz-%d%c", (int)getpid(), tag);
		file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	}
	if (file < 0 || write(file, data, length) != (ssize_t)length)
		abort();
	close(file);
}

static inline void database_read(const struct kwhy_trace_reader *reader, const void *data, size_t length)
{
	char path[64];

	database_write(data, length, 'a', path);
	input_read_both_ways(reader, path);
	unlink(path);
}

#endif
