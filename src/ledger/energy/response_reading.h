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

/*
 * Limits on the readings that are used: their number, and the time before each reading that influences it.
 */
struct kwhy_reading_limits {
	size_t most; /* largest number of readings; if there are more, evenly spread series of them are kept
		      */
	int64_t memory_ns; /* time before a reading that influences it, delay + 6 time constants; the
			      recording must cover it */
	const struct kwhy_profile
		*profile; /* profile that states the averaging window of means; NULL: no profile */
	bool ignore_counter;
	const struct kwhy_window
		*unsettled; /* windows of time; readings that are influenced by one of them are not used */
	size_t unsettled_count;
};

/*
 * The readings that the powers are inferred from: the 20 ms samples, else the counter's updates, else
 * instantaneous readings, else means, else those of a wall meter. A reading is used only if the recording
 * covers all the time that influences it. Late stamps of the 20 ms samples are corrected to their period.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_readings_init(struct kwhy_power_readings *readings,
	const struct kwhy_device_meters *meters, const struct kwhy_covered *covered,
	const struct kwhy_reading_limits *limits, struct kwhy_error *error);
void kwhy_power_readings_done(struct kwhy_power_readings *readings);

#endif
