/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_RANKS_H
#define KWHY_LAUNCH_RANKS_H

#include "base/status.h"

#include <stdint.h>
#include <sys/types.h>

/* Copies of this program on this host, which learn who they are as torchrun would tell them. One thread. */
enum { KWHY_LAUNCH_RANKS_MAX = 64 };

struct kwhy_launch_ranks {
	pid_t processes[KWHY_LAUNCH_RANKS_MAX]; /* of rank 1 and on */
	uint32_t count;
};

#define KWHY_LAUNCH_SECRET_VARIABLE "KWHY_RANKS_SECRET"

/* Ranks 1 to size - 1, of the words that this one was started by; it is rank 0. MASTER_PORT is `port`. The
 * secret is given to them in their environment, which only this user and root can read. */
KWHY_MUST_USE enum kwhy_status kwhy_launch_ranks_start(uint32_t size, uint16_t port, const char *secret,
	struct kwhy_launch_ranks *out, struct kwhy_error *error);
/* Waits for them, a few seconds at most: then they are ended. */
void kwhy_launch_ranks_end(struct kwhy_launch_ranks *ranks);

#endif
