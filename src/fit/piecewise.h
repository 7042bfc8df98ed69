/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_PIECEWISE_H
#define KWHY_FIT_PIECEWISE_H

#include "base/status.h"

#include <stddef.h>

/*
 * Cost against size in straight pieces: y = alpha + beta * x, beta never negative, each piece for a range of
 * sizes. Errors count by value, so that small sizes weigh as much as large ones. Where the pieces end is
 * found by dynamic programming over all divisions, how many there are by the Bayesian information criterion
 * (Schwarz 1978; a knot counts as three parameters), with a floor under the errors so that data without noise
 * is not chopped up. Pure.
 */
struct kwhy_piecewise_point {
	double x, y; /* both above 0 */
};

struct kwhy_piecewise_segment {
	double from_x,
		to_x; /* knots lie between the sizes to both sides, in the middle of their logarithms */
	double alpha, beta;
};

enum { KWHY_PIECEWISE_SEGMENTS_MAX = 6, KWHY_PIECEWISE_POINTS_MAX = 256 };

struct kwhy_piecewise {
	struct kwhy_piecewise_segment segments[KWHY_PIECEWISE_SEGMENTS_MAX];
	size_t segment_count;
	double residual_ratio; /* root mean square of (y - fit) / y */
	/* Of every second size, by a fit of the others: mean and worst of |y - fit| / y. NAN: under 8 points.
	 */
	double held_out_ratio, held_out_worst_ratio;
};

/*
 * `points` in strictly rising order of x, 2 to KWHY_PIECEWISE_POINTS_MAX of them; errors below floor_ratio
 * count as that. KWHY_E_INPUT for anything else.
 */
KWHY_MUST_USE enum kwhy_status kwhy_piecewise_fit(const struct kwhy_piecewise_point *points, size_t count,
	double floor_ratio, struct kwhy_piecewise *out, struct kwhy_error *error);

/* Beyond its ends the outer pieces carry on. */
double kwhy_piecewise_at(const struct kwhy_piecewise *curve, double x);

#endif
