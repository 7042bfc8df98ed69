/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_BLASLT_H
#define LAB_BLASLT_H

#include "gpu/gpu.h"
#include "lab/numbers.h"

/*
 * Products of matrices in a stream. On CUDA they are made by cuBLASLt, which is looked for at run time; on
 * the host back end by a plain loop. Matrices are stored row by row, without gaps. For one thread.
 */
/*
 * A product: out[m][n] = left[m][k] right[k][n]. Sums are fp32, or int32 if the factors are int8. `factors`
 * is the number type of left and right. `out` is that of the result: the type of the sums or, except with
 * factors of 8 bits, that of the factors.
 */
struct lab_product {
	uint32_t m, n, k;
	/*
	 * true: the factor is stored transposed. left_turned: left as [k][m]; right_turned: right as [n][k]
	 */
	bool left_turned, right_turned;
	bool adds; /* true: the product is added to what `out` contains */
	enum lab_number factors, out;
};

/* Addresses of matrices on the device. */
struct lab_operands {
	uint64_t left, right, out;
};

/* Argument of the host's kernel. */
struct lab_product_call {
	struct lab_product product;
	struct lab_operands at;
};

struct lab_blaslt;
struct lab_blaslt_plan; /* How the library makes a product; borrowed from the struct lab_blaslt. */

/*
 * Opens the library. KWHY_E_UNSUPPORTED: it is not found, or does not exist for this back end.
 * lab_blaslt_close() frees all plans; call it after the stream has finished.
 */
KWHY_MUST_USE enum kwhy_status lab_blaslt_open(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	struct lab_blaslt **out, struct kwhy_error *error);
void lab_blaslt_close(struct lab_blaslt *blaslt); /* NULL is allowed */

/*
 * Name of the implementation of products, with the version if it is a library, such as "cuBLASLt 13.0.2" or
 * "the host"; borrowed from the struct.
 */
const char *lab_blaslt_name(const struct lab_blaslt *blaslt);

/*
 * Finds a plan for a product. `trial`: matrices on which each algorithm that cuBLASLt recommends is timed;
 * every trial writes to their `out`. The plan uses the fastest algorithm. If `trial` is NULL, the plan uses
 * the first recommendation. If the same product already has a plan, that plan is returned.
 * KWHY_E_UNSUPPORTED: cuBLASLt has no algorithm, or 64 products have plans already.
 */
KWHY_MUST_USE enum kwhy_status lab_blaslt_plan(struct lab_blaslt *blaslt, const struct lab_product *product,
	const struct lab_operands *trial, const struct lab_blaslt_plan **out, struct kwhy_error *error);

/* Queues the product of the matrices at `at` in the stream. */
KWHY_MUST_USE enum kwhy_status lab_blaslt_multiply(struct lab_blaslt *blaslt,
	const struct lab_blaslt_plan *plan, const struct lab_operands *at, struct kwhy_error *error);

/* The kernel that makes products on the host. Its argument is a struct lab_product_call. */
extern const struct kwhy_gpu_host_kernel lab_product_host_kernels[];

#endif
