/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/crossover.h"

#include "bench/transfers/points.h"

#include <math.h>
#include <stdlib.h>

/*
 * Median times of two methods for the size `bytes`. The transfer engine uses the one whose time is below_s
 * for sizes below a limit, and the one whose time is above_s from the limit on.
 */
struct comparison {
	uint64_t bytes;
	double below_s, above_s;
};

static double time_at(
	const struct kwhy_transfers *transfers, const struct kwhy_transfer_choice *at, const char *strategy)
{
	const struct kwhy_transfer_point *point = kwhy_transfer_point_of(transfers, at, strategy);

	return point ? point->summary.median_s : NAN;
}

/*
 * Lists comparisons for transfers of pieces, by their total bytes: the strategy packed-mapped below the
 * limit, the strategy packed from it on. Returns their number.
 */
static size_t list_packed(const struct kwhy_transfers *transfers, enum kwhy_transfer_direction direction,
	struct comparison *out)
{
	size_t count = 0;

	for (size_t i = 0; i < transfers->choice_count; i++) {
		const struct kwhy_transfer_choice *at = &transfers->choices[i];

		if (at->pieces == 1 || at->direction != direction)
			continue;
		out[count] = (struct comparison){at->piece_bytes * at->pieces,
			time_at(transfers, at, "packed-mapped"), time_at(transfers, at, "packed")};
		count += isfinite(out[count].below_s) && isfinite(out[count].above_s);
	}
	return count;
}

/*
 * Lists comparisons for transfers of pieces, by the bytes of one piece, for all directions together: below
 * the limit a kernel accesses each piece in host memory (piece-kernel), from it on one call copies all pieces
 * (batch). Packing is not compared, because the engine makes this choice only for data that is already in
 * page-locked memory.
 */
static size_t list_batch(const struct kwhy_transfers *transfers, struct comparison *out)
{
	size_t count = 0;

	for (size_t i = 0; i < transfers->choice_count; i++) {
		const struct kwhy_transfer_choice *at = &transfers->choices[i];

		if (at->pieces == 1)
			continue;
		out[count] = (struct comparison){at->piece_bytes, time_at(transfers, at, "piece-kernel"),
			time_at(transfers, at, "batch")};
		count += isfinite(out[count].below_s) && isfinite(out[count].above_s);
	}
	return count;
}

/*
 * Loss of a limit, which best_limit() minimises: the sum over all comparisons of log(t / best). t is the time
 * of the method that is used with this limit, `best` the shorter of the two times.
 */
static double loss_at(const struct comparison *comparisons, size_t count, uint64_t limit)
{
	double loss = 0;

	for (size_t i = 0; i < count; i++) {
		double taken_s = comparisons[i].bytes < limit ? comparisons[i].below_s
							      : comparisons[i].above_s;

		loss += log(taken_s / fmin(comparisons[i].below_s, comparisons[i].above_s));
	}
	return loss;
}

static uint64_t best_limit(const struct comparison *comparisons, size_t count)
{
	uint64_t largest = 0, best = 0;
	double least;

	for (size_t i = 0; i < count; i++)
		largest = comparisons[i].bytes > largest ? comparisons[i].bytes : largest;
	best = 2 * largest;
	least = loss_at(comparisons, count, best);
	for (size_t i = 0; i < count; i++) {
		double loss = loss_at(comparisons, count, comparisons[i].bytes);

		if (loss < least || (loss <= least && comparisons[i].bytes < best)) {
			least = loss;
			best = comparisons[i].bytes;
		}
	}
	return best;
}

enum kwhy_status kwhy_transfers_find_crossovers(struct kwhy_transfers *transfers, struct kwhy_error *error)
{
	struct comparison *comparisons = calloc(transfers->choice_count + 1, sizeof(*comparisons));
	struct kwhy_transfer_crossover *out = &transfers->crossover;

	if (!comparisons)
		return kwhy_fail_memory(error, "the study of transfers");
	out->put_packed_bytes = best_limit(
		comparisons, list_packed(transfers, KWHY_TRANSFER_H2D, comparisons));
	out->get_packed_bytes = best_limit(
		comparisons, list_packed(transfers, KWHY_TRANSFER_D2H, comparisons));
	out->batch_bytes = best_limit(comparisons, list_batch(transfers, comparisons));
	free(comparisons);
	return KWHY_OK;
}
