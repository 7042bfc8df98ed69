/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_COUNTER_WINDOWS_H
#define KWHY_LEDGER_ENERGY_COUNTER_WINDOWS_H

#include "ledger/energy/coverage.h"
#include "model/response.h"

/* A time in which the performance counters of a device were enabled. */
struct kwhy_enabled_time {
	int64_t start_ns, end_ns;
	double extra_w; /* what the device drew more than its program needed */
	bool is_in_run; /* it overlaps the time from 0.3 s before the device's first activity to its last */
};

/*
 * All such times of a device. Its readings contain the extra power, which is smaller before the program has a
 * context: there the device's clocks are low.
 */
struct kwhy_counter_windows {
	struct kwhy_enabled_time *items; /* in rising order of time, without overlaps; the one in which the
					    run begins is divided */
	size_t count;
	double extra_w,
		sd_w; /* extra power in the run and its standard deviation, W; 0 if there are no items */
	double outside_sd_w; /* standard deviation of the extra power of the other windows, W */
	double limit_w;	     /* power limit of the device; not above 0: unknown */
};

/*
 * Finds the windows. Samples outside of the recorded windows, as in recordings without these, count as
 * windows of their own. The extra power is the machine profile's (NULL: there is none), or an assumption.
 */
KWHY_MUST_USE enum kwhy_status kwhy_counter_windows_find(struct kwhy_counter_windows *windows,
	const struct kwhy_recording *recording, uint32_t device, const struct kwhy_profile *profile,
	struct kwhy_error *error);
void kwhy_counter_windows_done(struct kwhy_counter_windows *windows);

/*
 * Corrects the extra powers by readings of a meter of power, NULL: there is none. The readings just before
 * and just after each start and end of a window differ by the extra power and by what the program's power
 * changed. The median of these differences is combined with the assumed power by their standard deviations.
 * This is done apart for the windows in the run and for the others. In windows in which the readings are at
 * the device's power limit, the assumed power is 0.
 */
KWHY_MUST_USE enum kwhy_status kwhy_counter_windows_measure(struct kwhy_counter_windows *windows,
	const struct kwhy_power_series *series, const struct kwhy_profile *profile, struct kwhy_error *error);

/* Writes to *out a copy of the readings without the extra power. free() out->time_ns and out->value. */
KWHY_MUST_USE enum kwhy_status kwhy_counter_windows_subtract(const struct kwhy_counter_windows *windows,
	const struct kwhy_power_series *series, const struct kwhy_profile *profile,
	struct kwhy_power_series *out, struct kwhy_error *error);

/* Sum in ns of the parts of all windows that lie between two times. */
int64_t kwhy_counter_windows_ns(const struct kwhy_counter_windows *windows, int64_t start_ns, int64_t end_ns);

/* Extra energy of the windows between two times, nJ. */
double kwhy_counter_windows_nj(const struct kwhy_counter_windows *windows, int64_t start_ns, int64_t end_ns);

/* Standard deviation of this energy, nJ. */
double kwhy_counter_windows_sd_nj(
	const struct kwhy_counter_windows *windows, int64_t start_ns, int64_t end_ns);

#endif
