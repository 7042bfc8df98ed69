/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/signals.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int taken[] = {SIGCHLD, SIGINT, SIGTERM, SIGQUIT};

bool kwhy_signals_hangup_ignored(void)
{
	struct sigaction action;

	return sigaction(SIGHUP, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

enum kwhy_status kwhy_signals_open(struct kwhy_signals *signals, struct kwhy_error *error)
{
	sigset_t set;

	*signals = (struct kwhy_signals){.file = -1};
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		sigaddset(&set, taken[i]);
	if (!kwhy_signals_hangup_ignored())
		sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, &signals->before);
	signals->file = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (signals->file < 0) {
		pthread_sigmask(SIG_SETMASK, &signals->before, NULL);
		return kwhy_fail(error, KWHY_E_IO, "cannot watch for signals: %s", strerror(errno));
	}
	return KWHY_OK;
}

void kwhy_signals_close(struct kwhy_signals *signals)
{
	if (signals->file < 0)
		return;
	close(signals->file);
	pthread_sigmask(SIG_SETMASK, &signals->before, NULL);
	signals->file = -1;
}

/*
 * Handles a signal that asks kwhy to end: the first one is forwarded to the child, any later one kills it.
 * The first is not forwarded if the kernel sent it, as a terminal's Ctrl-C to a whole process group, and the
 * child existed then (was_there).
 */
static void pass_on(
	struct kwhy_signals *signals, const struct signalfd_siginfo *info, pid_t child, bool was_there)
{
	int signal = (int)info->ssi_signo;

	if (!signals->asked)
		signals->asked = signal;
	signals->count++;
	if (child <= 0)
		return;
	if (signals->count > 1)
		kill(child, SIGKILL);
	else if (!was_there || info->ssi_code != SI_KERNEL)
		kill(child, signal);
}

static void take(struct kwhy_signals *signals, pid_t child, bool was_there)
{
	struct signalfd_siginfo info;

	while (read(signals->file, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			pass_on(signals, &info, child, was_there);
}

void kwhy_signals_take(struct kwhy_signals *signals, pid_t child)
{
	take(signals, child, true);
}

void kwhy_signals_take_early(struct kwhy_signals *signals, pid_t child)
{
	take(signals, child, false);
}

bool kwhy_signals_wait(struct kwhy_signals *signals, int64_t until_mono_ns)
{
	for (;;) {
		struct pollfd file = {.fd = signals->file, .events = POLLIN};
		int64_t left_ns = until_mono_ns - kwhy_clock_mono_ns();
		struct timespec left = {left_ns / 1000000000, left_ns % 1000000000};

		kwhy_signals_take(signals, 0);
		if (signals->asked || left_ns <= 0)
			return signals->asked != 0;
		ppoll(&file, 1, &left, NULL);
	}
}
