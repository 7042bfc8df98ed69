/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LIVE_TOTALS_H
#define KWHY_LIVE_TOTALS_H

#include "live/snapshot.h"

/* In ns: the present power is unknown (NAN) if the newest reading is older than this. */
#define KWHY_LIVE_STALE_NS INT64_C(3000000000)

/* State from which the energy and power of one metered object are computed at each tick. Zero-initialise. */
struct kwhy_live_totals {
	int64_t settled_ns; /* time up to which the energy is final, on CLOCK_MONOTONIC; settled_j is the
			       energy up to then. 0: no energy is known yet */
	int64_t seen_ns;    /* time of the newest power in the history; 0: none yet */
	double settled_j;
	/*
	 * Energy in J that is shown: settled_j plus the energy after settled_ns, which may still change. If
	 * that sum falls, energy_j keeps its value.
	 */
	double energy_j;
	double idle_j;
	int64_t step; /* number of the step that has not ended: time on CLOCK_MONOTONIC, divided by
			 KWHY_LIVE_STEP_NS; step_sum_w and step_count are the sum and number of its powers */
	double step_sum_w;
	uint64_t step_count;
	/*
	 * Mean powers of the history_count steps that have ended, in W; the last KWHY_LIVE_STEPS of them are
	 * shown.
	 */
	float history_w[2 * KWHY_LIVE_STEPS];
	size_t history_count;
};

/* Inputs of kwhy_live_totals_settle(). */
struct kwhy_live_entry {
	const struct kwhy_curve *curve; /* power over time of the kept readings */
	const struct kwhy_readings
		*powers;    /* kept readings of the power; NULL: there is only an energy counter */
	int64_t counted_ns; /* time of the newest reading of the energy counter; 0: there is none */
	int64_t started_ns, now_ns;
	bool idle_known, idle; /* idle: the driver reports a utilisation of 0 for the device; valid only if
				  idle_known */
};

/*
 * Adds the energy up to the end of the power curve to the totals and the new powers to the history, and
 * writes energy, powers and history to *out. If the object has power readings and an energy counter that is
 * read more rarely, the energy after the last counter reading is that of the powers; the next counter reading
 * corrects it. So energy is final only up to shortly before the last counter reading.
 */
void kwhy_live_totals_settle(
	struct kwhy_live_totals *totals, const struct kwhy_live_entry *entry, struct kwhy_live_metered *out);

#endif
