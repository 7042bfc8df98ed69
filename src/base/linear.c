/* SPDX-License-Identifier: Apache-2.0 */
#include "base/linear.h"

#include <math.h>

static double dot(const double *a, const double *b, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

bool kwhy_matrix_factor(double *matrix, size_t size, double least)
{
	for (size_t i = 0; i < size; i++) {
		double *row = &matrix[i * size];

		for (size_t j = 0; j < i; j++)
			row[j] = (row[j] - dot(row, &matrix[j * size], j)) / matrix[j * size + j];
		row[i] -= dot(row, row, i);
		if (!(row[i] > 0) || row[i] < least || !isfinite(row[i]))
			return false;
		row[i] = sqrt(row[i]);
	}
	return true;
}

void kwhy_matrix_solve_lower(const double *factor, size_t size, double *vector)
{
	for (size_t i = 0; i < size; i++)
		vector[i] = (vector[i] - dot(&factor[i * size], vector, i)) / factor[i * size + i];
}

void kwhy_matrix_solve_upper(const double *factor, size_t size, double *vector)
{
	for (size_t i = size; i-- > 0;) {
		double sum = vector[i];

		for (size_t j = i + 1; j < size; j++)
			sum -= factor[j * size + i] * vector[j];
		vector[i] = sum / factor[i * size + i];
	}
}

void kwhy_matrix_solve(const double *factor, size_t size, double *vector)
{
	kwhy_matrix_solve_lower(factor, size, vector);
	kwhy_matrix_solve_upper(factor, size, vector);
}
