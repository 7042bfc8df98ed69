/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_TRACE_INPUT_H
#define KWHY_TESTS_TRACE_INPUT_H

#include "import/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

/* Puts the input into a file in memory. Returns its descriptor, and a path to it in `path`. */
static inline int input_open(const void *data, size_t length, char path[64])
{
	int file = memfd_create("input", MFD_CLOEXEC);

	if (file < 0 || write(file, data, length) != (ssize_t)length)
		abort();
	snprintf(path, 64, "/proc/self/fd/%d", file);
	return file;
}

/*
 * If `status` is success: checks that the recording has valid times and can be finished. If not: checks that
 * the error has this status and a message.
 */
static inline void input_check(
	struct kwhy_recording *recording, enum kwhy_status status, struct kwhy_error *error)
{
	if (status) {
		if (error->status != status || error->text[0] == '\0')
			abort();
	} else {
		for (size_t i = 0; i < recording->activities.count; i++)
			if (recording->activities.end_ns[i] < recording->activities.start_ns[i])
				abort();
		if (kwhy_recording_finish(recording, error) != KWHY_OK || !recording->finished)
			abort();
	}
	kwhy_recording_free(recording);
}

static inline void input_read(
	const struct kwhy_trace_reader *reader, const char *path, struct kwhy_import_options options)
{
	struct kwhy_recording *recording;
	struct kwhy_error error = {0};

	if (kwhy_recording_new(&recording, &error))
		abort();
	input_check(recording, reader->read(recording, path, &options, &error), &error);
}

/* Reads the file strictly, and again with `partial`, which accepts the complete part of a damaged file. */
static inline void input_read_both_ways(const struct kwhy_trace_reader *reader, const char *path)
{
	input_read(reader, path, (struct kwhy_import_options){.partial = false});
	input_read(reader, path, (struct kwhy_import_options){.partial = true});
}

#endif
