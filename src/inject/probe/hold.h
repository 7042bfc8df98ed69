/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_HOLD_H
#define KWHY_INJECT_PROBE_HOLD_H

#include "inject/probe/probe.h"

/*
 * A process has at most one burst at a time. This interface decides which thread holds it, runs it within the
 * thread's CUDA call, and keeps its result. All functions are called on threads of the program, within
 * callbacks of CUPTI.
 */

/*
 * State of the thread that is saved before calls of the prober and restored after them, because these calls
 * must neither invalidate another thread's stream capture nor change errno.
 */
struct kwhy_probe_own {
	int capture_mode, errno_before;
};

struct kwhy_probe_own kwhy_probe_enter(struct kwhy_probe *probe);
void kwhy_probe_leave(struct kwhy_probe *probe, struct kwhy_probe_own own);

/* Whether this thread is inside a driver call of the prober, which CUPTI reports like the program's calls. */
bool kwhy_probe_is_inside(void);

/* Whether this thread holds the burst. */
bool kwhy_probe_has_burst(void);

/*
 * Waits, for at most two seconds, until no other thread holds the burst. A burst restores memory at its end,
 * which would undo changes that this thread makes meanwhile.
 */
void kwhy_probe_wait_for_others(struct kwhy_probe *probe);

/* Makes this thread the holder of the burst. False: another thread holds it. */
bool kwhy_probe_take_hold(struct kwhy_probe *probe);
void kwhy_probe_let_go(struct kwhy_probe *probe);

/* Call it in a child of fork: the child's thread holds no burst. */
void kwhy_probe_forget_hold(void);

/*
 * Begins a burst on the thread that holds it. If the launch cannot be repeated, the thread stops holding the
 * burst.
 */
void kwhy_probe_begin_burst(struct kwhy_probe *probe, struct kwhy_probe_account *account,
	const struct kwhy_probe_launch *launch, bool is_of_graph);

/* Repeats the launch, restores memory, stores the result as a row, and releases the burst. */
void kwhy_probe_finish_burst(struct kwhy_probe *probe);

/*
 * Finishes the burst at the end of the call that launches. If that launch failed, or if the call that ends
 * is not the one that launched, the attempt ends without a burst.
 */
void kwhy_probe_end_burst(struct kwhy_probe *probe, const struct kwhy_cupti_callback *data);

/* Ends an attempt in which no burst was made. Its time counts as time of bursts. */
void kwhy_probe_end_attempt(struct kwhy_probe *probe);

#endif
