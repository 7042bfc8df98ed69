/* SPDX-License-Identifier: Apache-2.0 */
#include "import/folder.h"

#include "base/column.h"
#include "base/file.h"
#include "import/nsys/parquet.h"
#include "recording/bundle.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 4096, DEPTH_MAX = 3 };

bool kwhy_folder_is(const char *path)
{
	struct stat about;

	return !stat(path, &about) && S_ISDIR(about.st_mode);
}

/* Whether X.nsys-rep, a report of Nsight Systems, has its SQLite export X.sqlite in the same folder. */
static bool is_exported(struct kwhy_folder *folder, const char *path)
{
	static const char report[] = ".nsys-rep";
	const size_t length = strlen(path), tail = sizeof(report) - 1;
	const char *export;

	if (length <= tail || strcmp(path + length - tail, report) != 0)
		return false;
	export = kwhy_arena_printf(&folder->arena, "%.*s.sqlite", (int)(length - tail), path);
	return export && access(export, F_OK) == 0;
}

static enum kwhy_status add_path(struct kwhy_folder *folder, const char *path, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (folder->count == FILES_MAX)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is one of more than %d files; give a folder that holds the traces of one run",
			path, FILES_MAX);
	status = kwhy_column_reserve((void **)&folder->paths, &folder->capacity, folder->count + 1,
		sizeof(*folder->paths), "files of a folder", error);
	if (!status)
		folder->paths[folder->count++] = path;
	return status;
}

static enum kwhy_status add_entries(
	struct kwhy_folder *folder, const char *path, int depth, struct kwhy_error *error);

static enum kwhy_status add_entry(
	struct kwhy_folder *folder, const char *path, int depth, struct kwhy_error *error)
{
	if (!path)
		return kwhy_fail_memory(error, "files of a folder");
	if (is_exported(folder, path))
		return KWHY_OK;
	if (!kwhy_folder_is(path) || kwhy_bundle_is_folder(path) || kwhy_nsys_parquet_is(path))
		return add_path(folder, path, error);
	if (depth == DEPTH_MAX)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s lies more than %d folders deep; give the folder that holds the traces", path,
			DEPTH_MAX);
	return add_entries(folder, path, depth + 1, error);
}

static enum kwhy_status add_entries(
	struct kwhy_folder *folder, const char *path, int depth, struct kwhy_error *error)
{
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, kwhy_file_is_shown, alphasort);
	enum kwhy_status status = KWHY_OK;

	if (count < 0)
		return kwhy_fail(error, KWHY_E_IO, "folder %s cannot be read: %s; check its permissions",
			path, strerror(errno));
	for (int i = 0; i < count; i++) {
		if (!status)
			status = add_entry(folder,
				kwhy_arena_printf(&folder->arena, "%s/%s", path, entries[i]->d_name), depth,
				error);
		free(entries[i]);
	}
	free(entries);
	return status;
}

enum kwhy_status kwhy_folder_list(struct kwhy_folder *folder, const char *path, struct kwhy_error *error)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	path = kwhy_arena_printf(&folder->arena, "%.*s", (int)length, path);
	if (!path)
		return kwhy_fail_memory(error, "files of a folder");
	return add_entries(folder, path, 0, error);
}

void kwhy_folder_done(struct kwhy_folder *folder)
{
	free(folder->paths);
	kwhy_arena_done(&folder->arena);
}
