/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_LEVEL_H
#define KWHY_IMPORT_POWER_LEVEL_H

#include "model/meter.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Summary of the readings of one meter of a GPU, by which a dead meter and a wrong unit are recognised.
 * Zero-initialise.
 */
struct kwhy_power_level {
	uint64_t readings;
	int64_t least, most;	  /* in the meter's unit */
	int64_t start_ns, end_ns; /* times of the first and the last reading */
};

void kwhy_power_level_add(struct kwhy_power_level *level, int64_t time_ns, int64_t value);

/* True for a power that is 0 throughout and for a counter that does not move, which no GPU has. */
bool kwhy_power_level_is_dead(const struct kwhy_power_level *level, enum kwhy_meter meter);

/* The highest power, or a counter's mean power, in mW, where it is less than any GPU draws; else NAN. */
double kwhy_power_level_too_low_mw(const struct kwhy_power_level *level, enum kwhy_meter meter);

#endif
