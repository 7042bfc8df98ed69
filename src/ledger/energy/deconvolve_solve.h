/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_DECONVOLVE_SOLVE_H
#define KWHY_LEDGER_ENERGY_DECONVOLVE_SOLVE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Energy of an interval as predicted by the powers of the accounts: above idle, and at the idle level. */
struct kwhy_deconvolve_prior {
	double net_j, idle_j;
};

/* An interval in which the power is the predicted one with one relative deviation. */
struct kwhy_deconvolve_cell {
	double start_s, end_s;
	struct kwhy_deconvolve_prior prior;
	bool is_recorded; /* false: before or after the recorded time */
	bool is_counted;  /* part of the energy whose sum is wanted */
};

/* The energy of a window: its mean power times its length. */
struct kwhy_deconvolve_reading {
	double start_s, end_s, energy_j;
	double slope_w; /* change of the energy with the time stamp, J/s */
	struct kwhy_deconvolve_prior prior;
};

/* Unknown scales of the noise and of the deviations. */
struct kwhy_deconvolve_scales {
	double noise_w;	    /* standard deviation of a reading's noise */
	double stamp_s;	    /* standard deviation of a reading's time stamp */
	double recorded_sd; /* standard deviation of the power about its prediction, relative */
	double outside_sd;  /* standard deviation of the idle level before and after, relative */
	double length_s;    /* correlation time of the deviations */
};

/*
 * A linear Gaussian model: every reading is the sum of the parts of the cells that lie in its window. The
 * unknowns are the deviation of each cell, an Ornstein-Uhlenbeck process in time, and two factors, one for
 * all power above idle and one for the idle level.
 */
struct kwhy_deconvolve_model {
	const struct kwhy_deconvolve_cell *cells; /* adjacent, in order of time */
	size_t cell_count;
	const struct kwhy_deconvolve_reading *readings; /* in order of time */
	size_t reading_count;
	struct kwhy_deconvolve_scales scales;
};

struct kwhy_deconvolve_answer {
	double *energy_j;	       /* [cell_count] posterior means; owned by the caller */
	double counted_j, variance_j2; /* mean and variance of the sum over the counted cells */
	double log_evidence;
};

/* Takes O(cells * (cells of a window)^2). */
KWHY_MUST_USE enum kwhy_status kwhy_deconvolve_solve(const struct kwhy_deconvolve_model *model,
	struct kwhy_deconvolve_answer *answer, struct kwhy_error *error);

#endif
