/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_CALIBRATION_ENERGIES_H
#define KWHY_BENCH_CALIBRATION_ENERGIES_H

#include "bench/calibration/calibration.h"
#include "model/profile.h"

/*
 * The energy of an interval by different methods of reading the same meters: kwhy's own and those of other
 * tools. Joules; NAN where the meter is missing or does not cover the interval. Pure.
 */
struct kwhy_energies {
	double joules[KWHY_SELF_TEST_METHOD_COUNT];
};

/* Computes all methods. `profile` gives the meters' lags, for the window method. */
KWHY_MUST_USE enum kwhy_status kwhy_energies_of(const struct kwhy_calibration *calibration,
	const struct kwhy_profile *profile, int64_t start_ns, int64_t end_ns, struct kwhy_energies *out,
	struct kwhy_error *error);

/*
 * Integral of a series of powers in milliwatts over [start, end], in joules, with linear interpolation
 * between readings.
 */
double kwhy_series_joules(const struct kwhy_meter_series *series, int64_t start_ns, int64_t end_ns);

/* Mean and standard deviation of the readings in [start, end], in watts; NAN: fewer than three. */
struct kwhy_measured kwhy_series_watts(
	const struct kwhy_meter_series *series, int64_t start_ns, int64_t end_ns);

#endif
