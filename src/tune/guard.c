/* SPDX-License-Identifier: Apache-2.0 */
#include "tune/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ATTEMPTS = 5 };

/*
 * What kwhy writes to the guard's pipe: an order to be carried out if kwhy ends (is_armed), or its
 * withdrawal. It is smaller than PIPE_BUF, so it is written completely or not at all.
 */
struct message {
	bool is_armed;
	struct kwhy_tune_order order;
};

static void carry_out(const struct kwhy_tune_order *order)
{
	struct kwhy_error error;

	for (int i = 0; i < ATTEMPTS && kwhy_tune_order_carry_out(order, &error); i++)
		sleep(1);
}

/*
 * The guard's work: reads messages until kwhy's end of the pipe closes, as it does when kwhy ends, and then
 * carries out the order of the last message unless that was a withdrawal.
 */
static void watch(int pipe)
{
	struct message last = {0}, next;
	ssize_t got;

	do {
		got = read(pipe, &next, sizeof(next));
		if (got == (ssize_t)sizeof(next))
			last = next;
	} while (got == (ssize_t)sizeof(next) || (got < 0 && errno == EINTR));
	if (last.is_armed)
		carry_out(&last.order);
}

static void ignore_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_IGN);
}

/*
 * Runs in a child of kwhy. The child starts the guard as its own child and ends at once, so that kwhy need
 * not wait for the guard.
 */
static void start_guard(const int ends[2])
{
	pid_t guard;

	close(ends[1]);
	setsid();
	ignore_signals();
	guard = fork();
	if (guard == 0)
		watch(ends[0]);
	_exit(guard < 0);
}

enum kwhy_status kwhy_tune_guard_open(struct kwhy_tune_guard *guard, struct kwhy_error *error)
{
	int ends[2], ended = 0;
	pid_t child;

	guard->pipe = -1;
	if (pipe2(ends, O_CLOEXEC))
		return kwhy_fail(
			error, KWHY_E_IO, "no pipe to the guard of the setting: %s", strerror(errno));
	child = fork();
	if (child == 0)
		start_guard(ends);
	close(ends[0]);
	guard->pipe = ends[1];
	if (child > 0 && waitpid(child, &ended, 0) == child && ended == 0)
		return KWHY_OK;
	kwhy_tune_guard_close(guard);
	return kwhy_fail(error, KWHY_E_IO, "no guard of the setting could be started");
}

static enum kwhy_status tell(
	struct kwhy_tune_guard *guard, const struct message *message, struct kwhy_error *error)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	ssize_t put;

	sigaction(SIGPIPE, &ignore, &before);
	put = write(guard->pipe, message, sizeof(*message));
	sigaction(SIGPIPE, &before, NULL);
	if (put == (ssize_t)sizeof(*message))
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_IO, "the guard of the setting is gone: %s", strerror(errno));
}

enum kwhy_status kwhy_tune_guard_arm(
	struct kwhy_tune_guard *guard, const struct kwhy_tune_order *order, struct kwhy_error *error)
{
	struct message message;

	memset(&message, 0, sizeof(message));
	message.is_armed = true;
	message.order = *order;
	return tell(guard, &message, error);
}

enum kwhy_status kwhy_tune_guard_disarm(struct kwhy_tune_guard *guard, struct kwhy_error *error)
{
	struct message message;

	memset(&message, 0, sizeof(message));
	return tell(guard, &message, error);
}

void kwhy_tune_guard_close(struct kwhy_tune_guard *guard)
{
	if (guard->pipe >= 0)
		close(guard->pipe);
	guard->pipe = -1;
}
