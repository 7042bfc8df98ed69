/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_CALIBRATION_LAGS_H
#define KWHY_BENCH_CALIBRATION_LAGS_H

#include "bench/calibration/calibration.h"
#include "fit/lag.h"

#include <stdbool.h>

/* How one meter of a self-test answers the FMA loads: as a low-pass or a trailing mean, whichever fits
 * better. */
struct kwhy_meter_lag {
	bool found; /* else too few readings */
	enum kwhy_lag_kind kind;
	struct kwhy_lag lag;
	size_t phases[KWHY_LAG_STRETCHES_MAX]; /* of the calibration; one a stretch of the fit */
	size_t phase_count;
};

/*
 * `stamped`: the readings are of the times they carry, and those whose stamps are late (by updates of
 * period_s) are left out. Else they were polled: the first of each new value counts. Pure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_meter_lag_find(const struct kwhy_calibration *calibration,
	enum kwhy_meter meter, bool stamped, double period_s, struct kwhy_meter_lag *out,
	struct kwhy_error *error);

#endif
