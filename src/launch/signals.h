/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_SIGNALS_H
#define KWHY_LAUNCH_SIGNALS_H

#include "base/status.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A descriptor that reports SIGCHLD and the signals that ask a program to end, in place of handlers. Open it
 * before any thread is started, so that every thread blocks these signals. Only one may be open at a time.
 */
struct kwhy_signals {
	int file; /* descriptor of signalfd() */
	/* the previous signal mask; children get it, and it is restored at the end */
	sigset_t before;
	int asked;	/* the first signal that requested an end; 0: none so far */
	unsigned count; /* number of signals so far that requested an end */
};

/*
 * Whether SIGHUP is ignored, as under nohup(1), so that the program outlives its terminal. SIGHUP is then no
 * request to end.
 */
bool kwhy_signals_hangup_ignored(void);

KWHY_MUST_USE enum kwhy_status kwhy_signals_open(struct kwhy_signals *signals, struct kwhy_error *error);
void kwhy_signals_close(struct kwhy_signals *signals);

/*
 * Handles pending signals without waiting. A request to end is forwarded to `child` (0: there is no child),
 * unless the terminal has sent it to the whole foreground process group already. The second request kills the
 * child.
 */
void kwhy_signals_take(struct kwhy_signals *signals, pid_t child);

/*
 * Like kwhy_signals_take(), for use directly after the child was started. It forwards requests from the
 * terminal, too, because a request that came before the start did not reach the child. A request that came
 * after the start reaches the child twice, which makes no difference before the child installs a handler.
 */
void kwhy_signals_take_early(struct kwhy_signals *signals, pid_t child);

/* Waits until a time on CLOCK_MONOTONIC. True: it returned earlier because of a request to end. */
bool kwhy_signals_wait(struct kwhy_signals *signals, int64_t until_mono_ns);

#endif
