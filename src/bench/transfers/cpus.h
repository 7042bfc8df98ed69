/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_CPUS_H
#define KWHY_BENCH_TRANSFERS_CPUS_H

#include <sched.h>
#include <stdint.h>

/*
 * The CPUs between which the benchmark moves its thread: those in the thread's affinity mask that are near
 * the device or, if the mask has no such CPU or the CPUs near the device are unknown, all CPUs in the mask.
 * CPUs differ in speed, above all on shared or virtual machines, so results from a single CPU would depend on
 * that CPU. Therefore kwhy_bench_cpus_next() moves the calling thread to the next CPU before a transfer is
 * measured again. Only one thread may use it.
 */
struct kwhy_bench_cpus {
	cpu_set_t all; /* CPU affinity that the thread had before */
	int cpus[CPU_SETSIZE];
	uint32_t count, at; /* count: number of elements of cpus[]; 0: the thread is not moved. at: index of
			       the CPU to which it was moved last */
};

/*
 * Finds the CPUs of the calling thread. `near`: CPUs near the device; NULL: unknown. `seed` determines which
 * CPU comes first.
 */
void kwhy_bench_cpus_find(struct kwhy_bench_cpus *cpus, const cpu_set_t *near, uint64_t seed);
void kwhy_bench_cpus_next(struct kwhy_bench_cpus *cpus);

#endif
