/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_GPU_NUMA_H
#define KWHY_GPU_NUMA_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Which memory lies near which processors, from /sys, and the system calls that put memory and threads there:
 * what the library that programs link needs, without a library of its own.
 */

enum { KWHY_NUMA_NODES_MAX = 64 };

struct kwhy_numa_node {
	int node;	       /* as the system numbers it */
	uint64_t memory_bytes; /* 0: unknown */
	cpu_set_t cpus;	       /* none: memory without processors */
};

struct kwhy_numa {
	struct kwhy_numa_node nodes[KWHY_NUMA_NODES_MAX]; /* those with memory, ascending */
	uint32_t count;					  /* 0: the system does not tell */
};

/* `sys` is "/sys", or a made-up tree. */
void kwhy_numa_read(const char *sys, struct kwhy_numa *out);

/*
 * Prefers `node` for the pages of `memory`, page aligned, that nobody has touched yet. False: the system
 * refused, or there is no such node; they then lie wherever it puts them.
 */
bool kwhy_numa_bind(void *memory, size_t bytes, int node);

/* What a thread's new pages came from before kwhy_numa_prefer(). */
struct kwhy_numa_policy {
	int mode;
	unsigned long mask[CPU_SETSIZE / (8 * sizeof(unsigned long))];
};

/*
 * The calling thread's new pages come from `node` where it has some, until kwhy_numa_restore(): for memory
 * that a driver allocates. False: the system refused, and nothing was changed.
 */
bool kwhy_numa_prefer(int node, struct kwhy_numa_policy *out_before);
void kwhy_numa_restore(const struct kwhy_numa_policy *before);

/* Keeps the calling thread on those of `cpus` that it may use now; on none of them: leaves it alone. */
void kwhy_numa_stay(const cpu_set_t *cpus);

#endif
