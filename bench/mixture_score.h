/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_MIXTURE_SCORE_H
#define KWHY_BENCH_MIXTURE_SCORE_H

#include "base/status.h"
#include "mixture_generator.h"
#include "model/ledger.h"

#include <stddef.h>

/*
 * One account of the ledger and its true energy. True energies are multiplied by one factor for all accounts
 * (`scale` below), so that their sum is the metered energy.
 */
struct kwhy_mixture_row {
	const struct kwhy_account *account; /* owned by the ledger */
	double truth_nj;
	bool covered;		 /* whether the truth lies in the 90 % interval */
	double half_width_ratio; /* half-width of the interval, divided by the gross energy; NAN: there is no
				    interval */
};

/*
 * How close the ledger of device 0 is to the truth. Ratios are shares of the metered energy unless another
 * base is named. Accounts without energy in the truth and in the ledger are left out.
 */
struct kwhy_mixture_score {
	struct kwhy_mixture_row *rows; /* owned */
	size_t row_count, covered_count;
	size_t basis_count[KWHY_BASIS_COUNT], basis_covered[KWHY_BASIS_COUNT];
	size_t group_count, group_covered;
	/*
	 * share of the energy that is on a wrong account: half of the sum of all accounts' absolute
	 * differences
	 */
	double wrong_ratio;
	double expected_ratio;	     /* the ledger's own estimate of wrong_ratio */
	double half_width_ratio;     /* mean of half_width_ratio over the rows */
	double weighted_half_ratio;  /* mean of half_width_ratio over the rows, weighted by energy */
	double covered_energy_ratio; /* share of the energy in rows whose interval holds the truth */
	double scale;		     /* metered energy, divided by the true energy */
};

KWHY_MUST_USE enum kwhy_status kwhy_mixture_score_init(struct kwhy_mixture_score *out,
	const struct kwhy_recording *recording, const struct kwhy_ledger *ledger,
	const struct kwhy_mixture_truth *truth, struct kwhy_error *error);
void kwhy_mixture_score_done(struct kwhy_mixture_score *score);

#endif
