/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/bounds.h"

#include <math.h>

/* Half of a 90 % interval of a normal distribution, in standard deviations. */
#define Z90 1.6448536269514722

static double width_of(struct kwhy_bounds *bounds, const struct kwhy_bounds_errors *errors)
{
	const double before = errors->is_repeated ? bounds->sample_energy_nj : 0;
	const double now = before + errors->device_nj;

	/*
	 * Windows that use one sample share its error, so the variance for these windows is that of the sum
	 * of their energies.
	 */
	bounds->sample_nj2 += (now * now - before * before) * errors->sample_sd * errors->sample_sd;
	bounds->sample_energy_nj = now;
	bounds->model_nj += Z90 * errors->model_sd * errors->device_nj;
	return bounds->model_nj + Z90 * sqrt(bounds->sample_nj2);
}

void kwhy_bounds_add(
	struct kwhy_bounds *bounds, const struct kwhy_bounds_errors *errors, struct kwhy_share *share)
{
	const double energy_nj = (double)share->energy_nj, low_nj = energy_nj - (double)share->low_nj,
		     high_nj = (double)share->high_nj - energy_nj;
	double width_nj, low_gap_nj, high_gap_nj;

	if (!errors) {
		bounds->model_nj += fmax(low_nj, high_nj);
		width_nj = bounds->model_nj + Z90 * sqrt(bounds->sample_nj2);
	} else {
		width_nj = width_of(bounds, errors);
	}
	bounds->hard_low_nj += low_nj;
	bounds->hard_high_nj += high_nj;
	low_gap_nj = fmin(fmin(width_nj, bounds->hard_low_nj), bounds->low_gap_nj + energy_nj);
	high_gap_nj = fmin(width_nj, bounds->hard_high_nj);
	low_gap_nj = fmax(low_gap_nj, bounds->low_gap_nj);
	high_gap_nj = fmax(high_gap_nj, bounds->high_gap_nj);
	share->low_nj = share->energy_nj - llround(low_gap_nj - bounds->low_gap_nj);
	share->high_nj = share->energy_nj + llround(high_gap_nj - bounds->high_gap_nj);
	bounds->low_gap_nj = low_gap_nj;
	bounds->high_gap_nj = high_gap_nj;
}
