/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_COUNTER_WINDOWS_H
#define KWHY_LEDGER_ENERGY_COUNTER_WINDOWS_H

#include "ledger/energy/coverage.h"
#include "model/response.h"

/*
 * The times in which the performance counters of a device were enabled. The device then draws extra_w more
 * than its program needs, and its readings contain this power.
 */
struct kwhy_counter_windows {
	struct kwhy_window *windows; /* in rising order of time, without overlaps */
	size_t count;
	double extra_w, sd_w; /* extra power and its standard deviation, W; 0 if there are no windows */
};

/*
 * Finds the windows. Samples outside of the recorded windows, as in recordings without these, count as
 * windows of their own. extra_w is the machine profile's (NULL: there is none), or an assumption.
 */
KWHY_MUST_USE enum kwhy_status kwhy_counter_windows_find(struct kwhy_counter_windows *windows,
	const struct kwhy_recording *recording, uint32_t device, const struct kwhy_profile *profile,
	struct kwhy_error *error);
void kwhy_counter_windows_done(struct kwhy_counter_windows *windows);

/*
 * Corrects extra_w by readings of a meter of power, NULL: there is none. The readings just before and just
 * after each start and end of a window differ by extra_w and by what the program's power changed; the median
 * of these differences is combined with the assumed power by their standard deviations.
 */
KWHY_MUST_USE enum kwhy_status kwhy_counter_windows_measure(struct kwhy_counter_windows *windows,
	const struct kwhy_power_series *series, const struct kwhy_profile *profile, struct kwhy_error *error);

/* Writes to *out a copy of the readings without the extra power. free() out->time_ns and out->value. */
KWHY_MUST_USE enum kwhy_status kwhy_counter_windows_subtract(const struct kwhy_counter_windows *windows,
	const struct kwhy_power_series *series, const struct kwhy_profile *profile,
	struct kwhy_power_series *out, struct kwhy_error *error);

/* Length of the windows between two times, ns. */
int64_t kwhy_counter_windows_ns(const struct kwhy_counter_windows *windows, int64_t start_ns, int64_t end_ns);

#endif
