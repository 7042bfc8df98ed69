/* SPDX-License-Identifier: Apache-2.0 */
/* How a slot is sent: by one or two calls of the driver, whichever the way. */
#include "transfer/choice.h"
#include "transfer/engine.h"

enum {
	BLOCK_THREADS = 256,
	WARP_THREADS = 32,
	BLOCKS_MOST = 1024,
	WIDE_BYTES =
		2048, /* from here on the mean piece has work for a whole block: 16 B a thread and more */
};

static const struct kwhy_transfer_piece *piece_at(const struct kwhy_transfer_slot *slot, uint32_t i)
{
	return (const struct kwhy_transfer_piece *)(const void *)slot->host - 1 - i;
}

/* As copies take it: the slot's own memory by its address on the host. */
static struct kwhy_gpu_copy copy_of(const struct kwhy_transfer_slot *slot, uint32_t i)
{
	const struct kwhy_transfer_piece *piece = piece_at(slot, i);
	uint64_t delta = kwhy_gpu_address(slot->host) - slot->mapped;

	return (struct kwhy_gpu_copy){
		.to = piece->to + (piece->moves & KWHY_TRANSFER_TO_MOVES ? delta : 0),
		.from = piece->from + (piece->moves & KWHY_TRANSFER_FROM_MOVES ? delta : 0),
		.bytes = piece->bytes,
	};
}

static int copy(struct kwhy_transfer *transfer, const struct kwhy_gpu_copy *what)
{
	transfer->counts.driver_calls++;
	return kwhy_transfer_check(
		transfer, transfer->ops->copy(transfer->gpu, transfer->stream, what, &transfer->error));
}

static int send_plain(struct kwhy_transfer *transfer, const struct kwhy_transfer_slot *slot, bool in_order)
{
	struct kwhy_gpu_copy one = copy_of(slot, 0);

	(void)in_order;
	transfer->counts.plain++;
	return copy(transfer, &one);
}

static int send_batch(struct kwhy_transfer *transfer, const struct kwhy_transfer_slot *slot, bool in_order)
{
	(void)in_order;
	for (uint32_t i = 0; i < slot->count; i++)
		transfer->copies[i] = copy_of(slot, i);
	transfer->counts.batched++;
	transfer->counts.driver_calls++;
	return kwhy_transfer_check(transfer,
		transfer->ops->copy_batch(
			transfer->gpu, transfer->stream, transfer->copies, slot->count, &transfer->error));
}

/* `end`: where the list is read; `delta`: how far the data's double lies from the slot. */
static int launch(struct kwhy_transfer *transfer, const struct kwhy_transfer_slot *slot, uint64_t end,
	uint64_t delta, bool in_order)
{
	uint32_t count = slot->count,
		 threads = slot->bytes / count >= WIDE_BYTES ? BLOCK_THREADS : WARP_THREADS,
		 a_block = BLOCK_THREADS / threads, blocks = (count + a_block - 1) / a_block;
	void *arguments[] = {&end, &count, &delta, &threads};
	struct kwhy_gpu_launch launch = {
		.kernel = in_order ? transfer->move_in_order : transfer->move,
		.blocks = in_order	       ? 1
			: blocks < BLOCKS_MOST ? blocks
					       : BLOCKS_MOST,
		.threads_per_block = BLOCK_THREADS,
		.arguments = arguments,
		.stream = transfer->stream,
	};

	transfer->counts.driver_calls++;
	return kwhy_transfer_check(transfer, transfer->ops->launch(transfer->gpu, &launch, &transfer->error));
}

static int send_mapped(struct kwhy_transfer *transfer, const struct kwhy_transfer_slot *slot, bool in_order)
{
	transfer->counts.mapped++;
	return launch(transfer, slot, slot->mapped, 0, in_order);
}

/* List and data in one copy; the kernel finds both on the device. */
static int put_packed(struct kwhy_transfer *transfer, const struct kwhy_transfer_slot *slot, bool in_order)
{
	uint64_t list_bytes = slot->count * sizeof(struct kwhy_transfer_piece);
	struct kwhy_gpu_copy whole = {
		.to = slot->staging - list_bytes,
		.from = kwhy_gpu_address(slot->host) - list_bytes,
		.bytes = list_bytes + slot->staged,
	};
	int code = copy(transfer, &whole);

	return code ? code : launch(transfer, slot, slot->staging, slot->staging - slot->mapped, in_order);
}

static int get_packed(struct kwhy_transfer *transfer, const struct kwhy_transfer_slot *slot, bool in_order)
{
	struct kwhy_gpu_copy whole = {
		.to = kwhy_gpu_address(slot->host), .from = slot->staging, .bytes = slot->staged};
	int code = launch(transfer, slot, slot->mapped, slot->staging - slot->mapped, in_order);

	return code ? code : copy(transfer, &whole);
}

static int send_packed(struct kwhy_transfer *transfer, const struct kwhy_transfer_slot *slot, bool in_order)
{
	transfer->counts.packed++;
	return slot->deliveries ? get_packed(transfer, slot, in_order) : put_packed(transfer, slot, in_order);
}

static int (*const ways[KWHY_TRANSFER_WAY_COUNT])(
	struct kwhy_transfer *transfer, const struct kwhy_transfer_slot *slot, bool in_order) = {
	[KWHY_TRANSFER_WAY_PLAIN] = send_plain,
	[KWHY_TRANSFER_WAY_PACKED] = send_packed,
	[KWHY_TRANSFER_WAY_MAPPED] = send_mapped,
	[KWHY_TRANSFER_WAY_BATCH] = send_batch,
};

static struct kwhy_transfer_case case_of(
	struct kwhy_transfer *transfer, const struct kwhy_transfer_ring *ring)
{
	const struct kwhy_transfer_slot *slot = &ring->open->slots[ring->open->at];
	bool overlapping = !transfer->options.disjoint &&
		kwhy_transfer_slot_overlaps(slot, transfer->extents);

	transfer->counts.overlapping += overlapping;
	return (struct kwhy_transfer_case){
		.direction = ring->direction,
		.wanted = transfer->options.way,
		.has_batch = transfer->has_batch,
		.overlapping = overlapping,
		.count = slot->count,
		.bytes = slot->bytes,
		.staged = slot->staged,
	};
}

/* And has it tell when it has run. */
static int issue(struct kwhy_transfer *transfer, const struct kwhy_transfer_slot *slot,
	const struct kwhy_transfer_case *at_hand)
{
	enum kwhy_transfer_way way = kwhy_transfer_choose(&transfer->options.limits, at_hand);
	int code = kwhy_transfer_enter(transfer);

	if (!code)
		code = ways[way](transfer, slot, at_hand->overlapping);
	if (code)
		return code;
	transfer->counts.driver_calls++;
	return kwhy_transfer_check(transfer,
		transfer->ops->event_record(transfer->gpu, slot->event, transfer->stream, &transfer->error));
}

int kwhy_transfer_send(struct kwhy_transfer *transfer, struct kwhy_transfer_ring *ring)
{
	struct kwhy_transfer_turn *turn = ring->open;
	struct kwhy_transfer_slot *slot = turn ? &turn->slots[turn->at] : NULL;
	struct kwhy_transfer_case at_hand;
	int code;

	if (!slot || slot->count == 0)
		return KWHY_TRANSFER_OK;
	at_hand = case_of(transfer, ring);
	code = issue(transfer, slot, &at_hand);
	if (code)
		return code;
	slot->state = KWHY_TRANSFER_SENT;
	slot->ticket = transfer->flushed + 1;
	slot->number = ++transfer->sent;
	turn->at = (turn->at + 1) % ring->count;
	turn->under_way++;
	ring->open = NULL;
	return KWHY_TRANSFER_OK;
}
