/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cpu_time.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Busy ticks in a line "cpu user nice system idle iowait irq softirq ..."; negative: the line is not the one
 * of all CPUs, which begins with "cpu ".
 */
static double busy_ticks(const char *line)
{
	/*
	 * for each column of the line, whether it counts as busy time: user, nice, system, irq and softirq do
	 */
	static const bool is_busy[] = {true, true, true, false, false, true, true};
	double busy = 0;
	const char *at = line + 4;

	if (strncmp(line, "cpu ", 4) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(is_busy) / sizeof(is_busy[0]); i++) {
		char *end;
		unsigned long long ticks = strtoull(at, &end, 10);

		if (end == at)
			return -1;
		busy += is_busy[i] ? (double)ticks : 0;
		at = end;
	}
	return busy;
}

double kwhy_cpu_part_j(double packages_j, double part_s, double busy_s)
{
	if (!(packages_j > 0) || !(busy_s > 0) || !(part_s >= 0) || busy_s < part_s)
		return NAN;
	return packages_j * part_s / busy_s;
}

double kwhy_cpu_busy_s(const char *path)
{
	FILE *file = fopen(path ? path : "/proc/stat", "re");
	long ticks_per_s = sysconf(_SC_CLK_TCK);
	char line[512];
	double busy;

	if (!file)
		return NAN;
	busy = fgets(line, sizeof(line), file) ? busy_ticks(line) : -1;
	fclose(file);
	if (busy < 0 || ticks_per_s <= 0)
		return NAN;
	return busy / (double)ticks_per_s;
}
