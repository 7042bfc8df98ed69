/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_LEVEL_H
#define KWHY_IMPORT_POWER_LEVEL_H

#include "model/meter.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Summary of the readings of one meter of a GPU, by which a dead meter or a wrong unit is recognised.
 * Zero-initialise.
 */
struct kwhy_power_level {
	uint64_t readings;
	int64_t least, most;	  /* lowest and highest reading, in the meter's unit */
	int64_t start_ns, end_ns; /* times of the first and the last reading */
};

void kwhy_power_level_add(struct kwhy_power_level *level, int64_t time_ns, int64_t value);

/*
 * Whether the meter does not work: a power meter of which all readings are 0, or a counter of which all
 * readings are equal although the first and the last are at least 0.2 s apart.
 */
bool kwhy_power_level_is_dead(const struct kwhy_power_level *level, enum kwhy_meter meter);

/*
 * The highest reading of a power meter, or the mean power by a counter, in mW, if it is below 2 W, which
 * every GPU draws. NAN: it is at least 2 W, or it is not checked, because a power meter has fewer than 10
 * readings or those of a counter span less than 1 s.
 */
double kwhy_power_level_too_low_mw(const struct kwhy_power_level *level, enum kwhy_meter meter);

#endif
