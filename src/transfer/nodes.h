/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_NODES_H
#define KWHY_TRANSFER_NODES_H

#include "base/status.h"

#include <stdint.h>

/*
 * The NUMA nodes that rings lie on: the one nearest to the device first, or one alone where the program named
 * it, the device's is not known, or there is but one.
 */
enum { KWHY_TRANSFER_NODES_MAX = 8 }; /* threads on further ones use the first's ring */

struct kwhy_transfer_nodes {
	uint32_t count;
	int node[KWHY_TRANSFER_NODES_MAX]; /* as the system numbers them; -1: wherever it puts memory */
	/* Which of them the calling thread is on now. */
	uint32_t (*of_thread)(const struct kwhy_transfer_nodes *nodes);
};

/*
 * `near`: the device's, -1: unknown. `wanted`: as the options' numa, 0: all; KWHY_E_INPUT: there is no such
 * node. A machine that lists none has node 0 alone. `sys`: "/sys", or a made-up tree.
 */
KWHY_MUST_USE enum kwhy_status kwhy_transfer_nodes_find(
	struct kwhy_transfer_nodes *out, const char *sys, int near, int wanted, struct kwhy_error *error);

#endif
