/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_TRAIN_RULES_H
#define KWHY_LAB_TRAIN_RULES_H

#include "lab/train/train.h"

#include <math.h>
#include <string.h>

/*
 * The rules of `train` that the reference and the host forms of kernels share: what everything begins with,
 * and how a float is rounded to 16 bits. The kernels have their own copy in CUDA C (kernels/train/). Pure.
 */
enum { KWHY_TRAIN_WEIGHTS_FIELD = 1, KWHY_TRAIN_INPUTS_FIELD, KWHY_TRAIN_LABELS_FIELD };

/* The finaliser of splitmix64 over a place of a field. */
static inline uint64_t kwhy_train_mix(uint32_t field, uint64_t place)
{
	uint64_t x = ((uint64_t)KWHY_TRAIN_SEED << 48 ^ (uint64_t)field << 40 ^ place) + 0x9E3779B97F4A7C15u;

	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
	return x ^ (x >> 31);
}

/* Even over ±`bound`, as torch.nn.Linear begins; 24 bits, so that the conversion is exact. */
static inline float kwhy_train_first_weight(uint64_t place, float bound)
{
	uint64_t hash = kwhy_train_mix(KWHY_TRAIN_WEIGHTS_FIELD, place);

	return (float)((int)(hash >> 40) - (1 << 23)) * 0x1p-23f * bound;
}

static inline float kwhy_train_bound(uint32_t width)
{
	return 1.0f / sqrtf((float)width);
}

/* Four even numbers together, of mean 0 and variance 1: nearly normal. */
static inline float kwhy_train_input(uint64_t place)
{
	uint64_t hash = kwhy_train_mix(KWHY_TRAIN_INPUTS_FIELD, place);
	int sum = (int)(hash & 0xffff) + (int)(hash >> 16 & 0xffff) + (int)(hash >> 32 & 0xffff) +
		(int)(hash >> 48);

	return (float)(sum - 131070) * (0x1p-15f * 0.8660254f);
}

static inline uint32_t kwhy_train_label(uint32_t sample, uint32_t width)
{
	return (uint32_t)(kwhy_train_mix(KWHY_TRAIN_LABELS_FIELD, sample) % width);
}

/* To bf16 and back: to the nearest, ties to even; of finite values. */
static inline uint16_t kwhy_train_to_half(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float kwhy_train_of_half(uint16_t half)
{
	uint32_t bits = (uint32_t)half << 16;
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* What a step of AdamW divides and multiplies by: step 0 is the first. */
struct kwhy_train_pace {
	float power1, power2; /* of the betas, to the steps done */
	float rate;	      /* over the correction of the first moment */
	float root;	      /* of the correction of the second, inverse */
};

static inline void kwhy_train_pace_next(struct kwhy_train_pace *pace)
{
	pace->power1 *= KWHY_TRAIN_BETA1;
	pace->power2 *= KWHY_TRAIN_BETA2;
	pace->rate = KWHY_TRAIN_RATE / (1.0f - pace->power1);
	pace->root = 1.0f / sqrtf(1.0f - pace->power2);
}

static inline void kwhy_train_adamw(
	const struct kwhy_train_pace *pace, float gradient, float *weight, float *first, float *second)
{
	*first = KWHY_TRAIN_BETA1 * *first + (1.0f - KWHY_TRAIN_BETA1) * gradient;
	*second = KWHY_TRAIN_BETA2 * *second + (1.0f - KWHY_TRAIN_BETA2) * gradient * gradient;
	*weight = *weight * (1.0f - KWHY_TRAIN_RATE * KWHY_TRAIN_DECAY) -
		pace->rate * *first / (sqrtf(*second) * pace->root + KWHY_TRAIN_EPSILON);
}

#endif
