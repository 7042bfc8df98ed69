/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_TOTAL_H
#define KWHY_OWNERS_TOTAL_H

#include "measure/window.h"

#include <stdbool.h>
#include <stdint.h>

/* A gigajoule in nanojoules, which 64 bits hold nine of. */
#define KWHY_GIGAJOULE_NJ INT64_C(1000000000000000000)

/*
 * The energy of one meter in integer nanojoules, as it is handed out to owners: `booked_nj` never falls and
 * is what was handed out. It follows the energy counter exactly: at each reading of the counter the energy so
 * far is `counter_nj`, the sum of its rises in whole counts. After the reading it follows the power samples,
 * by the meter's curve, until the next reading says what it was. What the samples gave too much is taken off
 * the energy that comes next. Pure.
 */
struct kwhy_meter_total {
	bool begun;	    /* counter_nj, booked_nj and the fields below are valid */
	bool has_counter;   /* a reading of the counter was seen; counted and counted_ns are valid */
	int64_t counted;    /* the last reading, in counts */
	int64_t counted_ns; /* time of that reading on CLOCK_MONOTONIC */
	int64_t counter_nj; /* energy up to the last reading of the counter */
	int64_t anchor_nj, anchor_ns; /* energy at the time from which the curve is followed */
	int64_t booked_nj;
	/*
	 * Whole gigajoules (10^18 nJ) that were taken off booked_nj, counter_nj and anchor_nj, which a device
	 * of 700 W would fill in 152 days.
	 */
	int64_t taken_off_gj;
	int64_t until_ns; /* end of the time whose energy was handed out */
};

/* The readings of a meter now. */
struct kwhy_total_readings {
	const struct kwhy_curve *curve;
	bool has_counter;	     /* the meter has a counter, which has a reading */
	struct kwhy_reading counter; /* the counter's last reading */
	enum kwhy_meter meter;	     /* the counter's meter */
	int64_t wrap;		     /* as in struct kwhy_readings */
};

/* Energy that was not handed out yet, and the time in which it was used. */
struct kwhy_total_window {
	int64_t energy_nj, start_ns, end_ns;
	/*
	 * part of energy_nj at its begin that was used while nobody watched, before the total was taken up
	 * again
	 */
	int64_t unwatched_nj;
};

/*
 * Hands out the energy since the last call. False: there is nothing new. A total that was read from a file
 * (begun, and until_ns 0) is taken up again: its counter's rise since then is `unwatched_nj`. Such a total of
 * another boot must have has_counter false, since counters start again then.
 */
bool kwhy_total_advance(struct kwhy_meter_total *total, const struct kwhy_total_readings *readings,
	struct kwhy_total_window *out);

#endif
