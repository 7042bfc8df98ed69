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

struct kwhy_transfers *kwhy_transfers_new(void)
{
	struct kwhy_transfers *transfers = calloc(1, sizeof(*transfers));

	if (transfers)
		transfers->context_idle_w = transfers->time_budget_s = transfers->time_pass_s = NAN;
	return transfers;
}

enum kwhy_status kwhy_transfers_add_energy(
	struct kwhy_transfers *transfers, const struct kwhy_transfer_energy *energy, struct kwhy_error *error)
{
	struct kwhy_transfer_energy *items = kwhy_arena_grow(
		&transfers->arena, transfers->energies, transfers->energy_count, sizeof(*items));

	if (!items)
		return kwhy_fail_memory(error, "energies of transfers");
	transfers->energies = items;
	items[transfers->energy_count++] = *energy;
	return KWHY_OK;
}

enum kwhy_status kwhy_transfers_add_absence(
	struct kwhy_transfers *transfers, const char *strategy, const char *reason, struct kwhy_error *error)
{
	struct kwhy_transfer_absence *items = kwhy_arena_grow(
		&transfers->arena, transfers->absences, transfers->absence_count, sizeof(*items));
	struct kwhy_transfer_absence absence = {
		kwhy_arena_copy(&transfers->arena, strategy), kwhy_arena_copy(&transfers->arena, reason)};

	if (!items || !absence.strategy || !absence.reason)
		return kwhy_fail_memory(error, "a strategy that is not there");
	transfers->absences = items;
	items[transfers->absence_count++] = absence;
	return KWHY_OK;
}

void kwhy_transfers_free(struct kwhy_transfers *transfers)
{
	if (!transfers)
		return;
	kwhy_arena_done(&transfers->arena);
	free(transfers);
}
