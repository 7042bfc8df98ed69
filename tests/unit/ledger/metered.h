/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_LEDGER_METERED_H
#define KWHY_TESTS_UNIT_LEDGER_METERED_H

#include "unit/ledger/build.h"

/*
 * A device of known powers as its meters show them: samples every 20 ms and a counter every 100 ms, both
 * through a low-pass of 14.5 ms and 3.5 ms late. Times are whole half milliseconds.
 */

/* What it draws from a time on while nothing runs. */
struct metered_level {
	double from_s, power_w;
};

struct metered_run {
	double from_s, to_s, power_w;
	const char *name;
};

struct metered_plan {
	const struct metered_level *levels; /* the first from 0 on, in order */
	size_t level_count;
	const struct metered_run *runs; /* in order, one at a time */
	size_t run_count;
	double end_s, noise_w; /* noise: of the samples, even, this far to each side */
	uint64_t seed;
	double counter_from_s; /* its first reading but for one before the start; 0: all are there */
};

/* Device 0 of a new recording, covered from 0 to the end, not finished. */
struct kwhy_recording *metered_build(const struct metered_plan *plan);

#endif
