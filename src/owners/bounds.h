/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_BOUNDS_H
#define KWHY_OWNERS_BOUNDS_H

#include "owners/share.h"

/*
 * The 90 % interval of the energy that an owner got of a device in all windows. Errors of the power model are
 * taken to be the same in all windows, so they add up; errors of different samples are independent, so their
 * variances add. kwhy_bounds_add() sets the bounds of each window's share such that the sums of the bounds
 * are the ends of the interval of the sum. The interval is never wider than the sums of the hard bounds
 * (low_nj and high_nj of struct kwhy_share before kwhy_bounds_add()), and neither of its ends ever falls.
 * Pure. All zero at first.
 */
struct kwhy_bounds {
	/*
	 * model_nj: half of the interval due to errors of the model; sample_nj2: variance due to errors of
	 * the samples
	 */
	double model_nj, sample_nj2;
	double sample_energy_nj; /* energy of the device in the windows since the last new sample */
	/*
	 * distances of the lower and of the upper end of the interval from the sum of energy_nj, for the
	 * windows so far
	 */
	double low_gap_nj, high_gap_nj;
	double hard_low_nj, hard_high_nj; /* sums of the hard bounds */
};

/*
 * Errors of the fraction (0 to 1) of the device's energy in a window that an owner got, as standard
 * deviations: model_sd from errors of the power model, sample_sd from errors of the driver's samples.
 */
struct kwhy_bounds_errors {
	double device_nj; /* energy of the device in the window, nJ */
	double model_sd, sample_sd;
	bool is_repeated; /* the window has no new sample */
};

/*
 * Replaces the hard bounds in `share` by those of the interval. `errors` NULL: the window's standard
 * deviations are unknown, and the hard bounds count as an error of the model.
 */
void kwhy_bounds_add(
	struct kwhy_bounds *bounds, const struct kwhy_bounds_errors *errors, struct kwhy_share *share);

#endif
