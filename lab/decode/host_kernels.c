/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of `decode` for the host: their own text, compiled for each kind of weights; and products. */
#include "lab/decode/device.h"

#include <stdlib.h>

enum { ARGS = sizeof(struct lab_decode_args), COLUMNS_MOST = 8192 };

#define KINDS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define DECLARE(kind) extern const lab_decode_host_run lab_decode_host_kind_##kind[LAB_DECODE_KERNEL_COUNT];
#define NAME(kind) lab_decode_host_kind_##kind,
KINDS(DECLARE)

static const lab_decode_host_run *const kinds[LAB_DECODE_WEIGHTS_COUNT] = {KINDS(NAME)};

static uint32_t kind_of(enum lab_decode_kernel kernel, void **arguments)
{
	switch (kernel) {
	case LAB_DECODE_FILL:
		return *(const uint32_t *)arguments[9];
	case LAB_DECODE_EXPAND:
		return *(const uint32_t *)arguments[5];
	case LAB_DECODE_FILL_FLOATS:
		return LAB_DECODE_FP32;
	default:
		return ((const struct lab_decode_args *)arguments[0])->kind;
	}
}

#define X(NAME, name, bytes, call)                                                          \
	static void run_##name(const struct kwhy_gpu_grid *grid, void **arguments)          \
	{                                                                                   \
		(void)grid;                                                                 \
		kinds[kind_of(LAB_DECODE_##NAME, arguments)][LAB_DECODE_##NAME](arguments); \
	}
#include "lab/decode/kernels.def"
#undef X

static void load_row(enum lab_decode_type type, uint64_t from, uint64_t row, uint32_t columns, float *out)
{
	for (uint32_t k = 0; k < columns; k++)
		out[k] = lab_decode_load(type, kwhy_gpu_at(from), row * columns + k);
}

static void run_multiply(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct lab_decode_host_product *p = arguments[0];
	enum lab_decode_type type = lab_decode_kinds[p->kind].factors;
	float row[COLUMNS_MOST], *acts = malloc((size_t)p->tokens * p->columns * sizeof(*acts));

	(void)grid;
	for (uint32_t t = 0; acts && t < p->tokens; t++)
		load_row(type, p->acts, t, p->columns, acts + (size_t)t * p->columns);
	for (uint32_t r = 0; acts && r < p->rows; r++) {
		load_row(type, p->weights, r, p->columns, row);
		for (uint32_t t = 0; t < p->tokens; t++) {
			uint64_t place = (uint64_t)t * p->rows + r;
			float sum = 0;

			for (uint32_t k = 0; k < p->columns; k++)
				sum += row[k] * acts[(size_t)t * p->columns + k];
			if (p->kind == LAB_DECODE_INT8)
				((int32_t *)kwhy_gpu_at(p->sums))[place] = (int32_t)sum;
			else
				((float *)kwhy_gpu_at(p->sums))[place] = sum;
		}
	}
	free(acts);
}

#define LIST(...)           \
	{                   \
		__VA_ARGS__ \
	}
#define X(NAME, name, bytes, call) {"lab_decode_" #name, run_##name, LIST bytes},

const struct kwhy_gpu_host_kernel lab_decode_host_kernels[] = {
#include "lab/decode/kernels.def"
	{"lab_decode_multiply", run_multiply, {sizeof(struct lab_decode_host_product)}},
	{0},
};
