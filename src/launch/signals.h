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
	/* the signal mask from before, for children, and to be restored at the end */
	sigset_t before;
	int asked;	/* the first signal that asked to end; 0: there was none yet */
	unsigned count; /* number of signals so far that asked to end */
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
 * Does the same directly after the child was started, but forwards requests of the terminal, too: one from
 * before the start did not reach the child. If it came after the start, the child gets it twice. It cannot
 * notice that as long as it has no handler for it.
 */
void kwhy_signals_take_early(struct kwhy_signals *signals, pid_t child);

/* Waits until a time on CLOCK_MONOTONIC. True: it returned earlier because of a request to end. */
bool kwhy_signals_wait(struct kwhy_signals *signals, int64_t until_mono_ns);

#endif
