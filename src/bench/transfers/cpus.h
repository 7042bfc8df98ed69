/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_CPUS_H
#define KWHY_BENCH_TRANSFERS_CPUS_H

#include <sched.h>
#include <stdint.h>

/*
 * The CPUs that the calling thread may use, restricted to those near the device if there are any. The
 * benchmark moves to the next CPU with each visit of a point, since CPUs differ in speed, above all on shared
 * or virtual machines, and a run on a single CPU would measure that one. For one thread.
 */
struct kwhy_bench_cpus {
	cpu_set_t all; /* the thread's original affinity */
	int cpus[CPU_SETSIZE];
	uint32_t count, at; /* count 0: the thread is not moved */
};

/* Finds the CPUs of the calling thread. `near` NULL: unknown. `seed` selects the first CPU. */
void kwhy_bench_cpus_find(struct kwhy_bench_cpus *cpus, const cpu_set_t *near, uint64_t seed);
void kwhy_bench_cpus_next(struct kwhy_bench_cpus *cpus);

#endif
