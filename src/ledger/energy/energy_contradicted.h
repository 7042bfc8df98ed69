/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_CONTRADICTED_H
#define KWHY_LEDGER_ENERGY_ENERGY_CONTRADICTED_H

#include "ledger/energy/energy_view.h"

/*
 * Difference between the energies of a meter's intervals and those that the powers predict for what ran. The
 * powers were fitted to this meter, so a large difference means that no powers explain the readings: they
 * come from another time or another device, or have jumps. Consecutive intervals make groups of at least 0.2
 * s. Intervals with unrecorded time are left out.
 */
struct kwhy_contradiction {
	double scatter_ratio; /* root mean square, weighted by time, of (metered energy / (predicted energy
				 times a common factor) - 1) of the groups; the factor makes both sums equal
			       */
	int64_t largest_ns;   /* start of the group whose difference in joules is the largest */
	size_t count;	      /* number of groups of intervals; 0: nothing could be compared */
};

KWHY_MUST_USE enum kwhy_status kwhy_energy_contradiction(const struct kwhy_metered_total *total,
	const struct kwhy_metered_view *view, const struct kwhy_powers *powers,
	struct kwhy_contradiction *out, struct kwhy_error *error);

#endif
