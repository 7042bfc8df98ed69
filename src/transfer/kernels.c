/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer/kernels.h"

#include "kwhy/transfer.h"
#include "transfer/convert.h"
#include "transfer/slot.h"

#include <stdatomic.h>
#include <string.h>

extern const char kwhy_kernels_move[], kwhy_kernels_convert[];

static void move_piece(const struct kwhy_transfer_piece *piece, uint64_t delta)
{
	uint64_t to = piece->to + (piece->moves & KWHY_TRANSFER_TO_MOVES ? delta : 0),
		 from = piece->from + (piece->moves & KWHY_TRANSFER_FROM_MOVES ? delta : 0);

	memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, piece->bytes);
}

/* No order is promised, so that the last one goes first here: who needs another shows in tests. */
static void move(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct kwhy_transfer_piece *end = *(const struct kwhy_transfer_piece **)arguments[0];
	uint32_t count = *(uint32_t *)arguments[1];
	uint64_t delta = *(uint64_t *)arguments[2];

	(void)grid;
	for (const struct kwhy_transfer_piece *piece = end - count; piece < end; piece++)
		move_piece(piece, delta);
}

static void move_in_order(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct kwhy_transfer_piece *end = *(const struct kwhy_transfer_piece **)arguments[0];
	uint32_t count = *(uint32_t *)arguments[1];
	uint64_t delta = *(uint64_t *)arguments[2];

	(void)grid;
	for (uint32_t i = 1; i <= count; i++)
		move_piece(end - i, delta);
}

static void call(const struct kwhy_gpu_grid *grid, void **arguments)
{
	kwhy_transfer_compute *compute = *(kwhy_transfer_compute **)arguments[0];
	void *context = *(void **)arguments[1];
	atomic_int *result = *(atomic_int **)arguments[2];

	(void)grid;
	if (compute(context, arguments[3]))
		atomic_store(result, 1);
}

static const struct kwhy_gpu_host_kernel on_host[] = {
	{"kwhy_transfer_move", move, {8, 4, 8, 4}},
	{"kwhy_transfer_move_in_order", move_in_order, {8, 4, 8}},
	{"kwhy_transfer_call", call, {8, 8, 8, sizeof(struct kwhy_transfer_chunk)}},
	{0},
};

const struct kwhy_gpu_source kwhy_transfer_kernels = {
	.title = "the transfer engine", .text = kwhy_kernels_move, .on_host = on_host};

static void convert(void **arguments, int format)
{
	const float *from = *(const float **)arguments[0];
	void *to = *(void **)arguments[1];
	uint64_t count = *(uint64_t *)arguments[2];

	kwhy_transfer_convert_numbers(to, from, count, format, *(float *)arguments[3]);
}

static void to_f16(const struct kwhy_gpu_grid *grid, void **arguments)
{
	(void)grid;
	convert(arguments, KWHY_TRANSFER_F16);
}

static void to_bf16(const struct kwhy_gpu_grid *grid, void **arguments)
{
	(void)grid;
	convert(arguments, KWHY_TRANSFER_BF16);
}

static void to_i8(const struct kwhy_gpu_grid *grid, void **arguments)
{
	(void)grid;
	convert(arguments, KWHY_TRANSFER_I8);
}

static const struct kwhy_gpu_host_kernel convert_on_host[] = {
	{"kwhy_transfer_to_f16", to_f16, {8, 8, 8, 4}},
	{"kwhy_transfer_to_bf16", to_bf16, {8, 8, 8, 4}},
	{"kwhy_transfer_to_i8", to_i8, {8, 8, 8, 4}},
	{0},
};

const struct kwhy_gpu_source kwhy_transfer_convert_kernels = {.title = "conversions of the transfer engine",
	.text = kwhy_kernels_convert,
	.on_host = convert_on_host};
