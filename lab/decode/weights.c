/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the weights of a decoder in place: each GPU computes its own part of the model. */
#include "lab/decode/inside.h"

/* The part of a layer's matrix that one launch fills. */
struct piece {
	/*
	 * `third`: of LAB_DECODE_ATTENTION the rows of queries (0), keys (1) or values (2); 0 for other
	 * matrices
	 */
	uint32_t layer, matrix, third;
};

/* Fills a GPU's rows or columns of a matrix, with their biases. */
static void fill_piece(const struct lab_decode_rank *rank, const struct piece *piece)
{
	const struct lab_decode_shape *part = &rank->replica->part, *whole = rank->replica->request->shape;
	const struct lab_decode_args *a = &rank->args;
	uint32_t m = piece->matrix, thirds = m == LAB_DECODE_ATTENTION ? 3 : 1,
		 rows = lab_decode_rows(part, m) / thirds, columns = lab_decode_columns(part, m),
		 whole_rows = lab_decode_rows(whole, m) / thirds, stride = lab_decode_columns(whole, m),
		 row = piece->third * whole_rows + (rows < whole_rows ? a->rank * rows : 0);
	uint64_t before = lab_decode_weights_before(part, piece->layer, m) +
		(uint64_t)piece->third * rows * columns,
		 place = (lab_decode_row(part, piece->layer, m) + (uint64_t)piece->third * rows) *
		sizeof(float);
	const struct lab_decode_call
		matrix = {.to = rank->layers + lab_decode_weight_bytes(rank->replica, before),
			.row_scales = a->scales + place,
			.tensor_hash = lab_decode_mix(piece->layer * LAB_DECODE_TENSORS + m),
			.rows = rows,
			.known = rows,
			.columns = columns,
			.start = row * stride + (columns < stride ? a->rank * columns : 0),
			.stride = stride,
			.bound = lab_decode_bound(stride)},
		biases = {.to = a->biases + place,
			.tensor_hash = lab_decode_mix(piece->layer * LAB_DECODE_TENSORS + LAB_DECODE_BIASES),
			.columns = rows,
			.start = lab_decode_first_row(whole, m) + row,
			.bound = LAB_DECODE_BIAS_BOUND};

	lab_decode_launch(rank, LAB_DECODE_FILL, rows, &matrix);
	lab_decode_launch(rank, LAB_DECODE_FILL_FLOATS, 64, &biases);
}

void lab_decode_fill_weights(const struct lab_decode_rank *rank)
{
	const struct lab_decode_shape *shape = &rank->replica->part;
	const struct lab_decode_args *a = &rank->args;
	const struct lab_decode_call words = {.to = a->words,
		.row_scales = a->word_scales,
		.tensor_hash = lab_decode_mix(LAB_DECODE_EMBEDDING),
		.rows = a->word_count * a->ranks,
		.known = shape->vocabulary,
		.columns = shape->width,
		.stride = shape->width,
		.bound = lab_decode_embedding_bound(shape)};
	const struct lab_decode_call places = {.to = a->places,
		.tensor_hash = lab_decode_mix(LAB_DECODE_POSITIONS),
		.columns = a->positions * shape->width,
		.bound = LAB_DECODE_POSITION_BOUND};

	for (uint32_t layer = 0; layer < shape->layers; layer++)
		for (uint32_t m = 0; m < LAB_DECODE_MATRICES; m++)
			for (uint32_t third = 0; third < (m == LAB_DECODE_ATTENTION ? 3 : 1); third++)
				fill_piece(rank, &(struct piece){layer, m, third});
	lab_decode_launch(rank, LAB_DECODE_FILL, words.rows, &words);
	lab_decode_launch(rank, LAB_DECODE_FILL_FLOATS, 64, &places);
}
