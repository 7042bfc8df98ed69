/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of `decode` for the host: the same numbers in memory, sums in the order of columns. */
#include "base/clock.h"
#include "lab/decode/device.h"
#include "lab/decode/host_choosing.h"

#include <stdlib.h>

enum { HEAD = LAB_DECODE_HEAD, COLUMNS_MOST = 8192 };

static const struct lab_decode_kind *kind_of(const struct lab_decode_args *a)
{
	return &lab_decode_kinds[a->kind];
}

/* As far as kernels know it. */
static struct lab_decode_shape shape_of(const struct lab_decode_args *a)
{
	return (struct lab_decode_shape){"", 0, a->width, a->heads, a->inner, a->vocabulary, 0};
}

/* --- Weights --- */

static void store_four(uint32_t kind, void *row, uint32_t k, const float v[4])
{
	uint16_t *halves = row, codes = 0;
	uint32_t count = 0;

	if (kind == LAB_DECODE_INT4) {
		for (uint32_t i = 0; i < 4; i++)
			codes |= (uint16_t)((uint32_t)(lrintf(v[i]) + 8) << 4 * i);
		halves[k] = codes;
		return;
	}
	for (uint32_t i = 0; i < 4; i++)
		if (kind != LAB_DECODE_SPARSE)
			lab_decode_store(lab_decode_kinds[kind].factors, row, 4 * (uint64_t)k + i, v[i]);
		else if (lab_decode_is_kept(v, i))
			halves[2 * k + count++] = (uint16_t)(((lab_decode_to_fp16(v[i]) + 2U) & 0xfffcU) | i);
}

static void load_four(uint32_t kind, const void *row, uint32_t k, float v[4])
{
	const uint16_t *halves = row;

	for (uint32_t i = 0; i < 4; i++)
		v[i] = kind == LAB_DECODE_INT4 ? (float)((int)(halves[k] >> 4 * i & 15) - 8)
			: kind == LAB_DECODE_SPARSE
			? 0
			: lab_decode_load(lab_decode_kinds[kind].factors, row, 4 * (uint64_t)k + i);
	for (uint32_t i = 0; kind == LAB_DECODE_SPARSE && i < 2; i++)
		v[halves[2 * k + i] & 3] = lab_decode_from_fp16(halves[2 * k + i] & 0xfffc);
}

/* lab_decode_fill's arguments. */
struct fill {
	uint64_t to, scales;
	uint32_t hash, known, columns, first, stride;
	float bound;
	uint32_t kind;
};

static void fill_row(const struct fill *fill, uint32_t row)
{
	uint32_t from = fill->first + row * fill->stride;
	float code_most = lab_decode_kinds[fill->kind].code_most, most = 0, scale;
	void *to = kwhy_gpu_at(fill->to + lab_decode_weight_bytes(fill->kind, (uint64_t)row * fill->columns));

	for (uint32_t k = 0; code_most > 0 && k < fill->columns; k++)
		most = fmaxf(most, fabsf(fill->bound * lab_decode_unit(fill->hash, from + k)));
	scale = code_most > 0 ? most / code_most : 1;
	((float *)kwhy_gpu_at(fill->scales))[row] = scale;
	for (uint32_t k = 0; k < fill->columns / 4; k++) {
		float v[4];

		for (uint32_t i = 0; i < 4; i++)
			v[i] = row < fill->known
				? fill->bound * lab_decode_unit(fill->hash, from + 4 * k + i) / scale
				: 0;
		store_four(fill->kind, to, k, v);
	}
}

static void run_fill(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct fill fill = {*(const uint64_t *)arguments[0], *(const uint64_t *)arguments[1],
		*(const uint32_t *)arguments[2], *(const uint32_t *)arguments[3],
		*(const uint32_t *)arguments[4], *(const uint32_t *)arguments[5],
		*(const uint32_t *)arguments[6], *(const float *)arguments[7],
		*(const uint32_t *)arguments[8]};

	for (uint32_t row = 0; row < grid->blocks; row++)
		fill_row(&fill, row);
}

static void run_fill_floats(const struct kwhy_gpu_grid *grid, void **arguments)
{
	float *to = kwhy_gpu_at(*(const uint64_t *)arguments[0]), bound = *(const float *)arguments[4];
	uint32_t hash = *(const uint32_t *)arguments[1], count = *(const uint32_t *)arguments[2],
		 first = *(const uint32_t *)arguments[3];

	(void)grid;
	for (uint32_t i = 0; i < count; i++)
		to[i] = bound * lab_decode_unit(hash, first + i);
}

static void run_expand(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const float *scales = kwhy_gpu_at(*(const uint64_t *)arguments[1]);
	uint32_t columns = *(const uint32_t *)arguments[3], kind = *(const uint32_t *)arguments[4];

	for (uint32_t row = 0; row < grid->blocks; row++) {
		const void *from = kwhy_gpu_at(*(const uint64_t *)arguments[0] +
			lab_decode_weight_bytes(kind, (uint64_t)row * columns));

		for (uint32_t k = 0; k < columns / 4; k++) {
			float v[4];

			load_four(kind, from, k, v);
			for (uint32_t i = 0; i < 4; i++)
				lab_decode_store(lab_decode_kinds[kind].factors,
					kwhy_gpu_at(*(const uint64_t *)arguments[2]),
					(uint64_t)row * columns + 4 * k + i,
					v[i] * (kind == LAB_DECODE_INT4 ? scales[row] : 1));
		}
	}
}

/* --- Between products --- */

static uint64_t first_row(const struct lab_decode_args *a, uint32_t layer, uint32_t matrix)
{
	const struct lab_decode_shape shape = shape_of(a);

	return (uint64_t)layer * lab_decode_first_row(&shape, LAB_DECODE_MATRICES) +
		lab_decode_first_row(&shape, matrix);
}

static float sum_at(
	const struct lab_decode_args *a, uint32_t layer, uint32_t matrix, uint32_t token, uint32_t row)
{
	const struct lab_decode_shape shape = shape_of(a);
	uint64_t place = (uint64_t)token * lab_decode_rows(&shape, matrix) + row;
	float sum = a->kind == LAB_DECODE_INT8 ? (float)((const int32_t *)kwhy_gpu_at(a->sums))[place]
					       : ((const float *)kwhy_gpu_at(a->sums))[place];

	return !lab_decode_is_scaled(a->kind)
		? sum
		: sum * ((const float *)kwhy_gpu_at(a->scales))[first_row(a, layer, matrix) + row] *
			((const float *)kwhy_gpu_at(a->act_scales))[token];
}

static float bias_at(const struct lab_decode_args *a, uint32_t layer, uint32_t matrix, uint32_t row)
{
	return ((const float *)kwhy_gpu_at(a->biases))[first_row(a, layer, matrix) + row];
}

static void run_reset(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct lab_decode_args *a = arguments[0];
	const uint64_t *first = kwhy_gpu_at(*(const uint64_t *)arguments[2]);

	(void)grid;
	for (uint32_t slot = 0; slot < a->slots; slot++) {
		((uint32_t *)kwhy_gpu_at(a->at))[slot] = *(const uint32_t *)arguments[1];
		((uint64_t *)kwhy_gpu_at(a->best))[slot] = first ? first[slot] : UINT32_MAX; /* else token 0 */
	}
}

static uint32_t position_of(const struct lab_decode_args *a, uint32_t token)
{
	return a->each > 1 ? token % a->each : ((const uint32_t *)kwhy_gpu_at(a->at))[token];
}

static uint32_t next_word(const struct lab_decode_args *a, uint32_t token)
{
	uint32_t *at = kwhy_gpu_at(a->at);

	if (a->each > 1)
		return ((const uint32_t *)kwhy_gpu_at(a->prompt))[token];
	at[token]++;
	if (token == 0)
		((uint64_t *)kwhy_gpu_at(a->times))[at[0]] = (uint64_t)kwhy_clock_mono_ns();
	return lab_decode_token(((const uint64_t *)kwhy_gpu_at(a->best))[token]);
}

static void run_begin(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct lab_decode_args *a = arguments[0];
	const float *places = kwhy_gpu_at(a->places), *scales = kwhy_gpu_at(a->word_scales);
	float *x = kwhy_gpu_at(a->x);

	(void)grid;
	for (uint32_t token = 0; token < a->tokens; token++) {
		uint32_t word = next_word(a, token), position = position_of(a, token);
		const void *row = kwhy_gpu_at(
			a->words + lab_decode_weight_bytes(a->kind, (uint64_t)word * a->width));
		float scale = kind_of(a)->code_most > 0 ? scales[word] : 1, v[4];

		((uint32_t *)kwhy_gpu_at(a->chosen))[(size_t)(token / a->each) * a->room + position] = word;
		for (uint32_t k = 0; k < a->width; k++) {
			if (k % 4 == 0)
				load_four(a->kind, row, k / 4, v);
			x[(size_t)token * a->width + k] = v[k % 4] * scale +
				places[(size_t)position * a->width + k];
		}
	}
}

static float settled(
	const struct lab_decode_args *a, uint32_t layer, uint32_t matrix, uint32_t token, uint32_t k)
{
	const float *parts = kwhy_gpu_at(a->parts);
	uint64_t place = (uint64_t)token * a->width + k;
	float value = ((const float *)kwhy_gpu_at(a->x))[place];

	if (matrix == LAB_DECODE_NOTHING)
		return value;
	value += bias_at(a, layer, matrix, k);
	for (uint32_t rank = 0; parts && rank < a->ranks; rank++)
		value += parts[(uint64_t)rank * a->tokens * a->width + place];
	return parts ? value : value + sum_at(a, layer, matrix, token, k);
}

static float code_scale(const struct lab_decode_args *a, float most)
{
	return lab_decode_is_scaled(a->kind) && most > 0 ? most / kind_of(a)->code_most : 1;
}

static float most_of(const float *row, uint32_t count)
{
	float most = 0;

	for (uint32_t k = 0; k < count; k++)
		most = fmaxf(most, fabsf(row[k]));
	return most;
}

/* Numbers become what a product takes; gives their scale. */
static float store_acts(const struct lab_decode_args *a, uint64_t token, const float *row, uint32_t count)
{
	float scale = code_scale(a, most_of(row, count));

	for (uint32_t k = 0; k < count; k++)
		lab_decode_store(
			kind_of(a)->factors, kwhy_gpu_at(a->acts), token * count + k, row[k] / scale);
	return scale;
}

static void normalise(float *row, uint32_t width)
{
	float mean = 0, squares = 0, scale;

	for (uint32_t k = 0; k < width; k++)
		mean += row[k];
	mean /= (float)width;
	for (uint32_t k = 0; k < width; k++) {
		row[k] -= mean;
		squares += row[k] * row[k];
	}
	scale = 1 / sqrtf(squares / (float)width + LAB_DECODE_NORM_LEAST);
	for (uint32_t k = 0; k < width; k++)
		row[k] *= scale;
}

static void run_normalise(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct lab_decode_args *a = arguments[0];
	uint32_t layer = *(const uint32_t *)arguments[1], matrix = *(const uint32_t *)arguments[2],
		 last = *(const uint32_t *)arguments[3];
	float row[COLUMNS_MOST], *scales = kwhy_gpu_at(last ? a->last_scales : a->act_scales);

	for (uint32_t i = 0; i < grid->blocks; i++) {
		uint32_t token = last ? (i + 1) * a->each - 1 : i;

		for (uint32_t k = 0; k < a->width; k++)
			row[k] = settled(a, layer, matrix, token, k);
		for (uint32_t k = 0; k < a->width; k++)
			((float *)kwhy_gpu_at(a->x))[(size_t)token * a->width + k] = row[k];
		normalise(row, a->width);
		scales[i] = store_acts(a, i, row, a->width);
	}
}

static uint64_t cache_at(
	const struct lab_decode_args *a, uint32_t layer, uint32_t slot, uint32_t head, uint32_t position)
{
	return ((((uint64_t)layer * a->cache_slots + slot) * a->heads + head) * a->room + position) * HEAD;
}

static void run_keep(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct lab_decode_args *a = arguments[0];
	uint32_t layer = *(const uint32_t *)arguments[1], mixed = a->heads * HEAD;

	(void)grid;
	for (uint32_t token = 0; token < a->tokens; token++)
		for (uint32_t row = 0; row < 3 * mixed; row++) {
			uint32_t column = row % mixed;
			float value = sum_at(a, layer, LAB_DECODE_ATTENTION, token, row) +
				bias_at(a, layer, LAB_DECODE_ATTENTION, row);

			if (row < mixed)
				((float *)kwhy_gpu_at(a->queries))[(size_t)token * mixed + column] = value;
			else
				lab_decode_store(kind_of(a)->kept,
					kwhy_gpu_at(row < 2 * mixed ? a->keys : a->values),
					cache_at(a, layer, token / a->each, column / HEAD,
						position_of(a, token)) +
						column % HEAD,
					value);
		}
}

static void attend_head(
	const struct lab_decode_args *a, uint32_t layer, uint32_t token, uint32_t head, float out[HEAD])
{
	const float *query = (const float *)kwhy_gpu_at(a->queries) +
		((size_t)token * a->heads + head) * HEAD;
	const void *keys = kwhy_gpu_at(a->keys), *values = kwhy_gpu_at(a->values);
	enum lab_decode_type kept = kind_of(a)->kept;
	float sums[HEAD] = {0}, weight = 0, most = -1e30F;

	for (uint32_t j = 0; j <= position_of(a, token); j++) {
		uint64_t place = cache_at(a, layer, token / a->each, head, j);
		float score = 0, next, factor, share;

		for (uint32_t k = 0; k < HEAD; k++)
			score += query[k] * lab_decode_load(kept, keys, place + k);
		score *= 0.125F * 1.44269504F;
		next = fmaxf(most, score);
		factor = exp2f(most - next);
		share = exp2f(score - next);
		most = next;
		weight = weight * factor + share;
		for (uint32_t k = 0; k < HEAD; k++)
			sums[k] = sums[k] * factor + share * lab_decode_load(kept, values, place + k);
	}
	for (uint32_t k = 0; k < HEAD; k++)
		out[k] = sums[k] / weight;
}

static void run_attend(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct lab_decode_args *a = arguments[0];
	uint32_t layer = *(const uint32_t *)arguments[1];
	bool is_scaled = lab_decode_is_scaled(a->kind);
	void *to = kwhy_gpu_at(is_scaled ? a->sums : a->acts);

	(void)grid;
	for (uint32_t token = 0; token < a->tokens; token++)
		for (uint32_t head = 0; head < a->heads; head++) {
			float out[HEAD];

			attend_head(a, layer, token, head, out);
			for (uint32_t k = 0; k < HEAD; k++)
				lab_decode_store(is_scaled ? LAB_DECODE_F32 : kind_of(a)->factors, to,
					((uint64_t)token * a->heads + head) * HEAD + k, out[k]);
		}
}

static void run_activate(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct lab_decode_args *a = arguments[0];
	uint32_t layer = *(const uint32_t *)arguments[1], matrix = *(const uint32_t *)arguments[2],
		 columns = matrix == LAB_DECODE_PROJECTION ? a->heads * HEAD : a->inner;
	const float *sums = kwhy_gpu_at(a->sums);
	float row[COLUMNS_MOST];

	(void)grid;
	for (uint32_t token = 0; token < a->tokens; token++) {
		for (uint32_t k = 0; k < columns; k++)
			row[k] = matrix == LAB_DECODE_PROJECTION
				? sums[(size_t)token * columns + k]
				: fmaxf(sum_at(a, layer, LAB_DECODE_WIDENING, token, k) +
						  bias_at(a, layer, LAB_DECODE_WIDENING, k),
					  0);
		((float *)kwhy_gpu_at(a->act_scales))[token] = store_acts(a, token, row, columns);
	}
}

static void run_part(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct lab_decode_args *a = arguments[0];
	float *parts = (float *)kwhy_gpu_at(a->parts) + (size_t)a->rank * a->tokens * a->width;

	(void)grid;
	for (uint32_t token = 0; token < a->tokens; token++)
		for (uint32_t k = 0; k < a->width; k++)
			parts[(size_t)token * a->width + k] = sum_at(a, *(const uint32_t *)arguments[1],
				*(const uint32_t *)arguments[2], token, k);
}

/* --- A product, in cuBLASLt's place --- */

static void load_row(enum lab_decode_type type, uint64_t from, uint64_t row, uint32_t columns, float *out)
{
	for (uint32_t k = 0; k < columns; k++)
		out[k] = lab_decode_load(type, kwhy_gpu_at(from), row * columns + k);
}

static void run_multiply(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct lab_decode_host_product *p = arguments[0];
	enum lab_decode_type type = lab_decode_kinds[p->kind].factors;
	float row[COLUMNS_MOST], *acts = malloc((size_t)p->tokens * p->columns * sizeof(*acts));

	(void)grid;
	for (uint32_t t = 0; acts && t < p->tokens; t++)
		load_row(type, p->acts, t, p->columns, acts + (size_t)t * p->columns);
	for (uint32_t r = 0; acts && r < p->rows; r++) {
		load_row(type, p->weights, r, p->columns, row);
		for (uint32_t t = 0; t < p->tokens; t++) {
			uint64_t place = (uint64_t)t * p->rows + r;
			float sum = 0;

			for (uint32_t k = 0; k < p->columns; k++)
				sum += row[k] * acts[(size_t)t * p->columns + k];
			if (p->kind == LAB_DECODE_INT8)
				((int32_t *)kwhy_gpu_at(p->sums))[place] = (int32_t)sum;
			else
				((float *)kwhy_gpu_at(p->sums))[place] = sum;
		}
	}
	free(acts);
}

enum { ARGS = sizeof(struct lab_decode_args) };

const struct kwhy_gpu_host_kernel lab_decode_host_kernels[] = {
	{"lab_decode_fill", run_fill, {8, 8, 4, 4, 4, 4, 4, 4, 4}},
	{"lab_decode_fill_floats", run_fill_floats, {8, 4, 4, 4, 4}},
	{"lab_decode_expand", run_expand, {8, 8, 8, 4, 4}},
	{"lab_decode_reset", run_reset, {ARGS, 4, 8}},
	{"lab_decode_begin", run_begin, {ARGS}},
	{"lab_decode_normalise", run_normalise, {ARGS, 4, 4, 4}},
	{"lab_decode_keep", run_keep, {ARGS, 4}},
	{"lab_decode_attend", run_attend, {ARGS, 4, 4}},
	{"lab_decode_activate", run_activate, {ARGS, 4, 4}},
	{"lab_decode_part", run_part, {ARGS, 4, 4}},
	{"lab_decode_pick", lab_decode_host_pick, {ARGS}},
	{"lab_decode_choose", lab_decode_host_choose, {ARGS}},
	{"lab_decode_multiply", run_multiply, {sizeof(struct lab_decode_host_product)}},
	{0},
};
