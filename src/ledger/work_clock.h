/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_WORK_CLOCK_H
#define KWHY_LEDGER_WORK_CLOCK_H

#include "model/recording.h"

/* Readings of a device's SM clock, and the range of clocks at which the program's own work ran. */
struct kwhy_work_clock {
	const struct kwhy_gauge_series *series; /* NULL: fewer than 5 readings while the program's work ran */
	double low_hz, high_hz; /* 5 and 95 % quantiles of the readings while the program's work ran */
	/*
	 * standard deviation of the logarithm of these readings, from their quartiles; 0 if the quartiles
	 * differ by at most 1.2 %
	 */
	double spread;
};

KWHY_MUST_USE enum kwhy_status kwhy_work_clock_init(struct kwhy_work_clock *clock,
	const struct kwhy_recording *recording, uint32_t device, struct kwhy_error *error);

/*
 * Whether the mean of the clock's readings in [start_ns, end_ns) is more than 1.2 % below low_hz or above
 * high_hz; 1.2 % is one and a half steps of an H200's clock. False also if there is no reading in the
 * interval, or `series` is NULL.
 */
bool kwhy_work_clock_differs(const struct kwhy_work_clock *clock, int64_t start_ns, int64_t end_ns);

#endif
