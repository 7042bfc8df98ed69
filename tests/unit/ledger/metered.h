/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_LEDGER_METERED_H
#define KWHY_TESTS_UNIT_LEDGER_METERED_H

#include "unit/ledger/build.h"

/*
 * Makes recordings of a device with given powers and readings of its meters: samples every 20 ms and a
 * counter that is updated every 100 ms, both after a low-pass of 14.5 ms and a delay of 3.5 ms. All times
 * must be multiples of 0.5 ms.
 */

/* The idle power is power_w from this time on, until the next level. */
struct metered_level {
	double from_s, power_w;
};

struct metered_run {
	double from_s, to_s, power_w;
	const char *name;
};

struct metered_plan {
	const struct metered_level *levels; /* in order of time; the first is from 0 on */
	size_t level_count;
	const struct metered_run *runs; /* in order of time, without overlap */
	size_t run_count;
	double end_s, noise_w; /* noise_w: half width of the uniform noise of samples */
	uint64_t seed;
	/* time of the first reading of the counter; if above 0, there is also one at -1 s */
	double counter_from_s;
};

/* Times in which the device's performance counters are enabled, in order, and what the device draws more
 * then. */
struct metered_windows {
	const struct kwhy_counter_window *items;
	size_t count;
	double power_w, before_w; /* before_w: before the first run */
	bool is_unrecorded;	  /* the recording does not state the windows */
};

/* Returns a recording of device 0, covered from 0 to the end and not finished. `windows` NULL: there are
 * none. */
struct kwhy_recording *metered_build(const struct metered_plan *plan);
struct kwhy_recording *metered_build_counted(
	const struct metered_plan *plan, const struct metered_windows *windows);

#endif
