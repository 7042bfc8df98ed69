/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_DECODE_PRODUCTS_H
#define LAB_DECODE_PRODUCTS_H

#include "gpu/gpu.h"
#include "lab/decode/numbers.h"

/*
 * Products of a GPU: weights [rows][columns] times activations [tokens][columns], as sums [tokens][rows] of
 * fp32, of int8 of int32. By cuBLASLt; on the host by a kernel of its own.
 */
struct lab_decode_products;

/* module: on the host it has the kernel "lab_decode_multiply". KWHY_E_UNSUPPORTED without cuBLASLt. */
KWHY_MUST_USE enum kwhy_status lab_decode_products_open(struct kwhy_gpu *gpu, struct kwhy_gpu_module *module,
	enum lab_decode_weights weights, struct lab_decode_products **out, struct kwhy_error *error);
void lab_decode_products_close(struct lab_decode_products *products); /* NULL is allowed */

const char *lab_decode_products_name(const struct lab_decode_products *products);

struct lab_decode_product {
	uint64_t weights, acts, sums;
	uint32_t rows, columns, tokens;
	struct kwhy_gpu_stream *stream;
};

/* Queues it; the first of its shape asks the library for its way. Rooms of acts and sums are those of
 * lab_decode_products_tokens() tokens. */
KWHY_MUST_USE enum kwhy_status lab_decode_products_queue(struct lab_decode_products *products,
	const struct lab_decode_product *product, struct kwhy_error *error);

/* Tokens that are multiplied where there are `tokens`: of 8 bits cuBLASLt wants multiples of 16, and more
 * than 16. */
static inline uint32_t lab_decode_products_tokens(enum lab_decode_weights weights, uint32_t tokens)
{
	uint32_t whole = lab_decode_round_up(tokens, 16);

	return !lab_decode_is_scaled(weights) ? tokens : whole < 32 ? 32 : whole;
}

#endif
