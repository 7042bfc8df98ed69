/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/pager.h"

#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_FOUND = 127 }; /* exit status of sh if it does not find the pager */

/*
 * Starts sh with the command line `pager`, whose standard input is `input`. Returns 0 or an error number
 * (errno).
 */
static int start(const char *pager, int input, pid_t *out)
{
	char *words[] = {(char *)"sh", (char *)"-c", (char *)pager, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t defaults;
	int failure = posix_spawn_file_actions_init(&actions);

	if (failure)
		return failure;
	failure = posix_spawnattr_init(&attributes);
	if (!failure) {
		sigemptyset(&defaults);
		sigaddset(&defaults, SIGPIPE);
		sigaddset(&defaults, SIGINT);
		sigaddset(&defaults, SIGQUIT);
		posix_spawnattr_setsigdefault(&attributes, &defaults);
		posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
		failure = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
		if (!failure)
			failure = posix_spawn(out, "/bin/sh", &actions, &attributes, words, environ);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return failure;
}

/*
 * Writes the text to the pager, until all is written or a write fails. A failed write is no error, because
 * users may leave the pager before the end.
 */
static void feed(int output, const struct kwhy_text *text)
{
	size_t at = 0;

	while (at < text->length) {
		ssize_t written = write(output, text->data + at, text->length - at);

		if (written < 0 && errno != EINTR)
			return;
		at += written > 0 ? (size_t)written : 0;
	}
}

static int wait_for(pid_t child)
{
	int state = 0;

	while (waitpid(child, &state, 0) < 0)
		if (errno != EINTR)
			return NOT_FOUND;
	return WIFEXITED(state) ? WEXITSTATUS(state) : 0;
}

/* Shows the text in the pager. False: the pager could not be run, and nothing was shown. */
static bool page(const char *pager, const struct kwhy_text *text)
{
	/*
	 * kwhy ignores SIGINT (Ctrl-C) and SIGQUIT while the pager runs, which handles them itself, and
	 * SIGPIPE, which writing causes if the user leaves the pager early
	 */
	static const int ignored[3] = {SIGPIPE, SIGINT, SIGQUIT};
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction before[3];
	bool is_shown = false;
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return false;
	for (size_t i = 0; i < 3; i++)
		sigaction(ignored[i], &ignore, &before[i]);
	if (!start(pager, ends[0], &child)) {
		close(ends[0]);
		feed(ends[1], text);
		close(ends[1]);
		is_shown = wait_for(child) != NOT_FOUND;
	} else {
		close(ends[0]);
		close(ends[1]);
	}
	for (size_t i = 0; i < 3; i++)
		sigaction(ignored[i], &before[i], NULL);
	return is_shown;
}

enum kwhy_status kwhy_pager_write(const struct kwhy_text *text, struct kwhy_error *error)
{
	const char *pager = secure_getenv("PAGER");

	if (!pager)
		pager = "command -v less >/dev/null || exit 127; exec less -FRX";
	if (*pager && isatty(STDOUT_FILENO) && page(pager, text))
		return KWHY_OK;
	return kwhy_output_write(NULL, text, error);
}
