/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_HOLD_H
#define KWHY_INJECT_PROBE_HOLD_H

#include "inject/probe/probe.h"

/*
 * A process has at most one burst at a time, held by one thread. These functions make a thread its holder,
 * run the burst within that thread's CUDA call, and store its result. All functions are called on threads of
 * the program, within callbacks of CUPTI.
 */

/*
 * State of a thread that kwhy_probe_enter() saves before the prober calls the driver and kwhy_probe_leave()
 * restores: the capture mode, which is relaxed in between so that these calls invalidate no stream capture,
 * and errno.
 */
struct kwhy_probe_own {
	int capture_mode, errno_before;
};

struct kwhy_probe_own kwhy_probe_enter(struct kwhy_probe *probe);
void kwhy_probe_leave(struct kwhy_probe *probe, struct kwhy_probe_own own);

/*
 * Whether this thread is between kwhy_probe_enter() and kwhy_probe_leave(), so that a driver call that CUPTI
 * reports is the prober's own.
 */
bool kwhy_probe_is_inside(void);

/* Whether this thread holds the burst. */
bool kwhy_probe_has_burst(void);

/*
 * Waits until no other thread holds the burst; after two seconds all probing ends instead. A burst restores
 * memory at its end, which would undo changes that this thread makes meanwhile.
 */
void kwhy_probe_wait_for_others(struct kwhy_probe *probe);

/* Makes this thread the holder of the burst. False: another thread holds it. */
bool kwhy_probe_take_hold(struct kwhy_probe *probe);
void kwhy_probe_let_go(struct kwhy_probe *probe);

/* Call it in a child of fork: the child's thread holds no burst. */
void kwhy_probe_forget_hold(void);

/*
 * Prepares the burst of a launch (kwhy_probe_burst_begin()); this thread must hold the burst
 * (kwhy_probe_take_hold()). If the launch cannot be repeated, the reason is stored in the account, and this
 * thread does not hold the burst any longer.
 */
void kwhy_probe_begin_burst(struct kwhy_probe *probe, struct kwhy_probe_account *account,
	const struct kwhy_probe_launch *launch, bool is_of_graph);

/* Repeats the launch, restores memory, stores the result as a row, and releases the burst. */
void kwhy_probe_finish_burst(struct kwhy_probe *probe);

/*
 * To be called when CUPTI reports the end of a call while this thread holds the burst. If it is the call for
 * which the burst was begun and it succeeded, finishes the burst; otherwise the attempt ends without one.
 */
void kwhy_probe_end_burst(struct kwhy_probe *probe, const struct kwhy_cupti_callback *data);

/* Ends a burst, or an attempt without one: adds its time to the time in bursts, and lets go of the burst. */
void kwhy_probe_end_attempt(struct kwhy_probe *probe);

#endif
