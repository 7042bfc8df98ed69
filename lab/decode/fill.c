/* SPDX-License-Identifier: Apache-2.0 */
/* The weights of a decoder are made where they lie: each GPU fills its own part of the model. */
#include "lab/decode/inside.h"

/* A matrix of weights, whose rows from `known` on are zeros. */
struct matrix {
	uint64_t to, scales;
	uint32_t tensor, rows, known, columns, first, stride; /* of the whole matrix */
	float bound;
};

static void fill_matrix(struct kwhy_decode_issue *issue, uint32_t rank, const struct matrix *matrix)
{
	struct kwhy_decode *decode = issue->decode;
	struct matrix own = *matrix;
	uint32_t hash = kwhy_decode_mix(matrix->tensor), kind = (uint32_t)decode->request.weights;
	void *arguments[] = {&own.to, &own.scales, &hash, &own.rows, &own.known, &own.columns, &own.first,
		&own.stride, &own.bound, &kind};
	const struct kwhy_gpu_launch call = {
		.blocks = (own.rows + 7) / 8, .threads_per_block = 256, .arguments = arguments};

	own.to = kwhy_decode_address_on(decode, rank, own.to);
	own.scales = kwhy_decode_address_on(decode, rank, own.scales);
	if (!issue->status)
		issue->status = kwhy_decode_launch_on(decode, rank, KWHY_DECODE_FILL, &call, issue->error);
}

/* So many numbers of a tensor, from its number `first` on. */
struct floats {
	uint64_t to;
	uint32_t tensor, count, first;
	float bound;
};

static void fill_floats(struct kwhy_decode_issue *issue, uint32_t rank, const struct floats *floats)
{
	struct floats own = *floats;
	uint32_t hash = kwhy_decode_mix(floats->tensor);
	void *arguments[] = {&own.to, &hash, &own.count, &own.first, &own.bound};
	const struct kwhy_gpu_launch call = {.blocks = 64, .threads_per_block = 256, .arguments = arguments};

	own.to = kwhy_decode_address_on(issue->decode, rank, own.to);
	if (!issue->status)
		issue->status = kwhy_decode_launch_on(
			issue->decode, rank, KWHY_DECODE_FILL_FLOATS, &call, issue->error);
}

/* Where something is in a layer: of a GPU, or of the model. */
struct piece {
	uint32_t layer, matrix, turn; /* queries, keys or values of the first matrix */
};

/* A GPU's rows or columns of a matrix, with their biases. */
static void fill_piece(struct kwhy_decode_issue *issue, uint32_t rank, const struct piece *piece)
{
	const struct kwhy_decode *decode = issue->decode;
	const struct kwhy_decode_shape *part = decode->request.shape, *whole = decode->whole;
	uint32_t m = piece->matrix, turns = m == KWHY_DECODE_ATTENTION ? 3 : 1,
		 rows = kwhy_decode_rows(part, m) / turns, columns = kwhy_decode_columns(part, m),
		 whole_rows = kwhy_decode_rows(whole, m) / turns, stride = kwhy_decode_columns(whole, m),
		 row = piece->turn * whole_rows + (rows < whole_rows ? rank * rows : 0);
	uint64_t before = kwhy_decode_weights_before(part, piece->layer, m) +
		(uint64_t)piece->turn * rows * columns,
		 place = ((uint64_t)piece->layer * kwhy_decode_first_row(part, KWHY_DECODE_MATRICES) +
				 kwhy_decode_first_row(part, m) + (uint64_t)piece->turn * rows) *
		sizeof(float);
	struct matrix matrix = {.scales = decode->args.scales + place,
		.tensor = piece->layer * KWHY_DECODE_TENSORS + m,
		.rows = rows,
		.known = rows,
		.columns = columns,
		.first = row * stride + (columns < stride ? rank * columns : 0),
		.stride = stride,
		.bound = kwhy_decode_bound(stride)};
	const struct floats biases = {.to = decode->args.biases + place,
		.tensor = piece->layer * KWHY_DECODE_TENSORS + KWHY_DECODE_BIASES,
		.count = rows,
		.first = kwhy_decode_first_row(whole, m) + row,
		.bound = KWHY_DECODE_BIAS_BOUND};

	matrix.to = decode->args.layers + kwhy_decode_weight_bytes(decode->request.weights, before);
	fill_matrix(issue, rank, &matrix);
	fill_floats(issue, rank, &biases);
}

static void fill_rank(struct kwhy_decode_issue *issue, uint32_t rank)
{
	const struct kwhy_decode *decode = issue->decode;
	const struct kwhy_decode_shape *shape = decode->request.shape;
	const struct matrix words = {.to = decode->args.words,
		.scales = decode->args.word_scales,
		.tensor = KWHY_DECODE_EMBEDDING,
		.rows = kwhy_decode_vocabulary_room(shape),
		.known = shape->vocabulary,
		.columns = shape->width,
		.stride = shape->width,
		.bound = kwhy_decode_embedding_bound(shape)};
	const struct floats places = {.to = decode->args.places,
		.tensor = KWHY_DECODE_POSITIONS,
		.count = decode->args.room * shape->width,
		.bound = KWHY_DECODE_POSITION_BOUND};

	for (uint32_t layer = 0; layer < shape->layers; layer++)
		for (uint32_t m = 0; m < KWHY_DECODE_MATRICES; m++)
			for (uint32_t turn = 0; turn < (m == KWHY_DECODE_ATTENTION ? 3 : 1); turn++)
				fill_piece(issue, rank, &(struct piece){layer, m, turn});
	fill_matrix(issue, rank, &words);
	fill_floats(issue, rank, &places);
}

/* A warp takes a row of the matrices that take x. */
static void add_up_rows(struct kwhy_decode_issue *issue)
{
	const struct kwhy_decode_args *args = &issue->decode->args;
	uint32_t rows = args->layer_count * (3 * args->width + args->inner_width);

	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){
			.kernel = KWHY_DECODE_FOLD_SUMS, .blocks = (rows + 7) / 8, .threads = 256});
}

enum kwhy_status kwhy_decode_weights_fill(struct kwhy_decode *decode, struct kwhy_error *error)
{
	struct kwhy_decode_issue issue = {decode, error, KWHY_OK};

	for (uint32_t rank = 0; rank < kwhy_decode_ranks(decode); rank++)
		fill_rank(&issue, rank);
	if (kwhy_decode_has_sums(decode))
		add_up_rows(&issue);
	return kwhy_decode_await(&issue);
}
