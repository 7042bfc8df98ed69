/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_TRAIN_RULES_H
#define LAB_TRAIN_RULES_H

#include "lab/one_thread.h"
#include "lab/train/train.h"

#include "lab/kernels/mix.cu"

/*
 * Initial weights, data and AdamW for the reference and for the host's program; kernels/train.cu has the same
 * in CUDA C. The enum numbers the sequences of pseudo-random numbers. The functions have no state.
 */
enum { LAB_TRAIN_WEIGHTS_FIELD = 1, LAB_TRAIN_INPUTS_FIELD, LAB_TRAIN_LABELS_FIELD };

static inline uint64_t lab_train_mix(uint32_t field, uint64_t place)
{
	return mix((uint64_t)LAB_TRAIN_SEED << 48 ^ (uint64_t)field << 40 ^ place);
}

/*
 * Initial weight, uniform in ±`bound` as in torch.nn.Linear. It has 24 random bits, so that the conversion to
 * float is exact.
 */
static inline float lab_train_first_weight(uint64_t place, float bound)
{
	uint64_t hash = lab_train_mix(LAB_TRAIN_WEIGHTS_FIELD, place);

	return (float)((int)(hash >> 40) - (1 << 23)) * 0x1p-23f * bound;
}

static inline float lab_train_bound(uint32_t width)
{
	return 1.0f / sqrtf((float)width);
}

/*
 * A feature of a sample's input: the sum of four uniform numbers, scaled to mean 0 and variance 1, which is
 * nearly normal.
 */
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

/*
 * Factors of AdamW in a step. Start with both powers 1; each lab_train_pace_next() advances them to the next
 * step.
 */
struct lab_train_pace {
	float power1, power2; /* beta1 and beta2 to the power of the number of steps, with the current one */
	float rate;	      /* learning rate, divided by the bias correction of the first moment */
	float root;	      /* inverse of the bias correction of the second moment */
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
