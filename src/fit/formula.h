/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_FORMULA_H
#define KWHY_FIT_FORMULA_H

#include "base/status.h"
#include "fit/units.h"

#include <stdbool.h>
#include <stddef.h>

enum { KWHY_FORMULA_WINDOWS_MAX = 8 };

/*
 * A printed figure in base units: the interval of values that its digits allow, its unit, and the measured
 * windows that it depends on.
 */
struct kwhy_formula_figure {
	double low, high;
	struct kwhy_unit unit; /* unit of the figure; only its dimension is used, not its factor */
	const char *windows[KWHY_FORMULA_WINDOWS_MAX];
	size_t window_count;
	/* Properties of the computation that gave the figure: */
	bool mixes_windows; /* amounts (joules, seconds, bytes, FLOP, counts) of different windows were added,
			       or divided by one another */
	bool mixes_units;   /* figures of different units were added */
	bool is_sum;	    /* the last operation was an addition or a subtraction */
	bool depends_on_wrong; /* a figure in the formula is known to be wrong */
};

/* Callback that gets the figure called `name`; KWHY_E_INPUT: no figure has it. `context` is the caller's. */
typedef enum kwhy_status kwhy_formula_find(
	void *context, const char *name, struct kwhy_formula_figure *out, struct kwhy_error *error);

/*
 * Computes a formula such as "a / (b + 2) * 40[pJ]". It may contain names of figures, numbers with a unit in
 * brackets, + - * / ( ), log10() and sqrt(). The interval of the result follows from the ends of the figures'
 * intervals. If a figure occurs twice, this interval is exact if the result is monotonic in that figure;
 * otherwise it is wider than necessary. KWHY_E_INPUT: the text is no formula, a divisor may be 0, an argument
 * of log10() or sqrt() may not be above 0 or has a unit, or `find` failed.
 */
KWHY_MUST_USE enum kwhy_status kwhy_formula_of(const char *text, kwhy_formula_find *find, void *context,
	struct kwhy_formula_figure *out, struct kwhy_error *error);

#endif
