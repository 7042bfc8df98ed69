/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_LINEAR_H
#define KWHY_BASE_LINEAR_H

#include <stdbool.h>
#include <stddef.h>

/* Small symmetric matrices, row-major [size * size], for fits of at most some dozens of parameters. */

/*
 * Replaces a matrix by its lower Cholesky factor; elements above the diagonal do not change. False: the
 * matrix is not positive definite, or a pivot (the square of a diagonal element of the factor) is below
 * `least`; the matrix is then overwritten in part.
 */
bool kwhy_matrix_factor(double *matrix, size_t size, double least);

/* Solves L L' x = vector in place, given the factor L. */
void kwhy_matrix_solve(const double *factor, size_t size, double *vector);

/* Solves L x = vector in place. */
void kwhy_matrix_solve_lower(const double *factor, size_t size, double *vector);

/*
 * Solves L' x = vector in place. If `vector` holds independent standard normal values, x is a draw from the
 * normal distribution whose precision matrix is L L'.
 */
void kwhy_matrix_solve_upper(const double *factor, size_t size, double *vector);

#endif
