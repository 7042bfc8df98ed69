/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of `decode` for the host: the same numbers in memory, sums in the order of columns. */
#include "base/clock.h"
#include "workload/decode_host_beam.h"
#include "workload/decode_host_choosing.h"
#include "workload/decode_host_meet.h"
#include "workload/decode_host_weights.h"

#include <stdbool.h>

enum { HEAD = KWHY_DECODE_HEAD, COLUMNS_MOST = 8192, PIECE = HEAD + 2 };

/* One launch. */
struct call {
	const struct kwhy_decode_args *args;
	struct kwhy_decode_shape shape; /* as far as kernels know it */
	enum kwhy_decode_weights weights;
	uint32_t layer, matrix;
};

static void *at(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

static struct call call_of(void **arguments, bool has_layer)
{
	const struct kwhy_decode_args *args = arguments[0];

	return (struct call){.args = args,
		.shape = {"", args->layer_count, args->width, args->heads, args->inner_width,
			args->vocabulary, 0},
		.weights = (enum kwhy_decode_weights)args->weights,
		.layer = has_layer ? *(const uint32_t *)arguments[1] : 0};
}

/* --- Numbers --- */

static float act_load(const struct call *call, uint64_t base, uint64_t i)
{
	const uint16_t *halves = at(base);

	if (call->weights <= KWHY_DECODE_TF32)
		return ((const float *)at(base))[i];
	return call->weights == KWHY_DECODE_BF16 ? kwhy_decode_from_bf16(halves[i])
						 : kwhy_decode_from_fp16(halves[i]);
}

static void act_store(const struct call *call, uint64_t base, uint64_t i, float value)
{
	if (call->weights <= KWHY_DECODE_TF32)
		((float *)at(base))[i] = value;
	else
		((uint16_t *)at(base))[i] = call->weights == KWHY_DECODE_BF16 ? kwhy_decode_to_bf16(value)
									      : kwhy_decode_to_fp16(value);
}

/* --- Where a token is --- */

static uint32_t position_of(const struct kwhy_decode_args *args, uint32_t token)
{
	const uint32_t *places = at(args->at);

	return args->each > 1 ? token % args->each : places[token];
}

static void run_reset(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct kwhy_decode_args *args = arguments[0];
	const uint64_t *first = at(*(const uint64_t *)arguments[2]);
	uint64_t *best = at(args->best);
	uint32_t *places = at(args->at);

	(void)grid;
	*(uint32_t *)at(args->arrived) = 0;
	kwhy_decode_host_beam_reset(args, *(const uint32_t *)arguments[1], !first);
	for (uint32_t slot = 0; slot < args->slots; slot++) {
		places[slot] = *(const uint32_t *)arguments[1];
		best[slot] = first ? first[slot] : 0;
	}
}

static uint32_t next_word(const struct kwhy_decode_args *args, uint32_t token)
{
	uint64_t *times = at(args->times);
	uint32_t *places = at(args->at), word;

	if (args->each > 1)
		return ((const uint32_t *)at(args->prompt))[token];
	word = kwhy_decode_token(kwhy_decode_host_best(args, token));
	((uint64_t *)at(args->best))[token] = 0;
	places[token]++;
	if (token == 0)
		times[places[0]] = (uint64_t)kwhy_clock_mono_ns();
	return word;
}

static void begin(const struct call *call)
{
	const struct kwhy_decode_args *args = call->args;
	const float *places = at(args->places), *scales = at(args->word_scales);
	float row[COLUMNS_MOST], *x = at(args->x);
	uint32_t *chosen = at(args->chosen), width = args->width;

	for (uint32_t token = 0; token < args->tokens; token++) {
		uint32_t word = next_word(args, token), position = position_of(args, token);

		chosen[(size_t)(token / args->each) * args->room + position] = word;
		kwhy_decode_host_row_load(call->weights, at(args->words), word, width, row);
		for (uint32_t k = 0; k < width; k++) {
			float value = row[k] * scales[word] + places[(size_t)position * width + k];

			if (args->has_short_x)
				act_store(call, args->x, (uint64_t)token * width + k, value);
			else
				x[(size_t)token * width + k] = value;
		}
	}
}

static void run_begin(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct call call = call_of(arguments, false);

	(void)grid;
	begin(&call);
}

/* --- Attention --- */

/* Where a head's keys and values of a position lie. */
static uint64_t cache_at(const struct call *call, uint32_t slot, uint32_t head, uint32_t position)
{
	const struct kwhy_decode_args *args = call->args;
	const uint32_t *pages = at(args->pages);
	uint32_t lot = args->page ? pages[slot * args->pages_each + position / args->page] : slot,
		 lots = args->page ? args->page_count : args->cache_slots,
		 room = args->page ? args->page : args->room;

	return ((((uint64_t)call->layer * lots + lot) * args->heads + head) * room + position % room) * HEAD;
}

static void store_state(const struct call *call, uint32_t token, uint32_t row, float sum)
{
	const struct kwhy_decode_args *args = call->args;
	uint32_t width = args->heads * HEAD,
		 part = row < width ? 0
		: row < 2 * width   ? 1
				    : 2,
		 column = row - part * width;

	if (part == 0)
		act_store(call, args->queries, (uint64_t)token * width + column, sum);
	else
		act_store(call, part == 1 ? args->keys : args->values,
			cache_at(call, token / args->each, column / HEAD, position_of(args, token)) +
				column % HEAD,
			sum);
}

static void attend_head(const struct call *call, uint32_t token, uint32_t head)
{
	const struct kwhy_decode_args *args = call->args;
	uint64_t place = (uint64_t)token * args->heads * HEAD + (uint64_t)head * HEAD;
	float *pieces = at(args->pieces), sums[HEAD] = {0}, weight = 0, most = -1e30F;
	uint32_t count = position_of(args, token) + 1;

	for (uint32_t j = 0; j < count; j++) {
		uint64_t cache = cache_at(
			call, kwhy_decode_host_source(args, token / args->each, count - 1, j), head, j);
		float score = 0, next, factor, share;

		for (uint32_t k = 0; k < HEAD; k++)
			score += act_load(call, args->queries, place + k) *
				act_load(call, args->keys, cache + k);
		score *= 0.125F * 1.44269504F;
		next = fmaxf(most, score);
		factor = exp2f(most - next);
		share = exp2f(score - next);
		most = next;
		weight = weight * factor + share;
		for (uint32_t k = 0; k < HEAD; k++)
			sums[k] = sums[k] * factor + share * act_load(call, args->values, cache + k);
	}
	for (uint32_t k = 0; k < HEAD; k++)
		act_store(call, args->mixed, place + k, sums[k] / weight);
	/* Of shares the first has all. */
	for (uint32_t s = 0; args->shares > 1 && s < args->shares; s++) {
		float *piece = pieces +
			(((size_t)token * call->shape.heads + head) * args->shares + s) * PIECE;

		for (uint32_t k = 0; k < HEAD; k++)
			piece[k] = s ? 0 : sums[k];
		piece[HEAD] = s ? 0 : weight;
		piece[HEAD + 1] = s ? -1e30F : most;
	}
}

static void attend(const struct call *call)
{
	kwhy_decode_host_begin_pass(call->args, call->layer);
	for (uint32_t token = 0; token < call->args->tokens; token++)
		for (uint32_t head = 0; head < call->shape.heads; head++)
			attend_head(call, token, head);
}

static void run_attend(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct call call = call_of(arguments, true);

	(void)grid;
	attend(&call);
}

/* What a product of queries, keys and values together left, token by token, comes to their places. */
static void part_state(const struct call *call)
{
	const struct kwhy_decode_args *args = call->args;
	uint32_t width = args->heads * HEAD;

	for (uint32_t token = 0; token < args->tokens; token++)
		for (uint32_t row = 0; row < 3 * width; row++)
			store_state(call, token, row,
				act_load(call, args->inner, (uint64_t)token * 3 * width + row));
}

static void run_read(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct call call = call_of(arguments, true);

	(void)grid;
	if (*(const uint32_t *)arguments[2])
		part_state(&call);
	attend(&call);
}

/* --- Products --- */

static void normalise(const struct call *call, const float *x, uint64_t to, uint64_t place)
{
	uint32_t width = call->args->width;
	float mean = 0, squares = 0, scale;

	for (uint32_t k = 0; k < width; k++)
		mean += x[k];
	mean /= (float)width;
	for (uint32_t k = 0; k < width; k++)
		squares += (x[k] - mean) * (x[k] - mean);
	scale = 1 / sqrtf(squares / (float)width + KWHY_DECODE_NORM_LEAST);
	for (uint32_t k = 0; k < width; k++)
		act_store(call, to, place + k, (x[k] - mean) * scale);
}

static void normalise_all(const struct call *call, uint32_t matrix)
{
	for (uint32_t token = 0; token < call->args->tokens; token++)
		normalise(call, kwhy_decode_host_row(call->args, call->layer, matrix, token),
			call->args->normal, (uint64_t)token * call->args->width);
}

static void store_inner(const struct call *call, uint32_t token, uint32_t row, float sum)
{
	act_store(call, call->args->inner, (uint64_t)token * call->args->inner_width + row, fmaxf(sum, 0));
}

static void store_sum(const struct call *call, uint32_t token, uint32_t row, float sum)
{
	uint64_t place = (uint64_t)token * call->args->width + row;

	if (call->args->ranks > 1)
		kwhy_decode_host_send(call->args, call->layer, call->matrix, place, sum);
	else
		((float *)at(call->args->x))[place] += sum;
}

/* All of a product is its first part. */
static void store_part(const struct call *call, uint32_t token, uint32_t row, float sum)
{
	const struct kwhy_decode_args *args = call->args;
	uint32_t splits = call->matrix == KWHY_DECODE_PROJECTION ? args->project_splits : args->narrow_splits;
	float *parts = at(call->matrix == KWHY_DECODE_PROJECTION ? args->parts : args->narrow_parts);

	for (uint32_t s = 0; s < splits; s++)
		parts[((size_t)s * args->tokens + token) * args->width + row] = s ? 0 : sum;
}

static void store_word(const struct call *call, uint32_t slot, uint32_t row, float sum)
{
	const struct kwhy_decode_args *args = call->args;
	uint32_t word = args->first_word + row;
	uint64_t key = kwhy_decode_key(sum, word), *best = at(args->best);
	float *logits = args->logits ? kwhy_decode_host_at_peer(args, args->logits, 0) : NULL;

	if (word >= args->vocabulary)
		return;
	if (key > best[slot])
		best[slot] = key;
	if (logits)
		logits[(size_t)slot * args->vocabulary + word] = sum;
}

/* A product as a kernel makes it. */
struct product {
	uint64_t weights, input;
	uint32_t rows, columns, tokens;
	const float *scales, *biases; /* biases NULL: none */
	void (*store)(const struct call *call, uint32_t token, uint32_t row, float sum);
};

static void multiply(const struct call *call, const struct product *product)
{
	float row[COLUMNS_MOST];

	for (uint32_t r = 0; r < product->rows; r++) {
		kwhy_decode_host_row_load(call->weights, at(product->weights), r, product->columns, row);
		for (uint32_t token = 0; token < product->tokens; token++) {
			float sum = 0;

			for (uint32_t k = 0; k < product->columns; k++)
				sum += row[k] *
					act_load(
						call, product->input, (uint64_t)token * product->columns + k);
			sum *= product->scales[r];
			product->store(call, token, r, product->biases ? sum + product->biases[r] : sum);
		}
	}
}

static struct product product_of(const struct call *call, uint32_t matrix)
{
	const struct kwhy_decode_args *args = call->args;
	const struct kwhy_decode_shape *shape = &call->shape;
	const uint64_t inputs[] = {args->normal, args->mixed, args->normal, args->inner};
	uint32_t first = kwhy_decode_first_row(shape, matrix),
		 rows = kwhy_decode_first_row(shape, KWHY_DECODE_MATRICES);
	size_t place = (size_t)call->layer * rows + first;
	uint64_t before = kwhy_decode_weight_count(shape) - (uint64_t)shape->vocabulary * shape->width;

	before = before / shape->layers * call->layer;
	for (uint32_t m = 0; m < matrix; m++)
		before += (uint64_t)kwhy_decode_rows(shape, m) * kwhy_decode_columns(shape, m);
	return (struct product){.weights = args->layers + kwhy_decode_weight_bytes(call->weights, before),
		.input = inputs[matrix],
		.rows = kwhy_decode_rows(shape, matrix),
		.columns = kwhy_decode_columns(shape, matrix),
		.tokens = args->tokens,
		.scales = (const float *)at(args->scales) + place,
		.biases = (const float *)at(args->biases) + place};
}

static void multiply_layer(struct call *call, uint32_t matrix,
	void (*store)(const struct call *call, uint32_t token, uint32_t row, float sum), bool has_biases)
{
	struct product product = product_of(call, matrix);

	call->matrix = matrix;
	product.store = store;
	/* One GPU adds the biases to what all add up. */
	if (!has_biases ||
		(call->args->rank && (matrix == KWHY_DECODE_PROJECTION || matrix == KWHY_DECODE_NARROWING)))
		product.biases = NULL;
	multiply(call, &product);
}

static void multiply_words(const struct call *call)
{
	const struct kwhy_decode_args *args = call->args;
	uint64_t before = (uint64_t)args->first_word * args->width;
	const struct product product = {
		.weights = args->words + kwhy_decode_weight_bytes(call->weights, before),
		.input = args->normal,
		.rows = args->word_count,
		.columns = args->width,
		.tokens = args->slots,
		.scales = (const float *)at(args->word_scales) + args->first_word,
		.store = store_word};

	multiply(call, &product);
}

static void thin(struct call *call, uint32_t matrix)
{
	static void (*const stores[])(const struct call *call, uint32_t token, uint32_t row, float sum) = {
		store_state, store_sum, store_inner, store_sum};

	if (matrix == KWHY_DECODE_ATTENTION || matrix == KWHY_DECODE_WIDENING)
		normalise_all(call, matrix);
	multiply_layer(call, matrix, stores[matrix], true);
}

static void thin_head(struct call *call)
{
	call->layer = call->args->layer_count;
	normalise_all(call, KWHY_DECODE_WORDS);
	multiply_words(call);
}

#define THIN(name, matrix)                                                   \
	static void name(const struct kwhy_gpu_grid *grid, void **arguments) \
	{                                                                    \
		struct call call = call_of(arguments, true);                 \
                                                                             \
		(void)grid;                                                  \
		thin(&call, matrix);                                         \
	}

THIN(run_thin_attention, KWHY_DECODE_ATTENTION)
THIN(run_thin_project, KWHY_DECODE_PROJECTION)
THIN(run_thin_widen, KWHY_DECODE_WIDENING)
THIN(run_thin_narrow, KWHY_DECODE_NARROWING)

static void run_thin_head(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct call call = call_of(arguments, false);

	(void)grid;
	thin_head(&call);
}

static void run_whole(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct call call = call_of(arguments, false);
	uint32_t steps = *(const uint32_t *)arguments[1];

	(void)grid;
	for (uint32_t step = 0; step < steps; step++) {
		begin(&call);
		for (call.layer = 0; call.layer < call.args->layer_count; call.layer++) {
			thin(&call, KWHY_DECODE_ATTENTION);
			attend(&call);
			thin(&call, KWHY_DECODE_PROJECTION);
			thin(&call, KWHY_DECODE_WIDENING);
			thin(&call, KWHY_DECODE_NARROWING);
		}
		thin_head(&call);
	}
}

/* --- Many tokens --- */

static void settle_token(const struct call *call, uint32_t what, uint32_t token, float *row)
{
	const struct kwhy_decode_args *args = call->args;
	const struct product product = product_of(
		call, what == KWHY_DECODE_SETTLE_PROJECTION ? KWHY_DECODE_PROJECTION : KWHY_DECODE_NARROWING);
	uint32_t splits = what == KWHY_DECODE_SETTLE_PROJECTION ? args->project_splits : args->narrow_splits;
	uint64_t left = what == KWHY_DECODE_SETTLE_PROJECTION ? args->parts : args->narrow_parts;

	for (uint32_t rank = 0; what != KWHY_DECODE_SETTLE_NOTHING && rank < args->ranks; rank++) {
		const float *parts = kwhy_decode_host_at_peer(args, left, rank);

		for (uint32_t s = 0; s < splits; s++)
			for (uint32_t k = 0; k < args->width; k++)
				row[k] += parts[((size_t)s * args->tokens + token) * args->width + k];
	}
	for (uint32_t k = 0; what != KWHY_DECODE_SETTLE_NOTHING && k < args->width; k++)
		row[k] += product.biases[k];
}

static void run_settle(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct call call = call_of(arguments, true);
	const struct kwhy_decode_args *args = call.args;
	uint32_t what = *(const uint32_t *)arguments[2], last = *(const uint32_t *)arguments[3],
		 count = last ? args->slots : args->tokens;
	float *x = at(args->x);

	(void)grid;
	kwhy_decode_host_await_parts(args, call.layer, what);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t token = last ? (i + 1) * args->each - 1 : i;
		float *row = x + (size_t)token * args->width;

		settle_token(&call, what, token, row);
		normalise(&call, row, args->normal, (uint64_t)i * args->width);
	}
}

static void run_wide(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct call call = call_of(arguments, true);
	uint32_t matrix = *(const uint32_t *)arguments[2];

	(void)grid;
	if (matrix == KWHY_DECODE_WORDS)
		multiply_words(&call);
	else if (matrix == KWHY_DECODE_ATTENTION)
		multiply_layer(&call, matrix, store_state, true);
	else if (matrix == KWHY_DECODE_WIDENING)
		multiply_layer(&call, matrix, store_inner, true);
	else
		multiply_layer(&call, matrix, store_part, false);
}

/* A token's x, which may be of acts. */
static void load_x(const struct call *call, uint32_t token, float *row)
{
	const struct kwhy_decode_args *args = call->args;
	const float *x = at(args->x);

	for (uint32_t k = 0; k < args->width; k++)
		row[k] = args->has_short_x ? act_load(call, args->x, (uint64_t)token * args->width + k)
					   : x[(size_t)token * args->width + k];
}

static void run_normalise(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct call call = call_of(arguments, false);
	const struct kwhy_decode_args *args = call.args;
	uint32_t last = *(const uint32_t *)arguments[1], count = last ? args->slots : args->tokens;
	float row[COLUMNS_MOST];

	(void)grid;
	for (uint32_t i = 0; i < count; i++) {
		load_x(&call, last ? (i + 1) * args->each - 1 : i, row);
		normalise(&call, row, args->normal, (uint64_t)i * args->width);
	}
}

static void run_plain(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct call call = {.weights = *(const enum kwhy_decode_weights *)arguments[5]};
	const float *scales = at(*(const uint64_t *)arguments[1]);
	uint64_t to = *(const uint64_t *)arguments[2];
	uint32_t rows = *(const uint32_t *)arguments[3], columns = *(const uint32_t *)arguments[4];
	float row[COLUMNS_MOST];

	(void)grid;
	for (uint32_t r = 0; r < rows; r++) {
		kwhy_decode_host_row_load(call.weights, at(*(const uint64_t *)arguments[0]), r, columns, row);
		for (uint32_t k = 0; k < columns; k++)
			act_store(&call, to, (uint64_t)r * columns + k, row[k] * scales[r]);
	}
}

static void run_plain_floats(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct call call = {.weights = *(const enum kwhy_decode_weights *)arguments[3]};
	const float *from = at(*(const uint64_t *)arguments[0]);

	(void)grid;
	for (uint32_t i = 0; i < *(const uint32_t *)arguments[2]; i++)
		act_store(&call, *(const uint64_t *)arguments[1], i, from[i]);
}

enum { ARGS = sizeof(struct kwhy_decode_args) };

const struct kwhy_gpu_host_kernel kwhy_decode_host_kernels[] = {
	{"kwhy_decode_fill", kwhy_decode_host_fill, {8, 8, 4, 4, 4, 4, 4, 4, 4, 4}},
	{"kwhy_decode_fill_floats", kwhy_decode_host_fill_floats, {8, 4, 4, 4, 4}},
	{"kwhy_decode_reset", run_reset, {ARGS, 4, 8}},
	{"kwhy_decode_begin", run_begin, {ARGS}},
	{"kwhy_decode_attend", run_attend, {ARGS, 4}},
	{"kwhy_decode_read", run_read, {ARGS, 4, 4}},
	{"kwhy_decode_normalise", run_normalise, {ARGS, 4}},
	{"kwhy_decode_plain", run_plain, {8, 8, 8, 4, 4, 4}},
	{"kwhy_decode_plain_floats", run_plain_floats, {8, 8, 4, 4}},
	{"kwhy_decode_thin_attention", run_thin_attention, {ARGS, 4}},
	{"kwhy_decode_thin_project", run_thin_project, {ARGS, 4}},
	{"kwhy_decode_thin_widen", run_thin_widen, {ARGS, 4}},
	{"kwhy_decode_thin_narrow", run_thin_narrow, {ARGS, 4}},
	{"kwhy_decode_thin_head", run_thin_head, {ARGS}},
	{"kwhy_decode_whole", run_whole, {ARGS, 4}},
	{"kwhy_decode_settle", run_settle, {ARGS, 4, 4, 4}},
	{"kwhy_decode_wide32", run_wide, {ARGS, 4, 4}},
	{"kwhy_decode_wide64", run_wide, {ARGS, 4, 4}},
	{"kwhy_decode_some", run_wide, {ARGS, 4, 4}},
	{"kwhy_decode_choose", kwhy_decode_host_choose, {ARGS}},
	{"kwhy_decode_beam_rank", kwhy_decode_host_beam_rank, {ARGS}},
	{"kwhy_decode_beam_choose", kwhy_decode_host_beam_choose, {ARGS, 4}},
	{NULL, NULL, {0}},
};
