/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_POINTS_H
#define KWHY_BENCH_TRANSFERS_POINTS_H

#include "model/transfers.h"

/* Measured points, found by what they are of. Pure. */

struct kwhy_transfer_row_point {
	const struct kwhy_transfer_point *point;
};

/* Measured points of one way, in order of size. */
struct kwhy_transfer_row {
	struct kwhy_transfer_row_point *items;
	size_t count;
};

/* Of that strategy, direction, clock and number of pieces; `places` has space for all points. */
struct kwhy_transfer_row kwhy_transfer_row_select(const struct kwhy_transfers *transfers,
	struct kwhy_transfer_row_point *places, const char *strategy, enum kwhy_transfer_direction direction,
	enum kwhy_transfer_clock clock, uint32_t pieces);

/* What `choice` is of, by that strategy and the host's clock; NULL: not measured, or `strategy` is NULL. */
const struct kwhy_transfer_point *kwhy_transfer_point_of(const struct kwhy_transfers *transfers,
	const struct kwhy_transfer_choice *choice, const char *strategy);

uint64_t kwhy_transfer_piece_bytes(const struct kwhy_transfer_point *point);

#endif
