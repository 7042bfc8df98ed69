/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_SWEEP_H
#define KWHY_LEDGER_SWEEP_H

#include "base/status.h"
#include "model/recording.h"

/*
 * Walks over one device's activities in time. It yields intervals [start, end) in which the set of running
 * activities does not change; in gaps between activities that set is empty. Activities of length 0 run in no
 * interval, but one that starts inside a gap splits it. A walk over n activities takes O(n log (largest
 * number of concurrent ones)) and memory for the concurrent ones. Reading `rows` in every interval takes
 * additional time proportional to their number; reading `started` and `ended` takes O(n) in all.
 */
struct kwhy_sweep {
	const struct kwhy_recording *recording;
	size_t next, end;    /* row of the next activity to start; end of the device's range of rows */
	const int64_t *cuts; /* sorted times at which intervals are split in addition; may be NULL */
	size_t cut_count, next_cut;
	int64_t now_ns, limit_ns;
	uint32_t *rows; /* running activities, as a heap with the one that ends first on top */
	size_t row_count, row_capacity;
	uint32_t *started, *ended; /* activities that started or ended at the start of the current interval */
	size_t started_count, started_capacity, ended_count, ended_capacity;
};

struct kwhy_sweep_interval {
	int64_t start_ns, end_ns;
	const uint32_t *rows; /* running activities in any order; all arrays are valid until the next call */
	size_t row_count;
	const uint32_t *started; /* activities that run in this interval and did not run in the one before */
	size_t started_count;
	const uint32_t *ended; /* activities that ran in the interval before and do not run in this one */
	size_t ended_count;
};

/*
 * Starts a walk from start_ns to end_ns. If both are KWHY_UNKNOWN_TIME, it goes from the first start to the
 * last end of the device's activities. cuts: [cut_count] sorted times at which intervals are split; must stay
 * valid; may be NULL.
 */
void kwhy_sweep_init(struct kwhy_sweep *sweep, const struct kwhy_recording *recording, uint32_t device,
	int64_t start_ns, int64_t end_ns, const int64_t *cuts, size_t cut_count);
void kwhy_sweep_done(struct kwhy_sweep *sweep);

/* Returns below 0 on an error (out of memory), 0 if *out is the next interval, above 0 at the end. */
KWHY_MUST_USE int kwhy_sweep_next(
	struct kwhy_sweep *sweep, struct kwhy_sweep_interval *out, struct kwhy_error *error);

#endif
