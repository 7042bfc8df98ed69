/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_TRAIN_RULES_H
#define LAB_TRAIN_RULES_H

#include "lab/one_thread.h"
#include "lab/train/train.h"

#include "lab/kernels/mix.cu"

/* What everything begins with, and AdamW, for the reference and the host forms of kernels; kernels/train.cu
 * has them in CUDA C. Pure. */
enum { LAB_TRAIN_WEIGHTS_FIELD = 1, LAB_TRAIN_INPUTS_FIELD, LAB_TRAIN_LABELS_FIELD };

static inline uint64_t lab_train_mix(uint32_t field, uint64_t place)
{
	return mix((uint64_t)LAB_TRAIN_SEED << 48 ^ (uint64_t)field << 40 ^ place);
}

/* Even over ±`bound`, as torch.nn.Linear begins; 24 bits, so that the conversion is exact. */
static inline float lab_train_first_weight(uint64_t place, float bound)
{
	uint64_t hash = lab_train_mix(LAB_TRAIN_WEIGHTS_FIELD, place);

	return (float)((int)(hash >> 40) - (1 << 23)) * 0x1p-23f * bound;
}

static inline float lab_train_bound(uint32_t width)
{
	return 1.0f / sqrtf((float)width);
}

/* Four even numbers together, of mean 0 and variance 1: nearly normal. */
static inline float lab_train_input(uint64_t place)
{
	uint64_t hash = lab_train_mix(LAB_TRAIN_INPUTS_FIELD, place);
	int sum = (int)(hash & 0xffff) + (int)(hash >> 16 & 0xffff) + (int)(hash >> 32 & 0xffff) +
		(int)(hash >> 48);

	return (float)(sum - 131070) * (0x1p-15f * 0.8660254f);
}

static inline uint32_t lab_train_label(uint32_t sample, uint32_t width)
{
	return width ? (uint32_t)(lab_train_mix(LAB_TRAIN_LABELS_FIELD, sample) % width) : 0;
}

/* What a step of AdamW divides and multiplies by: step 0 is the first. */
struct lab_train_pace {
	float power1, power2; /* of the betas, to the steps done */
	float rate;	      /* over the correction of the first moment */
	float root;	      /* of the correction of the second, inverse */
};

static inline void lab_train_pace_next(struct lab_train_pace *pace)
{
	pace->power1 *= LAB_TRAIN_BETA1;
	pace->power2 *= LAB_TRAIN_BETA2;
	pace->rate = LAB_TRAIN_RATE / (1.0f - pace->power1);
	pace->root = 1.0f / sqrtf(1.0f - pace->power2);
}

static inline void lab_train_adamw(
	const struct lab_train_pace *pace, float gradient, float *weight, float *first, float *second)
{
	*first = LAB_TRAIN_BETA1 * *first + (1.0f - LAB_TRAIN_BETA1) * gradient;
	*second = LAB_TRAIN_BETA2 * *second + (1.0f - LAB_TRAIN_BETA2) * gradient * gradient;
	*weight = *weight * (1.0f - LAB_TRAIN_RATE * LAB_TRAIN_DECAY_RATE) -
		pace->rate * *first / (sqrtf(*second) * pace->root + LAB_TRAIN_EPSILON);
}

#endif
