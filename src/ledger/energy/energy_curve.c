/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_findings.h"

#include <math.h>

/* Number of intervals of the curve: the metered ones, and the gaps between them. */
static size_t piece_count(const struct kwhy_metered_total *total)
{
	size_t count = total->count;

	for (size_t i = 1; i < total->count; i++)
		count += total->intervals[i - 1].end_ns != total->intervals[i].start_ns;
	return count;
}

/*
 * Fills the energy curve: the ratio of metered to predicted energy of each interval, NAN in gaps. Its times
 * are on the clock of the activities: times of the meter minus the meter's lag.
 */
static void fill(struct kwhy_energy_curve *curve, const struct kwhy_energy_findings *findings)
{
	const struct kwhy_metered_total *total = findings->total;
	int64_t lag = kwhy_energy_lag_ns(findings);
	size_t piece = 0;

	for (size_t i = 0; i < total->count; i++) {
		const struct kwhy_metered_interval *interval = &total->intervals[i];

		if (i > 0 && interval->start_ns != total->intervals[i - 1].end_ns)
			curve->scale[piece++] = NAN;
		curve->edge_ns[piece] = interval->start_ns - lag;
		curve->scale[piece++] = findings->apportioned->scale[i];
		curve->edge_ns[piece] = interval->end_ns - lag;
	}
	curve->count = piece;
}

enum kwhy_status kwhy_energy_write_curve(
	struct kwhy_ledger *ledger, const struct kwhy_energy_findings *findings, struct kwhy_error *error)
{
	struct kwhy_energy_curve *curve = &ledger->devices[findings->device].curve;
	size_t count = piece_count(findings->total);

	curve->edge_ns = kwhy_arena_alloc(&ledger->arena, count + 1, sizeof(*curve->edge_ns));
	curve->scale = kwhy_arena_alloc(&ledger->arena, count, sizeof(*curve->scale));
	if (!curve->edge_ns || !curve->scale)
		return kwhy_fail_memory(error, "the energy curve");
	fill(curve, findings);
	return KWHY_OK;
}
