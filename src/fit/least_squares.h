/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_MIN_SQUARES_H
#define KWHY_FIT_MIN_SQUARES_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { KWHY_MIN_SQUARES_COLUMNS_MAX = 13 };

/* Rows of a linear model: target = sum over columns of value * coefficient. */
struct kwhy_least_squares_data {
	const double *rows;    /* [row_count][column_count] */
	const double *targets; /* [row_count] */
	size_t row_count, column_count;
};

struct kwhy_least_squares {
	double values[KWHY_MIN_SQUARES_COLUMNS_MAX]; /* none negative */
	bool is_free[KWHY_MIN_SQUARES_COLUMNS_MAX];  /* above 0; the others are held at 0 */
	/* Of the free coefficients, from what the fit leaves; NAN where there are as many of them as rows. */
	double covariance[KWHY_MIN_SQUARES_COLUMNS_MAX][KWHY_MIN_SQUARES_COLUMNS_MAX];
	double rms;	/* of what the fit leaves, over rows */
	double freedom; /* rows less free coefficients */
};

/*
 * The coefficients, none negative, that leave the least squares (Lawson and Hanson 1974, chapter 23, on the
 * normal equations with columns scaled to length 1). A column that the free ones already make up stays 0.
 * KWHY_E_INPUT: no rows, too many columns, or a value that is not finite.
 */
KWHY_MUST_USE enum kwhy_status kwhy_least_squares_fit(
	const struct kwhy_least_squares_data *data, struct kwhy_least_squares *out, struct kwhy_error *error);

#endif
