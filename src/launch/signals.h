/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_SIGNALS_H
#define KWHY_LAUNCH_SIGNALS_H

#include "base/status.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A signalfd that reports, in place of signal handlers, SIGCHLD and the signals that ask a program to end:
 * SIGINT, SIGTERM, SIGQUIT and, unless it is ignored, SIGHUP. Open it before any thread is started, so that
 * every thread blocks these signals. Only one may be open at a time.
 */
struct kwhy_signals {
	int file; /* descriptor of signalfd() */
	/*
	 * signal mask of the thread before kwhy_signals_open(); commands are started with it, and
	 * kwhy_signals_close() restores it
	 */
	sigset_t before;
	int asked;	/* number of the first signal that asked this process to end; 0: none yet */
	unsigned count; /* how many such signals have arrived */
};

/* Whether SIGHUP is ignored, as under nohup(1): then it does not ask this process to end. */
bool kwhy_signals_hangup_ignored(void);

KWHY_MUST_USE enum kwhy_status kwhy_signals_open(struct kwhy_signals *signals, struct kwhy_error *error);
void kwhy_signals_close(struct kwhy_signals *signals);

/*
 * Handles pending signals; does not wait. The first signal that asks for an end is forwarded to the process
 * `child` (0: there is none), unless the terminal has sent it to the whole process group, and thus to the
 * child, already. Any later one kills the child.
 */
void kwhy_signals_take(struct kwhy_signals *signals, pid_t child);

/*
 * The same, to be called once directly after the child was started. It forwards the first signal even if it
 * is from the terminal, because the child did not exist yet when the signal was sent. If the child did exist,
 * it gets the signal twice, which makes no difference as long as the child has not installed a handler.
 */
void kwhy_signals_take_early(struct kwhy_signals *signals, pid_t child);

/* Waits until a time on CLOCK_MONOTONIC. Returns true, at once, if a signal asks or has asked for an end. */
bool kwhy_signals_wait(struct kwhy_signals *signals, int64_t until_mono_ns);

#endif
