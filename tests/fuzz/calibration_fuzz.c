/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the reader of the folder that kwhy calibrate --from names. The input is split into the folder's
 * files, in the order of their numbers, at lines that end in '%'.
 */
#include "bench/calibration/csv.h"
#include "bench/calibration/self_test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static char folder[] = "/tmp/kwhy-fuzz-XXXXXX";

static void path_of(enum kwhy_calibration_table table, char path[128])
{
	snprintf(path, 128, "%s/%s", folder, kwhy_calibration_table_name(table));
}

static void write_table(enum kwhy_calibration_table table, const uint8_t *data, size_t length)
{
	char path[128];
	int file;

	path_of(table, path);
	file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file < 0 || write(file, data, length) != (ssize_t)length || close(file))
		abort();
}

static void write_tables(const uint8_t *data, size_t length)
{
	for (enum kwhy_calibration_table table = 0; table < KWHY_CALIBRATION_TABLE_COUNT; table++) {
		const uint8_t *end = length ? memmem(data, length, "%\n", 2) : NULL;
		const size_t part = end ? (size_t)(end - data) : length;

		write_table(table, data, part);
		data += end ? part + 2 : part;
		length -= end ? part + 2 : part;
	}
}

static void clear(void)
{
	char path[128];

	for (enum kwhy_calibration_table table = 0; table < KWHY_CALIBRATION_TABLE_COUNT; table++) {
		path_of(table, path);
		unlink(path);
	}
	rmdir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct kwhy_calibration *calibration = NULL;
	struct kwhy_profile *profile = NULL;
	struct kwhy_error error = {0};

	memcpy(folder + sizeof(folder) - 7, "XXXXXX", 6);
	if (!mkdtemp(folder))
		abort();
	write_tables(data, length);
	if (kwhy_calibration_read(folder, &calibration, &error)) {
		if (!error.text[0])
			abort();
	} else if (kwhy_self_test_profile(calibration, &profile, &error)) {
		if (!error.text[0])
			abort();
	} else {
		kwhy_self_test_profile_free(profile);
	}
	if (calibration)
		kwhy_calibration_free(calibration);
	clear();
	return 0;
}
