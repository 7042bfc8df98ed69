/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_DECODE_HOST_CALL_H
#define KWHY_LAB_DECODE_HOST_CALL_H

#include "lab/decode/device.h"

#include <stdbool.h>

/* What the host's kernels of `decode` know of a launch, and how its numbers lie in memory. */

/* One launch. */
struct kwhy_decode_host_call {
	const struct kwhy_decode_args *args;
	struct kwhy_decode_shape shape; /* as far as kernels know it */
	enum kwhy_decode_weights weights;
	uint32_t layer, matrix;
};

/* Of the arguments of a kernel; the second is the layer of those that have one. */
static inline struct kwhy_decode_host_call kwhy_decode_host_call_of(void **arguments, bool has_layer)
{
	const struct kwhy_decode_args *args = arguments[0];

	return (struct kwhy_decode_host_call){.args = args,
		.shape = {"", args->layer_count, args->width, args->heads, args->inner_width,
			args->vocabulary, 0},
		.weights = (enum kwhy_decode_weights)args->weights,
		.layer = has_layer ? *(const uint32_t *)arguments[1] : 0};
}

/* Numbers of the kind that products take. */
static inline float kwhy_decode_host_load(const struct kwhy_decode_host_call *call, uint64_t base, uint64_t i)
{
	const uint16_t *halves = kwhy_gpu_at(base);

	if (call->weights <= KWHY_DECODE_TF32)
		return ((const float *)kwhy_gpu_at(base))[i];
	return call->weights == KWHY_DECODE_BF16 ? kwhy_decode_from_bf16(halves[i])
						 : kwhy_decode_from_fp16(halves[i]);
}

static inline void kwhy_decode_host_store(
	const struct kwhy_decode_host_call *call, uint64_t base, uint64_t i, float value)
{
	if (call->weights <= KWHY_DECODE_TF32)
		((float *)kwhy_gpu_at(base))[i] = value;
	else
		((uint16_t *)kwhy_gpu_at(base))[i] = call->weights == KWHY_DECODE_BF16
			? kwhy_decode_to_bf16(value)
			: kwhy_decode_to_fp16(value);
}

/* Where a token is in its sequence. */
static inline uint32_t kwhy_decode_host_position(const struct kwhy_decode_args *args, uint32_t token)
{
	const uint32_t *places = kwhy_gpu_at(args->at);

	return args->each > 1 ? token % args->each : places[token];
}

#endif
