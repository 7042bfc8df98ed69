/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LIVE_TOTALS_H
#define KWHY_LIVE_TOTALS_H

#include "live/snapshot.h"

/* Energy and power of one metered object, updated at each tick. Zero-initialise. */
struct kwhy_live_totals {
	int64_t settled_ns; /* time up to which energy is final; 0: before the first tick */
	int64_t seen_ns;    /* time of the newest power reading in the history; 0: no reading */
	double settled_j;
	double energy_j; /* energy to show: settled_j plus that of samples since settled_ns; never falls */
	double idle_j;
	int64_t step; /* current history step: time divided by KWHY_LIVE_STEP_NS */
	double step_sum_w;
	uint64_t step_count;
	float history_w[2 * KWHY_LIVE_STEPS]; /* mean power of each step; the last KWHY_LIVE_STEPS of
						 history_count are shown */
	size_t history_count;
};

/* Inputs of kwhy_live_totals_settle(). */
struct kwhy_live_entry {
	const struct kwhy_curve *curve;	    /* power curve of the readings kept */
	const struct kwhy_readings *powers; /* NULL: the meter has a counter only */
	int64_t counted_ns; /* time of the newest counter reading; 0: no counter, or no reading yet */
	int64_t started_ns, now_ns;
	bool idle_known, idle; /* `idle`: the driver reported that nothing runs */
};

/*
 * Updates the energy to the end of the known curve and adds new powers to the history. Counters may be read
 * rarely, and a new counter reading corrects what the samples said before it, so energy is final only up to
 * the last counter reading.
 */
void kwhy_live_totals_settle(
	struct kwhy_live_totals *totals, const struct kwhy_live_entry *entry, struct kwhy_live_metered *out);

#endif
