/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_FLOW_RULES_H
#define LAB_FLOW_RULES_H

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

#define LAB_FLOW_NONE UINT32_MAX

static inline uint32_t lab_flow_x(uint64_t at)
{
	return (uint32_t)at & 1023;
}

static inline uint32_t lab_flow_y(uint64_t at)
{
	return (uint32_t)at >> 10 & 1023;
}

static inline uint32_t lab_flow_z(uint64_t at)
{
	return (uint32_t)at >> 20;
}

static inline uint64_t lab_flow_at(uint32_t number, uint32_t x, uint32_t y, uint32_t z)
{
	return (uint64_t)number << 32 | (uint64_t)z << 20 | (uint64_t)y << 10 | x;
}

static inline uint32_t lab_flow_cell(const struct lab_flow_shape *shape, uint64_t at)
{
	return (lab_flow_z(at) * shape->height + lab_flow_y(at)) * shape->width + lab_flow_x(at);
}

static inline uint32_t lab_flow_cells(const struct lab_flow_shape *shape)
{
	return shape->width * shape->height * shape->depth;
}

/* Where a new flow begins, and what it carries. */
static inline uint64_t lab_flow_start(const struct lab_flow_shape *shape, uint32_t number)
{
	uint64_t hash = kwhy_splitmix(0xF10Au ^ (uint64_t)number << 8);

	return lab_flow_at(
		number, (uint32_t)(hash % shape->width), (uint32_t)((hash >> 20) % shape->height), 0);
}

static inline float lab_flow_start_energy(uint32_t number, uint32_t k)
{
	return kwhy_splitmix_unit(kwhy_splitmix(0xE4E2u ^ (uint64_t)number << 8 ^ k));
}

/* A number of a cell. */
static inline float lab_flow_place(uint32_t cell, uint32_t k)
{
	return kwhy_splitmix_unit(
		kwhy_splitmix(0x2E4Bu * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)cell * LAB_FLOW_PLACE + k));
}

/* One deeper, and across by 0 to 2, less one. */
static inline uint64_t lab_flow_shift(
	const struct lab_flow_shape *shape, uint64_t at, uint32_t across, uint32_t along)
{
	return lab_flow_at((uint32_t)(at >> 32), (lab_flow_x(at) + across + shape->width - 1) % shape->width,
		(lab_flow_y(at) + along + shape->height - 1) % shape->height, lab_flow_z(at) + 1);
}

static inline uint64_t lab_flow_move_fixed(const struct lab_flow_shape *shape, uint64_t at, uint32_t step)
{
	uint64_t hash = kwhy_splitmix(0xD1Cu ^ at >> 32 << 16 ^ step);

	return lab_flow_shift(shape, at, (uint32_t)(hash % 3), (uint32_t)((hash >> 20) % 3));
}

/* The first maximum of three. */
static inline uint32_t lab_flow_choice(const float *logits)
{
	uint32_t best = logits[1] > logits[0];

	return logits[2] > logits[best] ? 2 : best;
}

/* logits NULL: on the fixed path nobody asks for them. */
static inline uint64_t lab_flow_move(
	const struct lab_flow_shape *shape, uint64_t at, uint32_t step, const float *logits)
{
	if (!shape->by_argmax || !logits)
		return lab_flow_move_fixed(shape, at, step);
	return lab_flow_shift(shape, at, lab_flow_choice(logits), lab_flow_choice(logits + 3));
}

/* --- Weights: one block of floats, a matrix as [inputs][outputs] --- */

enum {
	LAB_FLOW_W1 = 0,
	LAB_FLOW_B1 = LAB_FLOW_W1 + LAB_FLOW_INPUTS * LAB_FLOW_LAYER,
	LAB_FLOW_W2 = LAB_FLOW_B1 + LAB_FLOW_LAYER,
	LAB_FLOW_B2 = LAB_FLOW_W2 + LAB_FLOW_LAYER * LAB_FLOW_ENERGIES,
	LAB_FLOW_WI = LAB_FLOW_B2 + LAB_FLOW_ENERGIES,
	LAB_FLOW_BI = LAB_FLOW_WI + LAB_FLOW_INPUTS * LAB_FLOW_GATES,
	LAB_FLOW_WH = LAB_FLOW_BI + LAB_FLOW_GATES,
	LAB_FLOW_BH = LAB_FLOW_WH + LAB_FLOW_STATE * LAB_FLOW_GATES,
	LAB_FLOW_WO = LAB_FLOW_BH + LAB_FLOW_GATES,			  /* of energies and logits */
	LAB_FLOW_SINES = LAB_FLOW_WO + LAB_FLOW_STATE * LAB_FLOW_OUTPUTS, /* sin(2^k v / 16): [4][1024] */
	LAB_FLOW_COSINES = LAB_FLOW_SINES + 4 * 1024,
	LAB_FLOW_WEIGHTS = LAB_FLOW_COSINES + 4 * 1024
};

/* The same of 16 bits, a matrix as [outputs][inputs], in this order. */
enum {
	LAB_FLOW_HALF_W1 = 0,
	LAB_FLOW_HALF_W2 = LAB_FLOW_HALF_W1 + LAB_FLOW_LAYER * LAB_FLOW_INPUTS,
	LAB_FLOW_HALF_WI = LAB_FLOW_HALF_W2 + LAB_FLOW_ENERGIES * LAB_FLOW_LAYER,
	LAB_FLOW_HALF_WH = LAB_FLOW_HALF_WI + LAB_FLOW_GATES * LAB_FLOW_INPUTS,
	LAB_FLOW_HALF_WO = LAB_FLOW_HALF_WH + LAB_FLOW_GATES * LAB_FLOW_STATE,
	LAB_FLOW_HALVES = LAB_FLOW_HALF_WO + LAB_FLOW_OUTPUTS * LAB_FLOW_STATE
};

/* bfloat16, rounded to the nearest, ties to even. */
static inline uint16_t lab_flow_half(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float lab_flow_whole(uint16_t half)
{
	uint32_t bits = (uint32_t)half << 16;
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* weights[LAB_FLOW_WEIGHTS], halves[LAB_FLOW_HALVES]; halves may be NULL. */
void lab_flow_weights(float *weights, uint16_t *halves);

/* --- The parts of a step, of one flow --- */

static inline void lab_flow_input(
	const struct lab_flow_shape *shape, const float *weights, uint64_t at, const float *e, float *out)
{
	uint32_t cell = lab_flow_cell(shape, at), x = lab_flow_x(at), y = lab_flow_y(at), z = lab_flow_z(at);

	memcpy(out, e, LAB_FLOW_ENERGIES * sizeof(*out));
	out += LAB_FLOW_ENERGIES;
	for (uint32_t k = 0; k < LAB_FLOW_PLACE; k++)
		*out++ = lab_flow_place(cell, k);
	for (uint32_t k = 0; k < 4; k++) {
		const float *sines = weights + LAB_FLOW_SINES + k * 1024,
			    *cosines = weights + LAB_FLOW_COSINES + k * 1024;

		*out++ = sines[x];
		*out++ = cosines[x];
		*out++ = sines[y];
		*out++ = sines[z];
	}
}

/* out = in * matrix, without bias. */
static inline void lab_flow_product(
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

static inline float lab_flow_sigmoid(float value)
{
	return 1.0f / (1.0f + expf(-value));
}

/* A gated recurrent unit from its two products, without their biases. */
static inline float lab_flow_gate(const float *weights, const float *gi, const float *gh, uint32_t j, float h)
{
	const float *bi = weights + LAB_FLOW_BI, *bh = weights + LAB_FLOW_BH;
	uint32_t jz = j + LAB_FLOW_STATE, jn = jz + LAB_FLOW_STATE;
	float r = lab_flow_sigmoid(gi[j] + bi[j] + (gh[j] + bh[j])),
	      z = lab_flow_sigmoid(gi[jz] + bi[jz] + (gh[jz] + bh[jz])),
	      n = tanhf(gi[jn] + bi[jn] + r * (gh[jn] + bh[jn]));

	return (1.0f - z) * n + z * h;
}

#endif
