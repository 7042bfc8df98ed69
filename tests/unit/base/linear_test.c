/* SPDX-License-Identifier: Apache-2.0 */
#include "base/linear.h"
#include "cmocka_all.h"

#include <math.h>

enum { SIZE = 3 };

/* The product of the lower triangular matrix L = {2}, {1, 3}, {-1, 2, 4} and its transpose. */
static const double product[SIZE * SIZE] = {4, 2, -2, 2, 10, 5, -2, 5, 21};

static void copy(double *matrix)
{
	for (int i = 0; i < SIZE * SIZE; i++)
		matrix[i] = product[i];
}

static void a_matrix_has_its_cholesky_factor(void **state)
{
	double matrix[SIZE * SIZE];

	(void)state;
	copy(matrix);
	assert_true(kwhy_matrix_factor(matrix, SIZE, 0));
	assert_true(matrix[0] == 2 && matrix[3] == 1 && matrix[4] == 3);
	assert_true(matrix[6] == -1 && matrix[7] == 2 && matrix[8] == 4);
}

static void the_solution_of_its_equations_is_found(void **state)
{
	double matrix[SIZE * SIZE], vector[SIZE] = {0};
	const double wanted[SIZE] = {1, -2, 3};

	(void)state;
	copy(matrix);
	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++)
			vector[i] += product[i * SIZE + j] * wanted[j];
	assert_true(kwhy_matrix_factor(matrix, SIZE, 0));
	kwhy_matrix_solve(matrix, SIZE, vector);
	for (int i = 0; i < SIZE; i++)
		assert_true(fabs(vector[i] - wanted[i]) < 1e-12);
}

static void what_is_not_positive_or_nearly_dependent_is_refused(void **state)
{
	double negative[] = {1, 2, 2, 1}, near[] = {1, 1, 1, 1 + 1e-9}, nan[] = {NAN};

	(void)state;
	assert_false(kwhy_matrix_factor(negative, 2, 0));
	assert_false(kwhy_matrix_factor(near, 2, 1e-6));
	near[0] = near[1] = near[2] = 1;
	near[3] = 1 + 1e-9;
	assert_true(kwhy_matrix_factor(near, 2, 0));
	assert_false(kwhy_matrix_factor(nan, 1, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_matrix_has_its_cholesky_factor),
		cmocka_unit_test(the_solution_of_its_equations_is_found),
		cmocka_unit_test(what_is_not_positive_or_nearly_dependent_is_refused),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
