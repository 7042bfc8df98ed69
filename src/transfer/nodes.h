/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_NODES_H
#define KWHY_TRANSFER_NODES_H

#include "base/status.h"

#include <stdint.h>

/*
 * The NUMA nodes that hold rings, the one nearest to the device first. There is only one where the options
 * name it, where the device's node is unknown, or where the machine has one.
 */
enum { KWHY_TRANSFER_NODES_MAX = 8 }; /* threads on further nodes use the first node's ring */

struct kwhy_transfer_nodes {
	uint32_t count;
	int node[KWHY_TRANSFER_NODES_MAX]; /* numbers of the nodes in the system; -1: anywhere */
	/* Index of the node that the calling thread is on now. */
	uint32_t (*of_thread)(const struct kwhy_transfer_nodes *nodes);
};

/*
 * Finds the nodes. `near`: the device's node, -1: unknown. `wanted`: as `numa` in the options, 0: all nodes;
 * KWHY_E_INPUT: there is no such node. A machine that lists no nodes has only node 0. `sys`: "/sys", or a
 * directory like it for tests.
 */
KWHY_MUST_USE enum kwhy_status kwhy_transfer_nodes_find(
	struct kwhy_transfer_nodes *out, const char *sys, int near, int wanted, struct kwhy_error *error);

#endif
