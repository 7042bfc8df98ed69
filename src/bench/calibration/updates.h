/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_CALIBRATION_UPDATES_H
#define KWHY_BENCH_CALIBRATION_UPDATES_H

#include "base/status.h"
#include "model/profile.h"
#include "sensor/channel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How often a source is updated, computed from its readings. Pure. */
struct kwhy_updates {
	size_t count;		       /* number of intervals */
	struct kwhy_measured period_s; /* median, with the median's spread; NAN: too few intervals */
	double shortest_s, longest_s;  /* 1st and 99th percentile of the intervals */
	double late_share; /* share of time stamps that are late by more than a tenth of the period */
	struct kwhy_measured late_s; /* their mean delay, with its standard deviation */
};

/*
 * `stamped`: each reading is an update with its own time, as in NVML's sample ring or at counter updates.
 * Otherwise readings were polled, and an update is where the value changes. Its time is then known only to
 * the polling period, which the spread includes.
 */
KWHY_MUST_USE enum kwhy_status kwhy_updates_find(const struct kwhy_reading *readings, size_t count,
	bool stamped, struct kwhy_updates *out, struct kwhy_error *error);

/*
 * Whether the stamp of readings[i] is late: the interval before it is too long and the one after it too
 * short.
 */
bool kwhy_update_is_late(const struct kwhy_reading *readings, size_t count, size_t i, double period_s);

#endif
