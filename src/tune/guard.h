/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TUNE_GUARD_H
#define KWHY_TUNE_GUARD_H

#include "tune/setting.h"

/*
 * A process of its own that puts a setting back when ours is gone without having done so: killed, crashed, or
 * forgotten. It holds the end of a pipe and waits for it to close; signals of a terminal do not reach it.
 * What kills everything at once, as a container that is stopped, kills it too.
 */
struct kwhy_tune_guard {
	int pipe; /* -1: closed */
};

/* Before NVML is opened and before threads are started: the guard is a fork of ours. */
KWHY_MUST_USE enum kwhy_status kwhy_tune_guard_open(struct kwhy_tune_guard *guard, struct kwhy_error *error);

/* From now on it is to carry out the order when we are gone; before the first change. */
KWHY_MUST_USE enum kwhy_status kwhy_tune_guard_arm(
	struct kwhy_tune_guard *guard, const struct kwhy_tune_order *order, struct kwhy_error *error);

/* It is put back: nothing is left to do. */
KWHY_MUST_USE enum kwhy_status kwhy_tune_guard_disarm(
	struct kwhy_tune_guard *guard, struct kwhy_error *error);

/* The guard ends; an armed one carries out its order first. */
void kwhy_tune_guard_close(struct kwhy_tune_guard *guard);

#endif
