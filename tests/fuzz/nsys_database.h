/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_NSYS_DATABASE_H
#define KWHY_TESTS_NSYS_DATABASE_H

#include "trace_input.h"

#include <fcntl.h>

/*
 * Reads the bytes as a database. They need a file with a name, as SQLite resolves links such as
 * /proc/self/fd.
 */
static inline void database_read(const struct kwhy_trace_reader *reader, const void *data, size_t length)
{
	char path[64];
	int file;

	snprintf(path, sizeof(path), "/dev/shm/kwhy-fuzz-%d", (int)getpid());
	file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file < 0) {
		snprintf(path, sizeof(path), "/tmp/kwhy-fuzz-%d", (int)getpid());
		file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	}
	if (file < 0 || write(file, data, length) != (ssize_t)length)
		abort();
	close(file);
	input_read_both_ways(reader, path);
	unlink(path);
}

#endif
