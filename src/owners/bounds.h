/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_BOUNDS_H
#define KWHY_OWNERS_BOUNDS_H

#include "owners/share.h"

/*
 * The 90 % interval of all that an owner got of a device, as a sum of the windows' bounds. Errors of the
 * model add up from window to window, errors of the samples add up in squares. So the bounds of one window
 * are set such that those of the sum are right. They are never wider than the sums of the hard bounds, and
 * neither bound ever falls. Pure. All zero at first.
 */
struct kwhy_bounds {
	/*
	 * model_nj: half of the interval due to errors of the model; sample_nj2: variance due to errors of
	 * the samples
	 */
	double model_nj, sample_nj2;
	double sample_energy_nj; /* energy of the device since the last new sample */
	/* distances of the lower and the upper bound so far from the sum so far */
	double low_gap_nj, high_gap_nj;
	double hard_low_nj, hard_high_nj; /* sums of the hard bounds */
};

/* Errors of one share of a window's energy, as standard deviations of the share. */
struct kwhy_bounds_errors {
	double device_nj; /* the window's energy */
	double model_sd, sample_sd;
	bool is_repeated; /* the window has no new sample */
};

/* Replaces the hard bounds in `share` by those of the interval. `errors` NULL: only the hard bounds are
 * known. */
void kwhy_bounds_add(
	struct kwhy_bounds *bounds, const struct kwhy_bounds_errors *errors, struct kwhy_share *share);

#endif
