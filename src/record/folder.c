/* SPDX-License-Identifier: Apache-2.0 */
#include "record/folder.h"

#include "base/output.h"
#include "recording/block_reader.h"
#include "recording/bundle.h"
#include "recording/pack.h"
#include "recording/probe_progress.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MODE = 0777 }; /* permissions of a new folder; the umask removes some */

static bool is_empty_folder(const char *path)
{
	DIR *folder = opendir(path);
	size_t count = 0;

	if (!folder)
		return false;
	for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(folder);
	return count == 0;
}

/* Whether the file begins like a recording. */
static bool is_recording_file(const char *path)
{
	unsigned char head[8];
	const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	ssize_t length;

	if (file < 0)
		return false;
	length = read(file, head, sizeof(head));
	close(file);
	return length > 0 && kwhy_block_reader_probe(head, (size_t)length);
}

static bool is_there(const char *path)
{
	struct stat facts;

	return !lstat(path, &facts);
}

static bool is_link(const char *path)
{
	struct stat facts;

	return !lstat(path, &facts) && S_ISLNK(facts.st_mode);
}

/* Whether there is a recording at the path. A symbolic link to a recording does not count as one. */
static bool is_recording(const char *path)
{
	return !is_link(path) && (kwhy_bundle_is_folder(path) || is_recording_file(path));
}

static enum kwhy_status fail(const char *what, const char *path, const char *cure, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_IO, "cannot %s '%.300s': %s; %s", what, path, strerror(errno), cure);
}

static uint32_t any_number(void)
{
	uint32_t number;

	return getrandom(&number, sizeof(number), 0) == sizeof(number) ? number : (uint32_t)getpid();
}

/*
 * Opens a folder for reading and returns its descriptor; -1: it cannot, for example because the path is a
 * symbolic link; errno says why.
 */
static int open_folder(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

void kwhy_record_folder_clear(const char *path)
{
	static const char *const names[] = {KWHY_RECORD_KNOWN_FILE, KWHY_PROBE_PROGRESS_FILE};
	const int folder = open_folder(path);

	for (size_t i = 0; folder >= 0 && i < sizeof(names) / sizeof(*names); i++)
		unlinkat(folder, names[i], 0);
	if (folder >= 0)
		close(folder);
}

/* Deletes those files in a folder that kwhy writes in a recording; other files stay. */
static enum kwhy_status delete_parts(const char *path, struct kwhy_error *error)
{
	const int folder = open_folder(path);
	DIR *entries = folder < 0 ? NULL : fdopendir(folder);
	enum kwhy_status status = KWHY_OK;

	if (!entries) {
		status = fail("delete", path, "delete it yourself", error);
		if (folder >= 0)
			close(folder);
		return status;
	}
	for (struct dirent *entry = readdir(entries); !status && entry; entry = readdir(entries))
		if (kwhy_bundle_is_part(entry->d_name) && unlinkat(folder, entry->d_name, 0))
			status = fail("delete the parts of", path, "delete them yourself", error);
	closedir(entries);
	kwhy_record_folder_clear(path);
	return status;
}

enum kwhy_status kwhy_record_folder_delete(const char *path, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (is_recording_file(path))
		return unlink(path) ? fail("delete", path, "delete it yourself", error) : KWHY_OK;
	if (!rmdir(path)) /* tried first, since it needs no descriptor, of which none may be left */
		return KWHY_OK;
	status = delete_parts(path, error);
	if (!status && rmdir(path))
		status = fail("delete", path, "move away what else it holds", error);
	return status;
}

static enum kwhy_status refuse(const char *path, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_USAGE,
		"'%.300s' is there already and is not a recording; name another folder with -o", path);
}

/*
 * Opens a folder and locks it (flock()) until the descriptor *out_folder is closed, because two recorders of
 * one folder would delete each other's files. KWHY_E_USAGE: another process has locked it. On a file system
 * without locks it is not locked, which is no error.
 */
static enum kwhy_status lock(const char *path, int *out_folder, struct kwhy_error *error)
{
	const int folder = open_folder(path);

	if (folder < 0)
		return fail("open the folder", path, "name another with -o", error);
	if (flock(folder, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		close(folder);
		return kwhy_fail(error, KWHY_E_USAGE,
			"'%.300s' is written by another kwhy at this moment; name another folder with -o",
			path);
	}
	*out_folder = folder;
	return KWHY_OK;
}

/*
 * Renames the recording at folder->path to folder->aside, a new random name, which no killed recorder can
 * have left there. Refuses if the final name folder->old is taken by something that may not be deleted.
 */
static enum kwhy_status put_aside(
	struct kwhy_record_folder *folder, struct kwhy_arena *arena, struct kwhy_error *error)
{
	const char *old = kwhy_arena_printf(arena, "%s" KWHY_RECORD_OLD_SUFFIX, folder->path);
	const char *aside = kwhy_arena_printf(
		arena, "%s" KWHY_RECORD_OLD_SUFFIX "-%08" PRIx32, folder->path, any_number());
	enum kwhy_status status = KWHY_OK;
	int locked = -1;

	if (!old || !aside)
		return kwhy_fail_memory(error, "the name of a recording");
	if (is_there(old) && !is_recording(old) && (is_link(old) || !is_empty_folder(old)))
		return refuse(old, error);
	if (!is_recording_file(folder->path))
		status = lock(folder->path, &locked, error);
	if (!status && rename(folder->path, aside))
		status = fail("rename", folder->path, "name another folder with -o", error);
	if (locked >= 0)
		close(locked);
	if (status)
		return status;
	folder->aside = aside;
	folder->old = old;
	return KWHY_OK;
}

static enum kwhy_status put_back(const struct kwhy_record_folder *folder, struct kwhy_error *error)
{
	if (folder->aside && rename(folder->aside, folder->path))
		return fail("rename", folder->aside, "rename it yourself", error);
	return KWHY_OK;
}

static enum kwhy_status make_folder(const struct kwhy_record_folder *folder, struct kwhy_error *error)
{
	enum kwhy_status status, back;

	if (!mkdir(folder->path, MODE))
		return KWHY_OK;
	status = fail("make the folder", folder->path, "name another with -o", error);
	back = put_back(folder, error);
	return back ? back : status;
}

/*
 * If folder->path is a symbolic link, replaces it by the path of the link's target, which need not exist yet.
 */
static enum kwhy_status follow_link(
	struct kwhy_record_folder *folder, struct kwhy_arena *arena, struct kwhy_error *error)
{
	struct kwhy_output place;
	char link[64], parent[PATH_MAX];
	enum kwhy_status status;
	ssize_t length;

	if (!is_link(folder->path))
		return KWHY_OK;
	status = kwhy_output_find(folder->path, &place, error);
	if (status)
		return status;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", place.folder);
	length = readlink(link, parent, sizeof(parent) - 1);
	if (length < 0) {
		status = fail("find", folder->path, "name another folder with -o", error);
	} else {
		parent[length] = '\0';
		folder->path = kwhy_arena_printf(arena, "%s/%s", parent, place.name);
		if (!folder->path)
			status = kwhy_fail_memory(error, "the name of a recording");
	}
	kwhy_output_done(&place);
	return status;
}

/*
 * Makes and locks the folder. A recording at its path is renamed before; anything else there must be an empty
 * folder, which is used. Another recorder may have filled it meanwhile, so it is checked again once it is
 * locked.
 */
static enum kwhy_status take(
	struct kwhy_record_folder *folder, struct kwhy_arena *arena, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	struct kwhy_error later;

	if (!is_empty_folder(folder->path)) {
		if (is_recording(folder->path))
			status = put_aside(folder, arena, error);
		else if (is_there(folder->path))
			status = refuse(folder->path, error);
		if (!status)
			status = make_folder(folder, error);
		folder->is_made = !status;
	}
	if (!status)
		status = lock(folder->path, &folder->locked, error);
	if (!status && !is_empty_folder(folder->path)) {
		close(folder->locked);
		folder->locked = -1;
		status = refuse(folder->path, error);
	}
	if (status && folder->is_made && !rmdir(folder->path) && put_back(folder, &later))
		return kwhy_fail(error, later.status, "%s", later.text);
	return status;
}

enum kwhy_status kwhy_record_folder_make(
	struct kwhy_record_folder *folder, struct kwhy_arena *arena, struct kwhy_error *error)
{
	enum kwhy_status status = follow_link(folder, arena, error);

	folder->locked = -1;
	if (!status)
		status = take(folder, arena, error);
	folder->is_taken = !status;
	return status;
}

void kwhy_record_folder_release(struct kwhy_record_folder *folder)
{
	if (folder->is_taken && folder->locked >= 0)
		close(folder->locked);
	folder->locked = -1;
}

enum kwhy_status kwhy_record_folder_keep(
	const struct kwhy_record_folder *folder, bool *out_replaced, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	*out_replaced = false;
	if (!folder->aside)
		return KWHY_OK;
	*out_replaced = is_there(folder->old);
	if (*out_replaced)
		status = kwhy_record_folder_delete(folder->old, error);
	if (!status && rename(folder->aside, folder->old))
		status = fail("rename", folder->aside, "rename it yourself", error);
	return status;
}

enum kwhy_status kwhy_record_folder_unmake(const struct kwhy_record_folder *folder, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (!folder->is_taken)
		return KWHY_OK;
	status = folder->is_made ? kwhy_record_folder_delete(folder->path, error)
				 : delete_parts(folder->path, error);
	return status ? status : put_back(folder, error);
}

static enum kwhy_status stays(
	const char *where, enum kwhy_status status, const char *why, struct kwhy_error *error)
{
	return kwhy_fail(error, status, "the recording stays a folder, '%.300s': %.380s", where, why);
}

/*
 * Replaces the folder `path` by the complete packed file `packed`: renames the folder to `parts`, the file to
 * `path`, and deletes the folder. After a failure the folder stays.
 */
static enum kwhy_status replace(
	const char *path, const char *parts, const char *packed, struct kwhy_error *error)
{
	const char *where = path;
	enum kwhy_status status;

	if (!rename(path, parts)) {
		if (!rename(packed, path))
			return kwhy_record_folder_delete(parts, error);
		where = rename(parts, path) ? parts : path;
	}
	status = stays(where, KWHY_E_IO, strerror(errno), error);
	unlink(packed);
	return status;
}

static enum kwhy_status pack_into(const char *path, const char *packed, struct kwhy_error *error)
{
	struct kwhy_bundle bundle;
	struct kwhy_error why;
	enum kwhy_status status = kwhy_bundle_open(&bundle, path, &why);

	if (!status) {
		status = kwhy_recording_pack(&bundle, packed, &why);
		kwhy_bundle_done(&bundle);
	}
	return status ? stays(path, status, why.text, error) : KWHY_OK;
}

/* The file gets a random temporary name first, which no killed process can have left there. */
enum kwhy_status kwhy_record_folder_pack(const char *path, struct kwhy_error *error)
{
	struct kwhy_arena arena = {0};
	const uint32_t number = any_number();
	const char *packed = kwhy_arena_printf(&arena, "%s.packed-%08" PRIx32, path, number);
	const char *parts = kwhy_arena_printf(&arena, "%s.parts-%08" PRIx32, path, number);
	enum kwhy_status status = packed && parts ? pack_into(path, packed, error)
						  : kwhy_fail_memory(error, "the name of a recording");

	if (!status)
		status = replace(path, parts, packed, error);
	kwhy_arena_done(&arena);
	return status;
}
