/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_LEVEL_H
#define KWHY_IMPORT_POWER_LEVEL_H

#include "model/meter.h"

#include <stdbool.h>
#include <stdint.h>

/* What the readings of one meter of a GPU come to; zero-initialise. Tells a dead meter and a wrong unit. */
struct kwhy_power_level {
	uint64_t readings;
	int64_t least, most;	  /* in the meter's unit */
	int64_t start_ns, end_ns; /* of the readings */
};

void kwhy_power_level_add(struct kwhy_power_level *level, int64_t time_ns, int64_t value);

/* A power that is 0 throughout, or a counter that does not move: what no GPU does. */
bool kwhy_power_level_is_dead(const struct kwhy_power_level *level, enum kwhy_meter meter);

/* The highest power, of a counter the mean, where that is less than any GPU draws; else NAN. */
double kwhy_power_level_too_low_mw(const struct kwhy_power_level *level, enum kwhy_meter meter);

#endif
