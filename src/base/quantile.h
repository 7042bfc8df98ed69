/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_QUANTILE_H
#define KWHY_BASE_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

/* Order statistics of plain numbers. None of the numbers may be NAN. */

void kwhy_sort_reals(double *values, size_t count);
void kwhy_sort_integers(int64_t *values, size_t count);

/*
 * Quantile of sorted values, such as the median for `share` 0.5, interpolated linearly between the two
 * nearest values; NAN: no values.
 */
double kwhy_quantile(const double *sorted, size_t count, double share);

/*
 * Index of the value, among `count` sorted ones, that is nearest in rank to the quantile `share`; count is at
 * least 1.
 */
size_t kwhy_quantile_place(size_t count, double share);

/*
 * Sorts the values and returns the middle one, or of an even number the upper of the two middle ones. Unlike
 * the median by kwhy_quantile() the result always is one of the values. count is at least 1.
 */
double kwhy_middle_real(double *values, size_t count);
int64_t kwhy_middle_integer(int64_t *values, size_t count);

#endif
