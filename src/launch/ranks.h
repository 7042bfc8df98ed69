/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_RANKS_H
#define KWHY_LAUNCH_RANKS_H

#include "base/status.h"

#include <stdint.h>
#include <sys/types.h>

/*
 * Starts more processes of this program on this host, as the further ranks of a distributed program, with the
 * environment variables that torchrun sets. Only one thread may use it.
 */
enum { KWHY_LAUNCH_RANKS_MAX = 64 };

struct kwhy_launch_ranks {
	pid_t processes[KWHY_LAUNCH_RANKS_MAX]; /* [i]: process of rank 1 + i */
	uint32_t count;
};

#define KWHY_LAUNCH_SECRET_VARIABLE "KWHY_RANKS_SECRET"

/*
 * Starts ranks 1 to size - 1, but at most KWHY_LAUNCH_RANKS_MAX processes, with the arguments of this
 * program, which is rank 0. Their MASTER_PORT is `port`. Their environment also contains the secret, since
 * only this user and root can read it. On failure the ranks that were started are ended.
 */
KWHY_MUST_USE enum kwhy_status kwhy_launch_ranks_start(uint32_t size, uint16_t port, const char *secret,
	struct kwhy_launch_ranks *out, struct kwhy_error *error);
/*
 * Waits up to 5 s for the ranks to end, then kills those that still run. It returns only after all have
 * ended.
 */
void kwhy_launch_ranks_end(struct kwhy_launch_ranks *ranks);

#endif
