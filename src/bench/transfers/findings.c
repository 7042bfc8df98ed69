/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/findings.h"

#include "bench/transfers/crossover.h"
#include "bench/transfers/curves.h"
#include "bench/transfers/points.h"
#include "bench/transfers/strategy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* State of evaluating the measurements. */
struct study {
	struct kwhy_transfers *transfers;
	/*
	 * buffers with one element for each point: the points of the two strategies that are being compared
	 */
	struct kwhy_transfer_row_point *better, *than;
	struct kwhy_error *error;
};

static bool surely_beats(const struct kwhy_transfer_point *better, const struct kwhy_transfer_point *than)
{
	return better->summary.high_s < than->summary.low_s;
}

/*
 * Whether a point can be the fastest for its size: it has samples, was timed by the host's clock, and its
 * strategy only moves bytes unchanged (is_plain).
 */
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
			transfers->choices[i].piece_bytes == kwhy_transfer_piece_bytes(point))
			return &transfers->choices[i];
	return NULL;
}

/*
 * Takes a point into account for its direction, size and number of pieces: updates the strategies with the
 * shortest and the second shortest median time. choose() sets is_sure afterwards.
 */
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
				.piece_bytes = kwhy_transfer_piece_bytes(point),
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
		const struct kwhy_transfer_point *best = kwhy_transfer_point_of(
							 transfers, choice, choice->strategy),
						 *second = kwhy_transfer_point_of(
							 transfers, choice, choice->second);

		choice->is_sure = best && second && surely_beats(best, second);
	}
	return KWHY_OK;
}

/*
 * Compares two strategies at one size, updates `baseline`, and returns whether `better` is surely faster (the
 * 95 % intervals do not overlap). If `better` is surely faster, the size is added to baseline->stretches, the
 * ranges of such sizes: to the last range if `open` (`better` was surely faster at the previous size, too),
 * otherwise as the start of a new range.
 */
static bool compare_at(struct kwhy_transfer_baseline *baseline, const struct kwhy_transfer_point *better,
	const struct kwhy_transfer_point *than, bool open)
{
	double ratio = than->summary.median_s / better->summary.median_s;
	uint64_t bytes = kwhy_transfer_piece_bytes(better);
	struct kwhy_transfer_stretch *stretch;

	baseline->sizes_compared++;
	if (!(ratio <= baseline->best_ratio)) {
		baseline->best_ratio = ratio;
		baseline->best_bytes = bytes;
	}
	if (!surely_beats(better, than))
		return false;
	if (!open && baseline->stretch_count == KWHY_TRANSFER_STRETCHES_MAX)
		return false;
	if (!open)
		baseline->stretches[baseline->stretch_count++].from_bytes = bytes;
	stretch = &baseline->stretches[baseline->stretch_count - 1];
	stretch->to_bytes = bytes;
	return true;
}

static enum kwhy_status compare(struct study *study, const struct kwhy_bench_baselines *baselines,
	enum kwhy_transfer_direction direction, uint32_t pieces)
{
	struct kwhy_transfers *transfers = study->transfers;
	struct kwhy_transfer_row better = kwhy_transfer_row_select(study->transfers, study->better,
					 baselines->better, direction, baselines->clock, pieces),
				 than = kwhy_transfer_row_select(study->transfers, study->than,
					 baselines->than, direction, baselines->clock, pieces);
	struct kwhy_transfer_baseline baseline = {.question = baselines->question,
		.better = baselines->better,
		.than = baselines->than,
		.direction = direction,
		.clock = baselines->clock,
		.pieces = pieces,
		.best_ratio = NAN};
	struct kwhy_transfer_baseline *items;
	bool open = false;

	for (size_t i = 0, k = 0; i < better.count && k < than.count;) {
		if (better.items[i].point->bytes != than.items[k].point->bytes) {
			better.items[i].point->bytes < than.items[k].point->bytes ? i++ : k++;
			continue;
		}
		open = compare_at(&baseline, better.items[i++].point, than.items[k++].point, open);
	}
	if (baseline.sizes_compared == 0)
		return KWHY_OK;
	items = kwhy_arena_grow(
		&transfers->arena, transfers->baselines, transfers->baseline_count, sizeof(*items));
	if (!items)
		return kwhy_fail_memory(study->error, "comparisons of transfers");
	transfers->baselines = items;
	items[transfers->baseline_count++] = baseline;
	return KWHY_OK;
}

/*
 * Compares the two strategies of `baselines` in one direction, separately for each number of pieces at which
 * `better` was measured, in ascending order.
 */
static enum kwhy_status compare_pieces(struct study *study, const struct kwhy_bench_baselines *baselines,
	enum kwhy_transfer_direction direction)
{
	uint32_t pieces = 0;
	enum kwhy_status status = KWHY_OK;

	for (;;) {
		uint32_t next = UINT32_MAX;

		for (size_t i = 0; i < study->transfers->point_count; i++) {
			const struct kwhy_transfer_point *point = &study->transfers->points[i];

			if (point->pieces > pieces && point->pieces < next &&
				strcmp(point->strategy, baselines->better) == 0)
				next = point->pieces;
		}
		if (status || next == UINT32_MAX)
			return status;
		pieces = next;
		status = compare(study, baselines, direction, pieces);
	}
}

static enum kwhy_status compare_all(struct study *study)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && kwhy_bench_baselines[i].question; i++)
		for (int way = 0; !status && way < KWHY_TRANSFER_DIRECTION_COUNT; way++)
			status = compare_pieces(
				study, &kwhy_bench_baselines[i], (enum kwhy_transfer_direction)way);
	return status;
}

/*
 * Computes after how many transfers page-locking the memory has saved as much time as it cost: cost / (time
 * from pageable - time from pinned memory); NAN: pinned is not faster. This is done for each size at which
 * page-locking, a pageable and a pinned transfer were measured.
 */
static enum kwhy_status weigh_pinning(struct study *study, enum kwhy_transfer_direction direction)
{
	struct kwhy_transfers *transfers = study->transfers;
	struct kwhy_transfer_row cost = kwhy_transfer_row_select(
		study->transfers, study->better, "page-locking", KWHY_TRANSFER_H2D, KWHY_TRANSFER_BY_HOST, 1);

	for (size_t i = 0; i < cost.count; i++) {
		const struct kwhy_transfer_choice at = {
			.direction = direction, .piece_bytes = cost.items[i].point->bytes, .pieces = 1};
		const struct kwhy_transfer_point *pageable = kwhy_transfer_point_of(
							 transfers, &at, "pageable"),
						 *pinned = kwhy_transfer_point_of(transfers, &at, "pinned");
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

static double rate_of(const struct kwhy_transfers *transfers, uint64_t bytes, const char *strategy)
{
	const struct kwhy_transfer_choice at = {
		.direction = KWHY_TRANSFER_H2D, .piece_bytes = bytes, .pieces = 1};
	const struct kwhy_transfer_point *point = kwhy_transfer_point_of(transfers, &at, strategy);

	return point && point->sample_count ? (double)bytes / point->summary.median_s : NAN;
}

/*
 * Computes transfers->compression: rates and compression ratio at the largest size of compressed transfers.
 * The rate of compression alone, which is measured at small sizes only, is that at its own largest size.
 */
static void weigh_compression(struct study *study)
{
	struct kwhy_transfers *transfers = study->transfers;
	struct kwhy_transfer_compression *out = &transfers->compression;
	struct kwhy_transfer_row sent = kwhy_transfer_row_select(study->transfers, study->better,
					 "compressed", KWHY_TRANSFER_H2D, KWHY_TRANSFER_BY_HOST, 1),
				 made = kwhy_transfer_row_select(study->transfers, study->than, "compress",
					 KWHY_TRANSFER_H2D, KWHY_TRANSFER_BY_HOST, 1);
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

/*
 * Orders points by strategy, in the order of kwhy_bench_strategy_at(), then by direction, clock, number of
 * pieces and size.
 */
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
		status = kwhy_transfers_fit_curves(transfers, error);
	if (!status)
		status = choose(&study);
	if (!status)
		status = kwhy_transfers_find_crossovers(transfers, error);
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
