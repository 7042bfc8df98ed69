/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_LEAST_SQUARES_H
#define KWHY_FIT_LEAST_SQUARES_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { KWHY_LEAST_SQUARES_COLUMNS_MAX = 13 };

/* Rows of a linear model: target = sum over the columns of value * coefficient. */
struct kwhy_least_squares_data {
	const double *rows;    /* [row_count][column_count] */
	const double *targets; /* [row_count] */
	size_t row_count, column_count;
};

struct kwhy_least_squares {
	double values[KWHY_LEAST_SQUARES_COLUMNS_MAX]; /* coefficients, not negative */
	bool is_free[KWHY_LEAST_SQUARES_COLUMNS_MAX];  /* true: above 0; false: constrained to 0 */
	/*
	 * Covariance of the coefficients, estimated from the residuals: 0 for those constrained to 0; NAN for
	 * free ones if there are as many free coefficients as rows.
	 */
	double covariance[KWHY_LEAST_SQUARES_COLUMNS_MAX][KWHY_LEAST_SQUARES_COLUMNS_MAX];
	double rms;	/* root mean square of the residuals */
	double freedom; /* number of rows minus number of free coefficients */
};

/*
 * Fits by least squares with coefficients that are not negative (Lawson and Hanson 1974, chapter 23, on the
 * normal equations with columns scaled to length 1). The coefficient of a column that is a linear combination
 * of the free ones stays 0. KWHY_E_INPUT: no rows, too many columns, or a value that is not finite.
 */
KWHY_MUST_USE enum kwhy_status kwhy_least_squares_fit(
	const struct kwhy_least_squares_data *data, struct kwhy_least_squares *out, struct kwhy_error *error);

#endif
