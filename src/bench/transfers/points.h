/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_POINTS_H
#define KWHY_BENCH_TRANSFERS_POINTS_H

#include "model/transfers.h"

/* Functions that find points (strategy, direction, clock, size) in transfers->points. Pure. */

struct kwhy_transfer_row_point {
	const struct kwhy_transfer_point *point;
};

/* Points with samples of one strategy, direction, clock and number of pieces, in ascending order of size. */
struct kwhy_transfer_row {
	struct kwhy_transfer_row_point *items;
	size_t count;
};

/*
 * Selects the points with samples of one strategy, direction, clock and number of pieces. The row's items are
 * in `places`, which must have transfers->point_count elements.
 */
struct kwhy_transfer_row kwhy_transfer_row_select(const struct kwhy_transfers *transfers,
	struct kwhy_transfer_row_point *places, const char *strategy, enum kwhy_transfer_direction direction,
	enum kwhy_transfer_clock clock, uint32_t pieces);

/*
 * Finds the point of `strategy`, timed by the host's clock, that has the direction, number of pieces and
 * piece size of `choice`. NULL: there is none, or `strategy` is NULL.
 */
const struct kwhy_transfer_point *kwhy_transfer_point_of(const struct kwhy_transfers *transfers,
	const struct kwhy_transfer_choice *choice, const char *strategy);

uint64_t kwhy_transfer_piece_bytes(const struct kwhy_transfer_point *point);

#endif
