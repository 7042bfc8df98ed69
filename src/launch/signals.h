/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_SIGNALS_H
#define KWHY_LAUNCH_SIGNALS_H

#include "base/status.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The signals that ask a program to end, and the one that says that a child did, as a file to poll instead
 * of handlers. Opened before any thread is started, so that every thread has them blocked; one at a time.
 */
struct kwhy_signals {
	int file;	 /* of signalfd() */
	sigset_t before; /* the mask to give a child, and back at the end */
	int asked;	 /* the first signal that asked to end; 0: none yet */
	unsigned count;	 /* of those that asked */
};

/* Somebody, as nohup(1) does, wants us to outlive the terminal: SIGHUP then is no request to end. */
bool kwhy_signals_hangup_ignored(void);

KWHY_MUST_USE enum kwhy_status kwhy_signals_open(struct kwhy_signals *signals, struct kwhy_error *error);
void kwhy_signals_close(struct kwhy_signals *signals);

/*
 * Takes what has come, without waiting. A request to end is passed on to `child` (0: none there) unless the
 * terminal gave it to the whole foreground group already; the second one kills the child.
 */
void kwhy_signals_take(struct kwhy_signals *signals, pid_t child);

/*
 * The same, right after the child was started: the terminal gave a request from before that to a group that
 * the child was not in yet, so it is passed on. One that came since the child gets twice, which it cannot
 * tell as long as it handles none.
 */
void kwhy_signals_take_early(struct kwhy_signals *signals, pid_t child);

/* Waits up to a time of CLOCK_MONOTONIC; true: at once, because there was a request to end. */
bool kwhy_signals_wait(struct kwhy_signals *signals, int64_t until_mono_ns);

#endif
