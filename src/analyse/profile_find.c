/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/profile_find.h"

#include "import/import.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PARENT_LIMIT = 6, FOLDERS_MAX = 4 };

static int is_profile(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0;
}

/* Reads one profile, and writes it to *out if it is that of the device; otherwise *out stays. */
static enum kwhy_status try_file(const char *folder, const char *file, const char *device_name,
	struct kwhy_profile **out, struct kwhy_error *error)
{
	struct kwhy_profile *profile = NULL;
	char *path;
	enum kwhy_status status;

	if (asprintf(&path, "%s/%s", folder, file) < 0)
		return kwhy_fail_memory(error, "a file name");
	status = kwhy_import_profile(path, &profile, error);
	free(path);
	if (status)
		return status;
	if (profile->device_name && kwhy_device_names_agree(profile->device_name, device_name))
		*out = profile;
	else
		kwhy_profile_free(profile);
	return KWHY_OK;
}

static enum kwhy_status try_folder(
	const char *folder, const char *device_name, struct kwhy_profile **out, struct kwhy_error *error)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_profile, alphasort);
	enum kwhy_status status = KWHY_OK;

	if (count < 0 && errno != ENOENT && errno != ENOTDIR && errno != EACCES)
		return kwhy_fail(error, KWHY_E_IO,
			"the machine profiles in '%.300s' cannot be listed: %s; name one with "
			"--machine-profile",
			folder, strerror(errno));
	for (int i = 0; i < count; i++) {
		if (!status && !*out)
			status = try_file(folder, entries[i]->d_name, device_name, out, error);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return status;
}

/* Cuts the last component off a path. False: it has none. */
static bool to_parent(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

static bool is_source_tree(const char *folder)
{
	char mark[PATH_MAX + 32];
	struct stat info;

	snprintf(mark, sizeof(mark), "%s/src/model/profile.h", folder);
	return stat(mark, &info) == 0;
}

/*
 * Finds the path of the program or shared library that contains this code. The dynamic linker's list of
 * objects has an empty name for the program itself; its path is then that of /proc/self/exe. False: there is
 * no such file.
 */
static bool find_self(char out[PATH_MAX])
{
	struct link_map *map = NULL;
	Dl_info info;
	bool is_found = dladdr1((const void *)&kwhy_profile_find, &info, (void **)&map, RTLD_DL_LINKMAP) &&
		map;

	return realpath(is_found && *map->l_name ? map->l_name : "/proc/self/exe", out);
}

struct folders {
	char paths[FOLDERS_MAX][PATH_MAX + 32];
	size_t count;
};

static void add_folder(struct folders *folders, const char *parent, const char *rest)
{
	snprintf(folders->paths[folders->count++], sizeof(folders->paths[0]), "%s%s", parent, rest);
}

/*
 * Adds folders in which the profiles of this very installation may lie, going up from the file that contains
 * this code; in a build folder of a source tree, also that of the source tree.
 */
static void add_near_self(struct folders *out)
{
	char parent[PATH_MAX];

	if (!find_self(parent) || !to_parent(parent))
		return;
	for (size_t i = 0; i < PARENT_LIMIT && to_parent(parent); i++) {
		if (i < 2) /* the folder that contains bin/ or lib/, or, one level further up, the one that
			      contains lib/ARCHITECTURE/ */
			add_folder(out, parent, "/share/kwhy/profiles");
		if (is_source_tree(parent)) {
			add_folder(out, parent, "/profiles");
			return;
		}
	}
}

/*
 * Lists the folders in which bundled profiles are searched, in this order: KWHY_PROFILES alone, if it is set;
 * else those near this code, then that of the installation.
 */
static void list_folders(struct folders *out)
{
	const char *named = secure_getenv("KWHY_PROFILES");

	out->count = 0;
	if (named && *named) {
		add_folder(out, named, "");
		return;
	}
	add_near_self(out);
	add_folder(out, KWHY_DATADIR, "/profiles");
}

enum kwhy_status kwhy_profile_find(
	const char *device_name, struct kwhy_profile **out, struct kwhy_error *error)
{
	struct kwhy_profile *found = NULL;
	struct folders folders;
	enum kwhy_status status = KWHY_OK;

	list_folders(&folders);
	for (size_t i = 0; !status && !found && i < folders.count; i++)
		status = try_folder(folders.paths[i], device_name, &found, error);
	if (!status)
		*out = found;
	return status;
}

size_t kwhy_profile_folder(char *out, size_t out_bytes)
{
	struct folders folders;
	struct dirent **entries;

	list_folders(&folders);
	snprintf(out, out_bytes, "%s", folders.paths[0]);
	for (size_t i = 0; i < folders.count; i++) {
		int count = scandir(folders.paths[i], &entries, is_profile, alphasort);

		for (int j = 0; j < count; j++)
			free(entries[j]);
		if (count >= 0)
			free(entries);
		if (count > 0) {
			snprintf(out, out_bytes, "%s", folders.paths[i]);
			return (size_t)count;
		}
	}
	return 0;
}

enum kwhy_status kwhy_profile_read(const char *path, const struct kwhy_recording *recording,
	struct kwhy_profile **out, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	if (path)
		return kwhy_import_profile(path, out, error);
	for (size_t d = 0; !status && !*out && d < recording->device_count; d++)
		if (recording->devices[d].name)
			status = kwhy_profile_find(recording->devices[d].name, out, error);
	return status;
}
