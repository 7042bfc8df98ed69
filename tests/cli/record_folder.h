/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_CLI_RECORD_FOLDER_H
#define KWHY_TESTS_CLI_RECORD_FOLDER_H

/*
 * Functions for tests of `kwhy record`: a folder for the recordings, checks of what kwhy printed, and a fake
 * NVML, whose GPUs draw constant power.
 */
#include "base/file.h"
#include "cmocka_all.h"
#include "spawn.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "kwhy-record-XXXXXX";

static inline const char *place(const char *name)
{
	static char paths[4][256];
	static size_t next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static inline bool is_there(const char *path)
{
	struct stat facts;

	return !stat(path, &facts);
}

static inline void use_steady_load(void)
{
	setenv("KWHY_FAKE_NVML", KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/h200_constant_300w.txt", 1);
}

static inline int begin(void **state)
{
	(void)state;
	setenv("LD_LIBRARY_PATH", KWHY_FAKE_NVML_DIR, 1);
	use_steady_load();
	setenv("KWHY_INJECT", "/nowhere/libkwhy-inject.so", 1);
	unsetenv("CUDA_INJECTION64_PATH");
	return mkdtemp(folder) ? 0 : -1;
}

static inline void remove_recording(const char *name)
{
	char path[600];
	DIR *files = opendir(place(name));

	for (struct dirent *entry = files ? readdir(files) : NULL; entry; entry = readdir(files)) {
		snprintf(path, sizeof(path), "%s/%s", place(name), entry->d_name);
		unlink(path);
	}
	if (files)
		closedir(files);
	rmdir(place(name));
}

static inline int end_one(void **state)
{
	(void)state;
	remove_recording("a");
	remove_recording("a.old");
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	return rmdir(folder);
}

static inline struct spawned assert_ends(struct spawned spawned, int exit, const char *says)
{
	if (spawned.exit != exit || !strstr(spawned.err.data, says))
		fail_msg("exit %d, no '%s' in '%s'", spawned.exit, says, spawned.err.data);
	return spawned;
}

static inline void assert_done(struct spawned spawned, int exit, const char *says)
{
	spawned = assert_ends(spawned, exit, says);
	spawned_done(&spawned);
}

static inline json_t *report_of(const char *path)
{
	struct spawned spawned = SPAWN("report", "--json", path);
	json_error_t where;
	json_t *report = json_loadb(spawned.out.data, spawned.out.length, 0, &where);

	if (spawned.exit || !report)
		fail_msg("exit %d: %s", spawned.exit, spawned.err.data);
	spawned_done(&spawned);
	return report;
}

static inline json_t *energy_of(const json_t *report)
{
	json_t *device = json_array_get(json_object_get(report, "devices"), 0);

	return json_object_get(device, "energy");
}

#define CASE(name) cmocka_unit_test_teardown(name, end_one)

#endif
