/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LIVE_TOTALS_H
#define KWHY_LIVE_TOTALS_H

#include "live/snapshot.h"

/* In ns: if the newest power reading is older than this, there is no present power. */
#define KWHY_LIVE_STALE_NS INT64_C(3000000000)

/* Energy and power measured by one meter, updated at each tick. Zero-initialise. */
struct kwhy_live_totals {
	int64_t settled_ns; /* time up to which settled_j is final; 0: before the first tick */
	int64_t seen_ns;    /* time of the newest power that was added to the history; 0: no power yet */
	double settled_j;
	/*
	 * Energy that views show: settled_j plus the energy of the power samples since settled_ns. It never
	 * falls.
	 */
	double energy_j;
	double idle_j;
	int64_t step; /* number of the current history step: its time in ns divided by KWHY_LIVE_STEP_NS */
	double step_sum_w;
	uint64_t step_count;
	/* Mean power of each step; only the last KWHY_LIVE_STEPS of the history_count steps are shown. */
	float history_w[2 * KWHY_LIVE_STEPS];
	size_t history_count;
};

/* Inputs of kwhy_live_totals_settle(). */
struct kwhy_live_entry {
	const struct kwhy_curve *curve;	    /* power over time, computed from the readings that are kept */
	const struct kwhy_readings *powers; /* power readings; NULL: the meter has a counter only */
	int64_t counted_ns; /* time of the newest counter reading; 0: no counter, or no reading yet */
	int64_t started_ns, now_ns;
	bool idle_known, idle; /* the driver reports that nothing runs on the device; valid if idle_known */
};

/*
 * Updates the energy up to the end of the power curve, and appends new powers to the history. If the meter
 * has a counter that is read rarely, each of its readings corrects the energy that power samples gave since
 * the reading before. So energy is final only up to the last counter reading.
 */
void kwhy_live_totals_settle(
	struct kwhy_live_totals *totals, const struct kwhy_live_entry *entry, struct kwhy_live_metered *out);

#endif
