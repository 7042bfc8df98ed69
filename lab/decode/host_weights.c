/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/decode/host_weights.h"

#include <stdbool.h>
#include <string.h>

/* 4 bits of 16 bytes: neighbours lie 16 bits apart. */
static unsigned nibble_shift(uint32_t i)
{
	return i % 8 / 2 * 4 + i % 2 * 16;
}

/* Of a pair that is kept of four neighbours; the last two digits say which column. */
static float sparse_load(uint32_t pair, uint32_t column)
{
	for (int i = 0; i < 2; i++, pair >>= 16)
		if ((pair & 3) == column)
			return kwhy_decode_from_fp16((uint16_t)(pair & 0xfffc));
	return 0;
}

static uint32_t sparse_pair(const float four[4])
{
	uint32_t pair = 0;
	int count = 0;

	for (uint32_t i = 0; i < 4; i++)
		if (kwhy_decode_is_kept(four, i))
			pair |= ((((uint32_t)kwhy_decode_to_fp16(four[i]) + 2) & 0xfffc) | i) << 16 * count++;
	return pair;
}

/* Weight i of 16 bytes, before its row's scale. */
static float weight_load(enum kwhy_decode_weights weights, const char *bytes, uint32_t i)
{
	uint32_t word;
	uint16_t half;

	memcpy(&word,
		bytes +
			(weights == KWHY_DECODE_INT4			? i / 8
					: weights == KWHY_DECODE_SPARSE ? i / 4
									: i % 4) *
				sizeof(word),
		sizeof(word));
	memcpy(&half, bytes + 2 * (i % 8), sizeof(half));
	switch (weights) {
	case KWHY_DECODE_BF16:
		return kwhy_decode_from_bf16(half);
	case KWHY_DECODE_FP16:
		return kwhy_decode_from_fp16(half);
	case KWHY_DECODE_FP8:
		return kwhy_decode_from_fp8((uint8_t)bytes[i]);
	case KWHY_DECODE_INT8:
		return (float)(int8_t)bytes[i];
	case KWHY_DECODE_SPARSE:
		return sparse_load(word, i % 4);
	case KWHY_DECODE_INT4:
		return (float)(word >> nibble_shift(i) & 15) - 8;
	default:
		return kwhy_decode_float(word);
	}
}

static void weight_store(enum kwhy_decode_weights weights, char *bytes, uint32_t i, float value)
{
	uint32_t word = kwhy_decode_bits(value);
	uint16_t half = weights == KWHY_DECODE_BF16 ? kwhy_decode_to_bf16(value) : kwhy_decode_to_fp16(value);

	switch (weights) {
	case KWHY_DECODE_BF16:
	case KWHY_DECODE_FP16:
		memcpy(bytes + (size_t)2 * i, &half, sizeof(half));
		break;
	case KWHY_DECODE_FP8:
		bytes[i] = (char)kwhy_decode_to_fp8(value);
		break;
	case KWHY_DECODE_INT8:
		bytes[i] = (char)lrintf(value);
		break;
	case KWHY_DECODE_INT4:
		memcpy(&word, bytes + i / 8 * sizeof(word), sizeof(word));
		word &= ~(UINT32_C(15) << nibble_shift(i));
		word |= (uint32_t)(lrintf(value) + 8) << nibble_shift(i);
		memcpy(bytes + i / 8 * sizeof(word), &word, sizeof(word));
		break;
	default:
		memcpy(bytes + i * sizeof(word), &word, sizeof(word));
	}
}

void kwhy_decode_host_row_load(
	enum kwhy_decode_weights weights, const char *bytes, uint32_t row, uint32_t columns, float *out)
{
	uint32_t each = kwhy_decode_each(weights);

	for (uint32_t k = 0; k < columns; k++)
		out[k] = weight_load(
			weights, bytes + 16 * kwhy_decode_place(weights, row, k, columns), k % each);
}

/* --- Making them --- */

struct fill {
	enum kwhy_decode_weights weights;
	char *to;
	uint32_t hash, columns, first, stride; /* in the whole matrix */
	float bound;
};

static float most_of_row(const struct fill *fill, uint32_t row)
{
	float most = 0;

	for (uint32_t k = 0; k < fill->columns; k++)
		most = fmaxf(most,
			fabsf(fill->bound *
				kwhy_decode_unit(fill->hash, fill->first + row * fill->stride + k)));
	return most;
}

/* Of a row of which two of four are kept. */
static void fill_sparse(const struct fill *fill, uint32_t row, bool is_known)
{
	uint32_t each = kwhy_decode_each(fill->weights);

	for (uint32_t k = 0; k < fill->columns; k += 4) {
		float four[4] = {0};
		uint32_t pair;

		for (uint32_t i = 0; is_known && i < 4; i++)
			four[i] = fill->bound *
				kwhy_decode_unit(fill->hash, fill->first + row * fill->stride + k + i);
		pair = sparse_pair(four);
		memcpy(fill->to + 16 * kwhy_decode_place(fill->weights, row, k, fill->columns) + k % each,
			&pair, sizeof(pair));
	}
}

static float fill_row(const struct fill *fill, uint32_t row, bool is_known)
{
	float most = kwhy_decode_code_most(fill->weights),
	      scale = most > 0 ? most_of_row(fill, row) / most : 1;
	uint32_t each = kwhy_decode_each(fill->weights);

	if (fill->weights == KWHY_DECODE_SPARSE) {
		fill_sparse(fill, row, is_known);
		return scale;
	}
	for (uint32_t k = 0; k < fill->columns; k++) {
		float value = fill->bound *
			kwhy_decode_unit(fill->hash, fill->first + row * fill->stride + k) / scale;

		weight_store(fill->weights,
			fill->to + 16 * kwhy_decode_place(fill->weights, row, k, fill->columns), k % each,
			is_known ? value : 0);
	}
	return scale;
}

void kwhy_decode_host_fill(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct fill fill = {.to = kwhy_gpu_at(*(const uint64_t *)arguments[0]),
		.hash = *(const uint32_t *)arguments[2],
		.columns = *(const uint32_t *)arguments[5],
		.first = *(const uint32_t *)arguments[6],
		.stride = *(const uint32_t *)arguments[7],
		.bound = *(const float *)arguments[8],
		.weights = *(const enum kwhy_decode_weights *)arguments[9]};
	float *scales = kwhy_gpu_at(*(const uint64_t *)arguments[1]);
	uint32_t rows = *(const uint32_t *)arguments[3], known = *(const uint32_t *)arguments[4];

	(void)grid;
	for (uint32_t row = 0; row < rows; row++)
		scales[row] = fill_row(&fill, row, row < known);
}

void kwhy_decode_host_fill_floats(const struct kwhy_gpu_grid *grid, void **arguments)
{
	float *to = kwhy_gpu_at(*(const uint64_t *)arguments[0]), bound = *(const float *)arguments[4];
	uint32_t hash = *(const uint32_t *)arguments[1], count = *(const uint32_t *)arguments[2],
		 first = *(const uint32_t *)arguments[3];

	(void)grid;
	for (uint32_t i = 0; i < count; i++)
		to[i] = bound * kwhy_decode_unit(hash, first + i);
}
