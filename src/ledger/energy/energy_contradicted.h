/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_CONTRADICTED_H
#define KWHY_LEDGER_ENERGY_ENERGY_CONTRADICTED_H

#include "ledger/energy/energy_view.h"

/*
 * How far the intervals of the meter are from what the powers predict for what ran, although the powers were
 * fitted to this meter's device. Large values come from readings of another time, of another device, or with
 * jumps; no power of the work explains them. Intervals are taken together to at least 0.2 s.
 */
struct kwhy_contradiction {
	double scatter_ratio; /* root mean square of modelled over metered energy less 1, weighted by time */
	double largest_ratio; /* largest difference in one such time, over the metered energy of all */
	int64_t largest_ns;   /* time of the largest difference */
	size_t count;	      /* number of such times; 0: nothing could be compared */
};

KWHY_MUST_USE enum kwhy_status kwhy_energy_contradiction(const struct kwhy_metered_total *total,
	const struct kwhy_metered_view *view, const struct kwhy_powers *powers,
	struct kwhy_contradiction *out, struct kwhy_error *error);

#endif
