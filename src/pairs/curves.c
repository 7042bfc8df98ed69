/* SPDX-License-Identifier: Apache-2.0 */
#include "pairs/analysis.h"

#include "base/statistics.h"
#include "fit/median.h"
#include "fit/piecewise.h"

#include <math.h>
#include <stdlib.h>

enum { LINE_MIN = 3, HELD_MIN = 4, SIZES_MAX = KWHY_PIECEWISE_POINTS_MAX };

#define FLOOR_RATIO 0.005

struct points {
	struct kwhy_piecewise_point items[SIZES_MAX];
	size_t count;
};

static bool is_of(const struct kwhy_pair_config *config, const struct kwhy_pair_config *key)
{
	return config->sample_count > 0 && config->engine == key->engine && config->load == key->load &&
		config->clock == key->clock && config->source == key->source && config->target == key->target;
}

static int by_size(const void *a, const void *b)
{
	const struct kwhy_piecewise_point *left = a, *right = b;

	return (left->x > right->x) - (left->x < right->x);
}

/* Keeps the first point of each size. In another program's traces, one size can occur under two names. */
static void keep_one_a_size(struct points *points)
{
	size_t kept = 0;

	for (size_t i = 0; i < points->count; i++)
		if (!kept || points->items[i].x > points->items[kept - 1].x)
			points->items[kept++] = points->items[i];
	points->count = kept;
}

static void gather(const struct kwhy_pairs *pairs, const struct kwhy_pair_config *key, double from_bytes,
	struct points *out)
{
	out->count = 0;
	for (size_t i = 0; i < pairs->config_count && out->count < SIZES_MAX; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];

		if (is_of(config, key) && (double)config->bytes >= from_bytes && config->summary.median_s > 0)
			out->items[out->count++] = (struct kwhy_piecewise_point){
				(double)config->bytes, config->summary.median_s};
	}
	qsort(out->items, out->count, sizeof(out->items[0]), by_size);
	keep_one_a_size(out);
}

static bool is_power_of_two(double bytes)
{
	uint64_t whole = (uint64_t)bytes;

	return (whole & (whole - 1)) == 0;
}

/*
 * Divides the points into those to fit and those to test the fit with. To test are the sizes that are no
 * powers of two if there are at least HELD_MIN, else every second size. The smallest and the largest size are
 * always fitted.
 */
static void divide(const struct points *all, struct points *kept, struct points *held)
{
	size_t random = 0;

	kept->count = held->count = 0;
	for (size_t i = 0; i < all->count; i++)
		random += !is_power_of_two(all->items[i].x);
	for (size_t i = 0; i < all->count; i++) {
		bool is_end = i == 0 || i + 1 == all->count,
		     is_held = random >= HELD_MIN ? !is_power_of_two(all->items[i].x) : i % 2 == 1;
		struct points *to = is_held && !is_end ? held : kept;

		to->items[to->count++] = all->items[i];
	}
}

static enum kwhy_status hold_out(
	const struct points *all, struct kwhy_pair_curve *curve, struct kwhy_error *error)
{
	struct points kept, held;
	struct kwhy_piecewise fit;
	struct kwhy_median median;
	double ratios[SIZES_MAX];
	enum kwhy_status status;

	curve->held_out_median_ratio = curve->held_out_worst_ratio = NAN;
	divide(all, &kept, &held);
	if (held.count < HELD_MIN || kept.count < HELD_MIN)
		return KWHY_OK;
	status = kwhy_piecewise_fit(kept.items, kept.count, FLOOR_RATIO, &fit, error);
	if (status)
		return status;
	curve->held_out_worst_ratio = 0;
	for (size_t i = 0; i < held.count; i++) {
		ratios[i] = fabs(kwhy_piecewise_at(&fit, held.items[i].x) / held.items[i].y - 1);
		curve->held_out_worst_ratio = fmax(curve->held_out_worst_ratio, ratios[i]);
	}
	kwhy_median_of(ratios, held.count, &median);
	curve->held_out_median_ratio = median.median;
	return KWHY_OK;
}

static enum kwhy_status fit_curve(
	const struct points *points, struct kwhy_pair_curve *curve, struct kwhy_error *error)
{
	struct kwhy_piecewise fit;
	enum kwhy_status status = kwhy_piecewise_fit(points->items, points->count, FLOOR_RATIO, &fit, error);

	if (status)
		return status;
	curve->segment_count = fit.segment_count;
	for (size_t i = 0; i < fit.segment_count; i++)
		curve->segments[i] = (struct kwhy_transfer_segment){fit.segments[i].from_x,
			fit.segments[i].to_x, fit.segments[i].alpha, fit.segments[i].beta};
	curve->residual_ratio = fit.residual_ratio;
	curve->point_count = points->count;
	return hold_out(points, curve, error);
}

static bool is_there(const struct kwhy_pairs *pairs, const struct kwhy_pair_config *key)
{
	for (size_t i = 0; i < pairs->curve_count; i++) {
		const struct kwhy_pair_curve *curve = &pairs->curves[i];

		if (curve->engine == key->engine && curve->load == key->load && curve->clock == key->clock &&
			curve->source == key->source && curve->target == key->target)
			return true;
	}
	return false;
}

static enum kwhy_status add_curve(
	struct kwhy_pairs *pairs, const struct kwhy_pair_config *key, struct kwhy_error *error)
{
	struct kwhy_pair_curve *curves,
		curve = {.engine = key->engine,
			.load = key->load,
			.clock = key->clock,
			.source = key->source,
			.target = key->target};
	struct points points;
	enum kwhy_status status;

	gather(pairs, key, 0, &points);
	if (points.count < 2)
		return KWHY_OK;
	status = fit_curve(&points, &curve, error);
	if (status)
		return status;
	curves = kwhy_arena_grow(&pairs->arena, pairs->curves, pairs->curve_count, sizeof(*curves));
	if (!curves)
		return kwhy_fail_memory(error, "curves of pairs");
	pairs->curves = curves;
	curves[pairs->curve_count++] = curve;
	return KWHY_OK;
}

enum kwhy_status kwhy_pairs_fit_curves(struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	const struct kwhy_pair_config *last = NULL;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];

		if (!config->sample_count || config->load == KWHY_PAIR_REFERENCE ||
			(last && is_of(config, last)) || is_there(pairs, config))
			continue;
		last = config;
		status = add_curve(pairs, config, error);
	}
	return status;
}

/*
 * Fits a line with weights 1 / y^2 to all points except the one with index `left_out`; if that equals
 * points->count, to all points.
 */
static void line_of(const struct points *points, size_t left_out, double *out_alpha, double *out_beta)
{
	double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0, scale = points->items[points->count - 1].x;

	for (size_t i = 0; i < points->count; i++) {
		double x = points->items[i].x / scale, y = points->items[i].y, weight = 1 / (y * y);

		if (i == left_out)
			continue;
		w += weight;
		wx += weight * x;
		wy += weight * y;
		wxx += weight * x * x;
		wxy += weight * x * y;
	}
	*out_beta = (w * wxy - wx * wy) / (w * wxx - wx * wx);
	*out_alpha = (wy - *out_beta * wx) / w;
	*out_beta /= scale;
}

static void widen(struct kwhy_pair_figure *figure, const double *values, size_t count)
{
	double mean = 0, squares = 0, half;

	for (size_t i = 0; i < count; i++)
		mean += values[i] / (double)count;
	for (size_t i = 0; i < count; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	half = kwhy_student_quantile(0.975, (double)count - 1) *
		sqrt(squares * ((double)count - 1) / (double)count);
	figure->low = figure->value - half;
	figure->high = figure->value + half;
}

void kwhy_pair_line_fit(const struct kwhy_pairs *pairs, const struct kwhy_pair_config *key,
	uint64_t from_bytes, struct kwhy_pair_line *out)
{
	double alphas[SIZES_MAX], betas[SIZES_MAX];
	struct points points;

	*out = (struct kwhy_pair_line){{NAN, NAN, NAN}, {NAN, NAN, NAN}, 0};
	gather(pairs, key, (double)from_bytes, &points);
	out->count = points.count;
	if (points.count < LINE_MIN)
		return;
	line_of(&points, points.count, &out->alpha.value, &out->beta.value);
	for (size_t i = 0; i < points.count; i++)
		line_of(&points, i, &alphas[i], &betas[i]);
	widen(&out->alpha, alphas, points.count);
	widen(&out->beta, betas, points.count);
}
