/* SPDX-License-Identifier: Apache-2.0 */
/* The weights of a decoder are made where they lie: each GPU fills its own part of the model. */
#include "lab/decode/inside.h"
#include "lab/next.h"

enum { THREADS = 256 };

/* A matrix of weights, whose rows from `known` on are zeros: a part of a whole one. */
struct matrix {
	uint64_t to, scales;
	uint32_t tensor, rows, known, columns, first, stride; /* of the whole */
	float bound;
};

struct fill {
	struct lab_decode_rank *rank;
	struct kwhy_error *error;
	enum kwhy_status status;
};

static void launch(struct fill *fill, enum lab_decode_kernel kernel, uint32_t blocks, void **arguments)
{
	const struct kwhy_gpu_grid grid = {blocks, THREADS, 0};

	NEXT(fill->status, lab_decode_launch(fill->rank, kernel, &grid, arguments, fill->error));
}

static void fill_matrix(struct fill *fill, const struct matrix *matrix)
{
	struct matrix own = *matrix;
	uint32_t hash = lab_decode_mix(matrix->tensor), kind = fill->rank->args.kind;
	void *arguments[] = {&own.to, &own.scales, &hash, &own.rows, &own.known, &own.columns, &own.first,
		&own.stride, &own.bound, &kind};

	launch(fill, LAB_DECODE_FILL, own.rows, arguments);
}

/* Numbers of a tensor, from its number `first` on. */
struct floats {
	uint64_t to;
	uint32_t tensor, count, first;
	float bound;
};

static void fill_floats(struct fill *fill, const struct floats *floats)
{
	struct floats own = *floats;
	uint32_t hash = lab_decode_mix(floats->tensor);
	void *arguments[] = {&own.to, &hash, &own.count, &own.first, &own.bound};

	launch(fill, LAB_DECODE_FILL_FLOATS, 64, arguments);
}

/* Where something is in a layer. */
struct piece {
	uint32_t layer, matrix, third; /* queries, keys or values of the first matrix */
};

/* A GPU's rows or columns of a matrix, with their biases. */
static void fill_piece(struct fill *fill, const struct lab_decode_replica *replica, const struct piece *piece)
{
	const struct lab_decode_shape *part = &replica->part, *whole = replica->request->shape;
	const struct lab_decode_args *a = &fill->rank->args;
	uint32_t m = piece->matrix, thirds = m == LAB_DECODE_ATTENTION ? 3 : 1,
		 rows = lab_decode_rows(part, m) / thirds, columns = lab_decode_columns(part, m),
		 whole_rows = lab_decode_rows(whole, m) / thirds, stride = lab_decode_columns(whole, m),
		 row = piece->third * whole_rows + (rows < whole_rows ? a->rank * rows : 0);
	uint64_t before = lab_decode_weights_before(part, piece->layer, m) +
		(uint64_t)piece->third * rows * columns,
		 place = ((uint64_t)piece->layer * lab_decode_first_row(part, LAB_DECODE_MATRICES) +
				 lab_decode_first_row(part, m) + (uint64_t)piece->third * rows) *
		sizeof(float);
	const struct matrix matrix = {.to = fill->rank->layers + lab_decode_weight_bytes(a->kind, before),
		.scales = a->scales + place,
		.tensor = piece->layer * LAB_DECODE_TENSORS + m,
		.rows = rows,
		.known = rows,
		.columns = columns,
		.first = row * stride + (columns < stride ? a->rank * columns : 0),
		.stride = stride,
		.bound = lab_decode_bound(stride)};
	const struct floats biases = {.to = a->biases + place,
		.tensor = piece->layer * LAB_DECODE_TENSORS + LAB_DECODE_BIASES,
		.count = rows,
		.first = lab_decode_first_row(whole, m) + row,
		.bound = LAB_DECODE_BIAS_BOUND};

	fill_matrix(fill, &matrix);
	fill_floats(fill, &biases);
}

static void fill_rank(struct fill *fill, const struct lab_decode_replica *replica)
{
	const struct lab_decode_shape *shape = &replica->part;
	const struct lab_decode_args *a = &fill->rank->args;
	const struct matrix words = {.to = a->words,
		.scales = a->word_scales,
		.tensor = LAB_DECODE_EMBEDDING,
		.rows = a->word_count * a->ranks,
		.known = shape->vocabulary,
		.columns = shape->width,
		.stride = shape->width,
		.bound = lab_decode_embedding_bound(shape)};
	const struct floats places = {.to = a->places,
		.tensor = LAB_DECODE_POSITIONS,
		.count = a->positions * shape->width,
		.bound = LAB_DECODE_POSITION_BOUND};

	for (uint32_t layer = 0; layer < shape->layers; layer++)
		for (uint32_t m = 0; m < LAB_DECODE_MATRICES; m++)
			for (uint32_t third = 0; third < (m == LAB_DECODE_ATTENTION ? 3 : 1); third++)
				fill_piece(fill, replica, &(struct piece){layer, m, third});
	fill_matrix(fill, &words);
	fill_floats(fill, &places);
}

enum kwhy_status lab_decode_weights_fill(struct lab_decode_replica *replica, struct kwhy_error *error)
{
	struct lab_decode_issue issue = {replica, error, KWHY_OK};

	for (uint32_t i = 0; !issue.status && i < replica->rank_count; i++) {
		struct fill fill = {&replica->ranks[i], error, KWHY_OK};

		fill_rank(&fill, replica);
		issue.status = fill.status;
	}
	return lab_decode_await(&issue);
}
