/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_GPU_NUMA_H
#define KWHY_GPU_NUMA_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads from /sys which memory is near which processors, and makes the system calls that place memory and
 * threads: only what the library that programs link needs, so that it needs no other library.
 */

enum { KWHY_NUMA_NODES_MAX = 64 };

struct kwhy_numa_node {
	int node;	       /* number in the system */
	uint64_t memory_bytes; /* 0: unknown */
	cpu_set_t cpus;	       /* empty: the node has memory but no processors */
};

struct kwhy_numa {
	struct kwhy_numa_node nodes[KWHY_NUMA_NODES_MAX]; /* nodes with memory, in ascending order */
	uint32_t count;					  /* 0: unknown */
};

/* Reads the nodes; `sys` is "/sys", or a test's tree. */
void kwhy_numa_read(const char *sys, struct kwhy_numa *out);

/*
 * Sets `node` as the preferred node for the pages of `memory`, which is page-aligned and not yet touched.
 * False: the system refused, or the node does not exist; the system then chooses where the pages are.
 */
bool kwhy_numa_bind(void *memory, size_t bytes, int node);

/* A thread's memory policy before kwhy_numa_prefer(). */
struct kwhy_numa_policy {
	int mode;
	unsigned long mask[CPU_SETSIZE / (8 * sizeof(unsigned long))];
};

/*
 * New pages of the calling thread come from `node` if it has free ones, until kwhy_numa_restore(): for memory
 * that a driver allocates. False: the system refused, and nothing was changed.
 */
bool kwhy_numa_prefer(int node, struct kwhy_numa_policy *out_before);
void kwhy_numa_restore(const struct kwhy_numa_policy *before);

/*
 * Restricts the calling thread to those of `cpus` that it may use now; does nothing if it may use none of
 * them.
 */
void kwhy_numa_stay(const cpu_set_t *cpus);

#endif
