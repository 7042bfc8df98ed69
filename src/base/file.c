/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include "base/output.h"
#include "base/quantity.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

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

/*
 * Arguments of kwhy_file_write(). `path` is as the user gave it, for messages; the bytes may be written to
 * another file.
 */
struct whole {
	const char *path;
	const void *bytes;
	size_t length;
};

static enum kwhy_status write_to(const struct whole *whole, int file, struct kwhy_error *error)
{
	int failed = write_all(file, whole->bytes, whole->length);

	if (close(file))
		failed = -1;
	return failed ? kwhy_output_fail(whole->path, error) : KWHY_OK;
}

static enum kwhy_status write_whole(void *context, const char *to, struct kwhy_error *error)
{
	const struct whole *whole = context;
	int file = open(to, O_WRONLY | O_CLOEXEC);

	return file < 0 ? kwhy_output_fail(whole->path, error) : write_to(whole, file, error);
}

/* Replaces the temporary file's name in an error message by the path that the user gave. */
static enum kwhy_status name_as_given(
	enum kwhy_status status, const char *temporary, const char *path, struct kwhy_error *error)
{
	const char *at = error ? strstr(error->text, temporary) : NULL;
	char *words;

	if (!at ||
		asprintf(&words, "%.*s%s%s", (int)(at - error->text), error->text, path,
			at + strlen(temporary)) < 0)
		return status;
	status = kwhy_fail(error, status, "%s", words);
	free(words);
	return status;
}

/* A temporary file in the folder of the output, which is filled and then renamed to the output's name. */
struct temporary {
	const struct kwhy_output *output;
	int file;
	mode_t mode;   /* permission bits of the finished file */
	bool is_noted; /* whether kwhy_file_remove_unfinished(), which signal handlers call, removes this file
			*/
	char name[sizeof(((struct kwhy_output *)0)->name) + 8];
	char path[sizeof("/proc/self/fd/-2147483648/") + sizeof(((struct kwhy_output *)0)->name) + 8];
};

/*
 * The one temporary file that kwhy_file_remove_unfinished() removes. If several threads write files at the
 * same time, it is the one that was begun first. The name is set before `folder`, which shows the handler
 * that the name is valid.
 */
static struct {
	atomic_bool is_taken;
	atomic_int folder; /* open descriptor of the file's folder; -1: there is no file to remove */
	char name[sizeof(((struct temporary *)0)->name)];
} unfinished = {.folder = -1};

void kwhy_file_remove_unfinished(void)
{
	const int folder = atomic_load(&unfinished.folder);

	if (folder >= 0)
		unlinkat(folder, unfinished.name, 0);
}

static void note_unfinished(struct temporary *temporary)
{
	temporary->is_noted = !atomic_exchange(&unfinished.is_taken, true);
	if (!temporary->is_noted)
		return;
	memcpy(unfinished.name, temporary->name, sizeof(unfinished.name));
	atomic_store(&unfinished.folder, temporary->output->folder);
}

static void forget_unfinished(const struct temporary *temporary)
{
	if (!temporary->is_noted)
		return;
	atomic_store(&unfinished.folder, -1);
	atomic_store(&unfinished.is_taken, false);
}

static int create_now(const struct temporary *temporary, mode_t mode)
{
	return openat(temporary->output->folder, temporary->name,
		O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
}

/*
 * Creates the file and notes it in `unfinished` with all signals blocked, so that a handler on this thread
 * finds either no file or a noted one. -1: errno has the reason.
 */
static int create(struct temporary *temporary, mode_t mode)
{
	sigset_t all, before;
	int file, reason;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	file = create_now(temporary, mode);
	reason = errno;
	if (file >= 0)
		note_unfinished(temporary);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = reason;
	return file;
}

/*
 * Creates the temporary file, with a random name, in the folder that output->folder has open, so that it does
 * not matter if the folder's path leads elsewhere by now. Until it is finished only this user may read it.
 * False: errno has the reason.
 */
static bool temporary_open(struct temporary *temporary)
{
	const bool keeps_mode = kwhy_output_keeps_mode(temporary->output);
	struct stat facts;
	uint32_t number;

	do {
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			return false;
		snprintf(temporary->name, sizeof(temporary->name), "%s.%06" PRIx32, temporary->output->name,
			number & 0xffffff);
		temporary->file = create(temporary, keeps_mode ? 0600 : 0666);
	} while (temporary->file < 0 && errno == EEXIST);
	if (temporary->file < 0 || fstat(temporary->file, &facts))
		return false;
	temporary->mode = (keeps_mode ? temporary->output->facts.st_mode : facts.st_mode) & 0777;
	snprintf(temporary->path, sizeof(temporary->path), "/proc/self/fd/%d/%s", temporary->output->folder,
		temporary->name);
	return fchmod(temporary->file, 0600) == 0;
}

/*
 * Finishes the file: sets its final permission bits (not before, as they may forbid writing) and renames it
 * to the output's name. False: errno has the reason.
 */
static bool temporary_keep(const struct temporary *temporary)
{
	const struct kwhy_output *output = temporary->output;

	return !fchmod(temporary->file, temporary->mode) &&
		!renameat(output->folder, temporary->name, output->folder, output->name);
}

static enum kwhy_status make_temporary(const char *path, const struct kwhy_output *output,
	kwhy_file_writer *write_it, void *context, struct kwhy_error *error)
{
	struct temporary temporary = {.output = output, .file = -1};
	enum kwhy_status status;

	if (!temporary_open(&temporary)) {
		status = kwhy_output_fail(path, error);
	} else {
		status = write_it(context, temporary.path, error);
		if (status)
			status = name_as_given(status, temporary.path, path, error);
		else if (!temporary_keep(&temporary))
			status = kwhy_output_fail(path, error);
	}
	if (temporary.file >= 0) {
		close(temporary.file);
		if (status)
			unlinkat(output->folder, temporary.name, 0);
		forget_unfinished(&temporary);
	}
	return status;
}

static enum kwhy_status make_found(const char *path, const struct kwhy_output *output,
	kwhy_file_writer *write_it, void *context, struct kwhy_error *error)
{
	if (!kwhy_output_is_direct(output))
		return make_temporary(path, output, write_it, context, error);
	if (!S_ISDIR(output->facts.st_mode))
		return kwhy_fail(error, KWHY_E_IO,
			"cannot write '%.200s': it is a device or a pipe, and this is written as a whole "
			"file; "
			"name a file",
			path);
	errno = EISDIR;
	return kwhy_output_fail(path, error);
}

enum kwhy_status kwhy_file_make(
	const char *path, kwhy_file_writer *write_it, void *context, struct kwhy_error *error)
{
	struct kwhy_output output;
	enum kwhy_status status = kwhy_output_find(path, &output, error);

	if (!status)
		status = make_found(path, &output, write_it, context, error);
	kwhy_output_done(&output);
	return status;
}

static enum kwhy_status write_direct(const struct whole *whole, struct kwhy_error *error)
{
	int file;
	enum kwhy_status status = kwhy_output_open(whole->path, KWHY_OUTPUT_TRUNCATE, &file, error);

	return status ? status : write_to(whole, file, error);
}

enum kwhy_status kwhy_file_write(const char *path, const void *bytes, size_t length, struct kwhy_error *error)
{
	struct whole whole = {path, bytes, length};
	struct kwhy_output output;
	enum kwhy_status status = kwhy_output_find(path, &output, error);

	if (status)
		return status;
	status = kwhy_output_is_direct(&output) && !S_ISDIR(output.facts.st_mode)
		? write_direct(&whole, error)
		: make_found(path, &output, write_whole, &whole, error);
	kwhy_output_done(&output);
	return status;
}

int kwhy_file_is_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

bool kwhy_file_is_same(const char *a, const char *b)
{
	struct stat of_a, of_b;

	return !stat(a, &of_a) && !stat(b, &of_b) && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

/*
 * Reads a file to its end. 0: all was read; 1: the file has more than limit_bytes; -1: errno has the
 * reason.
 */
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
