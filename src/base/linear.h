/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_LINEAR_H
#define KWHY_BASE_LINEAR_H

#include <stdbool.h>
#include <stddef.h>

/* Small symmetric matrices, row-major [size * size], for fits of at most some dozens of parameters. */

/*
 * Lower Cholesky factor in place of `matrix`; what lies above the diagonal stays. False when the matrix is
 * not positive definite, or a squared diagonal element of the factor is below `least` (contents lost).
 */
bool kwhy_matrix_factor(double *matrix, size_t size, double least);

/* Solves L L' x = vector in place, given the factor L. */
void kwhy_matrix_solve(const double *factor, size_t size, double *vector);

/* Solves L x = vector in place. */
void kwhy_matrix_solve_lower(const double *factor, size_t size, double *vector);

/* Solves L' x = vector in place: turns unit normals into draws whose precision is L L'. */
void kwhy_matrix_solve_upper(const double *factor, size_t size, double *vector);

#endif
