/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_CPUS_H
#define KWHY_BENCH_TRANSFERS_CPUS_H

#include <sched.h>
#include <stdint.h>

/*
 * The CPUs that the calling thread may use, those near the device where there are any: the benchmark goes
 * round them, a visit each. One CPU is not as fast as another, least of all on a shared or virtual machine,
 * and a run that stays on one measures that one. Of one thread.
 */
struct kwhy_bench_cpus {
	cpu_set_t all; /* what it may use */
	int cpus[CPU_SETSIZE];
	uint32_t count, at; /* count 0: the thread stays where it is */
};

/* Of the calling thread. `near` NULL: unknown; `seed` says with which one it begins. */
void kwhy_bench_cpus_find(struct kwhy_bench_cpus *cpus, const cpu_set_t *near, uint64_t seed);
void kwhy_bench_cpus_next(struct kwhy_bench_cpus *cpus);

#endif
