/* SPDX-License-Identifier: Apache-2.0 */
#include "import/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

/*
 * Reads the file; with `partial`, a damaged or cut one up to the damage. If it is accepted, the times must be
 * valid and kwhy_recording_finish() must succeed.
 */
static void read_once(const char *path, bool partial)
{
	struct kwhy_import_options options = {.partial = partial};
	struct kwhy_recording *recording;
	struct kwhy_error error;

	if (kwhy_recording_new(&recording, &error))
		abort();
	if (kwhy_reader_kineto.read(recording, path, &options, &error) == KWHY_OK)
		for (size_t i = 0; i < recording->activities.count; i++)
			if (recording->activities.end_ns[i] < recording->activities.start_ns[i])
				abort();
	if (kwhy_recording_finish(recording, &error) == KWHY_OK && !recording->finished)
		abort();
	kwhy_recording_free(recording);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	int file = memfd_create("trace", MFD_CLOEXEC);
	char path[64];

	if (file < 0 || write(file, data, length) != (ssize_t)length)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	read_once(path, false);
	read_once(path, true);
	close(file);
	return 0;
}
