/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/profile_find.h"

#include "import/import.h"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, PARENT_LIMIT = 6 };

static int is_profile(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0;
}

/* Reads one profile, and keeps it if it is that of the device. */
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

	for (int i = 0; i < count; i++) {
		if (!status && !*out)
			status = try_file(folder, entries[i]->d_name, device_name, out, error);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return status;
}

/* Removes the last component of a path. */
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
	char mark[PATH_BYTES + 32];
	struct stat info;

	snprintf(mark, sizeof(mark), "%s/src/model/profile.h", folder);
	return stat(mark, &info) == 0;
}

/*
 * Finds the path of the program or shared library that contains this code. The link map has no name for the
 * program, which /proc/self/exe leads to.
 */
static bool find_self(char out[PATH_BYTES])
{
	struct link_map *map = NULL;
	Dl_info info;
	bool is_found = dladdr1((const void *)&kwhy_profile_find, &info, (void **)&map, RTLD_DL_LINKMAP) &&
		map;
	char *whole = realpath(is_found && *map->l_name ? map->l_name : "/proc/self/exe", NULL);

	is_found = whole && strlen(whole) < PATH_BYTES;
	if (is_found)
		memcpy(out, whole, strlen(whole) + 1);
	free(whole);
	return is_found;
}

/*
 * Searches the folders above this code for share/ of an installation, or for the source tree that contains
 * the build.
 */
static enum kwhy_status try_near_self(
	const char *device_name, struct kwhy_profile **out, struct kwhy_error *error)
{
	char parent[PATH_BYTES], folder[PATH_BYTES + 32];
	enum kwhy_status status = KWHY_OK;

	if (!find_self(parent) || !to_parent(parent))
		return KWHY_OK;
	for (size_t i = 0; i < PARENT_LIMIT && !status && !*out && to_parent(parent); i++) {
		if (i < 2) { /* the first two parents are above bin/ or lib/, and above lib/ARCHITECTURE/ */
			snprintf(folder, sizeof(folder), "%s/share/kwhy/profiles", parent);
			status = try_folder(folder, device_name, out, error);
		}
		if (!status && !*out && is_source_tree(parent)) {
			snprintf(folder, sizeof(folder), "%s/profiles", parent);
			return try_folder(folder, device_name, out, error);
		}
	}
	return status;
}

enum kwhy_status kwhy_profile_find(
	const char *device_name, struct kwhy_profile **out, struct kwhy_error *error)
{
	const char *folder = secure_getenv("KWHY_PROFILES");
	struct kwhy_profile *found = NULL;
	enum kwhy_status status;

	if (folder && *folder) {
		status = try_folder(folder, device_name, &found, error);
	} else {
		status = try_near_self(device_name, &found, error);
		if (!status && !found)
			status = try_folder(KWHY_DATADIR "/profiles", device_name, &found, error);
	}
	if (!status)
		*out = found;
	return status;
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
