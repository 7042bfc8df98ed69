/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_CALIBRATION_SELF_TEST_H
#define KWHY_BENCH_CALIBRATION_SELF_TEST_H

#include "bench/calibration/calibration.h"
#include "model/profile.h"

/*
 * Evaluates a calibration: makes a machine profile with the results of the meters' self-test. Each figure has
 * its spread, its source and the conditions under which it was measured. Pure. Free the profile with
 * kwhy_self_test_profile_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_self_test_profile(
	const struct kwhy_calibration *calibration, struct kwhy_profile **out, struct kwhy_error *error);
void kwhy_self_test_profile_free(struct kwhy_profile *profile);

#endif
