/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/curves.h"

#include "bench/transfers/points.h"
#include "bench/transfers/strategy.h"
#include "fit/piecewise.h"

#include <stdlib.h>
#include <string.h>

/*
 * A relative error (root mean square) of the fit below this counts as equal to it, so that no knot is added
 * to make the error smaller than this.
 */
#define FLOOR_RATIO 0.005

enum { CURVE_POINTS_MIN = 4, ENERGY_POINTS_MIN = 3 };

static enum kwhy_status add_curve(struct kwhy_transfers *transfers, const struct kwhy_piecewise_point *points,
	size_t count, struct kwhy_transfer_curve *curve, struct kwhy_error *error)
{
	struct kwhy_piecewise fit;
	struct kwhy_transfer_curve *items;
	enum kwhy_status status = kwhy_piecewise_fit(points, count, FLOOR_RATIO, &fit, error);

	if (status)
		return status;
	items = kwhy_arena_grow(&transfers->arena, transfers->curves, transfers->curve_count, sizeof(*items));
	if (!items)
		return kwhy_fail_memory(error, "curves of transfers");
	curve->segment_count = fit.segment_count;
	for (size_t i = 0; i < fit.segment_count; i++)
		curve->segments[i] = (struct kwhy_transfer_segment){fit.segments[i].from_x,
			fit.segments[i].to_x, fit.segments[i].alpha, fit.segments[i].beta};
	curve->residual_ratio = fit.residual_ratio;
	curve->held_out_ratio = fit.held_out_ratio;
	curve->held_out_worst_ratio = fit.held_out_worst_ratio;
	curve->point_count = count;
	transfers->curves = items;
	items[transfers->curve_count++] = *curve;
	return KWHY_OK;
}

static enum kwhy_status fit_row(
	struct kwhy_transfers *transfers, const struct kwhy_transfer_row *row, struct kwhy_error *error)
{
	struct kwhy_piecewise_point points[KWHY_PIECEWISE_POINTS_MAX];
	struct kwhy_transfer_curve curve = {0};

	if (row->count < CURVE_POINTS_MIN || row->count > KWHY_PIECEWISE_POINTS_MAX)
		return KWHY_OK;
	curve.strategy = row->items[0].point->strategy;
	curve.direction = row->items[0].point->direction;
	curve.clock = row->items[0].point->clock;
	for (size_t i = 0; i < row->count; i++)
		points[i] = (struct kwhy_piecewise_point){
			(double)row->items[i].point->bytes, row->items[i].point->summary.median_s};
	return add_curve(transfers, points, row->count, &curve, error);
}

static enum kwhy_status fit_times(
	struct kwhy_transfers *transfers, struct kwhy_transfer_row_point *places, struct kwhy_error *error)
{
	const struct kwhy_bench_strategy *strategy;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && (strategy = kwhy_bench_strategy_at(i)); i++)
		for (int way = 0; !status && way < KWHY_TRANSFER_DIRECTION_COUNT; way++)
			for (int clock = 0; !status && clock < KWHY_TRANSFER_CLOCK_COUNT; clock++) {
				struct kwhy_transfer_row row = kwhy_transfer_row_select(transfers, places,
					strategy->id, (enum kwhy_transfer_direction)way,
					(enum kwhy_transfer_clock)clock, 1);

				status = fit_row(transfers, &row, error);
			}
	return status;
}

static int by_x(const void *left, const void *right)
{
	double a = ((const struct kwhy_piecewise_point *)left)->x,
	       b = ((const struct kwhy_piecewise_point *)right)->x;

	return (a > b) - (a < b);
}

/*
 * Fits the gross energy of one transfer by a strategy as a function of its size, if it was measured at
 * ENERGY_POINTS_MIN sizes or more.
 */
static enum kwhy_status fit_energy(struct kwhy_transfers *transfers, const char *strategy,
	enum kwhy_transfer_direction direction, struct kwhy_error *error)
{
	struct kwhy_piecewise_point points[KWHY_PIECEWISE_POINTS_MAX];
	struct kwhy_transfer_curve curve = {.strategy = strategy,
		.direction = direction,
		.clock = KWHY_TRANSFER_BACK_TO_BACK,
		.is_energy = true};
	size_t count = 0;

	for (size_t i = 0; i < transfers->energy_count && count < KWHY_PIECEWISE_POINTS_MAX; i++) {
		const struct kwhy_transfer_energy *energy = &transfers->energies[i];

		if (energy->pieces == 1 && energy->direction == direction && energy->gross_j > 0 &&
			strcmp(energy->strategy, strategy) == 0)
			points[count++] = (struct kwhy_piecewise_point){
				(double)energy->bytes, energy->gross_j};
	}
	qsort(points, count, sizeof(*points), by_x);
	return count < ENERGY_POINTS_MIN ? KWHY_OK : add_curve(transfers, points, count, &curve, error);
}

static enum kwhy_status fit_energies(struct kwhy_transfers *transfers, struct kwhy_error *error)
{
	const struct kwhy_bench_strategy *strategy;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && (strategy = kwhy_bench_strategy_at(i)); i++)
		for (int way = 0; !status && way < KWHY_TRANSFER_DIRECTION_COUNT; way++)
			status = fit_energy(
				transfers, strategy->id, (enum kwhy_transfer_direction)way, error);
	return status;
}

enum kwhy_status kwhy_transfers_fit_curves(struct kwhy_transfers *transfers, struct kwhy_error *error)
{
	struct kwhy_transfer_row_point *places = calloc(transfers->point_count + 1, sizeof(*places));
	enum kwhy_status status = places ? fit_times(transfers, places, error)
					 : kwhy_fail_memory(error, "the study of transfers");

	free(places);
	return status ? status : fit_energies(transfers, error);
}
