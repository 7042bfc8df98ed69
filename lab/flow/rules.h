/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_FLOW_RULES_H
#define KWHY_LAB_FLOW_RULES_H

#include "lab/flow/flow.h"
#include "lab/splitmix.h"

#include <math.h>
#include <string.h>

/*
 * The rules of `flow` for the reference and the host forms of kernels; the kernels have their own copy in
 * CUDA C (kernels/flow/). Pure.
 *
 * A flow's number and place are one word: number << 32 | z << 20 | y << 10 | x.
 */

#define KWHY_FLOW_NONE UINT32_MAX

static inline uint32_t kwhy_flow_x(uint64_t at)
{
	return (uint32_t)at & 1023;
}

static inline uint32_t kwhy_flow_y(uint64_t at)
{
	return (uint32_t)at >> 10 & 1023;
}

static inline uint32_t kwhy_flow_z(uint64_t at)
{
	return (uint32_t)at >> 20;
}

static inline uint64_t kwhy_flow_at(uint32_t number, uint32_t x, uint32_t y, uint32_t z)
{
	return (uint64_t)number << 32 | (uint64_t)z << 20 | (uint64_t)y << 10 | x;
}

static inline uint32_t kwhy_flow_cell(const struct kwhy_flow_shape *shape, uint64_t at)
{
	return (kwhy_flow_z(at) * shape->height + kwhy_flow_y(at)) * shape->width + kwhy_flow_x(at);
}

static inline uint32_t kwhy_flow_cells(const struct kwhy_flow_shape *shape)
{
	return shape->width * shape->height * shape->depth;
}

/* Where a new flow begins, and what it carries. */
static inline uint64_t kwhy_flow_start(const struct kwhy_flow_shape *shape, uint32_t number)
{
	uint64_t hash = kwhy_splitmix(0xF10Au ^ (uint64_t)number << 8);

	return kwhy_flow_at(
		number, (uint32_t)(hash % shape->width), (uint32_t)((hash >> 20) % shape->height), 0);
}

static inline float kwhy_flow_start_energy(uint32_t number, uint32_t k)
{
	return kwhy_splitmix_unit(kwhy_splitmix(0xE4E2u ^ (uint64_t)number << 8 ^ k));
}

/* A number of a cell. */
static inline float kwhy_flow_place(uint32_t cell, uint32_t k)
{
	return kwhy_splitmix_unit(
		kwhy_splitmix(0x2E4Bu * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)cell * KWHY_FLOW_PLACE + k));
}

/* One deeper, and across by 0 to 2, less one. */
static inline uint64_t kwhy_flow_shift(
	const struct kwhy_flow_shape *shape, uint64_t at, uint32_t across, uint32_t along)
{
	return kwhy_flow_at((uint32_t)(at >> 32),
		(kwhy_flow_x(at) + across + shape->width - 1) % shape->width,
		(kwhy_flow_y(at) + along + shape->height - 1) % shape->height, kwhy_flow_z(at) + 1);
}

static inline uint64_t kwhy_flow_move_fixed(const struct kwhy_flow_shape *shape, uint64_t at, uint32_t step)
{
	uint64_t hash = kwhy_splitmix(0xD1Cu ^ at >> 32 << 16 ^ step);

	return kwhy_flow_shift(shape, at, (uint32_t)(hash % 3), (uint32_t)((hash >> 20) % 3));
}

/* The first maximum of three. */
static inline uint32_t kwhy_flow_choice(const float *logits)
{
	uint32_t best = logits[1] > logits[0];

	return logits[2] > logits[best] ? 2 : best;
}

/* logits NULL: on the fixed path nobody asks for them. */
static inline uint64_t kwhy_flow_move(
	const struct kwhy_flow_shape *shape, uint64_t at, uint32_t step, const float *logits)
{
	if (!shape->by_argmax || !logits)
		return kwhy_flow_move_fixed(shape, at, step);
	return kwhy_flow_shift(shape, at, kwhy_flow_choice(logits), kwhy_flow_choice(logits + 3));
}

/* --- Weights: one block of floats, a matrix as [inputs][outputs] --- */

enum {
	KWHY_FLOW_W1 = 0,
	KWHY_FLOW_B1 = KWHY_FLOW_W1 + KWHY_FLOW_INPUTS * KWHY_FLOW_LAYER,
	KWHY_FLOW_W2 = KWHY_FLOW_B1 + KWHY_FLOW_LAYER,
	KWHY_FLOW_B2 = KWHY_FLOW_W2 + KWHY_FLOW_LAYER * KWHY_FLOW_ENERGIES,
	KWHY_FLOW_WI = KWHY_FLOW_B2 + KWHY_FLOW_ENERGIES,
	KWHY_FLOW_BI = KWHY_FLOW_WI + KWHY_FLOW_INPUTS * KWHY_FLOW_GATES,
	KWHY_FLOW_WH = KWHY_FLOW_BI + KWHY_FLOW_GATES,
	KWHY_FLOW_BH = KWHY_FLOW_WH + KWHY_FLOW_STATE * KWHY_FLOW_GATES,
	KWHY_FLOW_WO = KWHY_FLOW_BH + KWHY_FLOW_GATES,			      /* of energies and logits */
	KWHY_FLOW_SINES = KWHY_FLOW_WO + KWHY_FLOW_STATE * KWHY_FLOW_OUTPUTS, /* sin(2^k v / 16): [4][1024] */
	KWHY_FLOW_COSINES = KWHY_FLOW_SINES + 4 * 1024,
	KWHY_FLOW_WEIGHTS = KWHY_FLOW_COSINES + 4 * 1024
};

/* The same of 16 bits, a matrix as [outputs][inputs], in this order. */
enum {
	KWHY_FLOW_HALF_W1 = 0,
	KWHY_FLOW_HALF_W2 = KWHY_FLOW_HALF_W1 + KWHY_FLOW_LAYER * KWHY_FLOW_INPUTS,
	KWHY_FLOW_HALF_WI = KWHY_FLOW_HALF_W2 + KWHY_FLOW_ENERGIES * KWHY_FLOW_LAYER,
	KWHY_FLOW_HALF_WH = KWHY_FLOW_HALF_WI + KWHY_FLOW_GATES * KWHY_FLOW_INPUTS,
	KWHY_FLOW_HALF_WO = KWHY_FLOW_HALF_WH + KWHY_FLOW_GATES * KWHY_FLOW_STATE,
	KWHY_FLOW_HALVES = KWHY_FLOW_HALF_WO + KWHY_FLOW_OUTPUTS * KWHY_FLOW_STATE
};

/* bfloat16, rounded to the nearest, ties to even. */
static inline uint16_t kwhy_flow_half(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float kwhy_flow_whole(uint16_t half)
{
	uint32_t bits = (uint32_t)half << 16;
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* weights[KWHY_FLOW_WEIGHTS], halves[KWHY_FLOW_HALVES]; halves may be NULL. */
void kwhy_flow_weights(float *weights, uint16_t *halves);

/* --- The parts of a step, of one flow --- */

static inline void kwhy_flow_input(
	const struct kwhy_flow_shape *shape, const float *weights, uint64_t at, const float *e, float *out)
{
	uint32_t cell = kwhy_flow_cell(shape, at), x = kwhy_flow_x(at), y = kwhy_flow_y(at),
		 z = kwhy_flow_z(at);

	memcpy(out, e, KWHY_FLOW_ENERGIES * sizeof(*out));
	out += KWHY_FLOW_ENERGIES;
	for (uint32_t k = 0; k < KWHY_FLOW_PLACE; k++)
		*out++ = kwhy_flow_place(cell, k);
	for (uint32_t k = 0; k < 4; k++) {
		const float *sines = weights + KWHY_FLOW_SINES + k * 1024,
			    *cosines = weights + KWHY_FLOW_COSINES + k * 1024;

		*out++ = sines[x];
		*out++ = cosines[x];
		*out++ = sines[y];
		*out++ = sines[z];
	}
}

/* out = in * matrix, without bias. */
static inline void kwhy_flow_product(
	const float *in, const float *matrix, float *restrict out, uint32_t inputs, uint32_t outputs)
{
	memset(out, 0, outputs * sizeof(*out));
	for (uint32_t k = 0; k < inputs; k++) {
		const float *row = matrix + (size_t)k * outputs;
		float value = in[k];

		for (uint32_t j = 0; j < outputs; j++)
			out[j] += value * row[j];
	}
}

static inline float kwhy_flow_sigmoid(float value)
{
	return 1.0f / (1.0f + expf(-value));
}

/* A gated recurrent unit from its two products, without their biases. */
static inline float kwhy_flow_gate(
	const float *weights, const float *gi, const float *gh, uint32_t j, float h)
{
	const float *bi = weights + KWHY_FLOW_BI, *bh = weights + KWHY_FLOW_BH;
	uint32_t jz = j + KWHY_FLOW_STATE, jn = jz + KWHY_FLOW_STATE;
	float r = kwhy_flow_sigmoid(gi[j] + bi[j] + (gh[j] + bh[j])),
	      z = kwhy_flow_sigmoid(gi[jz] + bi[jz] + (gh[jz] + bh[jz])),
	      n = tanhf(gi[jn] + bi[jn] + r * (gh[jn] + bh[jn]));

	return (1.0f - z) * n + z * h;
}

#endif
