/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_RESPONSE_READING_H
#define KWHY_LEDGER_ENERGY_RESPONSE_READING_H

#include "ledger/energy/energy_meter.h"

/* A power reading as the fit uses it: the filtered power at to_ns, or its mean from from_ns to to_ns. */
struct kwhy_power_reading {
	int64_t from_ns, to_ns; /* equal: the power at to_ns */
	double power_w;
};

struct kwhy_power_readings {
	uint32_t meter; /* enum kwhy_meter; KWHY_NONE: no meter has usable readings */
	struct kwhy_power_reading *items;
	size_t count;
	size_t left_out_count; /* usable readings that the limit left out */
};

/* Limits of the number of readings, and the memory of a reading. */
struct kwhy_reading_limits {
	size_t most;	   /* most readings; more are thinned to evenly spread intervals */
	int64_t memory_ns; /* delay + 6 time constants; this time before each reading must be covered */
	const struct kwhy_profile *profile; /* states the averaging window of means; NULL: no profile */
	bool ignore_counter;
	const struct kwhy_window *unsettled; /* windows that no reading may remember */
	size_t unsettled_count;
};

/*
 * The readings to infer the powers from: those of the 20 ms ring, else the counter's updates, else instants,
 * else means, else a wall meter. Only readings whose whole memory is covered are taken. Late stamps of the
 * ring are corrected to its period.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_readings_init(struct kwhy_power_readings *readings,
	const struct kwhy_device_meters *meters, const struct kwhy_covered *covered,
	const struct kwhy_reading_limits *limits, struct kwhy_error *error);
void kwhy_power_readings_done(struct kwhy_power_readings *readings);

#endif
