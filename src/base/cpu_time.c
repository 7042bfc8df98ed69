/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cpu_time.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

double kwhy_cpu_busy_s(const char *path)
{
	uint64_t user, nice, system, idle, iowait, irq, softirq;
	FILE *file = fopen(path ? path : "/proc/stat", "re");
	long ticks_per_s = sysconf(_SC_CLK_TCK);
	int taken;

	if (!file)
		return NAN;
	taken = fscanf(file,
		"cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &user,
		&nice, &system, &idle, &iowait, &irq, &softirq);
	fclose(file);
	if (taken != 7 || ticks_per_s <= 0)
		return NAN;
	return (double)(user + nice + system + irq + softirq) / (double)ticks_per_s;
}
