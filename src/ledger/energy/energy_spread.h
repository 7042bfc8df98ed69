/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_SPREAD_H
#define KWHY_LEDGER_ENERGY_ENERGY_SPREAD_H

#include "ledger/energy/energy_post.h"

/*
 * How well the energy of each class is known: draws of the powers, each made to meet the metered total
 * and each class moved by what powers drift with temperature and clocks.
 */
struct kwhy_spread {
	size_t class_count, draw_count; /* idle is entry [class_count] */
	double *draws_nj;		/* [draw_count * (class_count + 1)] */
	double *low_nj, *high_nj; /* [class_count + 1] 5 and 95 % quantiles, holding the posted figure */
	double *deviation_nj;	  /* [class_count + 1] standard deviations */
	double hidden_low_nj, hidden_high_nj; /* the same quantiles of hidden time */
	double wrong_ratio; /* mean over the draws of the share that the posting has elsewhere */
};

KWHY_MUST_USE enum kwhy_status kwhy_spread_init(struct kwhy_spread *spread,
	const struct kwhy_posting *posting, const struct kwhy_powers *powers, uint64_t seed,
	struct kwhy_error *error);
void kwhy_spread_done(struct kwhy_spread *spread);

/* Quantiles of the sum over the classes that `chosen` holds. */
KWHY_MUST_USE enum kwhy_status kwhy_spread_sum(const struct kwhy_spread *spread, const bool *chosen,
	double *out_low_nj, double *out_high_nj, struct kwhy_error *error);

/*
 * Puts classes that the readings cannot tell apart into groups: out_group[class_count + 1] is a number
 * from 0 up, shared by the members, or KWHY_NONE.
 */
KWHY_MUST_USE enum kwhy_status kwhy_spread_groups(
	const struct kwhy_spread *spread, uint32_t *out_group, size_t *out_count, struct kwhy_error *error);

#endif
