/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_CALIBRATION_UPDATES_H
#define KWHY_BENCH_CALIBRATION_UPDATES_H

#include "base/status.h"
#include "model/profile.h"
#include "sensor/channel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How often a meter is updated, computed from its readings. Pure. */
struct kwhy_updates {
	size_t count; /* number of intervals between updates that period_s is computed from; 0: there are too
			 few */
	/*
	 * typical interval: median if stamped, otherwise mean; its spread is the standard error of the mean;
	 * NAN: there are too few intervals
	 */
	struct kwhy_measured period_s;
	double shortest_s, longest_s; /* 1st and 99th percentile of the intervals */
	double late_share; /* share of time stamps that are late by more than a tenth of a period; NAN: the
			      readings have no time stamps, or there are too few */
	/*
	 * mean lateness of the late time stamps, with the standard deviation of a single one; NAN: fewer than
	 * two are late
	 */
	struct kwhy_measured late_s;
};

/*
 * Computes the figures above. If `stamped`, each reading is an update with its own time stamp, like NVML's
 * power samples and updates of an energy counter. Otherwise the readings were polled, and a change of value
 * shows an update. The update's time is then known only to within the polling period, which increases the
 * spread.
 */
KWHY_MUST_USE enum kwhy_status kwhy_updates_find(const struct kwhy_reading *readings, size_t count,
	bool stamped, struct kwhy_updates *out, struct kwhy_error *error);

/*
 * Whether the time stamp of readings[i] is late: the interval before it is longer than period_s, and the one
 * after it shorter, both by more than a tenth of period_s, and both together are shorter than 2.2 period_s
 * (longer: an update was missed).
 */
bool kwhy_update_is_late(const struct kwhy_reading *readings, size_t count, size_t i, double period_s);

#endif
