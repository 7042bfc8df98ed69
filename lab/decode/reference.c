/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/decode/rules.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = LAB_DECODE_REFERENCE_MAX, HEAD = LAB_DECODE_HEAD };

const struct lab_decode_shape lab_decode_shapes[LAB_DECODE_SHAPE_COUNT] = {
	{"opt-125m", 12, 768, 12, 3072, 50272, 2048},
	{"opt-1.3b", 24, 2048, 32, 8192, 50272, 2048},
	{"small", 2, 128, 2, 512, 1000, 2048},
};

/*
 * State of the computation of one sequence. Activations are arrays [column][MAX], where the second index is
 * the token's position: the values of all tokens for a column are adjacent, so a weight that was computed
 * once is multiplied with all of them.
 */
struct passage {
	const struct lab_decode_shape *shape;
	uint32_t count;
	bool is_pruned;
	float *x, *normal, *states, *mixed, *inner; /* `states` are queries, keys and values */
};

/*
 * Matrix [rows][columns] of weights (`tensor`: id of the tensor; `bound`: of its values) times the
 * activations of all tokens.
 */
struct product {
	const struct passage *passage;
	uint32_t tensor, rows, columns;
	float bound;
	const float *input; /* [columns][MAX] input; the second index is the token */
	float *output;	    /* [rows][MAX] result; the second index is the token */
};

/*
 * Computes the weights `place` to `place` + 3 of a tensor, four neighbours in a row. If weights are pruned,
 * the two of smallest magnitude become 0.
 */
static void load_four(const struct product *product, uint32_t hash, uint32_t place, float four[4])
{
	uint32_t larger[4] = {0};

	for (uint32_t i = 0; i < 4; i++)
		four[i] = product->bound * lab_decode_unit(hash, place + i);
	for (uint32_t i = 0; i < 16; i++)
		larger[i / 4] += fabsf(four[i % 4]) > fabsf(four[i / 4]) ||
			(fabsf(four[i % 4]) == fabsf(four[i / 4]) && i % 4 < i / 4);
	for (uint32_t i = 0; product->passage->is_pruned && i < 4; i++)
		four[i] = larger[i] < 2 ? four[i] : 0;
}

static void multiply(const struct product *product)
{
	uint32_t hash = lab_decode_mix(product->tensor);

	for (uint32_t row = 0; row < product->rows; row++) {
		float sums[MAX] = {0}, four[4];

		for (uint32_t k = 0; k < product->columns; k++) {
			const float *input = product->input + (size_t)k * MAX;
			float weight;

			if (k % 4 == 0)
				load_four(product, hash, row * product->columns + k, four);
			weight = four[k % 4];
			for (uint32_t i = 0; i < MAX; i++)
				sums[i] += weight * input[i];
		}
		memcpy(product->output + (size_t)row * MAX, sums, sizeof(sums));
	}
}

static void run_matrix(
	const struct passage *passage, uint32_t layer, uint32_t matrix, const float *input, float *output)
{
	const struct lab_decode_shape *shape = passage->shape;
	struct product product = {.passage = passage,
		.tensor = layer * LAB_DECODE_TENSORS + matrix,
		.rows = lab_decode_rows(shape, matrix),
		.columns = lab_decode_columns(shape, matrix),
		.input = input,
		.output = output};
	uint32_t hash = lab_decode_mix(layer * LAB_DECODE_TENSORS + LAB_DECODE_BIASES),
		 first = lab_decode_first_row(shape, matrix);

	product.bound = lab_decode_bound(product.columns);
	multiply(&product);
	for (uint32_t row = 0; row < product.rows; row++) {
		float bias = LAB_DECODE_BIAS_BOUND * lab_decode_unit(hash, first + row);

		for (uint32_t i = 0; i < MAX; i++)
			output[(size_t)row * MAX + i] += bias;
	}
}

static void begin(const struct passage *passage, const uint32_t *tokens)
{
	uint32_t width = passage->shape->width, words = lab_decode_mix(LAB_DECODE_EMBEDDING),
		 places = lab_decode_mix(LAB_DECODE_POSITIONS);
	const struct product table = {
		.passage = passage, .bound = lab_decode_embedding_bound(passage->shape)};
	float four[4];

	for (uint32_t i = 0; i < passage->count; i++)
		for (uint32_t k = 0; k < width; k++) {
			if (k % 4 == 0)
				load_four(&table, words, tokens[i] * width + k, four);
			passage->x[(size_t)k * MAX + i] = four[k % 4] +
				LAB_DECODE_POSITION_BOUND * lab_decode_unit(places, i * width + k);
		}
}

static void normalise(const struct passage *passage)
{
	uint32_t width = passage->shape->width;

	for (uint32_t i = 0; i < passage->count; i++) {
		double sum = 0, squares = 0, mean, scale;

		for (uint32_t k = 0; k < width; k++)
			sum += passage->x[(size_t)k * MAX + i];
		mean = sum / width;
		for (uint32_t k = 0; k < width; k++) {
			double off = passage->x[(size_t)k * MAX + i] - mean;

			squares += off * off;
		}
		scale = 1 / sqrt(squares / width + LAB_DECODE_NORM_MIN);
		for (uint32_t k = 0; k < width; k++)
			passage->normal[(size_t)k * MAX + i] = (float)((passage->x[(size_t)k * MAX + i] -
									       mean) *
				scale);
	}
}

/* Attention of one head for one token, over the tokens up to itself. */
static void attend(const struct passage *passage, uint32_t head, uint32_t token)
{
	const float *queries = passage->states + (size_t)head * HEAD * MAX,
		    *keys = queries + (size_t)passage->shape->width * MAX,
		    *values = keys + (size_t)passage->shape->width * MAX;
	float *out = passage->mixed + (size_t)head * HEAD * MAX, shares[MAX], most = -INFINITY, sum = 0;

	for (uint32_t j = 0; j <= token; j++) {
		float score = 0;

		for (uint32_t k = 0; k < HEAD; k++)
			score += queries[(size_t)k * MAX + token] * keys[(size_t)k * MAX + j];
		shares[j] = score * 0.125F;
		most = fmaxf(most, shares[j]);
	}
	for (uint32_t j = 0; j <= token; j++) {
		shares[j] = expf(shares[j] - most);
		sum += shares[j];
	}
	for (uint32_t k = 0; k < HEAD; k++) {
		float total = 0;

		for (uint32_t j = 0; j <= token; j++)
			total += shares[j] * values[(size_t)k * MAX + j];
		out[(size_t)k * MAX + token] = total / sum;
	}
}

static void add(const struct passage *passage)
{
	size_t count = (size_t)passage->shape->width * MAX;

	for (size_t i = 0; i < count; i++)
		passage->x[i] += passage->normal[i];
}

static void run_layer(const struct passage *passage, uint32_t layer)
{
	size_t inner = (size_t)passage->shape->inner * MAX;

	normalise(passage);
	run_matrix(passage, layer, LAB_DECODE_ATTENTION, passage->normal, passage->states);
	for (uint32_t head = 0; head < passage->shape->heads; head++)
		for (uint32_t token = 0; token < passage->count; token++)
			attend(passage, head, token);
	run_matrix(passage, layer, LAB_DECODE_PROJECTION, passage->mixed, passage->normal);
	add(passage);
	normalise(passage);
	run_matrix(passage, layer, LAB_DECODE_UP_PROJECTION, passage->normal, passage->inner);
	for (size_t i = 0; i < inner; i++)
		passage->inner[i] = fmaxf(passage->inner[i], 0);
	run_matrix(passage, layer, LAB_DECODE_DOWN_PROJECTION, passage->inner, passage->normal);
	add(passage);
}

static enum kwhy_status conclude(
	const struct passage *passage, uint32_t first, float *out, struct kwhy_error *error)
{
	const struct lab_decode_shape *shape = passage->shape;
	float *logits = malloc((size_t)shape->vocabulary * MAX * sizeof(*logits));
	const struct product product = {.passage = passage,
		.tensor = LAB_DECODE_EMBEDDING,
		.rows = shape->vocabulary,
		.columns = shape->width,
		.bound = lab_decode_embedding_bound(shape),
		.input = passage->normal,
		.output = logits};

	if (!logits)
		return kwhy_fail_memory(error, "the reference's logits");
	normalise(passage);
	multiply(&product);
	for (uint32_t i = first; i < passage->count; i++)
		for (uint32_t row = 0; row < shape->vocabulary; row++)
			out[(size_t)(i - first) * shape->vocabulary + row] = logits[(size_t)row * MAX + i];
	free(logits);
	return KWHY_OK;
}

enum kwhy_status lab_decode_reference(const struct lab_decode_shape *shape,
	const struct lab_decode_sequence *sequence, float *out_logits, struct kwhy_error *error)
{
	size_t width = (size_t)shape->width * MAX;
	struct passage passage = {.shape = shape, .count = sequence->count, .is_pruned = sequence->is_pruned};
	float *memory = calloc(6 * width + (size_t)shape->inner * MAX, sizeof(*memory));
	enum kwhy_status status;

	if (!memory)
		return kwhy_fail_memory(error, "the reference of decode");
	passage.x = memory;
	passage.normal = passage.x + width;
	passage.mixed = passage.normal + width;
	passage.states = passage.mixed + width;
	passage.inner = passage.states + 3 * width;
	begin(&passage, sequence->tokens);
	for (uint32_t layer = 0; layer < shape->layers; layer++)
		run_layer(&passage, layer);
	status = conclude(&passage, sequence->first, out_logits, error);
	free(memory);
	return status;
}
