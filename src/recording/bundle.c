/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/bundle.h"

#include "base/column.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* largest number of files, and so of processes, in a recording */
enum { FILES_MAX = 65536 };

bool kwhy_bundle_is_part(const char *name)
{
	const size_t length = strlen(name), tail = strlen(KWHY_BUNDLE_SUFFIX);

	return name[0] != '.' && length > tail && !strcmp(name + length - tail, KWHY_BUNDLE_SUFFIX);
}

static int is_blocks(const struct dirent *entry)
{
	return kwhy_bundle_is_part(entry->d_name);
}

static bool is_folder(const char *path)
{
	struct stat facts;

	return !stat(path, &facts) && S_ISDIR(facts.st_mode);
}

static void free_entries(struct dirent **entries, int count)
{
	for (int i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
}

bool kwhy_bundle_is_folder(const char *path)
{
	struct dirent **entries = NULL;
	int count = is_folder(path) ? scandir(path, &entries, is_blocks, alphasort) : 0;

	if (count > 0)
		free_entries(entries, count);
	return count > 0;
}

static enum kwhy_status add(struct kwhy_bundle *bundle, const char *path, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_column_reserve((void **)&bundle->paths, &bundle->capacity,
		bundle->count + 1, sizeof(*bundle->paths), "files of a recording", error);

	if (status)
		return status;
	if (!path)
		return kwhy_fail_memory(error, "files of a recording");
	bundle->paths[bundle->count++] = path;
	return KWHY_OK;
}

static enum kwhy_status add_folder(struct kwhy_bundle *bundle, const char *path, struct kwhy_error *error)
{
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, is_blocks, alphasort);
	enum kwhy_status status = KWHY_OK;

	if (count < 0)
		return kwhy_fail(error, KWHY_E_IO, "cannot read folder '%.300s': %s", path, strerror(errno));
	if (count == 0 || count > FILES_MAX)
		status = kwhy_fail(error, KWHY_E_INPUT,
			"folder '%.300s' holds %s %s files: it is not a recording", path,
			count ? "too many" : "no", KWHY_BUNDLE_SUFFIX);
	for (int i = 0; !status && i < count; i++)
		status = add(
			bundle, kwhy_arena_printf(&bundle->arena, "%s/%s", path, entries[i]->d_name), error);
	free_entries(entries, count);
	return status;
}

enum kwhy_status kwhy_bundle_open(struct kwhy_bundle *bundle, const char *path, struct kwhy_error *error)
{
	enum kwhy_status status;

	*bundle = (struct kwhy_bundle){0};
	if (is_folder(path))
		status = add_folder(bundle, path, error);
	else
		status = add(bundle, kwhy_arena_copy(&bundle->arena, path), error);
	if (status)
		kwhy_bundle_done(bundle);
	return status;
}

void kwhy_bundle_done(struct kwhy_bundle *bundle)
{
	free(bundle->paths);
	kwhy_arena_done(&bundle->arena);
	*bundle = (struct kwhy_bundle){0};
}
