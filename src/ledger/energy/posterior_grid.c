/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/posterior.h"

#include <math.h>
#include <string.h>

/*
 * Weights of quadratic interpolation through the three time constants of the grid, and their derivatives with
 * respect to z. z: steps from the middle one.
 */
static void weigh_taus(double z, double *weights, double *slopes)
{
	weights[0] = z * (z - 1) / 2;
	weights[1] = 1 - z * z;
	weights[2] = z * (z + 1) / 2;
	slopes[0] = z - 0.5;
	slopes[1] = -2 * z;
	slopes[2] = z + 0.5;
}

/*
 * Adds the weights of cubic interpolation through four neighbouring delays of the grid, as central around z
 * as possible, and their derivatives with respect to z. z: steps from the middle delay. weights and slopes:
 * [KWHY_GRID_DELAYS], all 0.
 */
static void weigh_delays(double z, double *weights, double *slopes)
{
	double at = fmin(fmax(z + KWHY_GRID_DELAYS / 2, 0), KWHY_GRID_DELAYS - 1);
	int first = (int)fmin(fmax(floor(at) - 1, 0), KWHY_GRID_DELAYS - 4);
	double u = at - first;

	for (int i = 0; i < 4; i++) {
		double weight = 1, slope = 0;

		for (int j = 0; j < 4; j++) {
			if (j == i)
				continue;
			slope = (slope * (u - j) + weight) / (i - j);
			weight *= (u - j) / (i - j);
		}
		weights[first + i] = weight;
		slopes[first + i] = slope;
	}
}

struct kwhy_grid_weights kwhy_grid_weigh(const double *other)
{
	struct kwhy_grid_weights weights;

	memset(&weights, 0, sizeof(weights));
	weigh_taus(other[KWHY_PARAMETER_TAU], weights.tau, weights.tau_slope);
	weigh_delays(other[KWHY_PARAMETER_DELAY], weights.delay, weights.delay_slope);
	return weights;
}
