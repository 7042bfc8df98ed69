/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_DRAWS_H
#define KWHY_LEDGER_ENERGY_ENERGY_DRAWS_H

#include "ledger/energy/energy_apportion.h"

/*
 * Uncertainty of the energy of each power class (accounts that share one power, power_class.h), from random
 * draws of the powers. In each draw, the energies are scaled so that the share that the meter determines
 * adds up to the metered total without unrecorded time. In addition, each class varies by the drift of
 * powers with temperature and clocks, and by the difference between its power in bursts and between other
 * work.
 */
struct kwhy_energy_draws {
	size_t class_count, draw_count; /* in the arrays below, idle is entry [class_count] */
	double *draws_nj;	  /* [draw_count * (class_count + 1)] energy of each class in each draw */
	double *low_nj, *high_nj; /* [class_count + 1] 5 and 95 % quantiles of the energies, widened to
				     include the apportioned energy */
	double unrecorded_low_nj,
		unrecorded_high_nj; /* 5 and 95 % quantiles of the energy of unrecorded time */
	double wrong_ratio; /* share of the energy that is on other accounts in the ledger than in a draw;
			       mean over the draws */
};

KWHY_MUST_USE enum kwhy_status kwhy_energy_draws_init(struct kwhy_energy_draws *draws,
	const struct kwhy_apportioned *apportioned, const struct kwhy_powers *powers, uint64_t seed,
	struct kwhy_error *error);
void kwhy_energy_draws_done(struct kwhy_energy_draws *draws);

/* 5 and 95 % quantiles of the total energy of the classes for which `chosen` is true. */
KWHY_MUST_USE enum kwhy_status kwhy_energy_draws_sum(const struct kwhy_energy_draws *draws,
	const bool *chosen, double *out_low_nj, double *out_high_nj, struct kwhy_error *error);

/*
 * Puts classes that the readings cannot distinguish into groups. out_group[class_count + 1] gets the index
 * of each class's group, or KWHY_NONE.
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_draws_groups(const struct kwhy_energy_draws *draws,
	uint32_t *out_group, size_t *out_count, struct kwhy_error *error);

#endif
