/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_HOLD_H
#define KWHY_INJECT_PROBE_HOLD_H

#include "inject/probe/probe.h"

/*
 * The one burst of the process: which thread holds it, what it repeats, and what came of it. All functions
 * are called on threads of the program, within callbacks of CUPTI.
 */

/* State saved around our own calls, which must not end a capture by another thread nor change errno. */
struct kwhy_probe_own {
	int capture_mode, errno_before;
};

struct kwhy_probe_own kwhy_probe_enter(struct kwhy_probe *probe);
void kwhy_probe_leave(struct kwhy_probe *probe, struct kwhy_probe_own own);

/* Is this thread within a call of our own, which CUPTI reports, too? */
bool kwhy_probe_is_inside(void);

/* Does this thread hold the burst? */
bool kwhy_probe_has_burst(void);

/* Waits, for at most two seconds, for a burst of another thread, which would undo what this thread does next.
 */
void kwhy_probe_wait_for_others(struct kwhy_probe *probe);

/* False: another thread holds the burst. */
bool kwhy_probe_take_hold(struct kwhy_probe *probe);
void kwhy_probe_let_go(struct kwhy_probe *probe);

/* In a child of fork: this thread holds nothing. */
void kwhy_probe_forget_hold(void);

/* Begins a burst on the thread that holds it; if there is none, the thread no longer holds it. */
void kwhy_probe_begin_burst(struct kwhy_probe *probe, struct kwhy_probe_account *account,
	const struct kwhy_probe_launch *launch, bool is_of_graph);

/* Repeats, restores memory, keeps the row of the burst, and lets go. */
void kwhy_probe_finish_burst(struct kwhy_probe *probe);

/* Finishes the burst at the end of its launch; a launch that failed, or another one, ends the attempt. */
void kwhy_probe_end_burst(struct kwhy_probe *probe, const struct kwhy_cupti_callback *data);

/* Ends an attempt that made no burst; its time still counts. */
void kwhy_probe_end_attempt(struct kwhy_probe *probe);

#endif
