/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_DECONVOLVE_SOLVE_H
#define KWHY_LEDGER_ENERGY_DECONVOLVE_SOLVE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Energy of an interval as predicted from what ran in it and the powers of the accounts: net_j is the part
 * above the idle level, idle_j the part at the idle level.
 */
struct kwhy_deconvolve_prior {
	double net_j, idle_j;
};

/*
 * A cell: a short interval in which the power is taken as constant. `prior` is its predicted energy. Its
 * energy may differ from that by factors common to all cells and by a deviation of its own.
 */
struct kwhy_deconvolve_cell {
	double start_s, end_s;
	struct kwhy_deconvolve_prior prior;
	bool is_recorded; /* the cell lies in the recorded time; false: it lies before or after that time */
	bool is_counted;  /* the cell's energy is part of the sum `counted_j` */
};

/*
 * A reading of a meter that reports means over a window, as the energy of that window: mean power times
 * window length.
 */
struct kwhy_deconvolve_reading {
	double start_s, end_s, energy_j;
	double slope_w; /* derivative of energy_j with respect to the reading's time stamp, in J/s */
	struct kwhy_deconvolve_prior prior;
};

/*
 * Standard deviations and correlation time of the model. They are not known, so callers solve the model for
 * several values of each and average the answers.
 */
struct kwhy_deconvolve_scales {
	double noise_w;	    /* standard deviation of the noise of a reading, as mean power over its window */
	double stamp_s;	    /* standard deviation of the error of a reading's time stamp */
	double recorded_sd; /* standard deviation of the power's deviations in the time that was recorded,
			       relative to the predicted power */
	double outside_sd;  /* standard deviation of the power's deviations before and after the recording,
			       relative to the idle level */
	double length_s;    /* correlation time of the deviations in seconds */
};

/*
 * A linear Gaussian model of the readings of a meter that reports trailing means. The energy of a reading
 * is the sum of those parts of the cells that lie in its window. The unknowns are the deviation of each
 * cell, which is an Ornstein-Uhlenbeck process in time, and two factors: one for all power above idle and
 * one for the idle level.
 */
struct kwhy_deconvolve_model {
	const struct kwhy_deconvolve_cell *cells; /* adjacent cells, in order of time */
	size_t cell_count;
	const struct kwhy_deconvolve_reading *readings; /* readings, in order of time */
	size_t reading_count;
	struct kwhy_deconvolve_scales scales;
};

struct kwhy_deconvolve_answer {
	double *energy_j; /* [cell_count] posterior mean of each cell's energy; the array is the caller's */
	double counted_j, variance_j2; /* mean and variance of the sum over cells with is_counted set */
	double log_evidence;
};

/* Solves the model. Time: O(cells * (cells of a window)^2). */
KWHY_MUST_USE enum kwhy_status kwhy_deconvolve_solve(const struct kwhy_deconvolve_model *model,
	struct kwhy_deconvolve_answer *answer, struct kwhy_error *error);

#endif
