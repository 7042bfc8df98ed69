/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_PROBE_WIDTH_H
#define KWHY_BASE_PROBE_WIDTH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Model of the half-width of the 90 % interval of a kernel's power after bursts of repeats, as far as it is
 * known before a ledger uses the readings. The injected library and its launcher share it. On an H200, six
 * bursts of 30 to 60 ms of a kernel gave half-widths of 3 to 4 % of the power. The half-width falls with the
 * square root of the total time of the repeats. Fewer than four bursts do not show the scatter between
 * bursts.
 */
#define KWHY_PROBE_MODEL_NS 270e6
#define KWHY_PROBE_MODEL_RATIO 0.035
#define KWHY_PROBE_BURSTS_MIN 4

/* Square of the half-width relative to the power; 1e9: unknown. */
static inline double kwhy_probe_width_squared(uint64_t bursts, int64_t repeated_ns)
{
	return bursts < KWHY_PROBE_BURSTS_MIN || repeated_ns <= 0
		? 1e9
		: KWHY_PROBE_MODEL_RATIO * KWHY_PROBE_MODEL_RATIO * KWHY_PROBE_MODEL_NS / (double)repeated_ns;
}

static inline bool kwhy_probe_width_is_within(uint64_t bursts, int64_t repeated_ns, double within_ratio)
{
	return kwhy_probe_width_squared(bursts, repeated_ns) <= within_ratio * within_ratio;
}

#endif
