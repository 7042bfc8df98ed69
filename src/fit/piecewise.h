/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_PIECEWISE_H
#define KWHY_FIT_PIECEWISE_H

#include "base/status.h"

#include <stddef.h>

/*
 * Cost y as a piecewise linear function of size x: y = alpha + beta * x in each segment, with beta >= 0.
 * Errors are relative, so that small sizes weigh as much as large ones. The ends of the segments are found by
 * dynamic programming over all divisions. The number of segments follows from the Bayesian information
 * criterion (Schwarz 1978), in which a knot (end between two segments) counts as three parameters. The
 * criterion takes the root mean square error as at least `floor_ratio`, so that data without noise do not get
 * too many segments. Pure.
 */
struct kwhy_piecewise_point {
	double x, y; /* above 0 */
};

struct kwhy_piecewise_segment {
	double from_x, to_x; /* ends of the segment in x; an end between two segments is the geometric mean of
				the last x of the one and the first x of the next */
	double alpha, beta;
};

enum { KWHY_PIECEWISE_SEGMENTS_MAX = 6, KWHY_PIECEWISE_POINTS_MAX = 256 };

struct kwhy_piecewise {
	struct kwhy_piecewise_segment segments[KWHY_PIECEWISE_SEGMENTS_MAX];
	size_t segment_count;
	double residual_ratio; /* root mean square of (y - fit) / y */
	/*
	 * Mean and largest value of |y - fit| / y over every second point, where `fit` comes from a fit to
	 * the remaining points alone. NAN: fewer than 8 points.
	 */
	double held_out_ratio, held_out_worst_ratio;
};

/*
 * Fits 2 to KWHY_PIECEWISE_POINTS_MAX points, in strictly rising order of x. A root mean square relative
 * error below floor_ratio, which must be above 0, counts as floor_ratio when the number of segments is
 * chosen. KWHY_E_INPUT: points or floor_ratio do not meet these conditions.
 */
KWHY_MUST_USE enum kwhy_status kwhy_piecewise_fit(const struct kwhy_piecewise_point *points, size_t count,
	double floor_ratio, struct kwhy_piecewise *out, struct kwhy_error *error);

/* Cost at a size; beyond the ends the outer segments are extrapolated. */
double kwhy_piecewise_at(const struct kwhy_piecewise *curve, double x);

#endif
