/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_SIGNALS_H
#define KWHY_LAUNCH_SIGNALS_H

#include "base/status.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The signals that ask a program to end and SIGCHLD, as a descriptor to poll instead of handlers. Open it
 * before any thread is started, so that every thread blocks these signals; only one may be open at a time.
 */
struct kwhy_signals {
	int file;	 /* descriptor of signalfd() */
	sigset_t before; /* the signal mask before, for children and to restore at the end */
	int asked;	 /* first signal that asked to end; 0: no signal yet */
	unsigned count;	 /* number of signals that asked to end */
};

/* Is SIGHUP ignored, as under nohup(1), so that we outlive the terminal? Then it is not a request to end. */
bool kwhy_signals_hangup_ignored(void);

KWHY_MUST_USE enum kwhy_status kwhy_signals_open(struct kwhy_signals *signals, struct kwhy_error *error);
void kwhy_signals_close(struct kwhy_signals *signals);

/*
 * Handles pending signals without waiting. A request to end is forwarded to `child` (0: no child) unless the
 * terminal sent it to the whole foreground process group already. The second request kills the child.
 */
void kwhy_signals_take(struct kwhy_signals *signals, pid_t child);

/*
 * The same, for use right after the child was started. A request that the terminal sent earlier did not reach
 * the child, which was not yet in the group, so it is forwarded. If it came after the start the child gets it
 * twice, which it cannot notice while it has no handler.
 */
void kwhy_signals_take_early(struct kwhy_signals *signals, pid_t child);

/* Waits until a time of CLOCK_MONOTONIC. True: it returned early, because of a request to end. */
bool kwhy_signals_wait(struct kwhy_signals *signals, int64_t until_mono_ns);

#endif
