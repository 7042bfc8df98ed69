/* SPDX-License-Identifier: Apache-2.0 */
#include "import/nsys/export.h"

#include "base/clock.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOG_BYTES = 4096, LINE_BYTES = 200 };

static const char by_hand[] = "export it with \"nsys export --type sqlite\" where it was recorded, and give "
			      "the .sqlite file";

static enum kwhy_status make_folder(struct kwhy_nsys_export *made, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_temporary_folder_make(
		made->folder, "nsys", "what nsys exports", error);

	snprintf(made->database, sizeof(made->database), "%s/e.sqlite", made->folder);
	snprintf(made->log, sizeof(made->log), "%s/log", made->folder);
	return status;
}

void kwhy_nsys_export_remove(const struct kwhy_nsys_export *made)
{
	unlink(made->database);
	unlink(made->log);
	rmdir(made->folder);
}

/*
 * Starts "nsys export" with stdout and stderr redirected to the log. Returns 0, or the errno of the failure,
 * such as ENOENT: nsys is not installed.
 */
static int start(const struct kwhy_nsys_export *made, const char *report, pid_t *out_pid)
{
	char output[sizeof(made->database) + 16];
	const char *const argv[] = {
		"nsys", "export", "--type=sqlite", "--force-overwrite=true", output, report, NULL};
	posix_spawn_file_actions_t actions;
	int code = posix_spawn_file_actions_init(&actions);

	snprintf(output, sizeof(output), "--output=%s", made->database);
	if (!code) {
		code = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
		if (!code)
			code = posix_spawn_file_actions_addopen(
				&actions, 1, made->log, O_WRONLY | O_CREAT | O_APPEND, 0600);
		if (!code)
			code = posix_spawn_file_actions_adddup2(&actions, 1, 2);
		if (!code)
			code = posix_spawnp(
				out_pid, "nsys", &actions, NULL, (char *const *)(uintptr_t)argv, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	return code;
}

/*
 * Waits until nsys has ended. False: it exceeded the timeout and was killed. It is asked again and again, as
 * Linux has file descriptors of processes, which can be waited for, only from version 5.3 on.
 */
static bool finish(pid_t pid, int timeout_ms, int *out_status)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	const int64_t end_ns = kwhy_clock_mono_ns() + timeout_ms * INT64_C(1000000);
	pid_t ended;

	while ((ended = waitpid(pid, out_status, WNOHANG)) == 0 && kwhy_clock_mono_ns() < end_ns)
		nanosleep(&pause, NULL);
	if (ended != 0)
		return true;
	kill(pid, SIGKILL);
	while (waitpid(pid, out_status, 0) < 0 && errno == EINTR)
		;
	return false;
}

/*
 * The last line that nsys wrote, at most LINE_BYTES of it, without control characters; it says why nsys
 * failed.
 */
static void last_line(const struct kwhy_nsys_export *made, char out[3 * LINE_BYTES + 1])
{
	char text[LOG_BYTES];
	int file = open(made->log, O_RDONLY | O_CLOEXEC);
	off_t size = file >= 0 ? lseek(file, 0, SEEK_END) : 0;
	ssize_t length = 0;
	size_t begin;

	if (size > 0)
		length = pread(file, text, sizeof(text), size > LOG_BYTES ? size - LOG_BYTES : 0);
	if (file >= 0)
		close(file);
	while (length > 0 && (unsigned char)text[length - 1] <= ' ')
		length--;
	begin = length > 0 ? (size_t)length : 0;
	while (begin > 0 && text[begin - 1] != '\n' && (size_t)length - begin < LINE_BYTES)
		begin--;
	kwhy_text_sanitize(out, text + begin, (size_t)(length > 0 ? length : 0) - begin);
}

static enum kwhy_status run(
	const struct kwhy_nsys_export *made, const char *report, int timeout_ms, struct kwhy_error *error)
{
	char said[3 * LINE_BYTES + 1];
	int code, status = 0;
	pid_t pid;

	code = start(made, report, &pid);
	if (code)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%s is a report of Nsight Systems, which its own nsys alone can read, and nsys "
			"cannot be run here (%s); put it on PATH, or %s",
			report, strerror(code), by_hand);
	if (!finish(pid, timeout_ms, &status))
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s: nsys export did not end within %d s and was ended; %s", report,
			timeout_ms / 1000, by_hand);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%s is a report of Nsight Systems, and nsys could not be started; put it on PATH, or "
			"%s",
			report, by_hand);
	last_line(made, said);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || access(made->database, R_OK) != 0)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s: nsys export failed%s%s; use the nsys of the version that recorded it, or %s",
			report, said[0] ? ": " : "", said, by_hand);
	return KWHY_OK;
}

enum kwhy_status kwhy_nsys_export_make(
	struct kwhy_nsys_export *made, const char *report, int timeout_ms, struct kwhy_error *error)
{
	enum kwhy_status status = make_folder(made, error);

	if (status)
		return status;
	status = run(made, report, timeout_ms, error);
	if (status)
		kwhy_nsys_export_remove(made);
	return status;
}
