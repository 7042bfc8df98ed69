/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends a slot by one of the methods of choice.h. Each takes one or two driver calls, and one more to record
 * an event if the slot's last work is not a kernel.
 */
#include "transfer/choice.h"
#include "transfer/engine.h"

#include <string.h>

enum {
	BLOCK_THREADS = 256,
	BLOCK_THREADS_MAX = 1024,
	WARP_THREADS = 32,
	PIECE_THREADS_MAX =
		4096, /* largest number of threads for one piece; a power of two, as the other numbers are */
	BLOCKS_MAX = 1024,
	VECTOR_BYTES = 16,
	/*
	 * if the pieces of a slot have at least this mean size, each is moved by a whole block (256 threads
	 * of at least 8 bytes) instead of a warp
	 */
	WIDE_BYTES = 2048,
};

static const struct kwhy_transfer_piece *piece_at(const struct kwhy_transfer_slot *slot, uint32_t i)
{
	return (const struct kwhy_transfer_piece *)(const void *)slot->host - 1 - i;
}

/*
 * The copy that moves piece `i`. Addresses in the slot are changed from those for kernels (slot->mapped) to
 * those of the host.
 */
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

/*
 * Number of threads for each piece of a slot, from the mean size of its pieces: a warp for small ones, a
 * block from WIDE_BYTES on, and for larger ones about one thread for each 16 bytes, so that few large pieces
 * keep the link busy.
 */
static uint32_t threads_for(uint64_t mean_bytes)
{
	uint32_t threads = mean_bytes >= WIDE_BYTES ? BLOCK_THREADS : WARP_THREADS;

	while (threads >= BLOCK_THREADS && threads < PIECE_THREADS_MAX &&
		2 * (uint64_t)threads * VECTOR_BYTES <= mean_bytes)
		threads *= 2;
	return threads;
}

/*
 * Launches a kernel for a slot. If `wide`, the pieces may be moved in any order, and several blocks share
 * them; otherwise one block moves them. One block is also used if at most BLOCK_THREADS_MAX threads are
 * needed, because a single block can write the mark without counting the blocks that have ended.
 */
static int launch(struct kwhy_transfer *transfer, const struct kwhy_transfer_slot *slot,
	const struct kwhy_gpu_kernel *kernel, bool wide, void **arguments)
{
	uint64_t threads = (uint64_t)slot->count * threads_for(slot->bytes / slot->count),
		 blocks = (threads + BLOCK_THREADS - 1) / BLOCK_THREADS;
	bool alone = !wide || threads <= BLOCK_THREADS_MAX;
	struct kwhy_gpu_launch launch = {
		.kernel = kernel,
		.blocks = alone		      ? 1
			: blocks < BLOCKS_MAX ? (uint32_t)blocks
					      : BLOCKS_MAX,
		.threads_per_block = wide && alone ? (uint32_t)threads : BLOCK_THREADS,
		.arguments = arguments,
		.stream = transfer->stream,
	};

	transfer->counts.driver_calls++;
	return kwhy_transfer_check(transfer, transfer->ops->launch(transfer->gpu, &launch, &transfer->error));
}

/*
 * Launches the kernel that moves a slot's pieces. `end`: device address at which the list ends and the data
 * begins. `delta`: added to those addresses of pieces that lie in the slot. `ends`: whether this kernel is
 * the slot's last work.
 */
static int launch_move(struct kwhy_transfer *transfer, const struct kwhy_transfer_slot *slot, uint64_t end,
	uint64_t delta, bool in_order, bool ends)
{
	uint32_t count = slot->count, threads = threads_for(slot->bytes / count);
	struct kwhy_transfer_mark mark = kwhy_transfer_mark_at(transfer, transfer->sent + ends);
	void *arguments[] = {&end, &count, &delta, &threads, &mark};

	return launch(
		transfer, slot, in_order ? transfer->move_in_order : transfer->move, !in_order, arguments);
}

/*
 * Offset in packet.bytes at which a list of `count` pieces ends and the data begins, a multiple of 16 bytes.
 */
static uint32_t packet_end(uint32_t count)
{
	return (uint32_t)((count * sizeof(struct kwhy_transfer_piece) + VECTOR_BYTES - 1) / VECTOR_BYTES *
		VECTOR_BYTES);
}

/*
 * Bytes of the slot's data that the packet contains: all data of puts; none for gets, whose data is written
 * to the slot later.
 */
static uint64_t packed_along(const struct kwhy_transfer_slot *slot)
{
	return slot->deliveries ? 0 : slot->staged;
}

static int send_inline(struct kwhy_transfer *transfer, const struct kwhy_transfer_slot *slot, bool in_order)
{
	uint64_t list_bytes = slot->count * sizeof(struct kwhy_transfer_piece);
	struct kwhy_transfer_packet *packet = &transfer->packet;
	uint64_t bytes = offsetof(struct kwhy_transfer_packet, bytes) + packet_end(slot->count) +
		packed_along(slot);
	void *arguments[] = {packet};

	packet->mark = kwhy_transfer_mark_at(transfer, transfer->sent + 1);
	packet->base = slot->deliveries ? 0 : slot->mapped;
	packet->count = slot->count;
	packet->threads = threads_for(slot->bytes / slot->count);
	packet->in_order = in_order;
	packet->end = packet_end(slot->count);
	memcpy((char *)packet->bytes + packet->end - list_bytes, slot->host - list_bytes,
		list_bytes + packed_along(slot));
	transfer->counts.inlined++;
	return launch(transfer, slot,
		bytes <= KWHY_TRANSFER_PACKET_SHORT_BYTES ? transfer->move_short_packet
							  : transfer->move_packet,
		!in_order, arguments);
}

static int send_mapped(struct kwhy_transfer *transfer, const struct kwhy_transfer_slot *slot, bool in_order)
{
	transfer->counts.mapped++;
	return launch_move(transfer, slot, slot->mapped, 0, in_order, true);
}

/*
 * Sends list and data of puts to slot->staging on the device by one copy. A kernel then moves the pieces from
 * there to their destinations.
 */
static int put_packed(struct kwhy_transfer *transfer, const struct kwhy_transfer_slot *slot, bool in_order)
{
	uint64_t list_bytes = slot->count * sizeof(struct kwhy_transfer_piece);
	struct kwhy_gpu_copy whole = {
		.to = slot->staging - list_bytes,
		.from = kwhy_gpu_address(slot->host) - list_bytes,
		.bytes = list_bytes + slot->staged,
	};
	int code = copy(transfer, &whole);

	return code
		? code
		: launch_move(transfer, slot, slot->staging, slot->staging - slot->mapped, in_order, true);
}

static int get_packed(struct kwhy_transfer *transfer, const struct kwhy_transfer_slot *slot, bool in_order)
{
	struct kwhy_gpu_copy whole = {
		.to = kwhy_gpu_address(slot->host), .from = slot->staging, .bytes = slot->staged};
	int code = launch_move(transfer, slot, slot->mapped, slot->staging - slot->mapped, in_order, false);

	return code ? code : copy(transfer, &whole);
}

static int send_packed(struct kwhy_transfer *transfer, const struct kwhy_transfer_slot *slot, bool in_order)
{
	transfer->counts.packed++;
	return slot->deliveries ? get_packed(transfer, slot, in_order) : put_packed(transfer, slot, in_order);
}

static int (*const ways[KWHY_TRANSFER_METHOD_COUNT])(
	struct kwhy_transfer *transfer, const struct kwhy_transfer_slot *slot, bool in_order) = {
	[KWHY_TRANSFER_METHOD_PLAIN] = send_plain,
	[KWHY_TRANSFER_METHOD_PACKED] = send_packed,
	[KWHY_TRANSFER_METHOD_MAPPED] = send_mapped,
	[KWHY_TRANSFER_METHOD_BATCH] = send_batch,
	[KWHY_TRANSFER_METHOD_INLINE] = send_inline,
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
		.inlined = packet_end(slot->count) + packed_along(slot),
		.inlined_most = transfer->move_packet ? sizeof(transfer->packet.bytes) : 0,
	};
}

/*
 * Whether a slot's last work is a kernel. If so, the mark shows that the slot has run; otherwise its event
 * does, which issue() records.
 */
static bool ends_by_kernel(const struct kwhy_transfer_slot *slot, enum kwhy_transfer_method way)
{
	return way == KWHY_TRANSFER_METHOD_MAPPED || way == KWHY_TRANSFER_METHOD_INLINE ||
		(way == KWHY_TRANSFER_METHOD_PACKED && !slot->deliveries);
}

static int issue(struct kwhy_transfer *transfer, struct kwhy_transfer_slot *slot,
	const struct kwhy_transfer_case *at_hand, enum kwhy_transfer_method way)
{
	int code = kwhy_transfer_enter(transfer);

	slot->marked = ends_by_kernel(slot, way);
	if (!code)
		code = ways[way](transfer, slot, at_hand->overlapping);
	if (code || slot->marked)
		return code;
	transfer->counts.driver_calls++;
	return kwhy_transfer_check(transfer,
		transfer->ops->event_record(transfer->gpu, slot->event, transfer->stream, &transfer->error));
}

int kwhy_transfer_send(struct kwhy_transfer *transfer, struct kwhy_transfer_ring *ring)
{
	struct kwhy_transfer_node_ring *node_ring = ring->open;
	struct kwhy_transfer_slot *slot = node_ring ? &node_ring->slots[node_ring->at] : NULL;
	struct kwhy_transfer_case at_hand;
	enum kwhy_transfer_method way;
	int code;

	if (!slot || slot->count == 0)
		return KWHY_TRANSFER_OK;
	at_hand = case_of(transfer, ring);
	way = kwhy_transfer_choose(&transfer->options.limits, &at_hand);
	code = issue(transfer, slot, &at_hand, way);
	if (code)
		return code;
	slot->number = ++transfer->sent;
	ring->open = NULL;
	if (way == KWHY_TRANSFER_METHOD_INLINE && !slot->deliveries) {
		kwhy_transfer_slot_clear(
			slot); /* the launch has copied the whole argument, so the slot is free again */
		return KWHY_TRANSFER_OK;
	}
	slot->state = KWHY_TRANSFER_SENT;
	node_ring->at = (node_ring->at + 1) % ring->count;
	node_ring->under_way++;
	return KWHY_TRANSFER_OK;
}
