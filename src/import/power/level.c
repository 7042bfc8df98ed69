/* SPDX-License-Identifier: Apache-2.0 */
#include "import/power/level.h"

#include <math.h>

/*
 * Power in mW that every GPU exceeds: the smallest GPUs draw 3 W when idle. If a file's figures are watts
 * that were taken for milliwatts, even those of the largest GPU are below this limit.
 */
#define DEVICE_MIN_MW 2000
#define POWERS_MIN 10 /* with fewer readings a power meter is not checked */

/*
 * STILL_NS: a counter is dead if it does not change although its first and last readings are at least this
 * far apart; an H200's counter changes every 100 ms. MEAN_NS: shortest time over which the mean power of a
 * counter is checked, ten updates on an H200.
 */
#define STILL_NS INT64_C(200000000)
#define MEAN_NS INT64_C(1000000000)

void kwhy_power_level_add(struct kwhy_power_level *level, int64_t time_ns, int64_t value)
{
	if (level->readings == 0)
		*level = (struct kwhy_power_level){0, value, value, time_ns, time_ns};
	level->readings++;
	level->least = value < level->least ? value : level->least;
	level->most = value > level->most ? value : level->most;
	level->start_ns = time_ns < level->start_ns ? time_ns : level->start_ns;
	level->end_ns = time_ns > level->end_ns ? time_ns : level->end_ns;
}

bool kwhy_power_level_is_dead(const struct kwhy_power_level *level, enum kwhy_meter meter)
{
	if (kwhy_meter_is_counter(meter))
		return level->most == level->least && level->end_ns - level->start_ns >= STILL_NS;
	return level->most == 0;
}

double kwhy_power_level_too_low_mw(const struct kwhy_power_level *level, enum kwhy_meter meter)
{
	int64_t length_ns = level->end_ns - level->start_ns;
	double power_mw = (double)level->most;
	bool tells = level->readings >= POWERS_MIN;

	if (kwhy_meter_is_counter(meter)) {
		tells = length_ns >= MEAN_NS;
		power_mw = (double)(level->most - level->least) * (double)kwhy_meter_unit_nj(meter) /
			(double)length_ns * 1e3;
	}
	return tells && power_mw < DEVICE_MIN_MW ? power_mw : NAN;
}
