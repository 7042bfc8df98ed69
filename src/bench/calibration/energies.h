/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_CALIBRATION_ENERGIES_H
#define KWHY_BENCH_CALIBRATION_ENERGIES_H

#include "bench/calibration/calibration.h"
#include "model/profile.h"

/*
 * The energy of an interval, computed from the same readings by different methods: kwhy's own and those of
 * other tools. Values are in joules; NAN: the meter is missing or its readings do not cover the interval.
 * Pure.
 */
struct kwhy_energies {
	double joules[KWHY_SELF_TEST_METHOD_COUNT];
};

/*
 * Computes the energy by every method (enum kwhy_self_test_method). `profile` gives the lag of NVML's power
 * samples; only the method KWHY_SELF_TEST_WINDOW corrects the samples for it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_energies_of(const struct kwhy_calibration *calibration,
	const struct kwhy_profile *profile, int64_t start_ns, int64_t end_ns, struct kwhy_energies *out,
	struct kwhy_error *error);

/*
 * Energy in joules over [start_ns, end_ns]: the integral of a power meter's readings (milliwatts),
 * interpolated linearly. NAN: the readings do not cover the interval.
 */
double kwhy_series_joules(const struct kwhy_meter_series *series, int64_t start_ns, int64_t end_ns);

/*
 * Mean power and its standard deviation, in watts, of a meter's readings in [start_ns, end_ns]. NAN: there
 * are fewer than three readings.
 */
struct kwhy_measured kwhy_series_watts(
	const struct kwhy_meter_series *series, int64_t start_ns, int64_t end_ns);

#endif
