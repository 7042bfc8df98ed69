/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_TOTAL_H
#define KWHY_OWNERS_TOTAL_H

#include "measure/window.h"

#include <stdbool.h>
#include <stdint.h>

/* A gigajoule in nanojoules. The largest int64_t is 9.2 of them. */
#define KWHY_GIGAJOULE_NJ INT64_C(1000000000000000000)

/*
 * The energy of one meter in integer nanojoules. `booked_nj` is the energy that kwhy_total_advance() has
 * returned so far to be divided among owners ("handed out"). At each reading of the energy counter, the
 * energy used so far is `counter_nj`, the exact sum of the counter's rises. Until the next reading, the
 * energy used since is taken from the power samples (the meter's curve). If they gave more than the next
 * reading shows, no energy is handed out until what was used has reached booked_nj. Pure.
 */
struct kwhy_meter_total {
	bool begun;	    /* the total has begun, in this process or in the file that it was read from */
	bool has_counter;   /* the counter was read; counted, counted_ns and counter_nj are valid */
	int64_t counted;    /* the counter's last reading, in its own unit */
	int64_t counted_ns; /* time of that reading on CLOCK_MONOTONIC */
	int64_t counter_nj; /* energy up to the counter's last reading */
	/* anchor_ns: time from which on the curve gives the energy; anchor_nj: energy up to that time */
	int64_t anchor_nj, anchor_ns;
	int64_t booked_nj;
	/*
	 * Whole gigajoules (10^18 nJ) that were subtracted from booked_nj, counter_nj and anchor_nj so that
	 * these do not overflow. A device of 700 W uses 9.2 GJ, the most that 64 bits can hold, in 152
	 * days.
	 */
	int64_t taken_off_gj;
	int64_t until_ns; /* end of the time whose energy was handed out (CLOCK_MONOTONIC); 0: this process
			     has not handed out any */
	/*
	 * While no energy is handed out because the counter is awaited: since_ns: when this began (0: it is
	 * not awaited); until_ns, energy_nj: end and energy of the samples since then.
	 */
	struct {
		int64_t since_ns, until_ns, energy_nj;
		bool is_over; /* no reading of the counter came within a minute, so energy is handed out by
				 the power samples */
	} wait;
};

/* The present readings of a meter. */
struct kwhy_total_readings {
	const struct kwhy_curve *curve;
	bool has_counter;	     /* the meter has a counter, and it was read */
	struct kwhy_reading counter; /* the counter's last reading */
	enum kwhy_meter meter;	     /* kind of the counter */
	int64_t wrap;		     /* highest value of the counter before it wraps; 0: unknown */
};

/* Energy that was not handed out before, and the time in which it was used. */
struct kwhy_total_window {
	int64_t energy_nj, start_ns, end_ns;
	/*
	 * Energy that the counter shows for times before start_ns in which no process watched the meter or
	 * the meter was refused. It is not in energy_nj.
	 */
	int64_t unwatched_nj;
};

/*
 * Hands out the energy since the last call. False: `out` has neither energy nor time. A total that was read
 * from a file (begun is true, until_ns is 0) is continued: the rise of its counter since the file was written
 * becomes `unwatched_nj`. The caller sets total->has_counter to false if the stored total is from another
 * boot, since counters may start again then.
 */
bool kwhy_total_advance(struct kwhy_meter_total *total, const struct kwhy_total_readings *readings,
	struct kwhy_total_window *out);

#endif
