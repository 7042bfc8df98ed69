/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_PROBE_WIDTH_H
#define KWHY_BASE_PROBE_WIDTH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Estimate of the half-width of the 90 % interval of a kernel's power after bursts of repeats, before a
 * ledger has used the readings. `kwhy probe` repeats kernels to learn their powers; its injected library and
 * its launcher decide by this estimate whether a kernel has been repeated enough. The part of it that comes
 * from the meter's readings is KWHY_PROBE_READINGS_RATIO of the power after KWHY_PROBE_READINGS_NS of
 * repeats, and falls with the square root of the time of the repeats: on an H200, 58 of 75 kernels of the
 * programs and loops in docs/results/probe.md had intervals of at most the estimate. A part of
 * KWHY_PROBE_FLOOR_RATIO remains however long the repeats are, because temperature and the state of the
 * memory differ. With fewer than KWHY_PROBE_BURSTS_MIN bursts the estimate is unknown, as they do not show
 * how bursts differ.
 */
#define KWHY_PROBE_READINGS_NS 270e6
#define KWHY_PROBE_READINGS_RATIO 0.045
#define KWHY_PROBE_FLOOR_RATIO 0.021
#define KWHY_PROBE_BURSTS_MIN 4

/*
 * Square of the half-width divided by the power, after `bursts` bursts whose repeats took repeated_ns in all;
 * 1e9: unknown.
 */
static inline double kwhy_probe_width_squared(uint64_t bursts, int64_t repeated_ns)
{
	if (bursts < KWHY_PROBE_BURSTS_MIN || repeated_ns <= 0)
		return 1e9;
	return KWHY_PROBE_READINGS_RATIO * KWHY_PROBE_READINGS_RATIO * KWHY_PROBE_READINGS_NS /
		(double)repeated_ns +
		KWHY_PROBE_FLOOR_RATIO * KWHY_PROBE_FLOOR_RATIO;
}

static inline bool kwhy_probe_width_is_within(uint64_t bursts, int64_t repeated_ns, double within_ratio)
{
	return kwhy_probe_width_squared(bursts, repeated_ns) <= within_ratio * within_ratio;
}

#endif
