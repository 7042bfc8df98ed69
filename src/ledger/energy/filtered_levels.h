/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_FILTERED_LEVELS_H
#define KWHY_LEDGER_ENERGY_FILTERED_LEVELS_H

#include "ledger/energy/coverage.h"
#include "ledger/energy/power_level.h"

#define KWHY_RESPONSE_TAU_MAX 3

/*
 * The activities of a device as a meter with a first-order low-pass shows them. There is one channel for the
 * `net` level of each power class (power_level.h), with `with_base` one for the `base` level of each class,
 * then one for idle and one for unrecorded time. Each channel is filtered with each time constant. When a
 * readout is visited, channel c has the values
 *   level[c]                                    the level itself
 *   level[c] - lag[tau * channel_count + c]     the filtered level, for the time constant with index tau
 *   area_s[c]                                   integral of the level since the walk began
 * The integral of the filtered level over a window is (area_s[c] - tau_s[tau] * filtered level) at the end of
 * the window, minus the same at its start. Before the hull of the coverage (coverage.h) all values are 0. A
 * walk over A activities takes O(A log (largest number of concurrent ones)), and computes tau_count
 * exponentials for each change of the running activities.
 */
struct kwhy_filtered_levels {
	size_t channel_count, class_count, tau_count;
	bool with_base;
	double tau_s[KWHY_RESPONSE_TAU_MAX];
	double *level, *lag, *area_s;
	int64_t base_ns; /* time in ns for which lag and area_s are valid */
};

/* Function called for each readout (a time at which the levels are read), in order of time. */
typedef void kwhy_response_visit(void *context, const struct kwhy_filtered_levels *response, size_t readout);

struct kwhy_response_walk {
	const struct kwhy_recording *recording;
	const struct kwhy_device_ledger *device_ledger;
	const struct kwhy_power_classes *classes;
	const struct kwhy_covered *covered;
	uint32_t device, sm_count;
	bool with_base;
	size_t tau_count;
	double tau_s[KWHY_RESPONSE_TAU_MAX];
	const int64_t *times_ns; /* times of the readouts, ascending */
	size_t readout_count;
	kwhy_response_visit *visit;
	void *context;
};

KWHY_MUST_USE enum kwhy_status kwhy_response_walk(
	const struct kwhy_response_walk *walk, struct kwhy_error *error);

#endif
