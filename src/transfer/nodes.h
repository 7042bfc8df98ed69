/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_NODES_H
#define KWHY_TRANSFER_NODES_H

#include "base/status.h"

#include <sched.h>
#include <stdint.h>

/*
 * The NUMA nodes on which an engine has rings of slots; the node nearest to the device comes first. There is
 * only one if the options name one, if the device's node is unknown, or if the machine has only one with
 * memory and CPUs.
 */
/* largest number of nodes with rings; threads on any further nodes use the rings of the first node */
enum { KWHY_TRANSFER_NODES_MAX = 8 };

struct kwhy_transfer_nodes {
	uint32_t count;
	int node[KWHY_TRANSFER_NODES_MAX];	 /* by index: number of the node in the system; -1: the system
						    chooses the node of the memory */
	cpu_set_t cpus[KWHY_TRANSFER_NODES_MAX]; /* by index: processors of the node */
	/* Gets the index of the node on which the calling thread is running now. */
	uint32_t (*of_thread)(const struct kwhy_transfer_nodes *nodes);
};

/*
 * Finds the nodes for rings. `near`: the device's node; -1: unknown. `wanted`: 1 + a node's number, as `numa`
 * of the options; 0: all nodes. KWHY_E_INPUT: that node does not exist or has no memory. A machine that lists
 * no nodes has only node 0. `sys`: "/sys" or, in tests, a folder like it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_transfer_nodes_find(
	struct kwhy_transfer_nodes *out, const char *sys, int near, int wanted, struct kwhy_error *error);

#endif
