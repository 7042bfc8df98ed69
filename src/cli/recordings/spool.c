/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recordings/spool.h"

#include "base/decimal.h"
#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE_BYTES = 1 << 20 };

/*
 * The file descriptor of this process that a path such as /dev/stdin or /dev/fd/63 names; -1: it names none.
 */
static int descriptor_of(const char *path)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
	int64_t number;

	if (strcmp(path, "/dev/stdin") == 0)
		return STDIN_FILENO;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		const size_t length = strlen(folders[i]);

		if (strncmp(path, folders[i], length) == 0 &&
			kwhy_decimal_within((struct kwhy_span){path + length, strlen(path + length)}, 0,
				INT32_MAX, &number))
			return (int)number;
	}
	return -1;
}

/*
 * Copies from the descriptor `from` to the descriptor `to` until the end of `from`. Returns 0, or -1 with
 * errno set.
 */
static int copy(int from, int to)
{
	char *piece = malloc(PIECE_BYTES);
	ssize_t got = 0;
	int result = piece ? 0 : -1;

	while (!result && (got = read(from, piece, PIECE_BYTES)) != 0) {
		if (got < 0 && errno != EINTR)
			result = -1;
		for (ssize_t done = 0, put = 0; !result && done < got; done += put) {
			put = write(to, piece + done, (size_t)(got - done));
			if (put < 0 && errno != EINTR)
				result = -1;
			put = put < 0 ? 0 : put;
		}
	}
	free(piece);
	return result;
}

static enum kwhy_status spool(const char *path, int pipe, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	int file = kwhy_temporary_file();

	if (file < 0 || copy(pipe, file) || dup2(file, pipe) < 0)
		status = kwhy_fail(error, KWHY_E_IO,
			"cannot keep what %.200s gives: %s; set TMPDIR to a folder with room for it", path,
			strerror(errno));
	if (file >= 0)
		close(file);
	return status;
}

enum kwhy_status kwhy_spool_pipes(char *const *paths, size_t count, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < count; i++) {
		const int file = descriptor_of(paths[i]);
		struct stat facts;

		if (stat(paths[i], &facts) || !(S_ISFIFO(facts.st_mode) || S_ISSOCK(facts.st_mode)))
			continue;
		if (file < 0)
			return kwhy_fail(error, KWHY_E_INPUT,
				"%.300s is a pipe with a name, which is read only once; give it as "
				"/dev/stdin, "
				"as in kwhy report /dev/stdin < %.100s",
				paths[i], paths[i]);
		status = spool(paths[i], file, error);
	}
	return status;
}
