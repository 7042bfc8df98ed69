/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_DRAWS_H
#define KWHY_LEDGER_ENERGY_ENERGY_DRAWS_H

#include "ledger/energy/energy_apportion.h"

/*
 * Uncertainty of the energy of each power class (power_class.h): draws of the powers. In each draw the share
 * that the meter decides is scaled to the metered total without unrecorded time, and each class varies by the
 * drift of powers with temperature and clocks, and by how much its power in place is unsure.
 */
struct kwhy_energy_draws {
	size_t class_count, draw_count; /* idle is entry [class_count] */
	double *draws_nj;		/* [draw_count * (class_count + 1)] */
	double *low_nj, *high_nj;	/* [class_count + 1] 5 and 95 % quantiles, widened to include the
					   apportioned figure */
	double *deviation_nj;		/* [class_count + 1] standard deviations */
	double unrecorded_low_nj, unrecorded_high_nj; /* 5 and 95 % quantiles of unrecorded time */
	double wrong_ratio; /* mean over the draws of the share of the energy that the ledger has on other
			       accounts */
};

KWHY_MUST_USE enum kwhy_status kwhy_energy_draws_init(struct kwhy_energy_draws *draws,
	const struct kwhy_apportioned *apportioned, const struct kwhy_powers *powers, uint64_t seed,
	struct kwhy_error *error);
void kwhy_energy_draws_done(struct kwhy_energy_draws *draws);

/* 5 and 95 % quantiles of the sum over the classes for which `chosen` is true. */
KWHY_MUST_USE enum kwhy_status kwhy_energy_draws_sum(const struct kwhy_energy_draws *draws,
	const bool *chosen, double *out_low_nj, double *out_high_nj, struct kwhy_error *error);

/*
 * Puts classes that the readings cannot distinguish into groups. out_group[class_count + 1] holds the number
 * of each class's group, from 0 up, or KWHY_NONE.
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_draws_groups(const struct kwhy_energy_draws *draws,
	uint32_t *out_group, size_t *out_count, struct kwhy_error *error);

#endif
