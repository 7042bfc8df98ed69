/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/blaslt.h"

#include <stdlib.h>

enum { LANES = 16 };

/*
 * A matrix [rows][columns] as fp32; if it is stored transposed, as [columns][rows], it is transposed back.
 * The caller frees it.
 */
static float *expand(
	const struct lab_product *product, uint64_t address, size_t rows, size_t columns, bool is_turned)
{
	const void *from = kwhy_gpu_at(address);
	float *to = malloc(rows * columns * sizeof(*to));

	for (size_t r = 0; to && r < rows; r++)
		for (size_t c = 0; c < columns; c++) {
			float value = lab_number_get(
				product->factors, from, is_turned ? c * rows + r : r * columns + c);

			to[r * columns + c] = product->factors == LAB_TF32 ? lab_to_tf32(value) : value;
		}
	return to;
}

/*
 * Dot product. LANES partial sums, of the elements whose index is the same modulo LANES, allow a compiler to
 * vectorise the loop, since the order of additions then needs no change.
 */
static float dot(const float *a, const float *b, size_t count)
{
	float lanes[LANES] = {0}, sum = 0;
	size_t whole = count / LANES * LANES;

	for (size_t i = 0; i < whole; i += LANES)
		for (size_t k = 0; k < LANES; k++)
			lanes[k] += a[i + k] * b[i + k];
	for (size_t k = 0; k < LANES; k++)
		sum += lanes[k];
	for (size_t i = whole; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

static void conclude(const struct lab_product_call *call, size_t row, size_t column, float sum)
{
	const struct lab_product *product = &call->product;
	void *out = kwhy_gpu_at(call->at.out);
	size_t place = row * product->n + column;

	if (product->adds)
		sum += lab_number_get(product->out, out, place);
	lab_number_put(product->out, out, place, sum);
}

static void run_product(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct lab_product_call *call = arguments[0];
	const struct lab_product *product = &call->product;
	float *left = expand(product, call->at.left, product->m, product->k, product->left_turned),
	      *right = expand(product, call->at.right, product->n, product->k, !product->right_turned);

	(void)grid;
	if (!left || !right)
		abort();
	for (size_t i = 0; i < product->m; i++)
		for (size_t j = 0; j < product->n; j++)
			conclude(call, i, j, dot(left + i * product->k, right + j * product->k, product->k));
	free(left);
	free(right);
}

const struct kwhy_gpu_host_kernel lab_product_host_kernels[] = {
	{"lab_product", run_product, {sizeof(struct lab_product_call)}},
	{NULL, NULL, {0}},
};
