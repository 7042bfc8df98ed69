/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_POWER_H
#define KWHY_FIT_POWER_H

#include "base/status.h"
#include "fit/interval.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Model of a device's power from its gauges: P = base + compute + memory + I/O. Each term is a sum of gauges
 * times coefficients that are not negative; the base also has a constant. A row is the mean power and the
 * mean gauges of one window; windows are in order of time. To test predictions, the windows are cut into
 * KWHY_POWER_BLOCKS blocks of consecutive windows, each of which is held out in turn (single windows would be
 * predicted by similar neighbours). The intervals of the terms follow from how the terms change when a block
 * is left out (jackknife).
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
	const double *power_w; /* [row_count] mean power of each window */
	const double *seconds; /* [row_count] length of each window */
	const double *gauges;  /* [row_count][gauge_count] mean gauges of each window, 0 or more */
	/*
	 * [row_count] mean power by the memory's own meter; NULL: it has no meter. The watts per unit of a
	 * memory gauge that are fitted to it are a lower bound of the device's watts per unit of that gauge.
	 */
	const double *memory_w;
	enum kwhy_power_term terms[KWHY_POWER_GAUGES_MAX]; /* term of each gauge */
};

/* The base's constant in watts, and the watts per unit of each gauge. */
struct kwhy_power_factors {
	double constant_w, watts_per_unit[KWHY_POWER_GAUGES_MAX];
};

/*
 * A fitted model. Intervals are 95 %. Their ends are NAN for a coefficient that is 0 in all fits that leave
 * out one block.
 */
struct kwhy_power_model {
	struct kwhy_power_factors all, without[KWHY_POWER_BLOCKS]; /* fit to all windows; without[i]: fit to
								      all windows but those of block i */
	struct kwhy_interval constant_w, watts_per_unit[KWHY_POWER_GAUGES_MAX];
	/*
	 * The part of watts_per_unit that the memory's own meter shows; NAN: the gauge is not the memory's,
	 * or the memory has no meter.
	 */
	struct kwhy_interval metered_per_unit[KWHY_POWER_GAUGES_MAX];
	/*
	 * Alternatives: fits that leave out the constant or some gauges and still predict held-out blocks as
	 * well as the model. They exist if gauges rise and fall together. Coefficients that differ between
	 * them are not determined by the windows. The jackknife's intervals do not show this, since its fits
	 * set the same coefficients to 0 as the model.
	 */
	struct kwhy_power_factors alternatives[KWHY_POWER_ALTERNATIVES_MAX];
	size_t alternative_count;
	bool is_grouped[KWHY_POWER_TERM_COUNT]; /* whether a term is joint (grouped), so that only the sum
						   with other joint terms is known: an alternative assigns it
						   a very different power */
	double most[KWHY_POWER_GAUGES_MAX];	/* highest value of each gauge in the fitted windows */
	double rms_ratio;      /* root mean square of the residuals, divided by the mean power */
	double held_out_ratio; /* root mean square error in held-out blocks, divided by the mean power */
	double mean_w;
};

/*
 * KWHY_E_INPUT: fewer than KWHY_POWER_ROWS_MIN rows, no gauge or too many, a gauge that is negative or
 * unknown, or a power or length that is not above 0.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_fit(
	const struct kwhy_power_data *data, struct kwhy_power_model *out, struct kwhy_error *error);

/*
 * Finds the alternatives of a model that was fitted to `data`, and the terms that become joint because of
 * them (only their sum is known). Coefficients that differ much in an alternative become NAN. KWHY_E_INPUT:
 * all terms with power are joint.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_find_alternatives(
	const struct kwhy_power_data *data, struct kwhy_power_model *model, struct kwhy_error *error);

/*
 * Joules of each term, summed over windows, which may be other ones than those of the fit. In each window,
 * its measured energy is divided in proportion to the powers of the terms by the model.
 */
struct kwhy_power_split {
	/*
	 * joules[t].value is NAN if term t is joint, or has no gauge and is not the base. For a joint term,
	 * low and high are the range over the alternative fits.
	 */
	struct kwhy_interval joules[KWHY_POWER_TERM_COUNT];
	struct kwhy_interval joint_j; /* joules of all joint terms together; NAN: no term is joint */
	double total_j, seconds;
	double error_ratio;   /* root mean square error of the model in these windows, divided by their mean
				 power */
	size_t outside_count; /* number of windows with a gauge more than a tenth above its highest fitted
				 value */
	size_t outside_gauge; /* index of the gauge that is too high in most windows; gauge_count: no gauge is
				 too high */
};

KWHY_MUST_USE enum kwhy_status kwhy_power_split_of(const struct kwhy_power_model *model,
	const struct kwhy_power_data *data, struct kwhy_power_split *out, struct kwhy_error *error);

#endif
