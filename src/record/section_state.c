/* SPDX-License-Identifier: Apache-2.0 */
#include "record/section_state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "digested."

/* Deletes a folder with its files, and with the folders in it and their files. */
static void delete_folder(int parent, const char *name, int depth)
{
	const int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *entries = folder < 0 ? NULL : fdopendir(folder);

	if (!entries) {
		if (folder >= 0)
			close(folder);
		return;
	}
	for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (unlinkat(folder, entry->d_name, 0) && depth > 0)
			delete_folder(folder, entry->d_name, depth - 1);
	}
	closedir(entries);
	unlinkat(parent, name, AT_REMOVEDIR);
}

static void delete_path(const char *path)
{
	delete_folder(AT_FDCWD, path, 1);
}

/* The number of the last state; 0: there is none. */
static unsigned long last_state(const char *recording)
{
	DIR *entries = opendir(recording);
	unsigned long last = 0;

	for (struct dirent *entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries)) {
		char *end = entry->d_name;
		const unsigned long number = strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0
			? strtoul(entry->d_name + strlen(PREFIX), &end, 10)
			: 0;

		if (number > last && !*end)
			last = number;
	}
	if (entries)
		closedir(entries);
	return last;
}

static enum kwhy_status make_folder(const char *path, struct kwhy_error *error)
{
	return mkdir(path, 0777)
		? kwhy_fail(error, KWHY_E_IO, "cannot make the folder '%.300s': %s", path, strerror(errno))
		: KWHY_OK;
}

/* Waits until no other process makes a state of this recording. */
static enum kwhy_status lock(
	struct kwhy_section_state *state, const char *recording, struct kwhy_error *error)
{
	const char *path = kwhy_arena_printf(&state->arena, "%s/" PREFIX "lock", recording);

	if (!path)
		return kwhy_fail_memory(error, "the state of a recording");
	state->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (state->lock < 0 || flock(state->lock, LOCK_EX))
		return kwhy_fail(error, KWHY_E_IO, "cannot lock '%.300s': %s", path, strerror(errno));
	return KWHY_OK;
}

static enum kwhy_status name_folders(
	struct kwhy_section_state *state, const char *recording, struct kwhy_error *error)
{
	const unsigned long last = last_state(recording);

	state->next = kwhy_arena_printf(&state->arena, "%s/" PREFIX "new", recording);
	state->section = kwhy_arena_printf(&state->arena, "%s/" PREFIX "new/section", recording);
	state->after = kwhy_arena_printf(&state->arena, "%s/" PREFIX "%lu", recording, last + 1);
	if (last)
		state->before = kwhy_arena_printf(&state->arena, "%s/" PREFIX "%lu", recording, last);
	if (!state->next || !state->section || !state->after || (last && !state->before))
		return kwhy_fail_memory(error, "the state of a recording");
	return KWHY_OK;
}

enum kwhy_status kwhy_section_state_open(
	struct kwhy_section_state *state, const char *recording, struct kwhy_error *error)
{
	enum kwhy_status status;

	*state = (struct kwhy_section_state){.lock = -1};
	status = lock(state, recording, error);
	if (!status)
		status = name_folders(state, recording, error);
	if (!status) {
		delete_path(state->next);
		status = make_folder(state->next, error);
	}
	if (!status)
		status = make_folder(state->section, error);
	if (status)
		kwhy_section_state_close(state);
	return status;
}

enum kwhy_status kwhy_section_state_keep(const struct kwhy_section_state *state, struct kwhy_error *error)
{
	delete_path(state->section);
	if (rename(state->next, state->after))
		return kwhy_fail(
			error, KWHY_E_IO, "cannot rename '%.300s': %s", state->next, strerror(errno));
	if (state->before)
		delete_path(state->before);
	return KWHY_OK;
}

void kwhy_section_state_close(struct kwhy_section_state *state)
{
	if (state->next)
		delete_path(state->next);
	if (state->lock >= 0)
		close(state->lock);
	kwhy_arena_done(&state->arena);
	*state = (struct kwhy_section_state){.lock = -1};
}

void kwhy_section_states_delete(const char *recording)
{
	const int folder = open(recording, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *entries = folder < 0 ? NULL : fdopendir(folder);

	for (struct dirent *entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries))
		if (!strncmp(entry->d_name, PREFIX, strlen(PREFIX)) && unlinkat(folder, entry->d_name, 0))
			delete_folder(folder, entry->d_name, 1);
	if (entries)
		closedir(entries);
	else if (folder >= 0)
		close(folder);
}
