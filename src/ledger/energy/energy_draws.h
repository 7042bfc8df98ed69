/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_DRAWS_H
#define KWHY_LEDGER_ENERGY_ENERGY_DRAWS_H

#include "ledger/energy/energy_apportion.h"

/*
 * Uncertainty of the energy of each power class (accounts that share one power, power_class.h), from random
 * draws of the powers. In each draw, each class also varies by the drift of powers with temperature and
 * clocks, and by the difference between its power in bursts and in place. The energies of a draw are then
 * scaled to the metered energy of recorded time, as far as the meter determines it (metered_ratio).
 */
struct kwhy_energy_draws {
	size_t class_count, draw_count; /* in the arrays below, idle is entry [class_count] */
	double *draws_nj;	  /* [draw_count * (class_count + 1)] energy of each class in each draw */
	double *low_nj, *high_nj; /* [class_count + 1] 5 and 95 % quantiles of the energies, widened to
				     include the apportioned energy */
	double unrecorded_low_nj,
		unrecorded_high_nj; /* 5 and 95 % quantiles of the energy of unrecorded time, widened to
				       include the apportioned energy; 0 if there is no unrecorded time */
	double wrong_ratio; /* share of the energy of recorded time that is on other power classes in the
			       ledger than in a draw, as the mean over the draws */
};

KWHY_MUST_USE enum kwhy_status kwhy_energy_draws_init(struct kwhy_energy_draws *draws,
	const struct kwhy_apportioned *apportioned, const struct kwhy_powers *powers, uint64_t seed,
	struct kwhy_error *error);
void kwhy_energy_draws_done(struct kwhy_energy_draws *draws);

/*
 * Writes the 5 and 95 % quantiles, over the draws, of the energy summed over those classes for which `chosen`
 * is true. `chosen` has class_count + 1 entries; the last is that of idle.
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_draws_sum(const struct kwhy_energy_draws *draws,
	const bool *chosen, double *out_low_nj, double *out_high_nj, struct kwhy_error *error);

/*
 * Groups power classes, idle included, whose energies are known as a sum only, because the readings cannot
 * distinguish them. out_group[class_count + 1] gets the index of each class's group, or KWHY_NONE; *out_count
 * gets the number of groups.
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_draws_groups(const struct kwhy_energy_draws *draws,
	uint32_t *out_group, size_t *out_count, struct kwhy_error *error);

#endif
