/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_CLI_INJECT_RUN_H
#define KWHY_TESTS_CLI_INJECT_RUN_H

/* Runs programs with libkwhy-inject.so on a fake CUDA and reads the recordings that they leave. */
#include "cmocka_all.h"
#include "import/import.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a run of the program left: its folder, output, status and recording. */
struct run {
	char folder[64];
	char out[4096];
	int status; /* status as from wait() */
	struct kwhy_recording *recording;
};

static inline int setup(void **state)
{
	struct run *run = calloc(1, sizeof(*run));

	strcpy(run->folder, "/tmp/kwhy-inject-XXXXXX");
	*state = run;
	return mkdtemp(run->folder) ? 0 : -1;
}

static inline int teardown(void **state)
{
	struct run *run = *state;
	char command[100];

	snprintf(command, sizeof(command), "rm -rf %s", run->folder);
	kwhy_recording_free(run->recording);
	free(run);
	return system(command);
}

/*
 * Runs the program with libkwhy-inject.so, with `variables` in its environment and `words` as arguments. For
 * builds with sanitizers, ThreadSanitizer lets a child of fork() start threads, and AddressSanitizer does not
 * look for leaks: a thread of the parent may have held the allocator's lock during fork().
 */
static inline void run_program(struct run *run, const char *variables, const char *words)
{
	char command[4096];
	FILE *pipe;
	size_t length;

	snprintf(command, sizeof(command),
		"exec 2>&1; export CUDA_INJECTION64_PATH=%s NVTX_INJECTION64_PATH=%s KWHY_CUPTI=%s "
		"KWHY_RECORD_DIR=%s KWHY_RECORD_PERIOD_MS=2 ASAN_OPTIONS=detect_leaks=0 "
		"TSAN_OPTIONS=die_after_fork=0 LD_LIBRARY_PATH=%s; "
		"%s exec %s %s",
		KWHY_INJECT_LIBRARY, KWHY_INJECT_LIBRARY, KWHY_FAKE_CUPTI_13, run->folder, KWHY_FAKE_CUDA_DIR,
		variables, KWHY_FAKE_PROGRAM, words);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	length = fread(run->out, 1, sizeof(run->out) - 1, pipe);
	run->out[length] = '\0';
	run->status = pclose(pipe);
}

/* Returns the number of files that the run left, hidden ones excluded. */
static inline int count_files(const struct run *run)
{
	DIR *folder = opendir(run->folder);
	struct dirent *entry;
	int count = 0;

	assert_non_null(folder);
	while ((entry = readdir(folder)))
		count += entry->d_name[0] != '.';
	closedir(folder);
	return count;
}

static inline void read_recording(struct run *run)
{
	const struct kwhy_import_options options = {0};
	struct kwhy_error error;

	assert_int_equal(kwhy_recording_new(&run->recording, &error), KWHY_OK);
	if (kwhy_import_trace(run->recording, run->folder, &options, &error) ||
		kwhy_recording_finish(run->recording, &error))
		fail_msg("%s", error.text);
}

static inline size_t count_kind(const struct run *run, enum kwhy_activity_kind kind)
{
	size_t count = 0;

	for (size_t i = 0; i < run->recording->activities.count; i++)
		count += run->recording->activities.kind[i] == kind;
	return count;
}

static inline const char *text_of(const struct run *run, uint32_t name)
{
	return kwhy_names_get(&run->recording->names, name);
}

static inline size_t count_calls(const struct run *run, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < run->recording->calls.count; i++)
		count += !strcmp(text_of(run, run->recording->calls.name[i]), name);
	return count;
}

static inline size_t count_ranges(const struct run *run, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < run->recording->range_count; i++)
		count += !strcmp(text_of(run, run->recording->ranges[i].name), name);
	return count;
}

static inline bool has_note(const struct run *run, const char *id, const char *part)
{
	for (size_t i = 0; i < run->recording->note_count; i++)
		if (!strcmp(run->recording->notes[i].id, id) && strstr(run->recording->notes[i].text, part))
			return true;
	return false;
}

static inline void assert_exit(const struct run *run, int code)
{
	if (!WIFEXITED(run->status) || WEXITSTATUS(run->status) != code)
		fail_msg("status %x, expected exit %d: %s", (unsigned)run->status, code, run->out);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
