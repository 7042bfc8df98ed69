/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of more single tokens than few, as they are launched: attention (recalling.cu), five kernels a
 * layer (folded.cu). */
#include "lab/decode/library.h"

enum {
	THREADS = 256,
	MANY = 64,
	RECALL_THREADS = 64,
	RECALL_STAGE_NUMBERS = 2048, /* of a warp: keys and values of 16 positions */
	RECALL_DEPTH = 8,
	RECALL_RAW = 2,
	KEPT_BYTES = 1024, /* of a block's shared memory, by the driver */
	FOLD_SUMS = 3072,  /* times 16 bytes */
	FOLD_INBOX = 768
};

/* As many blocks as the GPU has multiprocessors; the host has none to count. */
uint32_t kwhy_decode_place_count(const struct kwhy_decode *decode)
{
	return decode->gpu->facts.sm_count ? decode->gpu->facts.sm_count : 1;
}

uint32_t kwhy_decode_group_count(uint32_t tokens)
{
	return (tokens + MANY - 1) / MANY;
}

/* A warp takes a head of a token. Pages, beams and parts of a model have not been tried with it. */
bool kwhy_decode_is_recalled(const struct kwhy_decode *decode)
{
	return kwhy_decode_ranks(decode) == 1 && !decode->request.page && !kwhy_decode_has_beams(decode) &&
		kwhy_decode_act_bytes(decode->request.weights) == 2;
}

static uint32_t stage_bytes(const struct kwhy_decode *decode)
{
	return RECALL_STAGE_NUMBERS * kwhy_decode_kept_bytes(&decode->request);
}

/* All blocks are on the GPU at once, where they fit: their copies share the memory of the multiprocessors. */
static uint32_t recall_depth(const struct kwhy_decode *decode, uint32_t blocks)
{
	uint32_t stage = RECALL_THREADS / 32 * stage_bytes(decode),
		 each = (blocks + kwhy_decode_place_count(decode) - 1) / kwhy_decode_place_count(decode),
		 depth = (decode->gpu->facts.shared_bytes_per_sm / each - KEPT_BYTES) / stage;

	return each > decode->gpu->facts.shared_bytes_per_sm / (2 * stage + KEPT_BYTES) ? 2
		: depth > RECALL_DEPTH							? RECALL_DEPTH
											: depth;
}

void kwhy_decode_issue_recall(struct kwhy_decode_issue *issue, uint32_t layer, bool is_joined)
{
	const struct kwhy_decode *decode = issue->decode;
	uint32_t warps = RECALL_THREADS / 32, units = decode->args.tokens * decode->request.shape->heads,
		 blocks = (units + warps - 1) / warps, depth = recall_depth(decode, blocks);

	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){.kernel = KWHY_DECODE_RECALL,
			.blocks = blocks,
			.threads = RECALL_THREADS,
			.shared_bytes = warps * stage_bytes(decode) * depth,
			.numbers = {layer, decode->is_raw ? RECALL_RAW : is_joined, depth}});
}

/* --- Products that take x as it is --- */

/* Columns that a block takes. */
static uint32_t fold_columns(const struct kwhy_decode_shape *shape)
{
	return shape->width % 384 == 0 ? 384 : 128;
}

/* A cluster of 1, 2, 4 or 8 blocks has all columns. */
static bool folds(const struct kwhy_decode_shape *shape, uint32_t columns)
{
	uint32_t blocks = columns / fold_columns(shape);

	return columns % fold_columns(shape) == 0 && blocks >= 1 && blocks <= 8 &&
		(blocks & (blocks - 1)) == 0;
}

static bool has_folds(const struct kwhy_decode *decode)
{
	const struct kwhy_decode_shape *shape = decode->request.shape;

	return kwhy_decode_is_recalled(decode) && decode->gpu->facts.architecture >= 90 &&
		kwhy_decode_each(decode->request.weights) == 8 && folds(shape, shape->width) &&
		folds(shape, shape->inner);
}

bool kwhy_decode_has_sums(const struct kwhy_decode *decode)
{
	return has_folds(decode) || kwhy_decode_is_crowd(decode);
}

bool kwhy_decode_folds(const struct kwhy_decode *decode, uint32_t tokens)
{
	return has_folds(decode) && tokens > KWHY_DECODE_FEW && tokens <= KWHY_DECODE_SOME_MOST;
}

static void issue_fold(struct kwhy_decode_issue *issue, uint32_t layer, uint32_t matrix)
{
	const struct kwhy_decode_shape *shape = issue->decode->request.shape;
	uint32_t rows = kwhy_decode_rows(shape, matrix), columns = fold_columns(shape),
		 tiles = matrix == KWHY_DECODE_PROJECTION ? 1
		: rows % 48 == 0			  ? 3
		: rows % 32 == 0			  ? 2
							  : 1,
		 quads = MANY * columns / 8;

	if (quads < FOLD_SUMS)
		quads = FOLD_SUMS;
	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){.kernel = (enum kwhy_decode_kernel)(KWHY_DECODE_FOLD + matrix),
			.blocks = rows / (tiles * 16) * kwhy_decode_group_count(issue->decode->args.tokens) *
				(kwhy_decode_columns(shape, matrix) / columns),
			.threads = THREADS,
			.shared_bytes = (quads + FOLD_INBOX) * 16,
			.numbers = {layer}});
}

void kwhy_decode_issue_folded(struct kwhy_decode_issue *issue)
{
	const struct kwhy_decode_args *args = &issue->decode->args;

	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){.kernel = KWHY_DECODE_FOLD_BEGIN,
			.blocks = args->tokens,
			.threads = args->width / 4});
	for (uint32_t layer = 0; layer < args->layer_count; layer++) {
		issue_fold(issue, layer, KWHY_DECODE_ATTENTION);
		kwhy_decode_issue_recall(issue, layer, false);
		issue_fold(issue, layer, KWHY_DECODE_PROJECTION);
		issue_fold(issue, layer, KWHY_DECODE_WIDENING);
		issue_fold(issue, layer, KWHY_DECODE_NARROWING);
	}
}
