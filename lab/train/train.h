/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_TRAIN_TRAIN_H
#define KWHY_LAB_TRAIN_TRAIN_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * `train`, the training of a multi-layer perceptron (lab/README.md): `layers` square linear layers with
 * biases, a rectifier between them, cross entropy over as many classes as a layer is wide, and AdamW with
 * PyTorch's defaults. Inputs are nearly normal and labels are random, all from a seed: what is learned is
 * learned by heart. A run goes `steps` steps from the same beginning, over the samples again and again.
 */
enum {
	KWHY_TRAIN_WIDTH = 4096,
	KWHY_TRAIN_LAYERS = 2,
	KWHY_TRAIN_BATCH = 64,
	KWHY_TRAIN_SAMPLES = 2048,
	KWHY_TRAIN_STEPS = 96, /* three times over the samples */
	KWHY_TRAIN_PARTS = 4,
	KWHY_TRAIN_WIDTH_MOST = 32768,
	KWHY_TRAIN_LAYERS_MOST = 64,
	KWHY_TRAIN_BATCH_MOST = 65536,
	KWHY_TRAIN_STEPS_MOST = 4096,
	KWHY_TRAIN_SEED = 42
};

/* torch.optim.AdamW's defaults. */
#define KWHY_TRAIN_RATE 1e-3f
#define KWHY_TRAIN_DECAY 1e-2f
#define KWHY_TRAIN_BETA1 0.9f
#define KWHY_TRAIN_BETA2 0.999f
#define KWHY_TRAIN_EPSILON 1e-8f

struct kwhy_train_shape {
	uint32_t width;	  /* a multiple of 32 */
	uint32_t layers;  /* 1 and more */
	uint32_t batch;	  /* samples a step; a multiple of 8 times `parts` */
	uint32_t parts;	  /* that a batch is taken in where gradients are accumulated */
	uint32_t samples; /* a multiple of the batch */
	uint32_t steps;
};

/* KWHY_E_INPUT, with what is allowed. */
KWHY_MUST_USE enum kwhy_status kwhy_train_shape_check(
	const struct kwhy_train_shape *shape, struct kwhy_error *error);

/* Of all layers: the matrices [layers][width out][width in], then the biases [layers][width]. */
static inline size_t kwhy_train_weight_count(const struct kwhy_train_shape *shape)
{
	return (size_t)shape->layers * shape->width * (shape->width + 1u);
}

/*
 * Multiplications and additions that a step needs: forward, and backward to every matrix and to every input
 * but the first layer's. What is done twice counts once.
 */
static inline double kwhy_train_step_flop(const struct kwhy_train_shape *shape)
{
	return 2.0 * shape->batch * shape->width * shape->width * (3.0 * shape->layers - 1);
}

/* Where a run is after its steps. */
struct kwhy_train_state {
	float *weights;	       /* [kwhy_train_weight_count()] */
	float *first, *second; /* AdamW's moments, as the weights */
	double *losses;	       /* [steps]: mean of the step's batch, before its update */
};

KWHY_MUST_USE enum kwhy_status kwhy_train_state_new(
	const struct kwhy_train_shape *shape, struct kwhy_train_state *out, struct kwhy_error *error);
void kwhy_train_state_done(struct kwhy_train_state *state);

/*
 * Runs it on one core in fp32, plainly. `steps` of the shape's; the state is of the caller. Parts make no
 * difference to it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_train_reference(
	const struct kwhy_train_shape *shape, struct kwhy_train_state *state, struct kwhy_error *error);

/*
 * Loss and gradient of one batch at the given weights: out_gradient[kwhy_train_weight_count()]. Returns the
 * loss by *out_loss.
 */
KWHY_MUST_USE enum kwhy_status kwhy_train_gradient(const struct kwhy_train_shape *shape, uint32_t step,
	const float *weights, float *out_gradient, double *out_loss, struct kwhy_error *error);

#endif
