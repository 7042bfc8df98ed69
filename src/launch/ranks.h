/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_RANKS_H
#define KWHY_LAUNCH_RANKS_H

#include "base/status.h"

#include <stdint.h>
#include <sys/types.h>

/*
 * Starts further copies of this program on this host as ranks, with the environment variables that torchrun
 * would set. Only one thread may use it.
 */
enum { KWHY_LAUNCH_RANKS_MAX = 64 };

struct kwhy_launch_ranks {
	pid_t processes[KWHY_LAUNCH_RANKS_MAX]; /* processes of ranks 1, 2, ..., in this order */
	uint32_t count;
};

#define KWHY_LAUNCH_SECRET_VARIABLE "KWHY_RANKS_SECRET"

/*
 * Starts ranks 1 to size - 1 with the arguments of this program, which is rank 0. They get `port` as
 * MASTER_PORT, and the secret in their environment, which only this user and root can read.
 */
KWHY_MUST_USE enum kwhy_status kwhy_launch_ranks_start(uint32_t size, uint16_t port, const char *secret,
	struct kwhy_launch_ranks *out, struct kwhy_error *error);
/* Waits a few seconds for the ranks to end, then kills the remaining ones. */
void kwhy_launch_ranks_end(struct kwhy_launch_ranks *ranks);

#endif
