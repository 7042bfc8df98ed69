/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/piecewise.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/*
 * POINTS_MIN: smallest number of points in a segment, unless there are fewer in all. HELD_OUT_MIN: smallest
 * number of points with which held_out_ratio is computed.
 */
enum { POINTS_MIN = 3, HELD_OUT_MIN = 8 };

/* Sums over some points, each weighted by 1 / y^2; n is the number of points. */
struct sums {
	double w, wx, wxx, wy, wxy, n;
};

struct line {
	double alpha, beta, squares; /* squares: sum of ((y - fit) / y)^2 */
};

struct work {
	const struct kwhy_piecewise_point *points;
	size_t count;
	double floor_ratio;
	double *best;  /* [k][n] least sum of squared errors when k + 1 segments are fitted to the first n
			  points */
	size_t *start; /* [k][n] index of the first point of the last segment in the best fit of the first n
			  points by k + 1 segments */
};

static void add_point(struct sums *sums, const struct kwhy_piecewise_point *point, double scale)
{
	double w = 1 / (point->y * point->y), x = point->x / scale;

	sums->w += w;
	sums->wx += w * x;
	sums->wxx += w * x * x;
	sums->wy += w * point->y;
	sums->wxy += w * x * point->y;
	sums->n++;
}

static double squares_of(const struct work *work, size_t from, size_t to, const struct line *line)
{
	double sum = 0;

	for (size_t i = from; i < to; i++) {
		const struct kwhy_piecewise_point *point = &work->points[i];
		double error = (point->y - line->alpha - line->beta * point->x) / point->y;

		sum += error * error;
	}
	return sum;
}

/*
 * Fits a line with a slope that is not negative to points [from, to), with weights 1 / y^2. Sizes are divided
 * by the largest one, which avoids cancellation.
 */
static struct line line_of(const struct work *work, size_t from, size_t to)
{
	double scale = work->points[to - 1].x, determinant;
	struct sums sums = {0};
	struct line line;

	for (size_t i = from; i < to; i++)
		add_point(&sums, &work->points[i], scale);
	determinant = sums.w * sums.wxx - sums.wx * sums.wx;
	line.beta = determinant > 1e-14 * sums.w * sums.wxx
		? (sums.w * sums.wxy - sums.wx * sums.wy) / determinant / scale
		: 0;
	if (line.beta < 0)
		line.beta = 0;
	line.alpha = (sums.wy - line.beta * scale * sums.wx) / sums.w;
	line.squares = squares_of(work, from, to, &line);
	return line;
}

static size_t least_points(size_t count)
{
	return count < POINTS_MIN ? count : POINTS_MIN;
}

/*
 * Fills best[k][end] and start[k][end] for all k and end: the last of k + 1 segments begins at the point for
 * which the sum of its own squared errors and those of the best k segments before it is least.
 */
static void divide(struct work *work)
{
	size_t row = work->count + 1, least = least_points(work->count);

	for (size_t i = 0; i < KWHY_PIECEWISE_SEGMENTS_MAX * row; i++)
		work->best[i] = INFINITY;
	for (size_t end = least; end <= work->count; end++)
		for (size_t from = 0; from + least <= end; from++) {
			double squares = line_of(work, from, end).squares;

			if (from == 0)
				work->best[end] = squares;
			for (size_t k = 1; k < KWHY_PIECEWISE_SEGMENTS_MAX && from > 0; k++) {
				double all = work->best[(k - 1) * row + from] + squares;

				if (all < work->best[k * row + end]) {
					work->best[k * row + end] = all;
					work->start[k * row + end] = from;
				}
			}
		}
}

/*
 * Returns the number of segments minus 1 that has the lowest Bayesian information criterion. Each segment has
 * two parameters; each knot (end between two segments) counts as three, as its position is also fitted (Hall,
 * Osborn, Sakkas, Journal of Time Series Analysis 34, 2013).
 */
static size_t choose_count(const struct work *work)
{
	double n = (double)work->count, floor_squares = n * work->floor_ratio * work->floor_ratio,
	       best = INFINITY;
	size_t chosen = 0;

	for (size_t k = 0; k < KWHY_PIECEWISE_SEGMENTS_MAX; k++) {
		double squares = work->best[k * (work->count + 1) + work->count],
		       parameters = 5 * (double)k + 2, criterion;

		if (!isfinite(squares))
			break;
		criterion = n * log(fmax(squares, floor_squares) / n) + parameters * log(n);
		if (criterion < best - 1e-9) {
			best = criterion;
			chosen = k;
		}
	}
	return chosen;
}

static void take_segments(const struct work *work, size_t last, struct kwhy_piecewise *out)
{
	size_t row = work->count + 1, end = work->count;

	out->segment_count = last + 1;
	for (size_t k = last + 1; k-- > 0;) {
		size_t from = k ? work->start[k * row + end] : 0;
		struct line line = line_of(work, from, end);

		out->segments[k] = (struct kwhy_piecewise_segment){
			from ? sqrt(work->points[from - 1].x * work->points[from].x) : work->points[0].x,
			end < work->count ? sqrt(work->points[end - 1].x * work->points[end].x)
					  : work->points[end - 1].x,
			line.alpha, line.beta};
		end = from;
	}
	out->residual_ratio = sqrt(work->best[last * row + work->count] / (double)work->count);
}

static enum kwhy_status fit(const struct kwhy_piecewise_point *points, size_t count, double floor_ratio,
	struct kwhy_piecewise *out, struct kwhy_error *error)
{
	size_t cells = KWHY_PIECEWISE_SEGMENTS_MAX * (count + 1);
	struct work work = {.points = points, .count = count, .floor_ratio = floor_ratio};
	enum kwhy_status status = KWHY_OK;

	work.best = calloc(cells, sizeof(*work.best));
	work.start = calloc(cells, sizeof(*work.start));
	if (work.best && work.start) {
		divide(&work);
		take_segments(&work, choose_count(&work), out);
	} else {
		status = kwhy_fail_memory(error, "a fit in pieces");
	}
	free(work.best);
	free(work.start);
	return status;
}

/*
 * Computes held_out_ratio and held_out_worst_ratio. Points of odd index are held out, except the last point,
 * so that no prediction is an extrapolation.
 */
static enum kwhy_status hold_out(const struct kwhy_piecewise_point *points, size_t count, double floor_ratio,
	struct kwhy_piecewise *out, struct kwhy_error *error)
{
	struct kwhy_piecewise_point kept[KWHY_PIECEWISE_POINTS_MAX] = {{0, 0}};
	struct kwhy_piecewise curve = {0};
	size_t kept_count = 0, held = 0;
	double sum = 0, worst = 0;
	enum kwhy_status status;

	for (size_t i = 0; i < count; i++)
		if (i % 2 == 0 || i + 1 == count)
			kept[kept_count++] = points[i];
	status = fit(kept, kept_count, floor_ratio, &curve, error);
	if (status)
		return status;
	for (size_t i = 1; i + 1 < count; i += 2) {
		double ratio = fabs(kwhy_piecewise_at(&curve, points[i].x) / points[i].y - 1);

		sum += ratio;
		worst = fmax(worst, ratio);
		held++;
	}
	out->held_out_ratio = sum / (double)held;
	out->held_out_worst_ratio = worst;
	return KWHY_OK;
}

static bool is_usable(const struct kwhy_piecewise_point *points, size_t count, double floor_ratio)
{
	if (count < 2 || count > KWHY_PIECEWISE_POINTS_MAX || !(floor_ratio > 0))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!(points[i].x > 0) || !(points[i].y > 0) || !isfinite(points[i].x) ||
			!isfinite(points[i].y) || (i > 0 && points[i].x <= points[i - 1].x))
			return false;
	return true;
}

enum kwhy_status kwhy_piecewise_fit(const struct kwhy_piecewise_point *points, size_t count,
	double floor_ratio, struct kwhy_piecewise *out, struct kwhy_error *error)
{
	struct kwhy_piecewise curve = {.held_out_ratio = NAN, .held_out_worst_ratio = NAN};
	enum kwhy_status status;

	if (!is_usable(points, count, floor_ratio))
		return kwhy_fail(error, KWHY_E_INPUT,
			"a fit in pieces wants 2 to %d positive points in rising order of size; leave others "
			"out",
			KWHY_PIECEWISE_POINTS_MAX);
	status = fit(points, count, floor_ratio, &curve, error);
	if (!status && count >= HELD_OUT_MIN)
		status = hold_out(points, count, floor_ratio, &curve, error);
	if (!status)
		*out = curve;
	return status;
}

double kwhy_piecewise_at(const struct kwhy_piecewise *curve, double x)
{
	size_t i = 0;

	while (i + 1 < curve->segment_count && x >= curve->segments[i].to_x)
		i++;
	return curve->segments[i].alpha + curve->segments[i].beta * x;
}
