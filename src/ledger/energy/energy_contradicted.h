/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_CONTRADICTED_H
#define KWHY_LEDGER_ENERGY_ENERGY_CONTRADICTED_H

#include "ledger/energy/energy_view.h"

/*
 * Difference between the energies of a meter's intervals and those that the powers predict for what ran. The
 * powers were fitted to this meter, so a large difference means that no powers explain the readings: the
 * readings come from another time or another device, or they jump. What is compared are groups of consecutive
 * intervals, each group at least 0.2 s long in all. Intervals with unrecorded time are left out.
 */
struct kwhy_contradiction {
	double scatter_ratio; /* root mean square over the groups, weighted by time, of (metered energy / (f *
				 predicted energy) - 1); f is one factor for all groups: the sum of all
				 metered divided by that of all predicted energies */
	int64_t largest_ns;   /* start of the group whose difference in joules is the largest */
	size_t count;	      /* number of groups of intervals; 0: nothing could be compared */
};

KWHY_MUST_USE enum kwhy_status kwhy_energy_contradiction(const struct kwhy_metered_total *total,
	const struct kwhy_metered_view *view, const struct kwhy_powers *powers,
	struct kwhy_contradiction *out, struct kwhy_error *error);

#endif
