/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_POWER_H
#define KWHY_FIT_POWER_H

#include "base/status.h"
#include "fit/interval.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Power of a device as a base and what its counters add: P = base + compute + memory + I/O, each a sum of
 * gauges times coefficients that are not negative; the base has a constant, too. Mean power and mean gauges
 * of one window make a row; windows lie one after another. How well it predicts is shown by blocks of windows
 * that were held out, since neighbours are alike; how far the division would have been another one without a
 * block gives the intervals (jackknife).
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
	/* [row_count], by the memory's own meter, or NULL: what the memory itself draws of a unit of its
	 * gauges, which the device cannot draw less of. */
	const double *memory_w;
	enum kwhy_power_term terms[KWHY_POWER_GAUGES_MAX]; /* of each gauge */
};

/* Watts of the base's constant, and of a unit of each gauge. */
struct kwhy_power_factors {
	double constant_w, watts_per_unit[KWHY_POWER_GAUGES_MAX];
};

/* Intervals are 95 %, and NAN of what the fit holds at 0 whichever block it leaves out. */
struct kwhy_power_model {
	struct kwhy_power_factors all,
		without[KWHY_POWER_BLOCKS]; /* fitted to all windows, and without a block */
	struct kwhy_interval constant_w, watts_per_unit[KWHY_POWER_GAUGES_MAX];
	/* Of that, by the memory's own meter; NAN for what is no gauge of memory or has none. */
	struct kwhy_interval metered_per_unit[KWHY_POWER_GAUGES_MAX];
	/*
	 * Fits that do without the constant or some gauges and predict blocks held out as well: where they
	 * differ the windows do not tell. Gauges that rise and fall together make such fits, which no
	 * jackknife shows, since each block leaves the same ones at 0.
	 */
	struct kwhy_power_factors alternatives[KWHY_POWER_ALTERNATIVES_MAX];
	size_t alternative_count;
	bool is_grouped[KWHY_POWER_TERM_COUNT]; /* terms that some alternative divides quite otherwise */
	double most[KWHY_POWER_GAUGES_MAX];	/* that a gauge reached in the fitted windows */
	double rms_ratio;			/* of what the fit leaves, over the mean power */
	double held_out_ratio;			/* the same of windows in blocks that the fit did not see */
	double mean_w;
};

/* KWHY_E_INPUT: too few rows, too many gauges, a negative gauge, or power that is not above 0. */
KWHY_MUST_USE enum kwhy_status kwhy_power_fit(
	const struct kwhy_power_data *data, struct kwhy_power_model *out, struct kwhy_error *error);

/*
 * The alternatives of a fit to `data`, and which terms are joint by them; factors for which one has quite
 * another become NAN. KWHY_E_INPUT: all terms are joint.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_find_alternatives(
	const struct kwhy_power_data *data, struct kwhy_power_model *model, struct kwhy_error *error);

/* Joules of each term in windows that need not be the fitted ones: each window's measured energy, divided by
 * the model. */
struct kwhy_power_split {
	/* NAN: no gauge tells of the term; of a joint one the value alone, low and high are what alternatives
	 * say.
	 */
	struct kwhy_interval joules[KWHY_POWER_TERM_COUNT];
	struct kwhy_interval joint_j; /* of the joint terms together; NAN: there are none */
	double total_j, seconds;
	double error_ratio;   /* rms of the model against these windows, over their mean power */
	size_t outside_count; /* windows with a gauge a tenth above all that were fitted */
	size_t outside_gauge; /* the one that most of these windows have; gauge_count: none */
};

KWHY_MUST_USE enum kwhy_status kwhy_power_split_of(const struct kwhy_power_model *model,
	const struct kwhy_power_data *data, struct kwhy_power_split *out, struct kwhy_error *error);

#endif
