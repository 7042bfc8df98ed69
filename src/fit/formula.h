/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_FORMULA_H
#define KWHY_FIT_FORMULA_H

#include "base/status.h"
#include "fit/units.h"

#include <stdbool.h>
#include <stddef.h>

enum { KWHY_FORMULA_WINDOWS_MAX = 8 };

/*
 * A printed figure in base units: the interval that its digits leave, its unit, and the measured windows that
 * it depends on.
 */
struct kwhy_formula_figure {
	double low, high;
	struct kwhy_unit unit; /* its factor is not used */
	const char *windows[KWHY_FORMULA_WINDOWS_MAX];
	size_t window_count;
	/* Properties of the computation: */
	bool mixes_windows;    /* amounts of different windows were added, or divided by one another */
	bool mixes_units;      /* unlike units were added */
	bool is_sum;	       /* the last step was an addition */
	bool depends_on_wrong; /* a figure in the formula is known to be wrong */
};

/* Finds a figure by name; KWHY_E_INPUT: no figure has the name. `context` is the caller's. */
typedef enum kwhy_status kwhy_formula_find(
	void *context, const char *name, struct kwhy_formula_figure *out, struct kwhy_error *error);

/*
 * Computes "a / (b + 2) * 40[pJ]": names of figures, numbers with a unit in brackets, + - * / ( ), log10()
 * and sqrt(). Intervals are computed from their ends. A figure that occurs twice is treated as one where the
 * result is monotonic in it; else the interval is an outer bound. KWHY_E_INPUT: not a formula, or a divisor
 * that may be 0.
 */
KWHY_MUST_USE enum kwhy_status kwhy_formula_of(const char *text, kwhy_formula_find *find, void *context,
	struct kwhy_formula_figure *out, struct kwhy_error *error);

#endif
