/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_BENCH_MADE_CALIBRATION_H
#define KWHY_TESTS_UNIT_BENCH_MADE_CALIBRATION_H

#include "bench/calibration/calibration.h"

/*
 * Makes the self-test data of a simulated GPU whose properties are known. Its power is 78.5 W at clean
 * idle, 121.5 W with a context and 358 W under load. Its ring of samples has a sample every 20.02 ms, after
 * a low-pass filter of 14.5 ms and a delay of 3.5 ms; every fifth time stamp is 8 ms late. Its energy
 * counter is updated every 100 ms. Its average power over one second and its instant power are updated
 * every 100 ms and read every 50 ms. Free the result with kwhy_calibration_free().
 */
struct kwhy_calibration *made_calibration(void);

#endif
