/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LIVE_TOTALS_H
#define KWHY_LIVE_TOTALS_H

#include "live/snapshot.h"

/* Energy and power of one metered thing, brought forward from update to update. Zero-initialise. */
struct kwhy_live_totals {
	int64_t settled_ns; /* counted permanently up to here; 0: not begun */
	int64_t seen_ns;    /* the newest power reading taken into the history; 0: none */
	double settled_j;
	double energy_j; /* shown: with what the samples say since, never falling */
	double idle_j;
	int64_t step; /* the step under way: its time divided by KWHY_LIVE_STEP_NS */
	double step_sum_w;
	uint64_t step_count;
	float history_w[2 * KWHY_LIVE_STEPS]; /* the last KWHY_LIVE_STEPS of history_count are shown */
	size_t history_count;
};

/* What a book is brought forward with. */
struct kwhy_live_entry {
	const struct kwhy_curve *curve;	    /* of the readings kept */
	const struct kwhy_readings *powers; /* NULL: there is a counter alone */
	int64_t counted_ns; /* the newest reading of its counter; 0: there is none, or none yet */
	int64_t started_ns, now_ns;
	bool idle_known, idle; /* the driver reported that nothing runs */
};

/*
 * Brings the energy up to where the curve is known, and takes the powers since. Counters may be read rarely:
 * what the samples said since the last tick is put right at the next, so it is counted permanently up to
 * there only.
 */
void kwhy_live_totals_settle(
	struct kwhy_live_totals *totals, const struct kwhy_live_entry *entry, struct kwhy_live_metered *out);

#endif
