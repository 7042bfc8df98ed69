/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_POWER_H
#define KWHY_FIT_POWER_H

#include "base/status.h"
#include "fit/interval.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Model of a device's power from its counters: P = base + compute + memory + I/O. Each term is a sum of
 * gauges times coefficients that are not negative; the base also has a constant. Mean power and mean gauges
 * of one window are a row; windows are in order of time. Blocks of windows are held out to test the
 * prediction, since neighbouring windows are alike. The change of the division when a block is left out gives
 * the intervals (jackknife).
 */
enum kwhy_power_term {
	KWHY_POWER_BASE,
	KWHY_POWER_COMPUTE,
	KWHY_POWER_MEMORY,
	KWHY_POWER_IO,
	KWHY_POWER_TERM_COUNT
};

const char *kwhy_power_term_name(enum kwhy_power_term term); /* "compute" */

enum {
	KWHY_POWER_GAUGES_MAX = 12,
	KWHY_POWER_BLOCKS = 8,
	KWHY_POWER_ROWS_MIN = 24,
	KWHY_POWER_ALTERNATIVES_MAX = 64
};

struct kwhy_power_data {
	size_t row_count, gauge_count;
	const double *power_w; /* [row_count] */
	const double *seconds; /* [row_count] */
	const double *gauges;  /* [row_count][gauge_count], each 0 or more */
	/*
	 * [row_count] power by the memory's own meter, or NULL. Its part per unit of the memory gauges is the
	 * memory's own, a lower bound of the device's power per unit.
	 */
	const double *memory_w;
	enum kwhy_power_term terms[KWHY_POWER_GAUGES_MAX]; /* term of each gauge */
};

/* Watts of the base's constant, and watts per unit of each gauge. */
struct kwhy_power_factors {
	double constant_w, watts_per_unit[KWHY_POWER_GAUGES_MAX];
};

/* Intervals are 95 %; NAN for coefficients that are 0 in the fits to all blocks. */
struct kwhy_power_model {
	struct kwhy_power_factors all,
		without[KWHY_POWER_BLOCKS]; /* fits to all windows, and to all but one block */
	struct kwhy_interval constant_w, watts_per_unit[KWHY_POWER_GAUGES_MAX];
	/*
	 * The part of watts_per_unit by the memory's own meter; NAN for other gauges, or where it has none.
	 */
	struct kwhy_interval metered_per_unit[KWHY_POWER_GAUGES_MAX];
	/*
	 * Fits without the constant or some gauges that predict held-out blocks as well. Where they differ,
	 * the windows do not decide. They arise from gauges that rise and fall together. The jackknife does
	 * not show them, since each block leaves the same gauges at 0.
	 */
	struct kwhy_power_factors alternatives[KWHY_POWER_ALTERNATIVES_MAX];
	size_t alternative_count;
	bool is_grouped[KWHY_POWER_TERM_COUNT]; /* terms that some alternative divides very differently */
	double most[KWHY_POWER_GAUGES_MAX];	/* highest value of each gauge in the fitted windows */
	double rms_ratio;			/* root mean square of the residuals over the mean power */
	double held_out_ratio;			/* the same for held-out blocks of windows */
	double mean_w;
};

/* KWHY_E_INPUT: too few rows, too many gauges, a negative gauge, or power that is not above 0. */
KWHY_MUST_USE enum kwhy_status kwhy_power_fit(
	const struct kwhy_power_data *data, struct kwhy_power_model *out, struct kwhy_error *error);

/*
 * Finds the alternatives of a fit to `data` and the terms that they make joint. Factors that differ much in
 * an alternative become NAN. KWHY_E_INPUT: all terms are joint.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_find_alternatives(
	const struct kwhy_power_data *data, struct kwhy_power_model *model, struct kwhy_error *error);

/*
 * Joules of each term in windows, which may differ from the fitted ones: the measured energy of each window,
 * divided by the model.
 */
struct kwhy_power_split {
	/* NAN: the term has no gauge. For a joint term, low and high are the range over the alternatives. */
	struct kwhy_interval joules[KWHY_POWER_TERM_COUNT];
	struct kwhy_interval joint_j; /* joint terms together; NAN: no joint terms */
	double total_j, seconds;
	double error_ratio;   /* root mean square error of the model in these windows over their mean power */
	size_t outside_count; /* number of windows with a gauge a tenth above all fitted ones */
	size_t outside_gauge; /* the gauge for which most of these windows are outside; gauge_count: no gauge
			       */
};

KWHY_MUST_USE enum kwhy_status kwhy_power_split_of(const struct kwhy_power_model *model,
	const struct kwhy_power_data *data, struct kwhy_power_split *out, struct kwhy_error *error);

#endif
