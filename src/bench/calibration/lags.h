/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_CALIBRATION_LAGS_H
#define KWHY_BENCH_CALIBRATION_LAGS_H

#include "bench/calibration/calibration.h"
#include "fit/lag.h"

#include <stdbool.h>

/*
 * The response of one meter to the FMA loads of a self-test, as a low-pass or a trailing mean, whichever fits
 * better.
 */
struct kwhy_meter_lag {
	bool found; /* false: there were too few readings */
	enum kwhy_lag_kind kind;
	struct kwhy_lag lag;
	size_t phases[KWHY_LAG_STRETCHES_MAX]; /* phases of the calibration, one for each interval of the fit
						*/
	size_t phase_count;
};

/*
 * Fits the lag. `stamped`: readings carry their own times, and those with late stamps (for updates every
 * period_s) are left out. Otherwise they were polled, and the first reading of each new value counts. Pure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_meter_lag_find(const struct kwhy_calibration *calibration,
	enum kwhy_meter meter, bool stamped, double period_s, struct kwhy_meter_lag *out,
	struct kwhy_error *error);

#endif
