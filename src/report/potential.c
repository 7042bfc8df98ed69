/* SPDX-License-Identifier: Apache-2.0 */
#include "report/potential.h"

#include <math.h>

static double share_of(const struct kwhy_finding *finding, double whole_nj, int64_t whole_ns)
{
	if (isfinite(whole_nj) && finding->saving.energy_nj != KWHY_UNKNOWN_NJ)
		return whole_nj > 0 ? (double)finding->saving.energy_nj / whole_nj : 0;
	return whole_ns > 0 ? (double)finding->saving.time_ns / (double)whole_ns : 0;
}

/* Share of the time of a finding's waste that belongs to a category of accounts. */
static double part_in(const struct kwhy_finding *finding, enum kwhy_category category)
{
	return finding->time_ns > 0 ? (double)finding->category_ns[category] / (double)finding->time_ns : 0;
}

enum kwhy_potential kwhy_potential_of(
	const struct kwhy_findings *findings, enum kwhy_category category, double whole_nj, int64_t whole_ns)
{
	double best = 0;

	for (size_t i = 0; findings && i < findings->count; i++)
		best = fmax(best,
			share_of(&findings->items[i], whole_nj, whole_ns) *
				part_in(&findings->items[i], category));
	if (best < 0.001)
		return KWHY_POTENTIAL_NONE;
	return best >= 0.10 ? KWHY_POTENTIAL_HIGH : best >= 0.03 ? KWHY_POTENTIAL_MEDIUM : KWHY_POTENTIAL_LOW;
}

const char *kwhy_potential_name(enum kwhy_potential potential)
{
	static const char *const names[] = {"none found", "low", "medium", "high"};

	return names[potential];
}
