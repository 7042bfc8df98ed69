/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_SENSOR_TEMPORARY_H
#define KWHY_TESTS_UNIT_SENSOR_TEMPORARY_H

#include "cmocka_all.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A temporary folder for a test's files: files as in /sys, and meter files. */
struct temporary {
	char path[64];
};

static inline void temporary_init(struct temporary *folder)
{
	strcpy(folder->path, "/tmp/kwhy-sensor-XXXXXX");
	assert_non_null(mkdtemp(folder->path));
}

static inline int temporary_remove(const char *path, const struct stat *at, int type, struct FTW *walk)
{
	(void)at, (void)type, (void)walk;
	return remove(path);
}

static inline void temporary_done(struct temporary *folder)
{
	nftw(folder->path, temporary_remove, 8, FTW_DEPTH | FTW_PHYS);
}

/* Returns the path of the file `name` in the folder. Valid for the next three calls. */
static inline const char *temporary_path(const struct temporary *folder, const char *name)
{
	static char paths[4][256];
	static size_t next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder->path, name);
	return path;
}

/* Writes `text` to a file in the folder and makes the folders between. mode, as for fopen(): "w" or "a". */
static inline void temporary_write(
	const struct temporary *folder, const char *name, const char *mode, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder->path, name);
	for (char *slash = strchr(path + strlen(folder->path) + 1, '/'); slash;
		slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0777);
		*slash = '/';
	}
	file = fopen(path, mode);
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

#endif
