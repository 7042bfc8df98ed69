/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_RESPONSE_READING_H
#define KWHY_LEDGER_ENERGY_RESPONSE_READING_H

#include "ledger/energy/energy_meter.h"

/* A power reading as the fit uses it: the filtered power at to_ns, or its mean from from_ns to to_ns. */
struct kwhy_power_reading {
	int64_t from_ns, to_ns; /* equal: at a moment */
	double power_w;
};

struct kwhy_power_readings {
	uint32_t meter; /* enum kwhy_meter; KWHY_NONE: there are none */
	struct kwhy_power_reading *items;
	size_t count;
	size_t left_out_count; /* usable ones that the limit left out */
};

/* How much may be read, and how far back a reading looks. */
struct kwhy_reading_limits {
	size_t most;	    /* readings; more are thinned to evenly spread stretches */
	int64_t memory_ns;  /* delay + 6 time constants: must be covered before each reading */
	int64_t average_ns; /* window of means */
	bool ignore_counter;
	const struct kwhy_window *unsettled; /* readings that remember some of these are left out */
	size_t unsettled_count;
};

/*
 * The readings that tell the powers: of the 20 ms ring, else the counter's updates, else instants, else
 * means, else a wall meter; only those whose whole memory is covered. Late stamps of the ring are put
 * back on its beat.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_readings_init(struct kwhy_power_readings *readings,
	const struct kwhy_device_meters *meters, const struct kwhy_covered *covered,
	const struct kwhy_reading_limits *limits, struct kwhy_error *error);
void kwhy_power_readings_done(struct kwhy_power_readings *readings);

#endif
