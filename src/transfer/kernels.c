/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer/kernels.h"

#include "kwhy/transfer.h"
#include "transfer/convert.h"
#include "transfer/slot.h"

#include <stdatomic.h>
#include <string.h>

extern const char kwhy_kernels_move[], kwhy_kernels_convert[];

_Static_assert(
	sizeof(struct kwhy_transfer_packet) == 4096 && offsetof(struct kwhy_transfer_packet, bytes) % 16 == 0,
	"kernels/move.cu has the same, and vectors lie in it as in a slot");

static void move_piece(const struct kwhy_transfer_piece *piece, uint64_t delta)
{
	uint64_t to = piece->to + (piece->moves & KWHY_TRANSFER_TO_MOVES ? delta : 0),
		 from = piece->from + (piece->moves & KWHY_TRANSFER_FROM_MOVES ? delta : 0);

	memmove(kwhy_gpu_at(to), kwhy_gpu_at(from), piece->bytes);
}

/*
 * Moves pieces from the last of the list to the first. Callers must not rely on any order; with this one,
 * tests find callers that rely on the order in which pieces were added.
 */
static void move_all(const struct kwhy_transfer_piece *end, uint32_t count, uint64_t delta)
{
	for (const struct kwhy_transfer_piece *piece = end - count; piece < end; piece++)
		move_piece(piece, delta);
}

static void move_one_by_one(const struct kwhy_transfer_piece *end, uint32_t count, uint64_t delta)
{
	for (uint32_t i = 1; i <= count; i++)
		move_piece(end - i, delta);
}

static void tell(const struct kwhy_transfer_mark *mark)
{
	atomic_store_explicit((_Atomic uint64_t *)(uintptr_t)mark->done, mark->number, memory_order_release);
}

static void move(const struct kwhy_gpu_grid *grid, void **arguments)
{
	(void)grid;
	move_all(*(const struct kwhy_transfer_piece **)arguments[0], *(uint32_t *)arguments[1],
		*(uint64_t *)arguments[2]);
	tell(arguments[4]);
}

static void move_in_order(const struct kwhy_gpu_grid *grid, void **arguments)
{
	(void)grid;
	move_one_by_one(*(const struct kwhy_transfer_piece **)arguments[0], *(uint32_t *)arguments[1],
		*(uint64_t *)arguments[2]);
	tell(arguments[4]);
}

static void move_packet(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct kwhy_transfer_packet *packet = arguments[0];
	const char *place = (const char *)packet->bytes + packet->end;
	const struct kwhy_transfer_piece *end = (const void *)place;
	uint64_t delta = packet->base ? kwhy_gpu_address(place) - packet->base : 0;

	(void)grid;
	if (packet->in_order)
		move_one_by_one(end, packet->count, delta);
	else
		move_all(end, packet->count, delta);
	tell(&packet->mark);
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
	{"kwhy_transfer_move", move, {8, 4, 8, 4, sizeof(struct kwhy_transfer_mark)}},
	{"kwhy_transfer_move_in_order", move_in_order, {8, 4, 8, 4, sizeof(struct kwhy_transfer_mark)}},
	{"kwhy_transfer_move_packet", move_packet, {sizeof(struct kwhy_transfer_packet)}},
	{"kwhy_transfer_move_packet_2k", move_packet, {KWHY_TRANSFER_PACKET_SHORT_BYTES}},
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
