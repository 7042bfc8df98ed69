/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_RESPONSE_READING_H
#define KWHY_LEDGER_ENERGY_RESPONSE_READING_H

#include "ledger/energy/energy_meter.h"

/* A power reading as the fit uses it: the mean of the filtered power from from_ns to to_ns. */
struct kwhy_power_reading {
	int64_t from_ns, to_ns; /* window of the mean; if both are equal, the power at that time */
	double power_w;
};

struct kwhy_power_readings {
	uint32_t meter; /* enum kwhy_meter; KWHY_NONE: no meter has usable readings */
	struct kwhy_power_reading *items;
	size_t count;
	size_t left_out_count; /* number of usable readings that were left out because of the limit `most` */
};

/* Which readings may be used: how many, and which time must have been recorded. */
struct kwhy_reading_limits {
	size_t most; /* largest number of readings; if there are more, evenly spread series of them are kept
		      */
	int64_t memory_ns; /* length of the time before a reading's window that influences it (delay + 6 time
			      constants), in ns; it must have been recorded */
	const struct kwhy_profile
		*profile; /* profile that states the averaging window of means; NULL: no profile */
	bool ignore_counter;
	const struct kwhy_window *unsettled; /* [unsettled_count] times in which the idle level or a clock
						changed, for example, in rising order and without overlaps; a
						reading that shows a part of such a time is not used */
	size_t unsettled_count;
};

/*
 * Makes the readings from which the powers are inferred, from the first meter that has usable ones: the 20 ms
 * samples, counter updates, instantaneous readings, means, a wall meter. A reading is usable if all the time
 * that influences it was recorded and lies outside of `unsettled`. Late time stamps of the 20 ms samples are
 * corrected to their period.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_readings_init(struct kwhy_power_readings *readings,
	const struct kwhy_device_meters *meters, const struct kwhy_covered *covered,
	const struct kwhy_reading_limits *limits, struct kwhy_error *error);
void kwhy_power_readings_done(struct kwhy_power_readings *readings);

#endif
