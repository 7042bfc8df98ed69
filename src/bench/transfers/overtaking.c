/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/overtaking.h"

#include "bench/transfers/points.h"

#include <math.h>
#include <stdlib.h>

/* Where two ways were both timed: by what they are told apart, and their times. */
struct contest {
	uint64_t bytes;
	double below_s, above_s;
};

static double time_at(
	const struct kwhy_transfers *transfers, const struct kwhy_transfer_choice *at, const char *strategy)
{
	const struct kwhy_transfer_point *point = kwhy_transfer_point_of(transfers, at, strategy);

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

enum kwhy_status kwhy_transfers_find_overtaking(struct kwhy_transfers *transfers, struct kwhy_error *error)
{
	struct contest *contests = calloc(transfers->choice_count + 1, sizeof(*contests));
	struct kwhy_transfer_overtaking *out = &transfers->overtaking;

	if (!contests)
		return kwhy_fail_memory(error, "the study of transfers");
	out->put_packed_bytes = best_limit(contests, list_packed(transfers, KWHY_TRANSFER_H2D, contests));
	out->get_packed_bytes = best_limit(contests, list_packed(transfers, KWHY_TRANSFER_D2H, contests));
	out->batch_bytes = best_limit(contests, list_batch(transfers, contests));
	free(contests);
	return KWHY_OK;
}
