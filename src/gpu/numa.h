/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_GPU_NUMA_H
#define KWHY_GPU_NUMA_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Finds out from /sys which memory is near which processors, and makes the system calls that place memory and
 * threads. They are used in place of libnuma, so that libraries of kwhy do not depend on it.
 */

enum { KWHY_NUMA_NODES_MAX = 64 };

struct kwhy_numa_node {
	int node;	       /* number of the node in the system */
	uint64_t memory_bytes; /* memory of the node in bytes; 0: unknown */
	cpu_set_t cpus;	       /* processors of the node; empty: it has memory only */
};

struct kwhy_numa {
	/* nodes that have memory, in ascending order of their numbers */
	struct kwhy_numa_node nodes[KWHY_NUMA_NODES_MAX];
	uint32_t count; /* number of nodes; 0: unknown */
};

/* Reads the nodes below `sys`, which is "/sys" or, in tests, a folder like it. */
void kwhy_numa_read(const char *sys, struct kwhy_numa *out);

/*
 * Makes the system prefer `node` for the pages of `memory`, which must be page-aligned and never accessed
 * before. false: the system refused or the node does not exist; the system then chooses the node of each
 * page.
 */
bool kwhy_numa_bind(void *memory, size_t bytes, int node);

/* A thread's NUMA memory policy (set_mempolicy(2)), as kwhy_numa_prefer() found it. */
struct kwhy_numa_policy {
	int mode;
	unsigned long mask[CPU_SETSIZE / (8 * sizeof(unsigned long))];
};

/*
 * Until kwhy_numa_restore(), new pages of the calling thread come from `node` if it has free ones. Thus
 * memory that a driver allocates in a call of this thread is placed on `node`, too. false: the system
 * refused, and nothing was changed, so do not restore.
 */
bool kwhy_numa_prefer(int node, struct kwhy_numa_policy *out_before);
void kwhy_numa_restore(const struct kwhy_numa_policy *before);

/*
 * Restricts the calling thread to those of its present CPUs that are in `cpus`. If there are none, it does
 * nothing.
 */
void kwhy_numa_stay(const cpu_set_t *cpus);

#endif
