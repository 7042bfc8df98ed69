/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_WINDOWS_H
#define KWHY_INJECT_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * When activity is to be collected, as a function of time alone: every process of a run that is given the
 * same plan has the same windows, without asking anybody (docs/formats/recording.md, "Windows"). Times are
 * CLOCK_MONOTONIC.
 */
struct kwhy_inject_plan {
	int64_t from_mono_ns, until_mono_ns; /* INT64_MIN, INT64_MAX: no bound */
	int64_t origin_mono_ns; /* a moment from which on windows count, the same for all processes */
	int64_t window_ns;	/* their mean length, more than 0 */
	double share_ratio;	/* of the time that they cover; NAN: all of it, no windows */
	uint64_t seed;
};

/* One window after the other. */
struct kwhy_inject_windows {
	struct kwhy_inject_plan plan;
	uint64_t drawn;			    /* numbers */
	int64_t drawn_until_mono_ns;	    /* end of the last window, before clipping to the plan's bounds */
	int64_t start_mono_ns, end_mono_ns; /* of the current window; both INT64_MAX: no more */
};

/* At the first window that ends after the origin. */
void kwhy_inject_windows_init(struct kwhy_inject_windows *windows, const struct kwhy_inject_plan *plan);

/* Goes on to the first window that ends after a time; stays when the one at hand does. */
void kwhy_inject_windows_pass(struct kwhy_inject_windows *windows, int64_t mono_ns);

#endif
