/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_DECONVOLVE_SOLVE_H
#define KWHY_LEDGER_ENERGY_DECONVOLVE_SOLVE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Energies of a stretch of time as the powers of the accounts predict them: above idle, and of the idle
 * level. */
struct kwhy_deconvolve_prior {
	double net_j, idle_j;
};

/* An interval in which the power is taken for what the accounts predict and one deviation. */
struct kwhy_deconvolve_cell {
	double start_s, end_s;
	struct kwhy_deconvolve_prior prior;
	bool is_recorded; /* false: before or after everything that is known */
	bool is_counted;  /* part of the energy that is asked for */
};

/* The energy of a window, by its mean power. */
struct kwhy_deconvolve_reading {
	double start_s, end_s, energy_j;
	double slope_w; /* by how much the energy changes with its stamp, J/s */
	struct kwhy_deconvolve_prior prior;
};

/* What is not known of the noise and of the deviations. */
struct kwhy_deconvolve_scales {
	double noise_w;	    /* of a reading */
	double stamp_s;	    /* standard deviation of its stamp */
	double recorded_sd; /* standard deviation of the power about its prediction, relative */
	double outside_sd;  /* of the idle level before and after */
	double length_s;    /* over which deviations are alike */
};

/*
 * A linear Gaussian model: every reading is the sum of what its window has of each cell. Unknown are the
 * deviation of each cell, an Ornstein-Uhlenbeck process in time, and one factor each for all power above idle
 * and for the idle level.
 */
struct kwhy_deconvolve_model {
	const struct kwhy_deconvolve_cell *cells; /* they touch, in order */
	size_t cell_count;
	const struct kwhy_deconvolve_reading *readings; /* in order */
	size_t reading_count;
	struct kwhy_deconvolve_scales scales;
};

struct kwhy_deconvolve_answer {
	double *energy_j;	       /* [cell_count] posterior means; the caller's */
	double counted_j, variance_j2; /* of the counted cells together */
	double log_evidence;
};

/* O(cells * (cells of a window)^2). */
KWHY_MUST_USE enum kwhy_status kwhy_deconvolve_solve(const struct kwhy_deconvolve_model *model,
	struct kwhy_deconvolve_answer *answer, struct kwhy_error *error);

#endif
