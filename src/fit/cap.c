/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/cap.h"

#include <math.h>

/*
 * RANGE_WANTED: smallest ratio of the highest to the lowest power with which a fit is possible.
 * UNBOUND_BELOW: where a device draws less than this share of its power limit, the limit counts as without
 * effect.
 */
#define RANGE_WANTED 1.15
#define UNBOUND_BELOW 0.95
/*
 * Ratios of errors at held-out points. GAIN_WANTED: the form with the smallest error is chosen instead of the
 * power law if its error is at most this share of the power law's. ALTERNATIVE_WITHIN: a form is an
 * alternative if the ratio of its error to the smallest one is at most this.
 */
#define GAIN_WANTED 0.9
#define ALTERNATIVE_WITHIN 1.25

enum { GRID = 17, ROUNDS_MAX = 60, REACH = 2 };
#define STEP_MIN 1e-7

const char *kwhy_cap_form_name(enum kwhy_cap_form form)
{
	static const char *const names[KWHY_CAP_FORM_COUNT] = {"power", "shifted", "saturating", "physical"};

	return names[form];
}

/* Throughput that a curve gives at power_w, divided by its amplitude. */
static double shape_of(const struct kwhy_cap_curve *curve, double power_w)
{
	double above_w = power_w - curve->floor_w, clock;

	if (above_w <= 0)
		return 0;
	switch (curve->form) {
	case KWHY_CAP_SATURATING:
		return -expm1(-above_w / curve->shape);
	case KWHY_CAP_PHYSICAL:
		clock = cbrt(above_w / (curve->most_w - curve->floor_w));
		return clock / (curve->shape * clock + 1 - curve->shape);
	default:
		return pow(above_w, curve->shape);
	}
}

double kwhy_cap_throughput(const struct kwhy_cap_curve *curve, double power_w)
{
	return curve->amplitude * shape_of(curve, power_w);
}

/* State of a fit of one form to all points, or to all but one. */
struct view {
	const struct kwhy_cap *cap;
	enum kwhy_cap_form form;
	size_t skip; /* index of the point that is left out; cap->count: no point is */
};

/*
 * Makes the curve whose floor P0 and shape are given by a point (u, v) of the unit square: u from 0 to 1 is
 * P0 from 0 to just below the lowest power, and v the shape from its lowest to its highest allowed value. The
 * amplitude is the one that fits best. Returns the mean square of the relative errors.
 */
static double place_curve(const struct view *view, double u, double v, struct kwhy_cap_curve *out)
{
	const struct kwhy_cap *cap = view->cap;
	double sum = 0, squares = 0, used = 0;

	*out = (struct kwhy_cap_curve){.form = view->form, .most_w = cap->most_w};
	out->floor_w = view->form == KWHY_CAP_POWER ? 0 : 0.995 * cap->least_w * u;
	out->shape = view->form == KWHY_CAP_SATURATING ? cap->most_w * pow(10, 3 * v - 2)
		: view->form == KWHY_CAP_PHYSICAL      ? 0.999 * v
						       : 0.01 + 1.99 * v;
	for (size_t i = 0; i < cap->count; i++) {
		double ratio = shape_of(out, cap->points[i].power_w) / cap->points[i].throughput;

		if (i == view->skip)
			continue;
		sum += ratio;
		squares += ratio * ratio;
		used++;
	}
	out->amplitude = squares > 0 ? sum / squares : 0;
	return squares > 0 ? 1 - sum * sum / squares / used : 1;
}

struct place {
	double u, v, square;
};

static void look(const struct view *view, double u, double v, struct place *best)
{
	struct kwhy_cap_curve curve;
	double square;

	if (u < 0 || u > 1 || v < 0 || v > 1)
		return;
	square = place_curve(view, u, v, &curve);
	if (square < best->square)
		*best = (struct place){u, v, square};
}

/*
 * Searches around the best point of the unit square: looks at a grid of 5 x 5 points around it with distance
 * `step`, moves to the best, and halves `step` if the move was less than 1.5 steps, until `step` is at most
 * STEP_MIN.
 */
static void refine(const struct view *view, double step, struct place *best)
{
	int width = view->form == KWHY_CAP_POWER ? 0 : REACH;

	for (int round = 0; round < ROUNDS_MAX && step > STEP_MIN; round++) {
		struct place centre = *best;

		for (int i = -width; i <= width; i++)
			for (int j = -REACH; j <= REACH; j++)
				look(view, centre.u + i * step, centre.v + j * step, best);
		if (hypot(best->u - centre.u, best->v - centre.v) < 1.5 * step)
			step /= 2;
	}
}

static void fit_all(const struct view *view, struct place *best)
{
	int rows = view->form == KWHY_CAP_POWER ? 1 : GRID;

	*best = (struct place){0, 0, INFINITY};
	for (int i = 0; i < rows; i++)
		for (int j = 0; j < GRID; j++)
			look(view, (double)i / (GRID - 1), (double)j / (GRID - 1), best);
	refine(view, 0.5 / (GRID - 1), best);
}

static void fit_form(const struct kwhy_cap *cap, enum kwhy_cap_form form, struct kwhy_cap_fit *out)
{
	struct view view = {cap, form, cap->count};
	struct place all, without;
	double squares = 0;

	fit_all(&view, &all);
	out->rms_ratio = sqrt(fmax(place_curve(&view, all.u, all.v, &out->curve), 0));
	for (view.skip = 0; view.skip < cap->count; view.skip++) {
		const struct kwhy_cap_point *point = &cap->points[view.skip];
		struct kwhy_cap_curve *curve = &out->without[view.skip];

		without = (struct place){all.u, all.v, INFINITY};
		look(&view, all.u, all.v, &without);
		refine(&view, 0.5 / (GRID - 1), &without);
		place_curve(&view, without.u, without.v, curve);
		squares += pow(kwhy_cap_throughput(curve, point->power_w) / point->throughput - 1, 2);
	}
	out->held_out_ratio = sqrt(squares / (double)cap->count);
}

static enum kwhy_status check(
	const struct kwhy_cap_point *points, size_t count, struct kwhy_cap *out, struct kwhy_error *error)
{
	if (count < KWHY_CAP_POINTS_MIN || count > KWHY_CAP_POINTS_MAX)
		return kwhy_fail(error, KWHY_E_INPUT, "a sweep has %d to %d points, not %zu",
			(int)KWHY_CAP_POINTS_MIN, (int)KWHY_CAP_POINTS_MAX, count);
	*out = (struct kwhy_cap){.count = count, .least_w = INFINITY};
	for (size_t i = 0; i < count; i++) {
		if (!(points[i].power_w > 0) || !(points[i].throughput > 0) || points[i].cap_w <= 0)
			return kwhy_fail(error, KWHY_E_INPUT,
				"point %zu: power, limit and throughput are above 0", i + 1);
		out->points[i] = points[i];
		out->least_w = fmin(out->least_w, points[i].power_w);
		out->most_w = fmax(out->most_w, points[i].power_w);
		out->unbound_count += points[i].power_w < UNBOUND_BELOW * points[i].cap_w;
	}
	if (out->most_w < RANGE_WANTED * out->least_w)
		return kwhy_fail(error, KWHY_E_INPUT,
			out->unbound_count
				? "the limits hardly change the power, %.3g to %.3g W: %zu of %zu do not "
				  "bind"
				: "the powers hardly differ, %.3g to %.3g W (%zu of %zu limits do not "
				  "bind): sweep wider",
			out->least_w, out->most_w, out->unbound_count, count);
	return KWHY_OK;
}

enum kwhy_status kwhy_cap_of(
	const struct kwhy_cap_point *points, size_t count, struct kwhy_cap *out, struct kwhy_error *error)
{
	enum kwhy_status status = check(points, count, out, error);
	double best = INFINITY;

	if (status)
		return status;
	for (int form = 0; form < KWHY_CAP_FORM_COUNT; form++)
		fit_form(out, (enum kwhy_cap_form)form, &out->fits[form]);
	for (int form = 0; form < KWHY_CAP_FORM_COUNT; form++)
		if (out->fits[form].held_out_ratio < best) {
			best = out->fits[form].held_out_ratio;
			out->chosen = (enum kwhy_cap_form)form;
		}
	if (best > GAIN_WANTED * out->fits[KWHY_CAP_POWER].held_out_ratio)
		out->chosen = KWHY_CAP_POWER;
	for (int form = 0; form < KWHY_CAP_FORM_COUNT; form++)
		out->is_alternative[form] = out->fits[form].held_out_ratio <= ALTERNATIVE_WITHIN * best;
	return KWHY_OK;
}
