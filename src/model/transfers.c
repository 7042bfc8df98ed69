/* SPDX-License-Identifier: Apache-2.0 */
#include "model/transfers.h"

#include <math.h>
#include <stdlib.h>

const char *kwhy_transfer_direction_name(enum kwhy_transfer_direction direction)
{
	static const char *const names[KWHY_TRANSFER_DIRECTION_COUNT] = {"h2d", "d2h", "both"};

	return names[direction];
}

const char *kwhy_transfer_clock_name(enum kwhy_transfer_clock clock)
{
	static const char *const names[KWHY_TRANSFER_CLOCK_COUNT] = {"back-to-back", "isolated", "host"};

	return names[clock];
}

double kwhy_transfer_rate(const struct kwhy_transfer_point *point)
{
	double ways = point->direction == KWHY_TRANSFER_BOTH ? 2 : 1;

	return ways * (double)point->bytes / point->summary.median_s;
}

double kwhy_transfer_curve_at(const struct kwhy_transfer_curve *curve, double bytes)
{
	size_t i = 0;

	if (curve->segment_count == 0)
		return NAN;
	while (i + 1 < curve->segment_count && bytes >= curve->segments[i].to_bytes)
		i++;
	return curve->segments[i].alpha_s + curve->segments[i].beta_s_per_byte * bytes;
}

void kwhy_transfers_free(struct kwhy_transfers *transfers)
{
	if (!transfers)
		return;
	kwhy_arena_done(&transfers->arena);
	free(transfers);
}
