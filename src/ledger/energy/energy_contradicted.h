/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_CONTRADICTED_H
#define KWHY_LEDGER_ENERGY_ENERGY_CONTRADICTED_H

#include "ledger/energy/energy_view.h"

/*
 * Compares the energies of the meter's intervals with those that the powers predict for what ran. The
 * powers were fitted to this meter, so large differences mean that no powers explain the readings: they
 * come from another time or another device, or have jumps. Consecutive intervals are taken together until
 * they last 0.2 s.
 */
struct kwhy_contradiction {
	double scatter_ratio; /* root mean square of (modelled / metered energy - 1), weighted by time */
	int64_t largest_ns;   /* time of the group with the largest difference */
	size_t count;	      /* number of groups of intervals; 0: nothing could be compared */
};

KWHY_MUST_USE enum kwhy_status kwhy_energy_contradiction(const struct kwhy_metered_total *total,
	const struct kwhy_metered_view *view, const struct kwhy_powers *powers,
	struct kwhy_contradiction *out, struct kwhy_error *error);

#endif
