/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TUNE_GUARD_H
#define KWHY_TUNE_GUARD_H

#include "tune/setting.h"

/*
 * A separate process that restores a device's setting if kwhy ends without having restored it, because it was
 * killed or has crashed. The guard waits until kwhy's end of a pipe closes; it runs in a session of its own,
 * so signals of a terminal (Ctrl-C) do not reach it. If all processes are killed at the same time, as when a
 * container is stopped, nothing is restored.
 */
struct kwhy_tune_guard {
	int pipe; /* write end of the pipe; -1: closed */
};

/*
 * Starts the guard as a fork of this process. Call it before NVML is opened and before other threads start,
 * since neither survives a fork.
 */
KWHY_MUST_USE enum kwhy_status kwhy_tune_guard_open(struct kwhy_tune_guard *guard, struct kwhy_error *error);

/*
 * Gives the guard an order (how to restore the device), which it carries out if this process ends before the
 * order is withdrawn. Call it before the first change of a setting.
 */
KWHY_MUST_USE enum kwhy_status kwhy_tune_guard_arm(
	struct kwhy_tune_guard *guard, const struct kwhy_tune_order *order, struct kwhy_error *error);

/* Withdraws the order. Call it after the setting was restored. */
KWHY_MUST_USE enum kwhy_status kwhy_tune_guard_disarm(
	struct kwhy_tune_guard *guard, struct kwhy_error *error);

/* Ends the guard. If its order was not withdrawn, the guard carries the order out first. */
void kwhy_tune_guard_close(struct kwhy_tune_guard *guard);

#endif
