/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/cpus.h"

void kwhy_bench_cpus_find(struct kwhy_bench_cpus *cpus, const cpu_set_t *near, uint64_t seed)
{
	cpu_set_t usable;

	cpus->count = cpus->at = 0;
	if (sched_getaffinity(0, sizeof(cpus->all), &cpus->all))
		return;
	usable = cpus->all;
	if (near) {
		CPU_AND(&usable, &cpus->all, near);
		if (CPU_COUNT(&usable) == 0)
			usable = cpus->all;
	}
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &usable))
			cpus->cpus[cpus->count++] = cpu;
	if (cpus->count < 2) /* with a single CPU the thread cannot be moved: kwhy_bench_cpus_next() then does
				nothing */
		cpus->count = 0;
	else
		cpus->at = (uint32_t)(seed % cpus->count);
}

void kwhy_bench_cpus_next(struct kwhy_bench_cpus *cpus)
{
	cpu_set_t one;

	if (cpus->count == 0)
		return;
	cpus->at = (cpus->at + 1) % cpus->count;
	CPU_ZERO(&one);
	CPU_SET(cpus->cpus[cpus->at], &one);
	/*
	 * moves the thread to the CPU at once, then allows all CPUs again; fails without harm if the CPU is
	 * offline
	 */
	(void)sched_setaffinity(0, sizeof(one), &one);
	(void)sched_setaffinity(0, sizeof(cpus->all), &cpus->all);
}
