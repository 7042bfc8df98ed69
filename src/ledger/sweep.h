/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_SWEEP_H
#define KWHY_LEDGER_SWEEP_H

#include "base/status.h"
#include "model/recording.h"

/*
 * Walks over one device's activities in time. Yields intervals [start, end) in which the set of running
 * activities does not change, including gaps (no rows) between activities. Activities of length zero run in
 * no interval, but one that starts inside a gap splits it. Takes O(n log concurrency) time and O(concurrency)
 * memory. A caller that reads `rows` in every interval pays the concurrency for each; one that follows
 * `started` and `ended` does not.
 */
struct kwhy_sweep {
	const struct kwhy_recording *recording;
	size_t next, end;    /* rows not started yet */
	const int64_t *cuts; /* sorted times at which intervals are also split; may be NULL */
	size_t cut_count, next_cut;
	int64_t now_ns, limit_ns;
	uint32_t *rows; /* running activities; a heap with the one that ends first on top */
	size_t row_count, row_capacity;
	uint32_t *started, *ended; /* rows that started or ended since the interval before */
	size_t started_count, started_capacity, ended_count, ended_capacity;
};

struct kwhy_sweep_interval {
	int64_t start_ns, end_ns;
	const uint32_t *rows; /* running activities, unordered; all arrays are valid until the next call */
	size_t row_count;
	const uint32_t *started; /* rows that run now and did not in the interval before */
	size_t started_count;
	const uint32_t *ended; /* rows that ran in the interval before and do not now */
	size_t ended_count;
};

/* From start_ns to end_ns; both KWHY_UNKNOWN_TIME: from the first start to the last end. */
void kwhy_sweep_init(struct kwhy_sweep *sweep, const struct kwhy_recording *recording, uint32_t device,
	int64_t start_ns, int64_t end_ns, const int64_t *cuts, size_t cut_count);
void kwhy_sweep_done(struct kwhy_sweep *sweep);

/* <0: error (out of memory), 0: *out is an interval, >0: the end. */
KWHY_MUST_USE int kwhy_sweep_next(
	struct kwhy_sweep *sweep, struct kwhy_sweep_interval *out, struct kwhy_error *error);

#endif
