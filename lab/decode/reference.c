/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/decode/numbers.h"
#include "lab/decode/rules.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = KWHY_DECODE_REFERENCE_MOST, HEAD = KWHY_DECODE_HEAD, THREADS_MOST = 32 };

const struct kwhy_decode_shape kwhy_decode_shapes[] = {
	{"opt-125m", 12, 768, 12, 3072, 50272, 2048},
	{"opt-1.3b", 24, 2048, 32, 8192, 50272, 2048},
	{"small", 2, 128, 2, 512, 1000, 2048},
};

const size_t kwhy_decode_shape_count = sizeof(kwhy_decode_shapes) / sizeof(kwhy_decode_shapes[0]);

const struct kwhy_decode_shape *kwhy_decode_shape_find(const char *name)
{
	for (size_t i = 0; i < kwhy_decode_shape_count; i++)
		if (strcmp(kwhy_decode_shapes[i].name, name) == 0)
			return &kwhy_decode_shapes[i];
	return NULL;
}

uint64_t kwhy_decode_weights_before(const struct kwhy_decode_shape *shape, uint32_t layer, uint32_t matrix)
{
	uint64_t of_a_layer = 0, before = 0;

	for (uint32_t m = 0; m < KWHY_DECODE_MATRICES; m++) {
		uint64_t count = (uint64_t)kwhy_decode_rows(shape, m) * kwhy_decode_columns(shape, m);

		of_a_layer += count;
		before += m < matrix ? count : 0;
	}
	return of_a_layer * layer + before;
}

uint64_t kwhy_decode_weight_count(const struct kwhy_decode_shape *shape)
{
	return kwhy_decode_weights_before(shape, shape->layers, 0) +
		(uint64_t)shape->vocabulary * shape->width;
}

/*
 * One sequence on its way through the layers. Activations are [column][MOST]: all tokens of a column lie side
 * by side, and a weight meets them at once.
 */
struct passage {
	const struct kwhy_decode_shape *shape;
	uint32_t count, threads;
	bool is_pruned;
	float *x, *normal, *states, *mixed, *inner; /* states: queries, keys, values */
};

/* Rows of a matrix times all tokens: what one thread does of it. */
struct product {
	const struct passage *passage;
	uint32_t tensor, rows, columns;
	float bound;
	const float *input; /* [columns][MOST] */
	float *output;	    /* [rows][MOST] */
	uint32_t from, to;
};

/* Four neighbours of a row, as far as they are kept. */
static void load_four(const struct product *product, uint32_t hash, uint32_t place, float four[4])
{
	bool kept[4];

	for (uint32_t i = 0; i < 4; i++)
		four[i] = product->bound * kwhy_decode_unit(hash, place + i);
	for (uint32_t i = 0; product->passage->is_pruned && i < 4; i++)
		kept[i] = kwhy_decode_is_kept(four, i);
	for (uint32_t i = 0; product->passage->is_pruned && i < 4; i++)
		four[i] = kept[i] ? four[i] : 0;
}

static void *multiply(void *argument)
{
	const struct product *product = argument;
	uint32_t hash = kwhy_decode_mix(product->tensor);

	for (uint32_t row = product->from; row < product->to; row++) {
		float sums[MOST] = {0}, four[4];

		for (uint32_t k = 0; k < product->columns; k++) {
			const float *input = product->input + (size_t)k * MOST;
			float weight;

			if (k % 4 == 0)
				load_four(product, hash, row * product->columns + k, four);
			weight = four[k % 4];
			for (uint32_t i = 0; i < MOST; i++)
				sums[i] += weight * input[i];
		}
		memcpy(product->output + (size_t)row * MOST, sums, sizeof(sums));
	}
	return NULL;
}

static void run_product(const struct product *whole)
{
	uint32_t count = whole->passage->threads;
	struct product parts[THREADS_MOST];
	pthread_t threads[THREADS_MOST];
	bool started[THREADS_MOST];

	for (uint32_t i = 0; i < count; i++) {
		parts[i] = *whole;
		parts[i].from = (uint32_t)((uint64_t)whole->rows * i / count);
		parts[i].to = (uint32_t)((uint64_t)whole->rows * (i + 1) / count);
		started[i] = i > 0 && pthread_create(&threads[i], NULL, multiply, &parts[i]) == 0;
	}
	for (uint32_t i = 0; i < count; i++)
		if (!started[i])
			(void)multiply(&parts[i]);
	for (uint32_t i = 0; i < count; i++)
		if (started[i])
			(void)pthread_join(threads[i], NULL);
}

static void run_matrix(
	const struct passage *passage, uint32_t layer, uint32_t matrix, const float *input, float *output)
{
	const struct kwhy_decode_shape *shape = passage->shape;
	struct product product = {.passage = passage,
		.tensor = layer * KWHY_DECODE_TENSORS + matrix,
		.rows = kwhy_decode_rows(shape, matrix),
		.columns = kwhy_decode_columns(shape, matrix),
		.input = input,
		.output = output};
	uint32_t hash = kwhy_decode_mix(layer * KWHY_DECODE_TENSORS + KWHY_DECODE_BIASES),
		 first = kwhy_decode_first_row(shape, matrix);

	product.bound = kwhy_decode_bound(product.columns);
	run_product(&product);
	for (uint32_t row = 0; row < product.rows; row++) {
		float bias = KWHY_DECODE_BIAS_BOUND * kwhy_decode_unit(hash, first + row);

		for (uint32_t i = 0; i < MOST; i++)
			output[(size_t)row * MOST + i] += bias;
	}
}

static void begin(const struct passage *passage, const uint32_t *tokens)
{
	uint32_t width = passage->shape->width, words = kwhy_decode_mix(KWHY_DECODE_EMBEDDING),
		 places = kwhy_decode_mix(KWHY_DECODE_POSITIONS);
	const struct product table = {
		.passage = passage, .bound = kwhy_decode_embedding_bound(passage->shape)};
	float four[4];

	for (uint32_t i = 0; i < passage->count; i++)
		for (uint32_t k = 0; k < width; k++) {
			if (k % 4 == 0)
				load_four(&table, words, tokens[i] * width + k, four);
			passage->x[(size_t)k * MOST + i] = four[k % 4] +
				KWHY_DECODE_POSITION_BOUND * kwhy_decode_unit(places, i * width + k);
		}
}

static void normalise(const struct passage *passage)
{
	uint32_t width = passage->shape->width;

	for (uint32_t i = 0; i < passage->count; i++) {
		double sum = 0, squares = 0, mean, scale;

		for (uint32_t k = 0; k < width; k++)
			sum += passage->x[(size_t)k * MOST + i];
		mean = sum / width;
		for (uint32_t k = 0; k < width; k++) {
			double off = passage->x[(size_t)k * MOST + i] - mean;

			squares += off * off;
		}
		scale = 1 / sqrt(squares / width + KWHY_DECODE_NORM_LEAST);
		for (uint32_t k = 0; k < width; k++)
			passage->normal[(size_t)k * MOST + i] = (float)((passage->x[(size_t)k * MOST + i] -
										mean) *
				scale);
	}
}

/* One head of one token over the tokens up to itself. */
static void attend(const struct passage *passage, uint32_t head, uint32_t token)
{
	const float *queries = passage->states + (size_t)head * HEAD * MOST,
		    *keys = queries + (size_t)passage->shape->width * MOST,
		    *values = keys + (size_t)passage->shape->width * MOST;
	float *out = passage->mixed + (size_t)head * HEAD * MOST, shares[MOST], most = -INFINITY, sum = 0;

	for (uint32_t j = 0; j <= token; j++) {
		float score = 0;

		for (uint32_t k = 0; k < HEAD; k++)
			score += queries[(size_t)k * MOST + token] * keys[(size_t)k * MOST + j];
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
			total += shares[j] * values[(size_t)k * MOST + j];
		out[(size_t)k * MOST + token] = total / sum;
	}
}

static void add(const struct passage *passage)
{
	size_t count = (size_t)passage->shape->width * MOST;

	for (size_t i = 0; i < count; i++)
		passage->x[i] += passage->normal[i];
}

static void run_layer(const struct passage *passage, uint32_t layer)
{
	size_t inner = (size_t)passage->shape->inner * MOST;

	normalise(passage);
	run_matrix(passage, layer, KWHY_DECODE_ATTENTION, passage->normal, passage->states);
	for (uint32_t head = 0; head < passage->shape->heads; head++)
		for (uint32_t token = 0; token < passage->count; token++)
			attend(passage, head, token);
	run_matrix(passage, layer, KWHY_DECODE_PROJECTION, passage->mixed, passage->normal);
	add(passage);
	normalise(passage);
	run_matrix(passage, layer, KWHY_DECODE_WIDENING, passage->normal, passage->inner);
	for (size_t i = 0; i < inner; i++)
		passage->inner[i] = fmaxf(passage->inner[i], 0);
	run_matrix(passage, layer, KWHY_DECODE_NARROWING, passage->inner, passage->normal);
	add(passage);
}

static enum kwhy_status conclude(
	const struct passage *passage, uint32_t first, float *out, struct kwhy_error *error)
{
	const struct kwhy_decode_shape *shape = passage->shape;
	float *logits = malloc((size_t)shape->vocabulary * MOST * sizeof(*logits));
	const struct product product = {.passage = passage,
		.tensor = KWHY_DECODE_EMBEDDING,
		.rows = shape->vocabulary,
		.columns = shape->width,
		.bound = kwhy_decode_embedding_bound(shape),
		.input = passage->normal,
		.output = logits};

	if (!logits)
		return kwhy_fail_memory(error, "the reference's logits");
	normalise(passage);
	run_product(&product);
	for (uint32_t i = first; i < passage->count; i++)
		for (uint32_t row = 0; row < shape->vocabulary; row++)
			out[(size_t)(i - first) * shape->vocabulary + row] = logits[(size_t)row * MOST + i];
	free(logits);
	return KWHY_OK;
}

static enum kwhy_status check_tokens(const struct kwhy_decode_shape *shape, const uint32_t *tokens,
	uint32_t count, uint32_t first, struct kwhy_error *error)
{
	if (count < 1 || count > MOST || first >= count)
		return kwhy_fail(error, KWHY_E_INPUT,
			"decode: the reference takes 1 to %d tokens and shows those from one of them on, not "
			"%u from %u on",
			MOST, count, first);
	for (uint32_t i = 0; i < count; i++)
		if (tokens[i] >= shape->vocabulary)
			return kwhy_fail(error, KWHY_E_INPUT,
				"decode: token %u of place %u is not among the %u of %s", tokens[i], i,
				shape->vocabulary, shape->name);
	return KWHY_OK;
}

static uint32_t thread_count(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	return cores < 1 ? 1 : cores > THREADS_MOST ? THREADS_MOST : (uint32_t)cores;
}

static enum kwhy_status run(bool is_pruned, const struct kwhy_decode_shape *shape, const uint32_t *tokens,
	uint32_t count, uint32_t first, float *out_logits, struct kwhy_error *error)
{
	size_t width = (size_t)shape->width * MOST;
	struct passage passage = {
		.shape = shape, .count = count, .threads = thread_count(), .is_pruned = is_pruned};
	enum kwhy_status status = check_tokens(shape, tokens, count, first, error);
	float *memory;

	if (status)
		return status;
	memory = calloc(6 * width + (size_t)shape->inner * MOST, sizeof(*memory));
	if (!memory)
		return kwhy_fail_memory(error, "the reference of decode");
	passage.x = memory;
	passage.normal = passage.x + width;
	passage.mixed = passage.normal + width;
	passage.states = passage.mixed + width;
	passage.inner = passage.states + 3 * width;
	begin(&passage, tokens);
	for (uint32_t layer = 0; layer < shape->layers; layer++)
		run_layer(&passage, layer);
	status = conclude(&passage, first, out_logits, error);
	free(memory);
	return status;
}

enum kwhy_status kwhy_decode_reference(const struct kwhy_decode_shape *shape, const uint32_t *tokens,
	uint32_t count, uint32_t first, float *out_logits, struct kwhy_error *error)
{
	return run(false, shape, tokens, count, first, out_logits, error);
}

enum kwhy_status kwhy_decode_reference_pruned(const struct kwhy_decode_shape *shape, const uint32_t *tokens,
	uint32_t count, uint32_t first, float *out_logits, struct kwhy_error *error)
{
	return run(true, shape, tokens, count, first, out_logits, error);
}
