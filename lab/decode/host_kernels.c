/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of `decode` for the host: the same numbers in memory, sums in the order of columns. */
#include "base/clock.h"
#include "lab/decode/host_attention.h"
#include "lab/decode/host_beam.h"
#include "lab/decode/host_choosing.h"
#include "lab/decode/host_meet.h"
#include "lab/decode/host_weights.h"

enum { COLUMNS_MOST = 8192 };

/* --- Where tokens begin --- */

static void run_reset(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct kwhy_decode_args *args = arguments[0];
	const uint64_t *first = kwhy_gpu_at(*(const uint64_t *)arguments[2]);
	uint64_t *best = kwhy_gpu_at(args->best);
	uint32_t *places = kwhy_gpu_at(args->at);

	(void)grid;
	*(uint32_t *)kwhy_gpu_at(args->arrived) = 0;
	kwhy_decode_host_beam_reset(args, *(const uint32_t *)arguments[1], !first);
	for (uint32_t slot = 0; slot < args->slots; slot++) {
		places[slot] = *(const uint32_t *)arguments[1];
		best[slot] = first ? first[slot] : 0;
	}
}

static uint32_t next_word(const struct kwhy_decode_args *args, uint32_t token)
{
	uint64_t *times = kwhy_gpu_at(args->times);
	uint32_t *places = kwhy_gpu_at(args->at), word;

	if (args->each > 1)
		return ((const uint32_t *)kwhy_gpu_at(args->prompt))[token];
	word = kwhy_decode_token(kwhy_decode_host_best(args, token));
	((uint64_t *)kwhy_gpu_at(args->best))[token] = 0;
	places[token]++;
	if (token == 0)
		times[places[0]] = (uint64_t)kwhy_clock_mono_ns();
	return word;
}

static void begin(const struct kwhy_decode_host_call *call)
{
	const struct kwhy_decode_args *args = call->args;
	const float *places = kwhy_gpu_at(args->places), *scales = kwhy_gpu_at(args->word_scales);
	float row[COLUMNS_MOST], *x = kwhy_gpu_at(args->x);
	uint32_t *chosen = kwhy_gpu_at(args->chosen), width = args->width;

	for (uint32_t token = 0; token < args->tokens; token++) {
		uint32_t word = next_word(args, token), position = kwhy_decode_host_position(args, token);

		chosen[(size_t)(token / args->each) * args->room + position] = word;
		kwhy_decode_host_row_load(call->weights, kwhy_gpu_at(args->words), word, width, row);
		for (uint32_t k = 0; k < width; k++) {
			float value = row[k] * scales[word] + places[(size_t)position * width + k];

			if (args->has_short_x)
				kwhy_decode_host_store(call, args->x, (uint64_t)token * width + k, value);
			else
				x[(size_t)token * width + k] = value;
		}
	}
}

static void run_begin(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct kwhy_decode_host_call call = kwhy_decode_host_call_of(arguments, false);

	(void)grid;
	begin(&call);
}

/* --- Products --- */

static void normalise(const struct kwhy_decode_host_call *call, const float *x, uint64_t to, uint64_t place)
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
		kwhy_decode_host_store(call, to, place + k, (x[k] - mean) * scale);
}

static void normalise_all(const struct kwhy_decode_host_call *call, uint32_t matrix)
{
	for (uint32_t token = 0; token < call->args->tokens; token++)
		normalise(call, kwhy_decode_host_row(call->args, call->layer, matrix, token),
			call->args->normal, (uint64_t)token * call->args->width);
}

static void store_inner(const struct kwhy_decode_host_call *call, uint32_t token, uint32_t row, float sum)
{
	kwhy_decode_host_store(
		call, call->args->inner, (uint64_t)token * call->args->inner_width + row, fmaxf(sum, 0));
}

static void store_sum(const struct kwhy_decode_host_call *call, uint32_t token, uint32_t row, float sum)
{
	uint64_t place = (uint64_t)token * call->args->width + row;

	if (call->args->ranks > 1)
		kwhy_decode_host_send(call->args, call->layer, call->matrix, place, sum);
	else
		((float *)kwhy_gpu_at(call->args->x))[place] += sum;
}

/* All of a product is its first part. */
static void store_part(const struct kwhy_decode_host_call *call, uint32_t token, uint32_t row, float sum)
{
	const struct kwhy_decode_args *args = call->args;
	uint32_t splits = call->matrix == KWHY_DECODE_PROJECTION ? args->project_splits : args->narrow_splits;
	float *parts = kwhy_gpu_at(call->matrix == KWHY_DECODE_PROJECTION ? args->parts : args->narrow_parts);

	for (uint32_t s = 0; s < splits; s++)
		parts[((size_t)s * args->tokens + token) * args->width + row] = s ? 0 : sum;
}

static void store_word(const struct kwhy_decode_host_call *call, uint32_t slot, uint32_t row, float sum)
{
	const struct kwhy_decode_args *args = call->args;
	uint32_t word = args->first_word + row;
	uint64_t key = kwhy_decode_key(sum, word), *best = kwhy_gpu_at(args->best);
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
	void (*store)(const struct kwhy_decode_host_call *call, uint32_t token, uint32_t row, float sum);
};

static void multiply(const struct kwhy_decode_host_call *call, const struct product *product)
{
	float row[COLUMNS_MOST];

	for (uint32_t r = 0; r < product->rows; r++) {
		kwhy_decode_host_row_load(
			call->weights, kwhy_gpu_at(product->weights), r, product->columns, row);
		for (uint32_t token = 0; token < product->tokens; token++) {
			float sum = 0;

			for (uint32_t k = 0; k < product->columns; k++)
				sum += row[k] *
					kwhy_decode_host_load(
						call, product->input, (uint64_t)token * product->columns + k);
			sum *= product->scales[r];
			product->store(call, token, r, product->biases ? sum + product->biases[r] : sum);
		}
	}
}

static struct product product_of(const struct kwhy_decode_host_call *call, uint32_t matrix)
{
	const struct kwhy_decode_args *args = call->args;
	const struct kwhy_decode_shape *shape = &call->shape;
	const uint64_t inputs[] = {args->normal, args->mixed, args->normal, args->inner};
	uint32_t first = kwhy_decode_first_row(shape, matrix),
		 rows = kwhy_decode_first_row(shape, KWHY_DECODE_MATRICES);
	size_t place = (size_t)call->layer * rows + first;
	uint64_t before = kwhy_decode_weights_before(shape, call->layer, matrix);

	return (struct product){.weights = args->layers + kwhy_decode_weight_bytes(call->weights, before),
		.input = inputs[matrix],
		.rows = kwhy_decode_rows(shape, matrix),
		.columns = kwhy_decode_columns(shape, matrix),
		.tokens = args->tokens,
		.scales = (const float *)kwhy_gpu_at(args->scales) + place,
		.biases = (const float *)kwhy_gpu_at(args->biases) + place};
}

static void multiply_layer(struct kwhy_decode_host_call *call, uint32_t matrix,
	void (*store)(const struct kwhy_decode_host_call *call, uint32_t token, uint32_t row, float sum),
	bool has_biases)
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

static void multiply_words(const struct kwhy_decode_host_call *call)
{
	const struct kwhy_decode_args *args = call->args;
	uint64_t before = (uint64_t)args->first_word * args->width;
	const struct product product = {
		.weights = args->words + kwhy_decode_weight_bytes(call->weights, before),
		.input = args->normal,
		.rows = args->word_count,
		.columns = args->width,
		.tokens = args->slots,
		.scales = (const float *)kwhy_gpu_at(args->word_scales) + args->first_word,
		.store = store_word};

	multiply(call, &product);
}

static void thin(struct kwhy_decode_host_call *call, uint32_t matrix)
{
	static void (*const stores[])(const struct kwhy_decode_host_call *call, uint32_t token, uint32_t row,
		float sum) = {kwhy_decode_host_store_state, store_sum, store_inner, store_sum};

	if (matrix == KWHY_DECODE_ATTENTION || matrix == KWHY_DECODE_WIDENING)
		normalise_all(call, matrix);
	multiply_layer(call, matrix, stores[matrix], true);
}

static void thin_head(struct kwhy_decode_host_call *call)
{
	call->layer = call->args->layer_count;
	normalise_all(call, KWHY_DECODE_WORDS);
	multiply_words(call);
}

#define THIN(name, matrix)                                                                     \
	static void name(const struct kwhy_gpu_grid *grid, void **arguments)                   \
	{                                                                                      \
		struct kwhy_decode_host_call call = kwhy_decode_host_call_of(arguments, true); \
                                                                                               \
		(void)grid;                                                                    \
		thin(&call, matrix);                                                           \
	}

THIN(run_thin_attention, KWHY_DECODE_ATTENTION)
THIN(run_thin_project, KWHY_DECODE_PROJECTION)
THIN(run_thin_widen, KWHY_DECODE_WIDENING)
THIN(run_thin_narrow, KWHY_DECODE_NARROWING)

static void run_joint_attend(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct kwhy_decode_host_call call = kwhy_decode_host_call_of(arguments, true);

	run_thin_attention(grid, arguments);
	kwhy_decode_host_attend_all(&call);
	run_thin_project(grid, arguments);
}

static void run_joint_inner(const struct kwhy_gpu_grid *grid, void **arguments)
{
	run_thin_widen(grid, arguments);
	run_thin_narrow(grid, arguments);
}

static void run_crowd_end(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct kwhy_decode_host_call call = kwhy_decode_host_call_of(arguments, false);

	(void)grid;
	call.layer = call.args->layer_count;
	normalise_all(&call, KWHY_DECODE_WORDS);
}

static void run_thin_head(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct kwhy_decode_host_call call = kwhy_decode_host_call_of(arguments, false);

	(void)grid;
	thin_head(&call);
}

static void run_whole(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct kwhy_decode_host_call call = kwhy_decode_host_call_of(arguments, false);
	uint32_t steps = *(const uint32_t *)arguments[1];

	(void)grid;
	for (uint32_t step = 0; step < steps; step++) {
		begin(&call);
		for (call.layer = 0; call.layer < call.args->layer_count; call.layer++) {
			thin(&call, KWHY_DECODE_ATTENTION);
			kwhy_decode_host_attend_all(&call);
			thin(&call, KWHY_DECODE_PROJECTION);
			thin(&call, KWHY_DECODE_WIDENING);
			thin(&call, KWHY_DECODE_NARROWING);
		}
		thin_head(&call);
	}
}

/* --- Many tokens --- */

static void settle_token(const struct kwhy_decode_host_call *call, uint32_t what, uint32_t token, float *row)
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
	const struct kwhy_decode_host_call call = kwhy_decode_host_call_of(arguments, true);
	const struct kwhy_decode_args *args = call.args;
	uint32_t what = *(const uint32_t *)arguments[2], last = *(const uint32_t *)arguments[3],
		 count = last ? args->slots : args->tokens;
	float *x = kwhy_gpu_at(args->x);

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
	struct kwhy_decode_host_call call = kwhy_decode_host_call_of(arguments, true);
	uint32_t matrix = *(const uint32_t *)arguments[2];

	(void)grid;
	if (matrix == KWHY_DECODE_WORDS)
		multiply_words(&call);
	else if (matrix == KWHY_DECODE_ATTENTION)
		multiply_layer(&call, matrix, kwhy_decode_host_store_state, true);
	else if (matrix == KWHY_DECODE_WIDENING)
		multiply_layer(&call, matrix, store_inner, true);
	else
		multiply_layer(&call, matrix, store_part, false);
}

/* A token's x, which may be of acts. */
static void load_x(const struct kwhy_decode_host_call *call, uint32_t token, float *row)
{
	const struct kwhy_decode_args *args = call->args;
	const float *x = kwhy_gpu_at(args->x);

	for (uint32_t k = 0; k < args->width; k++)
		row[k] = args->has_short_x
			? kwhy_decode_host_load(call, args->x, (uint64_t)token * args->width + k)
			: x[(size_t)token * args->width + k];
}

static void run_normalise(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct kwhy_decode_host_call call = kwhy_decode_host_call_of(arguments, false);
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
	const struct kwhy_decode_host_call call = {
		.weights = *(const enum kwhy_decode_weights *)arguments[5]};
	const float *scales = kwhy_gpu_at(*(const uint64_t *)arguments[1]);
	uint64_t to = *(const uint64_t *)arguments[2];
	uint32_t rows = *(const uint32_t *)arguments[3], columns = *(const uint32_t *)arguments[4];
	float row[COLUMNS_MOST];

	(void)grid;
	for (uint32_t r = 0; r < rows; r++) {
		kwhy_decode_host_row_load(
			call.weights, kwhy_gpu_at(*(const uint64_t *)arguments[0]), r, columns, row);
		for (uint32_t k = 0; k < columns; k++)
			kwhy_decode_host_store(&call, to, (uint64_t)r * columns + k, row[k] * scales[r]);
	}
}

static void run_plain_floats(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct kwhy_decode_host_call call = {
		.weights = *(const enum kwhy_decode_weights *)arguments[3]};
	const float *from = kwhy_gpu_at(*(const uint64_t *)arguments[0]);

	(void)grid;
	for (uint32_t i = 0; i < *(const uint32_t *)arguments[2]; i++)
		kwhy_decode_host_store(&call, *(const uint64_t *)arguments[1], i, from[i]);
}

/* Sums of the weights of queries, keys and values: nobody asks for others here. */
static void run_fold_sums(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct kwhy_decode_host_call call = kwhy_decode_host_call_of(arguments, false);
	float row[COLUMNS_MOST], *sums = kwhy_gpu_at(call.args->row_sums);

	(void)grid;
	for (; call.layer < call.args->layer_count; call.layer++) {
		const struct product product = product_of(&call, KWHY_DECODE_ATTENTION);
		float *to = sums +
			(size_t)call.layer * kwhy_decode_first_row(&call.shape, KWHY_DECODE_MATRICES);

		for (uint32_t r = 0; r < product.rows; r++) {
			kwhy_decode_host_row_load(
				call.weights, kwhy_gpu_at(product.weights), r, product.columns, row);
			to[r] = 0;
			for (uint32_t k = 0; k < product.columns; k++)
				to[r] += row[k];
		}
	}
}

enum { ARGS = sizeof(struct kwhy_decode_args) };

const struct kwhy_gpu_host_kernel kwhy_decode_host_kernels[] = {
	{"kwhy_decode_fill", kwhy_decode_host_fill, {8, 8, 4, 4, 4, 4, 4, 4, 4, 4}},
	{"kwhy_decode_fill_floats", kwhy_decode_host_fill_floats, {8, 4, 4, 4, 4}},
	{"kwhy_decode_reset", run_reset, {ARGS, 4, 8}},
	{"kwhy_decode_begin", run_begin, {ARGS, 4}},
	{"kwhy_decode_attend", kwhy_decode_host_attend, {ARGS, 4, 4, 4}},
	{"kwhy_decode_recall", kwhy_decode_host_attend, {ARGS, 4, 4, 4}},
	{"kwhy_decode_read", kwhy_decode_host_attend, {ARGS, 4, 4}},
	{"kwhy_decode_normalise", run_normalise, {ARGS, 4}},
	{"kwhy_decode_plain", run_plain, {8, 8, 8, 4, 4, 4}},
	{"kwhy_decode_plain_floats", run_plain_floats, {8, 8, 4, 4}},
	{"kwhy_decode_thin_attention", run_thin_attention, {ARGS, 4}},
	{"kwhy_decode_thin_project", run_thin_project, {ARGS, 4}},
	{"kwhy_decode_thin_widen", run_thin_widen, {ARGS, 4}},
	{"kwhy_decode_thin_narrow", run_thin_narrow, {ARGS, 4}},
	{"kwhy_decode_thin_head", run_thin_head, {ARGS}},
	{"kwhy_decode_joint_attend", run_joint_attend, {ARGS, 4}},
	{"kwhy_decode_joint_inner", run_joint_inner, {ARGS, 4}},
	{"kwhy_decode_joint_head", run_thin_head, {ARGS}},
	{"kwhy_decode_crowd_attend", run_joint_attend, {ARGS, 4}},
	{"kwhy_decode_crowd_inner", run_joint_inner, {ARGS, 4}},
	{"kwhy_decode_crowd_end", run_crowd_end, {ARGS}},
	{"kwhy_decode_crowd_head", run_thin_head, {ARGS}},
	{"kwhy_decode_whole", run_whole, {ARGS, 4}},
	{"kwhy_decode_settle", run_settle, {ARGS, 4, 4, 4}},
	{"kwhy_decode_wide32", run_wide, {ARGS, 4, 4}},
	{"kwhy_decode_wide64", run_wide, {ARGS, 4, 4}},
	{"kwhy_decode_some", run_wide, {ARGS, 4, 4}},
	{"kwhy_decode_fold_sums", run_fold_sums, {ARGS}},
	{"kwhy_decode_fold_begin", run_begin, {ARGS}},
	{"kwhy_decode_fold_attention", run_thin_attention, {ARGS, 4}},
	{"kwhy_decode_fold_project", run_thin_project, {ARGS, 4}},
	{"kwhy_decode_fold_widen", run_thin_widen, {ARGS, 4}},
	{"kwhy_decode_fold_narrow", run_thin_narrow, {ARGS, 4}},
	{"kwhy_decode_pick", kwhy_decode_host_pick, {ARGS, 4}},
	{"kwhy_decode_choose", kwhy_decode_host_choose, {ARGS}},
	{"kwhy_decode_beam_rank", kwhy_decode_host_beam_rank, {ARGS}},
	{"kwhy_decode_beam_choose", kwhy_decode_host_beam_choose, {ARGS, 4}},
	{NULL, NULL, {0}},
};
