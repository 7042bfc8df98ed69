/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include "base/quantity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum kwhy_status fail_write(const char *path, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_IO, "cannot write '%.300s': %s; name another file or folder", path,
		strerror(errno));
}

/* The umask can only be read by setting it; nobody else creates files in between that would matter. */
static mode_t mode_for(const struct stat *old)
{
	mode_t mask;

	if (old)
		return old->st_mode & 07777;
	mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

static int write_all(int fd, const char *bytes, size_t length)
{
	while (length) {
		ssize_t written = write(fd, bytes, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return -1;
		bytes += written;
		length -= (size_t)written;
	}
	return 0;
}

/* What kwhy_file_write() was given; `path`: as the user named it. */
struct whole {
	const char *path;
	const void *bytes;
	size_t length;
};

static enum kwhy_status write_whole(void *context, const char *to, struct kwhy_error *error)
{
	const struct whole *whole = context;
	int fd = open(to, O_WRONLY | O_CLOEXEC), failed;

	if (fd < 0)
		return fail_write(whole->path, error);
	failed = write_all(fd, whole->bytes, whole->length);
	if (close(fd))
		failed = -1;
	return failed ? fail_write(whole->path, error) : KWHY_OK;
}

/* Writers know only the file beside; who reads the sentence knows the other. */
static enum kwhy_status name_as_given(
	enum kwhy_status status, const char *beside, const char *path, struct kwhy_error *error)
{
	const char *at = error ? strstr(error->text, beside) : NULL;
	char *words;

	if (!at ||
		asprintf(&words, "%.*s%s%s", (int)(at - error->text), error->text, path,
			at + strlen(beside)) < 0)
		return status;
	status = kwhy_fail(error, status, "%s", words);
	free(words);
	return status;
}

/* `target`: where links lead. The mode comes last: it may be one that nobody can write to. */
static enum kwhy_status make_beside(const char *path, const char *target, mode_t mode,
	kwhy_file_writer *write_it, void *context, struct kwhy_error *error)
{
	char *beside;
	enum kwhy_status status;
	int fd;

	if (asprintf(&beside, "%s.XXXXXX", target) < 0)
		return kwhy_fail_memory(error, "a file name");
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0) {
		status = fail_write(path, error);
	} else {
		close(fd);
		status = write_it(context, beside, error);
		if (status)
			status = name_as_given(status, beside, path, error);
		else if (chmod(beside, mode) || rename(beside, target))
			status = fail_write(path, error);
		if (status)
			unlink(beside);
	}
	free(beside);
	return status;
}

enum kwhy_status kwhy_file_make(
	const char *path, kwhy_file_writer *write_it, void *context, struct kwhy_error *error)
{
	struct stat old;
	bool exists = stat(path, &old) == 0;
	char *target = exists ? realpath(path, NULL) : NULL;
	enum kwhy_status status;

	if (exists && !S_ISREG(old.st_mode)) {
		errno = S_ISDIR(old.st_mode) ? EISDIR : EINVAL;
		status = fail_write(path, error);
	} else {
		status = make_beside(path, target ? target : path, mode_for(exists ? &old : NULL), write_it,
			context, error);
	}
	free(target);
	return status;
}

enum kwhy_status kwhy_file_write(const char *path, const void *bytes, size_t length, struct kwhy_error *error)
{
	struct whole whole = {path, bytes, length};
	struct stat old;

	if (stat(path, &old) == 0 && !S_ISREG(old.st_mode) && !S_ISDIR(old.st_mode))
		return write_whole(&whole, path, error);
	return kwhy_file_make(path, write_whole, &whole, error);
}

/* 0: all read, 1: more than the limit, -1: errno says why. */
static int read_all(FILE *file, size_t limit_bytes, struct kwhy_text *out)
{
	char buffer[1 << 14];
	size_t got, sum = 0;

	while ((got = fread(buffer, 1, sizeof(buffer), file)) > 0) {
		sum += got;
		if (sum > limit_bytes)
			return 1;
		kwhy_text_add_bytes(out, buffer, got);
	}
	return ferror(file) ? -1 : 0;
}

enum kwhy_status kwhy_file_read(
	const char *path, size_t limit_bytes, struct kwhy_text *out, struct kwhy_error *error)
{
	FILE *file = fopen(path, "rbe");
	struct kwhy_text bytes = {0};
	enum kwhy_status status;
	int result = file ? read_all(file, limit_bytes, &bytes) : -1;
	char limit[KWHY_QUANTITY_BYTES];

	if (result < 0)
		status = kwhy_fail(error, KWHY_E_IO,
			"cannot read '%.300s': %s; check the name and its permissions", path,
			strerror(errno));
	else if (result > 0)
		status = kwhy_fail(error, KWHY_E_INPUT,
			"'%.300s' is larger than the %s that such a file may have; is it the right one?",
			path, kwhy_quantity_bytes(limit, limit_bytes));
	else
		status = kwhy_text_check(&bytes, error);
	if (!status)
		kwhy_text_add_bytes(out, bytes.data ? bytes.data : "", bytes.length);
	if (file)
		fclose(file);
	kwhy_text_done(&bytes);
	return status ? status : kwhy_text_check(out, error);
}
