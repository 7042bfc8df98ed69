/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_WINDOWS_H
#define KWHY_INJECT_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The times at which activity is to be collected. They depend on the plan alone, so all processes of a run
 * have the same windows without communicating (docs/formats/recording.md, "Windows"). Times are on
 * CLOCK_MONOTONIC.
 */
struct kwhy_inject_plan {
	int64_t from_mono_ns,
		until_mono_ns;	/* earliest and latest time of windows; INT64_MIN, INT64_MAX: no bound */
	int64_t origin_mono_ns; /* time from which windows are drawn, the same for all processes */
	int64_t window_ns;	/* mean length of the windows, above 0 */
	double share_ratio; /* mean share of the time that windows cover; if it is not above 0 and below 1,
			       the only window is from from_mono_ns to until_mono_ns */
	uint64_t seed;
};

/* An iterator over the windows of a plan, in order of time. */
struct kwhy_inject_windows {
	struct kwhy_inject_plan plan;
	uint64_t drawn;		     /* number of random numbers drawn so far */
	int64_t drawn_until_mono_ns; /* end of the last drawn window, before it was clipped to the plan's
					bounds */
	int64_t start_mono_ns,
		end_mono_ns; /* the current window; both INT64_MAX: there are no more windows */
};

/*
 * Initialises the iterator with the first random window that ends after the origin or, if the plan has no
 * share, with its only window.
 */
void kwhy_inject_windows_init(struct kwhy_inject_windows *windows, const struct kwhy_inject_plan *plan);

/* Advances to the first window that ends after `mono_ns`, which may be the current one. */
void kwhy_inject_windows_pass(struct kwhy_inject_windows *windows, int64_t mono_ns);

#endif
