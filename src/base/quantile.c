/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantile.h"

#include <math.h>
#include <stdlib.h>

static int by_real(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static int by_integer(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

void kwhy_sort_reals(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_real);
}

void kwhy_sort_integers(int64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_integer);
}

double kwhy_quantile(const double *sorted, size_t count, double share)
{
	double place = fmax(share * ((double)count - 1), 0);
	size_t below = (size_t)place;

	if (below + 1 >= count)
		return count ? sorted[count - 1] : NAN;
	return sorted[below] + (place - (double)below) * (sorted[below + 1] - sorted[below]);
}

size_t kwhy_quantile_place(size_t count, double share)
{
	return (size_t)(share * (double)(count - 1) + 0.5);
}

double kwhy_middle_real(double *values, size_t count)
{
	kwhy_sort_reals(values, count);
	return values[count / 2];
}

int64_t kwhy_middle_integer(int64_t *values, size_t count)
{
	kwhy_sort_integers(values, count);
	return values[count / 2];
}
