/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_CALIBRATION_UPDATES_H
#define KWHY_BENCH_CALIBRATION_UPDATES_H

#include "base/status.h"
#include "model/profile.h"
#include "sensor/channel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How often a source gives something new, from its readings. Pure. */
struct kwhy_updates {
	size_t count;		       /* of intervals */
	struct kwhy_measured period_s; /* median; the spread is that of the median. NAN: too few */
	double shortest_s, longest_s;  /* 1st and 99th percentile of single ones */
	double late_share;	       /* of time stamps that come late by more than a tenth of the period */
	struct kwhy_measured late_s;   /* by how much, and how that varies */
};

/*
 * `stamped`: each reading is an update with the time it is of, as in the ring or at a counter's updates. Else
 * it was polled, and an update is where the value changes; the time in which it changes is not known better
 * than the polling, which the spread says.
 */
KWHY_MUST_USE enum kwhy_status kwhy_updates_find(const struct kwhy_reading *readings, size_t count,
	bool stamped, struct kwhy_updates *out, struct kwhy_error *error);

/* Whether the stamp of readings[i] is late: the gap before it is too long and the one after too short. */
bool kwhy_update_is_late(const struct kwhy_reading *readings, size_t count, size_t i, double period_s);

#endif
