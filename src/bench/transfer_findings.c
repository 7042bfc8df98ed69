/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfer_findings.h"

#include "bench/transfer_strategy.h"
#include "fit/piecewise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLOOR_RATIO 0.005 /* errors of a fit below half a percent say nothing about a knot */

enum { CURVE_POINTS_LEAST = 4, ENERGY_POINTS_LEAST = 3 };

struct place {
	const struct kwhy_transfer_point *point;
};

/* Measured points of one way, in order of size. */
struct row {
	struct place *items;
	size_t count;
};

/* Everything that is under way. */
struct study {
	struct kwhy_transfers *transfers;
	struct place *better, *than; /* [point_count] */
	struct kwhy_error *error;
};

static uint64_t piece_bytes(const struct kwhy_transfer_point *point)
{
	return point->bytes / point->pieces;
}

static int by_size(const void *left, const void *right)
{
	const struct kwhy_transfer_point *a = ((const struct place *)left)->point,
					 *b = ((const struct place *)right)->point;

	return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static struct row select_row(const struct study *study, struct place *place, const char *strategy,
	enum kwhy_transfer_direction direction, enum kwhy_transfer_clock clock, uint32_t pieces)
{
	struct row row = {place, 0};

	for (size_t i = 0; i < study->transfers->point_count; i++) {
		const struct kwhy_transfer_point *point = &study->transfers->points[i];

		if (point->direction == direction && point->clock == clock && point->pieces == pieces &&
			point->sample_count > 0 && strcmp(point->strategy, strategy) == 0)
			row.items[row.count++].point = point;
	}
	qsort(row.items, row.count, sizeof(*row.items), by_size);
	return row;
}

static enum kwhy_status add_curve(struct study *study, const struct kwhy_piecewise_point *points,
	size_t count, struct kwhy_transfer_curve *curve)
{
	struct kwhy_transfers *transfers = study->transfers;
	struct kwhy_piecewise fit;
	struct kwhy_transfer_curve *items;
	enum kwhy_status status = kwhy_piecewise_fit(points, count, FLOOR_RATIO, &fit, study->error);

	if (status)
		return status;
	items = kwhy_arena_grow(&transfers->arena, transfers->curves, transfers->curve_count, sizeof(*items));
	if (!items)
		return kwhy_fail_memory(study->error, "curves of transfers");
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

static enum kwhy_status fit_row(struct study *study, const struct row *row)
{
	struct kwhy_piecewise_point points[KWHY_PIECEWISE_POINTS_MAX];
	struct kwhy_transfer_curve curve = {0};

	if (row->count < CURVE_POINTS_LEAST || row->count > KWHY_PIECEWISE_POINTS_MAX)
		return KWHY_OK;
	curve.strategy = row->items[0].point->strategy;
	curve.direction = row->items[0].point->direction;
	curve.clock = row->items[0].point->clock;
	for (size_t i = 0; i < row->count; i++)
		points[i] = (struct kwhy_piecewise_point){
			(double)row->items[i].point->bytes, row->items[i].point->summary.median_s};
	return add_curve(study, points, row->count, &curve);
}

static enum kwhy_status fit_times(struct study *study)
{
	const struct kwhy_bench_strategy *strategy;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && (strategy = kwhy_bench_strategy_at(i)); i++)
		for (int way = 0; !status && way < KWHY_TRANSFER_DIRECTION_COUNT; way++)
			for (int clock = 0; !status && clock < KWHY_TRANSFER_CLOCK_COUNT; clock++) {
				struct row row = select_row(study, study->better, strategy->id,
					(enum kwhy_transfer_direction)way, (enum kwhy_transfer_clock)clock,
					1);

				status = fit_row(study, &row);
			}
	return status;
}

static int by_x(const void *left, const void *right)
{
	double a = ((const struct kwhy_piecewise_point *)left)->x,
	       b = ((const struct kwhy_piecewise_point *)right)->x;

	return (a > b) - (a < b);
}

/* Of the energies of one way that single transfers of each size took. */
static enum kwhy_status fit_energy(
	struct study *study, const char *strategy, enum kwhy_transfer_direction direction)
{
	struct kwhy_piecewise_point points[KWHY_PIECEWISE_POINTS_MAX];
	struct kwhy_transfer_curve curve = {.strategy = strategy,
		.direction = direction,
		.clock = KWHY_TRANSFER_BACK_TO_BACK,
		.is_energy = true};
	size_t count = 0;

	for (size_t i = 0; i < study->transfers->energy_count && count < KWHY_PIECEWISE_POINTS_MAX; i++) {
		const struct kwhy_transfer_energy *energy = &study->transfers->energies[i];

		if (energy->pieces == 1 && energy->direction == direction && energy->gross_j > 0 &&
			strcmp(energy->strategy, strategy) == 0)
			points[count++] = (struct kwhy_piecewise_point){
				(double)energy->bytes, energy->gross_j};
	}
	qsort(points, count, sizeof(*points), by_x);
	return count < ENERGY_POINTS_LEAST ? KWHY_OK : add_curve(study, points, count, &curve);
}

static enum kwhy_status fit_energies(struct study *study)
{
	const struct kwhy_bench_strategy *strategy;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && (strategy = kwhy_bench_strategy_at(i)); i++)
		for (int way = 0; !status && way < KWHY_TRANSFER_DIRECTION_COUNT; way++)
			status = fit_energy(study, strategy->id, (enum kwhy_transfer_direction)way);
	return status;
}

static bool surely_beats(const struct kwhy_transfer_point *better, const struct kwhy_transfer_point *than)
{
	return better->summary.high_s < than->summary.low_s;
}

/* Whether a point competes to be the fastest: it brings the bytes as they are, and the host waits for it. */
static bool competes(const struct kwhy_transfer_point *point)
{
	const struct kwhy_bench_strategy *strategy = kwhy_bench_strategy_find(point->strategy);

	return strategy && strategy->is_plain && point->clock == KWHY_TRANSFER_BY_HOST &&
		point->sample_count > 0;
}

static struct kwhy_transfer_choice *find_choice(
	const struct kwhy_transfers *transfers, const struct kwhy_transfer_point *point)
{
	for (size_t i = 0; i < transfers->choice_count; i++)
		if (transfers->choices[i].direction == point->direction &&
			transfers->choices[i].pieces == point->pieces &&
			transfers->choices[i].piece_bytes == piece_bytes(point))
			return &transfers->choices[i];
	return NULL;
}

/* The best two so far; whether that is sure is seen to at the end. */
static void offer(struct kwhy_transfer_choice *choice, const struct kwhy_transfer_point *point)
{
	double time_s = point->summary.median_s;

	if (!(time_s >= choice->median_s)) {
		choice->second = choice->strategy;
		choice->second_s = choice->median_s;
		choice->strategy = point->strategy;
		choice->median_s = time_s;
	} else if (!(time_s >= choice->second_s)) {
		choice->second = point->strategy;
		choice->second_s = time_s;
	}
}

static const struct kwhy_transfer_point *point_of(const struct kwhy_transfers *transfers,
	const struct kwhy_transfer_choice *choice, const char *strategy)
{
	for (size_t i = 0; strategy && i < transfers->point_count; i++) {
		const struct kwhy_transfer_point *point = &transfers->points[i];

		if (point->direction == choice->direction && point->pieces == choice->pieces &&
			point->clock == KWHY_TRANSFER_BY_HOST && piece_bytes(point) == choice->piece_bytes &&
			strcmp(point->strategy, strategy) == 0)
			return point;
	}
	return NULL;
}

static int by_place(const void *left, const void *right)
{
	const struct kwhy_transfer_choice *a = left, *b = right;

	if (a->direction != b->direction)
		return a->direction < b->direction ? -1 : 1;
	if (a->pieces != b->pieces)
		return a->pieces < b->pieces ? -1 : 1;
	return (a->piece_bytes > b->piece_bytes) - (a->piece_bytes < b->piece_bytes);
}

static enum kwhy_status choose(struct study *study)
{
	struct kwhy_transfers *transfers = study->transfers;

	for (size_t i = 0; i < transfers->point_count; i++) {
		const struct kwhy_transfer_point *point = &transfers->points[i];
		struct kwhy_transfer_choice *choice, *items;

		if (!competes(point))
			continue;
		choice = find_choice(transfers, point);
		if (!choice) {
			items = kwhy_arena_grow(&transfers->arena, transfers->choices,
				transfers->choice_count, sizeof(*items));
			if (!items)
				return kwhy_fail_memory(study->error, "the fastest transfers");
			transfers->choices = items;
			choice = &items[transfers->choice_count++];
			*choice = (struct kwhy_transfer_choice){.direction = point->direction,
				.piece_bytes = piece_bytes(point),
				.pieces = point->pieces,
				.median_s = NAN,
				.second_s = NAN};
		}
		offer(choice, point);
	}
	if (transfers->choice_count)
		qsort(transfers->choices, transfers->choice_count, sizeof(*transfers->choices), by_place);
	for (size_t i = 0; i < transfers->choice_count; i++) {
		struct kwhy_transfer_choice *choice = &transfers->choices[i];
		const struct kwhy_transfer_point *best = point_of(transfers, choice, choice->strategy),
						 *second = point_of(transfers, choice, choice->second);

		choice->is_sure = best && second && surely_beats(best, second);
	}
	return KWHY_OK;
}

/* Takes one size into account; `open`: the size before was won, too. */
static bool compare_at(struct kwhy_transfer_rivalry *rivalry, const struct kwhy_transfer_point *better,
	const struct kwhy_transfer_point *than, bool open)
{
	double ratio = than->summary.median_s / better->summary.median_s;
	uint64_t bytes = piece_bytes(better);
	struct kwhy_transfer_stretch *stretch;

	rivalry->sizes_compared++;
	if (!(ratio <= rivalry->best_ratio)) {
		rivalry->best_ratio = ratio;
		rivalry->best_bytes = bytes;
	}
	if (!surely_beats(better, than))
		return false;
	if (!open && rivalry->stretch_count == KWHY_TRANSFER_STRETCHES_MAX)
		return false;
	if (!open)
		rivalry->stretches[rivalry->stretch_count++].from_bytes = bytes;
	stretch = &rivalry->stretches[rivalry->stretch_count - 1];
	stretch->to_bytes = bytes;
	return true;
}

static enum kwhy_status compare(struct study *study, const struct kwhy_bench_rivals *rivals,
	enum kwhy_transfer_direction direction, uint32_t pieces)
{
	struct kwhy_transfers *transfers = study->transfers;
	struct row better = select_row(
			   study, study->better, rivals->better, direction, rivals->clock, pieces),
		   than = select_row(study, study->than, rivals->than, direction, rivals->clock, pieces);
	struct kwhy_transfer_rivalry rivalry = {.question = rivals->question,
		.better = rivals->better,
		.than = rivals->than,
		.direction = direction,
		.clock = rivals->clock,
		.pieces = pieces,
		.best_ratio = NAN};
	struct kwhy_transfer_rivalry *items;
	bool open = false;

	for (size_t i = 0, k = 0; i < better.count && k < than.count;) {
		if (better.items[i].point->bytes != than.items[k].point->bytes) {
			better.items[i].point->bytes < than.items[k].point->bytes ? i++ : k++;
			continue;
		}
		open = compare_at(&rivalry, better.items[i++].point, than.items[k++].point, open);
	}
	if (rivalry.sizes_compared == 0)
		return KWHY_OK;
	items = kwhy_arena_grow(
		&transfers->arena, transfers->rivalries, transfers->rivalry_count, sizeof(*items));
	if (!items)
		return kwhy_fail_memory(study->error, "comparisons of transfers");
	transfers->rivalries = items;
	items[transfers->rivalry_count++] = rivalry;
	return KWHY_OK;
}

/* For each number of pieces that was measured, in rising order. */
static enum kwhy_status compare_pieces(
	struct study *study, const struct kwhy_bench_rivals *rivals, enum kwhy_transfer_direction direction)
{
	uint32_t pieces = 0;
	enum kwhy_status status = KWHY_OK;

	for (;;) {
		uint32_t next = UINT32_MAX;

		for (size_t i = 0; i < study->transfers->point_count; i++) {
			const struct kwhy_transfer_point *point = &study->transfers->points[i];

			if (point->pieces > pieces && point->pieces < next &&
				strcmp(point->strategy, rivals->better) == 0)
				next = point->pieces;
		}
		if (status || next == UINT32_MAX)
			return status;
		pieces = next;
		status = compare(study, rivals, direction, pieces);
	}
}

static enum kwhy_status compare_all(struct study *study)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && kwhy_bench_rivals[i].question; i++)
		for (int way = 0; !status && way < KWHY_TRANSFER_DIRECTION_COUNT; way++)
			status = compare_pieces(
				study, &kwhy_bench_rivals[i], (enum kwhy_transfer_direction)way);
	return status;
}

/* Sizes that the cost of page-locking and both ways were measured at. */
static enum kwhy_status weigh_pinning(struct study *study, enum kwhy_transfer_direction direction)
{
	struct kwhy_transfers *transfers = study->transfers;
	struct row cost = select_row(
		study, study->better, "page-locking", KWHY_TRANSFER_H2D, KWHY_TRANSFER_BY_HOST, 1);

	for (size_t i = 0; i < cost.count; i++) {
		const struct kwhy_transfer_choice at = {
			.direction = direction, .piece_bytes = cost.items[i].point->bytes, .pieces = 1};
		const struct kwhy_transfer_point *pageable = point_of(transfers, &at, "pageable"),
						 *pinned = point_of(transfers, &at, "pinned");
		struct kwhy_transfer_pinning *items,
			pinning = {.direction = direction,
				.bytes = cost.items[i].point->bytes,
				.cost_s = cost.items[i].point->summary.median_s,
				.transfers = NAN};

		if (!pageable || !pinned || pageable->sample_count == 0 || pinned->sample_count == 0)
			continue;
		pinning.pageable_s = pageable->summary.median_s;
		pinning.pinned_s = pinned->summary.median_s;
		if (pinning.pageable_s > pinning.pinned_s)
			pinning.transfers = pinning.cost_s / (pinning.pageable_s - pinning.pinned_s);
		items = kwhy_arena_grow(
			&transfers->arena, transfers->pinnings, transfers->pinning_count, sizeof(*items));
		if (!items)
			return kwhy_fail_memory(study->error, "the price of page-locking");
		transfers->pinnings = items;
		items[transfers->pinning_count++] = pinning;
	}
	return KWHY_OK;
}

/* Where two ways were both timed: by what they are told apart, and their times. */
struct contest {
	uint64_t bytes;
	double below_s, above_s;
};

static double time_at(
	const struct kwhy_transfers *transfers, const struct kwhy_transfer_choice *at, const char *strategy)
{
	const struct kwhy_transfer_point *point = point_of(transfers, at, strategy);

	return point ? point->summary.median_s : NAN;
}

/* Of pieces, by all bytes: packed-mapped below, packed above. */
static size_t list_packed(
	const struct kwhy_transfers *transfers, enum kwhy_transfer_direction direction, struct contest *out)
{
	size_t count = 0;

	for (size_t i = 0; i < transfers->choice_count; i++) {
		const struct kwhy_transfer_choice *at = &transfers->choices[i];

		if (at->pieces == 1 || at->direction != direction)
			continue;
		out[count] = (struct contest){at->piece_bytes * at->pieces,
			time_at(transfers, at, "packed-mapped"), time_at(transfers, at, "packed")};
		count += isfinite(out[count].below_s) && isfinite(out[count].above_s);
	}
	return count;
}

/*
 * By the bytes of one, in both directions: a kernel that reaches each piece where it lies, and a batch.
 * Packing is in neither, for what the engine chooses between lies in page-locked memory already.
 */
static size_t list_batch(const struct kwhy_transfers *transfers, struct contest *out)
{
	size_t count = 0;

	for (size_t i = 0; i < transfers->choice_count; i++) {
		const struct kwhy_transfer_choice *at = &transfers->choices[i];

		if (at->pieces == 1)
			continue;
		out[count] = (struct contest){at->piece_bytes, time_at(transfers, at, "piece-kernel"),
			time_at(transfers, at, "batch")};
		count += isfinite(out[count].below_s) && isfinite(out[count].above_s);
	}
	return count;
}

/* What a limit loses: the logarithms of how many times as long as the better way, together. */
static double loss_at(const struct contest *contests, size_t count, uint64_t limit)
{
	double loss = 0;

	for (size_t i = 0; i < count; i++) {
		double taken_s = contests[i].bytes < limit ? contests[i].below_s : contests[i].above_s;

		loss += log(taken_s / fmin(contests[i].below_s, contests[i].above_s));
	}
	return loss;
}

static uint64_t best_limit(const struct contest *contests, size_t count)
{
	uint64_t largest = 0, best = 0;
	double least;

	for (size_t i = 0; i < count; i++)
		largest = contests[i].bytes > largest ? contests[i].bytes : largest;
	best = 2 * largest;
	least = loss_at(contests, count, best);
	for (size_t i = 0; i < count; i++) {
		double loss = loss_at(contests, count, contests[i].bytes);

		if (loss < least || (loss <= least && contests[i].bytes < best)) {
			least = loss;
			best = contests[i].bytes;
		}
	}
	return best;
}

static enum kwhy_status find_overtaking(struct study *study)
{
	struct kwhy_transfers *transfers = study->transfers;
	struct contest *contests = calloc(transfers->choice_count + 1, sizeof(*contests));
	struct kwhy_transfer_overtaking *out = &transfers->overtaking;

	if (!contests)
		return kwhy_fail_memory(study->error, "the study of transfers");
	out->put_packed_bytes = best_limit(contests, list_packed(transfers, KWHY_TRANSFER_H2D, contests));
	out->get_packed_bytes = best_limit(contests, list_packed(transfers, KWHY_TRANSFER_D2H, contests));
	out->batch_bytes = best_limit(contests, list_batch(transfers, contests));
	free(contests);
	return KWHY_OK;
}

static double rate_of(const struct kwhy_transfers *transfers, uint64_t bytes, const char *strategy)
{
	const struct kwhy_transfer_choice at = {
		.direction = KWHY_TRANSFER_H2D, .piece_bytes = bytes, .pieces = 1};
	const struct kwhy_transfer_point *point = point_of(transfers, &at, strategy);

	return point && point->sample_count ? (double)bytes / point->summary.median_s : NAN;
}

/* Compressing alone is measured at small sizes: its rate is that of the largest of them. */
static void weigh_compression(struct study *study)
{
	struct kwhy_transfers *transfers = study->transfers;
	struct kwhy_transfer_compression *out = &transfers->compression;
	struct row sent = select_row(
			   study, study->better, "compressed", KWHY_TRANSFER_H2D, KWHY_TRANSFER_BY_HOST, 1),
		   made = select_row(
			   study, study->than, "compress", KWHY_TRANSFER_H2D, KWHY_TRANSFER_BY_HOST, 1);
	const struct kwhy_transfer_point *largest;

	if (sent.count == 0)
		return;
	largest = sent.items[sent.count - 1].point;
	*out = (struct kwhy_transfer_compression){.bytes = largest->bytes,
		.ratio = (double)largest->bytes / largest->link_bytes,
		.link_bytes_per_s = rate_of(transfers, largest->bytes, "pinned"),
		.expand_bytes_per_s = rate_of(transfers, largest->bytes, "expand"),
		.compress_bytes_per_s = made.count
			? rate_of(transfers, made.items[made.count - 1].point->bytes, "compress")
			: NAN};
	out->serial_ratio = rate_of(transfers, largest->bytes, "compressed") / out->link_bytes_per_s;
	out->overlapped_ratio = rate_of(transfers, largest->bytes, "compressed-overlap") /
		out->link_bytes_per_s;
}

static size_t place_of(const char *strategy)
{
	const struct kwhy_bench_strategy *row;
	size_t i = 0;

	while ((row = kwhy_bench_strategy_at(i)) && strcmp(row->id, strategy) != 0)
		i++;
	return i;
}

/* By strategy as in their table, then direction, clock, pieces and size. */
static int by_table(const void *left, const void *right)
{
	const struct kwhy_transfer_point *a = left, *b = right;
	uint64_t keys[2][5] = {
		{place_of(a->strategy), a->direction, a->clock, a->pieces, a->bytes},
		{place_of(b->strategy), b->direction, b->clock, b->pieces, b->bytes},
	};

	for (int i = 0; i < 5; i++)
		if (keys[0][i] != keys[1][i])
			return keys[0][i] < keys[1][i] ? -1 : 1;
	return 0;
}

enum kwhy_status kwhy_transfers_conclude(struct kwhy_transfers *transfers, struct kwhy_error *error)
{
	struct study study = {.transfers = transfers, .error = error};
	enum kwhy_status status = KWHY_OK;

	study.better = calloc(transfers->point_count + 1, sizeof(*study.better));
	study.than = calloc(transfers->point_count + 1, sizeof(*study.than));
	if (transfers->point_count)
		qsort(transfers->points, transfers->point_count, sizeof(*transfers->points), by_table);
	if (!study.better || !study.than)
		status = kwhy_fail_memory(error, "the study of transfers");
	if (!status)
		status = fit_times(&study);
	if (!status)
		status = fit_energies(&study);
	if (!status)
		status = choose(&study);
	if (!status)
		status = find_overtaking(&study);
	if (!status)
		status = compare_all(&study);
	if (!status)
		weigh_compression(&study);
	if (!status)
		status = weigh_pinning(&study, KWHY_TRANSFER_H2D);
	if (!status)
		status = weigh_pinning(&study, KWHY_TRANSFER_D2H);
	free(study.better);
	free(study.than);
	return status;
}
