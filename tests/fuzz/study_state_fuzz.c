/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the reader of study.json, in which kwhy study keeps what it has run. A state that is accepted is
 * written, and what was written must be accepted again.
 */
#include "cli/command.h"
#include "cli/study/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

/* The code under test needs these two symbols, which main.c of kwhy defines. */
const struct kwhy_program kwhy_program = {0};
const struct kwhy_command *const kwhy_commands[] = {NULL};

static char folder[] = "/tmp/kwhy-fuzz-XXXXXX", path[64];

static void remove_folder(void)
{
	unlink(path);
	rmdir(folder);
}

static void save(const uint8_t *data, size_t length)
{
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(data, 1, length, file) != length || fclose(file))
		abort();
}

static void check_equal(
	const struct kwhy_study *study, const struct kwhy_study_state *a, const struct kwhy_study_state *b)
{
	for (size_t i = 0; i < study->step_count; i++)
		if (a->results[i].is_done != b->results[i].is_done ||
			strcmp(a->results[i].stamp, b->results[i].stamp) != 0 ||
			a->results[i].ended_unix_s != b->results[i].ended_unix_s)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct kwhy_study_request request = {.study = kwhy_study_find("utilisation"), .folder = folder};
	struct kwhy_study_state state, again;
	struct kwhy_arena arena = {0};
	struct kwhy_error error = {0};

	if (!*path) {
		if (!mkdtemp(folder) || atexit(remove_folder))
			abort();
		snprintf(path, sizeof(path), "%s/study.json", folder);
	}
	save(data, length);
	if (kwhy_study_state_read(&request, &arena, &state, &error)) {
		if (!error.text[0])
			abort();
	} else {
		if (kwhy_study_state_write(&request, &state, &error) ||
			kwhy_study_state_read(&request, &arena, &again, &error))
			abort();
		check_equal(request.study, &state, &again);
	}
	kwhy_arena_done(&arena);
	return 0;
}
