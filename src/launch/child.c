/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/child.h"

#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
	const struct kwhy_child_request *request;
	struct kwhy_signals *signals;
	struct kwhy_tee tees[2];
	pid_t pid;
	int64_t own_rss_bytes; /* peak resident size that kwhy itself had when the command started */
};

/*
 * A child begins as a copy of kwhy, so the peak resident size that wait4() reports for it is at least that of
 * kwhy at its start. It says something about the command only if it exceeds kwhy's peak by more than this
 * margin: the kernel counts pages for each processor separately, so two reported sizes may differ by about
 * this much although they are equal.
 */
#define RSS_MARGIN_BYTES (1 << 20)

static enum kwhy_status open_tees(struct child *child, struct kwhy_error *error)
{
	const struct kwhy_child_request *request = child->request;
	enum kwhy_status status = KWHY_OK;

	if (!request->seen)
		return KWHY_OK;
	for (int i = 0; !status && i < 2; i++)
		status = kwhy_tee_open(&child->tees[i], 1 + i, request->hides_output ? -1 : STDOUT_FILENO + i,
			request->seen, request->context, error);
	return status;
}

/*
 * Starts the command; returns 0 or an errno value. The command gets the signal mask that this process had
 * before kwhy_signals_open(), and the default action for SIGPIPE and SIGXFSZ, which kwhy ignores.
 */
static int spawn(struct child *child, posix_spawn_file_actions_t *files, posix_spawnattr_t *attributes)
{
	char *const *argv = child->request->argv, *const *ours = environ;
	char *const *settings = child->request->environment ? child->request->environment : ours;
	sigset_t ignored;
	int failed = 0;

	sigemptyset(&ignored);
	sigaddset(&ignored, SIGPIPE);
	sigaddset(&ignored, SIGXFSZ);
	posix_spawnattr_setsigmask(attributes, &child->signals->before);
	posix_spawnattr_setsigdefault(attributes, &ignored);
	posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	for (int i = 0; !failed && child->request->seen && i < 2; i++)
		failed = posix_spawn_file_actions_adddup2(files, child->tees[i].child_end, 1 + i);
	return failed ? failed : posix_spawnp(&child->pid, argv[0], files, attributes, argv, settings);
}

static int start(struct child *child)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	int failed = posix_spawn_file_actions_init(&files);

	if (failed)
		return failed;
	failed = posix_spawnattr_init(&attributes);
	if (!failed) {
		failed = spawn(child, &files, &attributes);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&files);
	for (size_t i = 0; i < 2; i++)
		kwhy_tee_close_child_end(&child->tees[i]);
	return failed;
}

/*
 * Whether a file of this name exists in any folder of PATH that this process may search; an empty entry of
 * PATH is the working folder.
 */
static bool is_in_path(const char *name)
{
	const char *folder = secure_getenv("PATH");
	char file[PATH_MAX];

	while (folder) {
		size_t length = strcspn(folder, ":");

		snprintf(
			file, sizeof(file), "%.*s/%s", length ? (int)length : 1, length ? folder : ".", name);
		if (access(file, F_OK) == 0)
			return true;
		folder = folder[length] ? folder + length + 1 : NULL;
	}
	return false;
}

static enum kwhy_status fail_start(
	const struct child *child, int failed, struct kwhy_child_end *out, struct kwhy_error *error)
{
	const char *name = child->request->argv[0];

	if (failed == EACCES && !strchr(name, '/') && !is_in_path(name))
		failed = ENOENT; /* posix_spawnp() returns EACCES if one folder of PATH cannot be searched,
				    even if none of the other folders has the command */
	out->exit = failed == ENOENT ? KWHY_EXIT_NOT_FOUND : KWHY_EXIT_NOT_EXECUTABLE;
	if (failed == ENOENT && !strchr(name, '/'))
		return kwhy_fail(error, KWHY_E_INPUT, "no command '%.200s' is in the folders of PATH", name);
	return kwhy_fail(error, KWHY_E_INPUT, "cannot run '%.200s': %s", name, strerror(failed));
}

static int64_t ns_of(const struct timeval *time)
{
	return (int64_t)time->tv_sec * 1000000000 + (int64_t)time->tv_usec * 1000;
}

/*
 * Whether the command has ended; does not wait. If it has, writes its end time, exit status, CPU times and
 * peak memory to `out`.
 */
static bool has_ended(struct child *child, struct kwhy_child_end *out)
{
	struct rusage used;
	int status;

	if (wait4(child->pid, &status, WNOHANG, &used) != child->pid)
		return false;
	out->end_mono_ns = kwhy_clock_mono_ns();
	out->user_ns = ns_of(&used.ru_utime);
	out->system_ns = ns_of(&used.ru_stime);
	out->max_rss_bytes = (int64_t)used.ru_maxrss * 1024;
	if (out->max_rss_bytes <= child->own_rss_bytes + RSS_MARGIN_BYTES)
		out->max_rss_bytes = 0;
	if (WIFSIGNALED(status))
		out->signal = WTERMSIG(status);
	out->exit = WIFSIGNALED(status) ? KWHY_EXIT_SIGNALLED + out->signal : WEXITSTATUS(status);
	return true;
}

/*
 * Reaps all ended children of this process. These are descendants of the command whose own parents ended
 * before them (PR_SET_CHILD_SUBREAPER). Returns whether children are left that still run.
 */
static bool reap(void)
{
	pid_t reaped;

	do
		reaped = waitpid(-1, NULL, WNOHANG);
	while (reaped > 0);
	return reaped == 0;
}

/*
 * Waits until a signal or output is pending, but at most for `left` (NULL: without limit), and handles it:
 * forwards signals to the command and moves its output one step. False: nothing came in that time, or the
 * wait failed.
 */
static bool wait_on(struct child *child, const struct timespec *left)
{
	struct pollfd files[3] = {
		{.fd = child->signals->file, .events = POLLIN},
		kwhy_tee_wants(&child->tees[0]),
		kwhy_tee_wants(&child->tees[1]),
	};

	if (ppoll(files, 3, left, NULL) <= 0)
		return false;
	kwhy_signals_take(child->signals, child->pid);
	for (size_t i = 0; i < 2; i++)
		kwhy_tee_move(&child->tees[i], files[i + 1].revents);
	return true;
}

static void wait_until(struct child *child, int64_t mono_ns)
{
	int64_t left_ns = mono_ns - kwhy_clock_mono_ns();
	struct timespec left = {0, 0};

	if (left_ns > 0)
		left = (struct timespec){left_ns / 1000000000, left_ns % 1000000000};
	wait_on(child, &left);
}

/*
 * Called when the command has ended: passes on what the pipes of its output still contain. If the reader of
 * kwhy's own output does not read, this waits, until a signal that asks kwhy to end arrives.
 */
static void drain(struct child *child)
{
	const struct timespec no_time = {0, 0};
	unsigned asked = child->signals->count;
	bool more = true;

	child->pid = 0;
	for (size_t i = 0; i < 2; i++)
		kwhy_tee_last(&child->tees[i]);
	while (more && child->signals->count == asked) {
		bool holds = kwhy_tee_holds(&child->tees[0]) || kwhy_tee_holds(&child->tees[1]);

		more = wait_on(child, holds ? NULL : &no_time);
	}
}

static void attend(struct child *child, struct kwhy_child_end *out)
{
	const struct kwhy_child_request *request = child->request;
	/*
	 * SIGCHLD can be lost to a thread of a library that does not block it. So without ticks the command's
	 * state is also checked once a second; with ticks, at each tick.
	 */
	const struct timespec check = {1, 0};
	int64_t next_tick_ns = out->start_mono_ns + request->tick_ns;
	struct rusage own;

	out->has_run = true;
	getrusage(RUSAGE_SELF, &own);
	child->own_rss_bytes = (int64_t)own.ru_maxrss * 1024;
	kwhy_signals_take_early(child->signals, child->pid);
	if (request->started)
		request->started(request->context);
	while (!has_ended(child, out)) {
		if (!request->tick_ns)
			wait_on(child, &check);
		else
			wait_until(child, next_tick_ns);
		if (!request->tick_ns || kwhy_clock_mono_ns() < next_tick_ns)
			continue;
		request->tick(request->context);
		next_tick_ns = kwhy_clock_mono_ns() + request->tick_ns;
	}
	if (request->ended)
		request->ended(request->context);
	drain(child);
	out->left_running = reap();
}

enum kwhy_status kwhy_child_run(const struct kwhy_child_request *request, struct kwhy_signals *signals,
	struct kwhy_child_end *out, struct kwhy_error *error)
{
	struct child child = {.request = request, .signals = signals};
	enum kwhy_status status = open_tees(&child, error);
	int failed = 0;

	*out = (struct kwhy_child_end){.exit = KWHY_EXIT_NOT_EXECUTABLE};
	if (!status) {
		struct sigaction ignore = {.sa_handler = SIG_IGN}, before;

		prctl(PR_SET_CHILD_SUBREAPER, 1);
		sigaction(SIGPIPE, &ignore, &before);
		out->start_mono_ns = kwhy_clock_mono_ns();
		failed = start(&child);
		if (failed)
			status = fail_start(&child, failed, out, error);
		else
			attend(&child, out);
		sigaction(SIGPIPE, &before, NULL);
	}
	for (size_t i = 0; i < 2; i++)
		kwhy_tee_close(&child.tees[i]);
	return status;
}
