/* SPDX-License-Identifier: Apache-2.0 */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { LINKS_MAX = 40 };

enum kwhy_status kwhy_output_fail(const char *path, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_IO, "cannot write '%.300s': %s; name another file or folder", path,
		strerror(errno));
}

static bool is_trusted(uid_t owner)
{
	return owner == 0 || owner == geteuid();
}

/*
 * Whether others may create or replace names in the folder: it belongs to another user than this one or root,
 * or everybody may write to it. Also true if this cannot be found out.
 */
static bool is_shared(int folder)
{
	struct stat facts;

	return fstat(folder, &facts) || !is_trusted(facts.st_uid) || (facts.st_mode & S_IWOTH);
}

/*
 * Accepts the link that `output` is if it belongs to this user or root, in a folder that is not shared
 * (is_shared()).
 */
static enum kwhy_status check_link(
	const struct kwhy_output *output, const char *path, struct kwhy_error *error)
{
	if (is_trusted(output->facts.st_uid) && !is_shared(output->folder))
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_IO,
		"cannot write '%.300s': '%.200s' is a link, and other users may change it or its folder; "
		"name the file that it leads to, or delete the link",
		path, output->name);
}

/*
 * Refuses an existing file, device or pipe of another user in a shared folder, because that user may have put
 * it there to receive the data.
 */
static enum kwhy_status check_owner(
	const struct kwhy_output *output, const char *path, struct kwhy_error *error)
{
	if (output->is_in_proc || is_trusted(output->facts.st_uid) || !is_shared(output->folder))
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_IO,
		"cannot write '%.300s': it belongs to another user, in a folder that other users may write "
		"to; name a file in a folder of your own",
		path);
}

static bool is_proc(int folder)
{
	struct statfs facts;

	return !fstatfs(folder, &facts) && facts.f_type == PROC_SUPER_MAGIC;
}

/*
 * Splits `path`, which is relative to the open folder `from`: opens the folder part, and copies the last part
 * to out->name. False: errno has the reason.
 */
static bool enter(int from, const char *path, struct kwhy_output *out)
{
	const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
	char parent[PATH_MAX];
	size_t length = slash ? (size_t)(slash - path) + 1 : 1;

	out->folder = -1;
	if (!*last || length >= sizeof(parent) || strlen(last) >= sizeof(out->name)) {
		errno = !*path ? ENOENT : !*last ? EISDIR : ENAMETOOLONG;
		return false;
	}
	memcpy(parent, slash ? path : ".", length);
	parent[length] = '\0';
	memcpy(out->name, last, strlen(last) + 1);
	out->folder = openat(from, parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return out->folder >= 0;
}

/*
 * Looks up whether the file exists, and its attributes (of a link itself, except in /proc). False: neither is
 * known, and errno says why.
 */
static bool look(struct kwhy_output *output)
{
	output->is_in_proc = is_proc(output->folder);
	output->exists = !fstatat(
		output->folder, output->name, &output->facts, output->is_in_proc ? 0 : AT_SYMLINK_NOFOLLOW);
	return output->exists || errno == ENOENT;
}

static enum kwhy_status read_link(
	const struct kwhy_output *output, const char *path, char out[PATH_MAX], struct kwhy_error *error)
{
	enum kwhy_status status = check_link(output, path, error);
	ssize_t length = status ? 0 : readlinkat(output->folder, output->name, out, PATH_MAX - 1);

	if (!status && length < 0)
		status = kwhy_output_fail(path, error);
	if (!status)
		out[length] = '\0';
	return status;
}

/*
 * Looks up the file whose path is `rest`, relative to the open folder `from`, and closes `from` unless it is
 * AT_FDCWD.
 */
static enum kwhy_status step(
	int from, const char *rest, const char *path, struct kwhy_output *out, struct kwhy_error *error)
{
	const bool is_found = enter(from, rest, out) && look(out);
	const int reason = errno;

	if (from >= 0)
		close(from);
	errno = reason;
	return is_found ? KWHY_OK : kwhy_output_fail(path, error);
}

static bool is_link(const struct kwhy_output *output)
{
	return output->exists && S_ISLNK(output->facts.st_mode);
}

/*
 * Finds the file to which the path `rest` leads, through at most LINKS_MAX links. `rest` is overwritten with
 * the target of each link; `path` is for messages.
 */
static enum kwhy_status follow(
	char rest[PATH_MAX], const char *path, struct kwhy_output *out, struct kwhy_error *error)
{
	enum kwhy_status status = step(AT_FDCWD, rest, path, out, error);

	for (int links = 0; !status && is_link(out); links++) {
		errno = ELOOP;
		status = links < LINKS_MAX ? read_link(out, path, rest, error)
					   : kwhy_output_fail(path, error);
		if (!status)
			status = step(out->folder, rest, path, out, error);
	}
	return status;
}

enum kwhy_status kwhy_output_find(const char *path, struct kwhy_output *out, struct kwhy_error *error)
{
	char rest[PATH_MAX];
	enum kwhy_status status;

	*out = (struct kwhy_output){.folder = -1};
	errno = ENAMETOOLONG;
	if ((size_t)snprintf(rest, sizeof(rest), "%s", path) >= sizeof(rest))
		return kwhy_output_fail(path, error);
	status = follow(rest, path, out, error);
	if (!status && kwhy_output_is_direct(out) && !S_ISDIR(out->facts.st_mode))
		status = check_owner(out, path, error);
	if (status)
		kwhy_output_done(out);
	return status;
}

void kwhy_output_done(struct kwhy_output *output)
{
	if (output->folder >= 0)
		close(output->folder);
	output->folder = -1;
}

bool kwhy_output_keeps_mode(const struct kwhy_output *output)
{
	return output->exists && S_ISREG(output->facts.st_mode) && output->facts.st_uid == geteuid();
}

bool kwhy_output_is_direct(const struct kwhy_output *output)
{
	return output->exists && (output->is_in_proc || !S_ISREG(output->facts.st_mode));
}

/*
 * Opens a file of /proc. If it is a descriptor of this process, it is duplicated, so that the position is
 * shared and not reset: other programs may write to the same standard output.
 */
static int open_in_proc(const struct kwhy_output *output)
{
	const int truncates = S_ISREG(output->facts.st_mode) ? O_TRUNC : 0;
	struct stat ours;
	char *end;
	long number = strtol(output->name, &end, 10);

	if (!*end && number >= 0 && number <= INT_MAX && !fstat((int)number, &ours) &&
		ours.st_dev == output->facts.st_dev && ours.st_ino == output->facts.st_ino)
		return fcntl((int)number, F_DUPFD_CLOEXEC, 0);
	return openat(output->folder, output->name, O_WRONLY | O_CLOEXEC | O_NOCTTY | truncates);
}

static int open_found(const struct kwhy_output *output, enum kwhy_output_how how)
{
	static const int flags[] = {[KWHY_OUTPUT_TRUNCATE] = O_CREAT,
		[KWHY_OUTPUT_APPEND] = O_CREAT | O_APPEND,
		[KWHY_OUTPUT_AS_IT_IS] = 0};

	if (output->is_in_proc)
		return open_in_proc(output);
	return openat(output->folder, output->name, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | flags[how],
		0666);
}

/*
 * Checks the owner of the opened file again, since another user may have replaced it after its name was
 * looked up, and only then empties it (KWHY_OUTPUT_TRUNCATE).
 */
static enum kwhy_status check_opened(struct kwhy_output *output, const char *path, enum kwhy_output_how how,
	int file, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (fstat(file, &output->facts))
		return kwhy_output_fail(path, error);
	status = check_owner(output, path, error);
	if (!status && how == KWHY_OUTPUT_TRUNCATE && !output->is_in_proc && S_ISREG(output->facts.st_mode) &&
		ftruncate(file, 0))
		status = kwhy_output_fail(path, error);
	return status;
}

enum kwhy_status kwhy_output_open(
	const char *path, enum kwhy_output_how how, int *out_file, struct kwhy_error *error)
{
	struct kwhy_output output;
	enum kwhy_status status = kwhy_output_find(path, &output, error);
	int file;

	if (status)
		return status;
	file = open_found(&output, how);
	status = file < 0 ? kwhy_output_fail(path, error) : check_opened(&output, path, how, file, error);
	kwhy_output_done(&output);
	if (!status)
		*out_file = file;
	else if (file >= 0)
		close(file);
	return status;
}

/*
 * Makes the folder unless it exists; that another program makes it at the same time is no error. False: errno
 * has the reason.
 */
static bool make_folder(struct kwhy_output *output)
{
	if (!output->exists && mkdirat(output->folder, output->name, 0777) &&
		(errno != EEXIST || !look(output)))
		return false;
	errno = ENOTDIR;
	return !output->exists || S_ISDIR(output->facts.st_mode);
}

enum kwhy_status kwhy_output_folder(const char *path, struct kwhy_error *error)
{
	struct kwhy_output output;
	char name[PATH_MAX];
	size_t length = (size_t)snprintf(name, sizeof(name), "%s", path);
	enum kwhy_status status;

	while (length > 1 && length < sizeof(name) && name[length - 1] == '/')
		name[--length] = '\0';
	if (strcmp(name, "/") == 0)
		return KWHY_OK;
	status = kwhy_output_find(length < sizeof(name) ? name : path, &output, error);
	if (status)
		return status;
	if (!make_folder(&output))
		status = kwhy_fail(error, KWHY_E_IO, "%.300s cannot be made: %s; name another folder", path,
			strerror(errno));
	kwhy_output_done(&output);
	return status;
}
