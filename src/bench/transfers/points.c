/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/points.h"

#include <stdlib.h>
#include <string.h>

uint64_t kwhy_transfer_piece_bytes(const struct kwhy_transfer_point *point)
{
	return point->bytes / point->pieces;
}

static int by_size(const void *left, const void *right)
{
	const struct kwhy_transfer_point *a = ((const struct kwhy_transfer_row_point *)left)->point,
					 *b = ((const struct kwhy_transfer_row_point *)right)->point;

	return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

struct kwhy_transfer_row kwhy_transfer_row_select(const struct kwhy_transfers *transfers,
	struct kwhy_transfer_row_point *places, const char *strategy, enum kwhy_transfer_direction direction,
	enum kwhy_transfer_clock clock, uint32_t pieces)
{
	struct kwhy_transfer_row row = {places, 0};

	for (size_t i = 0; i < transfers->point_count; i++) {
		const struct kwhy_transfer_point *point = &transfers->points[i];

		if (point->direction == direction && point->clock == clock && point->pieces == pieces &&
			point->sample_count > 0 && strcmp(point->strategy, strategy) == 0)
			row.items[row.count++].point = point;
	}
	qsort(row.items, row.count, sizeof(*row.items), by_size);
	return row;
}

const struct kwhy_transfer_point *kwhy_transfer_point_of(const struct kwhy_transfers *transfers,
	const struct kwhy_transfer_choice *choice, const char *strategy)
{
	for (size_t i = 0; strategy && i < transfers->point_count; i++) {
		const struct kwhy_transfer_point *point = &transfers->points[i];

		if (point->direction == choice->direction && point->pieces == choice->pieces &&
			point->clock == KWHY_TRANSFER_BY_HOST &&
			kwhy_transfer_piece_bytes(point) == choice->piece_bytes &&
			strcmp(point->strategy, strategy) == 0)
			return point;
	}
	return NULL;
}
