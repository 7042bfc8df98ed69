/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TUNE_GUARD_H
#define KWHY_TUNE_GUARD_H

#include "tune/setting.h"

/*
 * A separate process that restores a setting if kwhy ends without having restored it: killed, crashed, or by
 * mistake. It waits for its end of a pipe to close; signals of a terminal do not reach it. Whatever kills all
 * processes, such as stopping a container, kills it too.
 */
struct kwhy_tune_guard {
	int pipe; /* write end of the pipe; -1: closed */
};

/*
 * Starts the guard as a fork of this process. Call it before NVML is opened and before threads are started.
 */
KWHY_MUST_USE enum kwhy_status kwhy_tune_guard_open(struct kwhy_tune_guard *guard, struct kwhy_error *error);

/* Hands the guard an order to carry out if this process ends. Call it before the first change. */
KWHY_MUST_USE enum kwhy_status kwhy_tune_guard_arm(
	struct kwhy_tune_guard *guard, const struct kwhy_tune_order *order, struct kwhy_error *error);

/* Withdraws the order, after the setting was restored. */
KWHY_MUST_USE enum kwhy_status kwhy_tune_guard_disarm(
	struct kwhy_tune_guard *guard, struct kwhy_error *error);

/* Ends the guard; an armed one carries out its order first. */
void kwhy_tune_guard_close(struct kwhy_tune_guard *guard);

#endif
