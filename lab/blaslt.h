/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_BLASLT_H
#define LAB_BLASLT_H

#include "gpu/gpu.h"
#include "lab/numbers.h"

/*
 * Products of matrices in a stream: on CUDA by cuBLASLt, found at run time; on the host back end by a plain
 * loop. Matrices lie row by row, without gaps. One thread.
 */
/* out[m][n] = left[m][k] right[k][n], with sums in fp32; of int8 in int32, which is `out`, too. */
struct lab_product {
	uint32_t m, n, k;
	bool left_turned, right_turned; /* lies as [k][m], as [n][k] */
	bool adds;			/* onto what `out` holds */
	enum lab_number factors, out;
};

/* Addresses on the device. */
struct lab_operands {
	uint64_t left, right, out;
};

/* As the host's kernel takes it. */
struct lab_product_call {
	struct lab_product product;
	struct lab_operands at;
};

struct lab_blaslt;
struct lab_blaslt_plan; /* a product that can be made; borrowed */

/* KWHY_E_UNSUPPORTED where there is no library, or none for this back end. What was planned is freed by
 * close(), after the stream's work. */
KWHY_MUST_USE enum kwhy_status lab_blaslt_open(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	struct lab_blaslt **out, struct kwhy_error *error);
void lab_blaslt_close(struct lab_blaslt *blaslt); /* NULL is allowed */

/* Who makes the products: "cuBLASLt 13.0.2", "the host"; borrowed. */
const char *lab_blaslt_name(const struct lab_blaslt *blaslt);

/* Tries each of the library's likeliest ways at `trial`, whose `out` it overwrites, and takes the quickest;
 * without a trial it takes the likeliest. A product that was planned before has its plan already.
 * KWHY_E_UNSUPPORTED where there is no way. */
KWHY_MUST_USE enum kwhy_status lab_blaslt_plan(struct lab_blaslt *blaslt, const struct lab_product *product,
	const struct lab_operands *trial, const struct lab_blaslt_plan **out, struct kwhy_error *error);

/* Queues it. */
KWHY_MUST_USE enum kwhy_status lab_blaslt_multiply(struct lab_blaslt *blaslt,
	const struct lab_blaslt_plan *plan, const struct lab_operands *at, struct kwhy_error *error);

/* The product on the host: a kernel that takes a struct lab_product_call. */
extern const struct kwhy_gpu_host_kernel lab_product_host_kernels[];

#endif
