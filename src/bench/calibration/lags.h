/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_CALIBRATION_LAGS_H
#define KWHY_BENCH_CALIBRATION_LAGS_H

#include "bench/calibration/calibration.h"
#include "fit/lag.h"

#include <stdbool.h>

/*
 * How one meter responds to the FMA loads of a self-test: like a low-pass filter or like a trailing mean,
 * whichever fits better.
 */
struct kwhy_meter_lag {
	bool found; /* false: there were too few readings for a fit */
	enum kwhy_lag_kind kind;
	struct kwhy_lag lag;
	/* indices into calibration->phases of the loads whose readings were fitted */
	size_t phases[KWHY_LAG_STRETCHES_MAX];
	size_t phase_count;
};

/*
 * Fits a meter's lag. If `stamped`, readings have time stamps of the meter, and readings with late stamps
 * are left out; period_s is the time between updates. Otherwise the readings were polled: the fit uses the
 * first reading of each new value, and one reading per period while the value stays the same. Pure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_meter_lag_find(const struct kwhy_calibration *calibration,
	enum kwhy_meter meter, bool stamped, double period_s, struct kwhy_meter_lag *out,
	struct kwhy_error *error);

#endif
