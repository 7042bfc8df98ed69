/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rings of slots: their memory (a page-locked slab for each NUMA node and its counterpart on the device),
 * opening slots, and waiting for them.
 */
#include "transfer/engine.h"

#include <stdlib.h>

enum { ALIGNMENT = 256 }; /* alignment of a slot's data in bytes, as vector accesses and copies need it */

static uint64_t rounded_up(uint64_t bytes)
{
	return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static uint64_t list_bytes(const struct kwhy_transfer *transfer)
{
	return rounded_up(transfer->options.pieces * sizeof(struct kwhy_transfer_piece));
}

/* Distance in bytes from a slot's list to that of the next slot: the bytes of a list and of a slot's data. */
static uint64_t stride(const struct kwhy_transfer *transfer)
{
	return list_bytes(transfer) + rounded_up(transfer->options.slot_bytes);
}

static enum kwhy_status slot_init(struct kwhy_transfer *transfer, struct kwhy_transfer_slot *slot,
	enum kwhy_transfer_operation direction, uint32_t node, uint64_t offset, struct kwhy_error *error)
{
	slot->host = (char *)transfer->slabs[node].memory + offset;
	slot->mapped = transfer->slabs[node].address + offset;
	slot->staging = transfer->staging[node] + offset;
	if (direction == KWHY_TRANSFER_GET) {
		slot->deliveries = calloc(transfer->options.pieces, sizeof(*slot->deliveries));
		if (!slot->deliveries)
			return kwhy_fail_memory(error, "a slot of the transfer engine");
	}
	return transfer->ops->event_new(transfer->gpu, false, &slot->event, error);
}

static enum kwhy_status node_ring_new(struct kwhy_transfer *transfer, struct kwhy_transfer_ring *ring,
	uint32_t node, struct kwhy_error *error)
{
	struct kwhy_transfer_node_ring *node_ring = &ring->node_rings[node];
	enum kwhy_status status = KWHY_OK;

	node_ring->slots = calloc(ring->count, sizeof(*node_ring->slots));
	if (!node_ring->slots)
		return kwhy_fail_memory(error, "the ring of the transfer engine");
	for (uint32_t i = 0; i < ring->count && !status; i++)
		status = slot_init(transfer, &node_ring->slots[i], ring->direction, node,
			((uint64_t)ring->direction * ring->count + i) * stride(transfer) +
				list_bytes(transfer),
			error);
	return status;
}

static enum kwhy_status slab_new(struct kwhy_transfer *transfer, uint32_t node, struct kwhy_error *error)
{
	uint64_t bytes = (uint64_t)KWHY_TRANSFER_OPERATION_COUNT * transfer->options.slots * stride(transfer);
	struct kwhy_gpu_host *slab = &transfer->slabs[node];
	enum kwhy_status status = transfer->ops->host_new(
		transfer->gpu, KWHY_GPU_HOST_PINNED, bytes, transfer->nodes.node[node], slab, error);

	if (!status && !slab->address)
		status = kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%s does not reach page-locked host memory, which the transfer engine needs; use "
			"another GPU",
			transfer->gpu->facts.name);
	if (!status)
		status = transfer->ops->memory_new(transfer->gpu, bytes, &transfer->staging[node], error);
	return status;
}

static enum kwhy_status node_new(struct kwhy_transfer *transfer, uint32_t node, struct kwhy_error *error)
{
	enum kwhy_status status = slab_new(transfer, node, error);

	for (int i = 0; i < KWHY_TRANSFER_OPERATION_COUNT && !status; i++)
		status = node_ring_new(transfer, &transfer->rings[i], node, error);
	return status;
}

enum kwhy_status kwhy_transfer_rings_new(struct kwhy_transfer *transfer, struct kwhy_error *error)
{
	uint32_t pieces = transfer->options.pieces;
	enum kwhy_status status = KWHY_OK;

	for (int i = 0; i < KWHY_TRANSFER_OPERATION_COUNT; i++) {
		transfer->rings[i].direction = (enum kwhy_transfer_operation)i;
		transfer->rings[i].count = transfer->options.slots;
	}
	for (uint32_t node = 0; node < transfer->nodes.count && !status; node++)
		status = node_new(transfer, node, error);
	if (status)
		return status;
	transfer->copies = calloc(pieces, sizeof(*transfer->copies));
	transfer->extents = calloc(pieces, sizeof(*transfer->extents));
	if (!transfer->copies || !transfer->extents)
		return kwhy_fail_memory(error, "the lists of the transfer engine");
	return KWHY_OK;
}

static void node_ring_free(
	struct kwhy_transfer *transfer, const struct kwhy_transfer_ring *ring, uint32_t node)
{
	struct kwhy_transfer_slot *slots = ring->node_rings[node].slots;

	for (uint32_t k = 0; slots && k < ring->count; k++) {
		transfer->ops->event_free(transfer->gpu, slots[k].event);
		free(slots[k].deliveries);
	}
	free(slots);
}

void kwhy_transfer_rings_free(struct kwhy_transfer *transfer)
{
	for (uint32_t node = 0; node < transfer->nodes.count; node++) {
		for (int i = 0; i < KWHY_TRANSFER_OPERATION_COUNT; i++)
			node_ring_free(transfer, &transfer->rings[i], node);
		transfer->ops->memory_free(transfer->gpu, transfer->staging[node]);
		transfer->ops->host_free(transfer->gpu, &transfer->slabs[node]);
	}
	free(transfer->copies);
	free(transfer->extents);
}

/*
 * Whether the slot with this number is known to have run; looks only at memory of the engine
 * (transfer->reached and the mark), and does not call the driver.
 */
static bool is_known_to_have_run(const struct kwhy_transfer *transfer, uint64_t number)
{
	return number <= transfer->reached || number <= kwhy_transfer_mark_read(transfer);
}

/* Gets whether a sent slot has run, without waiting; asks the driver if need be. */
static int has_run(struct kwhy_transfer *transfer, const struct kwhy_transfer_slot *slot, bool *out)
{
	int code;

	*out = is_known_to_have_run(transfer, slot->number);
	if (*out)
		return KWHY_TRANSFER_OK;
	if (slot->marked)
		return kwhy_transfer_mark_check(transfer);
	code = kwhy_transfer_enter(transfer);
	if (code)
		return code;
	return kwhy_transfer_check(
		transfer, transfer->ops->event_reached(transfer->gpu, slot->event, out, &transfer->error));
}

/*
 * Waits until a slot has run. It does not query the event first, because waiting for a completed event
 * returns immediately.
 */
static int wait_for(struct kwhy_transfer *transfer, const struct kwhy_transfer_slot *slot)
{
	int code;

	if (is_known_to_have_run(transfer, slot->number))
		return KWHY_TRANSFER_OK;
	transfer->counts.waits++;
	if (slot->marked)
		return kwhy_transfer_mark_wait(transfer, slot->number);
	code = kwhy_transfer_enter(transfer);
	if (code)
		return code;
	return kwhy_transfer_check(
		transfer, transfer->ops->event_synchronize(transfer->gpu, slot->event, &transfer->error));
}

/*
 * The oldest slot of a node's ring that was sent and not yet released (release_reached()); NULL: there is
 * none.
 */
static struct kwhy_transfer_slot *oldest_of(
	const struct kwhy_transfer_ring *ring, const struct kwhy_transfer_node_ring *node_ring)
{
	return node_ring->under_way
		? &node_ring->slots[(node_ring->at + ring->count - node_ring->under_way) % ring->count]
		: NULL;
}

/*
 * Of the direction's rings on all nodes, the one with the slot that was sent earliest of those not yet
 * released; NULL: there is no such slot.
 */
static struct kwhy_transfer_node_ring *first_sent(
	const struct kwhy_transfer *transfer, struct kwhy_transfer_ring *ring)
{
	struct kwhy_transfer_node_ring *first = NULL;

	for (uint32_t node = 0; node < transfer->nodes.count; node++) {
		struct kwhy_transfer_node_ring *node_ring = &ring->node_rings[node];

		if (node_ring->under_way &&
			(!first || oldest_of(ring, node_ring)->number < oldest_of(ring, first)->number))
			first = node_ring;
	}
	return first;
}

/*
 * Copies the pieces that gets fetched to their destinations for all slots that are known to have run
 * (transfer->reached), and empties these slots. It begins with the oldest, so that after two gets to the same
 * destination the data of the later one remains.
 */
static void release_reached(struct kwhy_transfer *transfer, struct kwhy_transfer_ring *ring)
{
	struct kwhy_transfer_node_ring *node_ring;

	while ((node_ring = first_sent(transfer, ring)) &&
		oldest_of(ring, node_ring)->number <= transfer->reached) {
		struct kwhy_transfer_slot *slot = oldest_of(ring, node_ring);

		if (slot->deliveries)
			kwhy_transfer_slot_deliver(slot);
		kwhy_transfer_slot_clear(slot);
		node_ring->under_way--;
	}
}

static uint32_t home_of(struct kwhy_transfer *transfer, struct kwhy_transfer_call *call)
{
	if (call->home == KWHY_TRANSFER_NO_HOME)
		call->home = transfer->nodes.of_thread(&transfer->nodes);
	return call->home;
}

/*
 * Finds a slot of a full ring that has run. It first queries the slot halfway between the oldest and the
 * newest: if that one has run, so have all before it, and one query frees half of the ring. Otherwise it
 * takes the oldest slot and waits for it or, if the options refuse to wait, only queries it. *out_reached:
 * whether the slot *out has run.
 */
static int find_run(struct kwhy_transfer *transfer, const struct kwhy_transfer_ring *ring,
	const struct kwhy_transfer_node_ring *node_ring, const struct kwhy_transfer_slot **out,
	bool *out_reached)
{
	int code;

	*out = &node_ring->slots[(node_ring->at + ring->count / 2) % ring->count];
	code = has_run(transfer, *out, out_reached);
	if (code || *out_reached)
		return code;
	*out = &node_ring->slots[node_ring->at];
	if (transfer->options.refuse_full)
		return has_run(transfer, *out, out_reached);
	*out_reached = true;
	return wait_for(transfer, *out);
}

/*
 * Empties the slot that is to be opened next, and all other slots that are found to have run.
 * KWHY_TRANSFER_FULL: that slot has not run, and the options forbid waiting. KWHY_TRANSFER_CANCELLED:
 * transfers were cancelled meanwhile.
 */
static int reclaim(struct kwhy_transfer *transfer, struct kwhy_transfer_ring *ring,
	const struct kwhy_transfer_node_ring *node_ring, const struct kwhy_transfer_call *call)
{
	const struct kwhy_transfer_slot *slot;
	bool reached;
	int code = find_run(transfer, ring, node_ring, &slot, &reached);

	if (code)
		return code;
	if (!reached)
		return kwhy_transfer_fail(transfer, KWHY_TRANSFER_FULL,
			"the ring of %u slots is full; wait for an earlier flush, or open the engine with "
			"more slots",
			transfer->options.slots);
	if (transfer->reached < slot->number)
		transfer->reached = slot->number;
	release_reached(transfer, ring);
	if (atomic_load(&transfer->cancels) != call->cancels)
		return kwhy_transfer_fail(
			transfer, KWHY_TRANSFER_CANCELLED, "cancelled while the ring was full");
	return KWHY_TRANSFER_OK;
}

int kwhy_transfer_slot_open(struct kwhy_transfer *transfer, struct kwhy_transfer_ring *ring,
	struct kwhy_transfer_call *call, struct kwhy_transfer_slot **out)
{
	struct kwhy_transfer_node_ring *node_ring = ring->open ? ring->open
							       : &ring->node_rings[home_of(transfer, call)];
	struct kwhy_transfer_slot *slot = &node_ring->slots[node_ring->at];
	int code = slot->state == KWHY_TRANSFER_SENT ? reclaim(transfer, ring, node_ring, call)
						     : KWHY_TRANSFER_OK;

	if (code)
		return code;
	slot->state = KWHY_TRANSFER_OPEN;
	ring->open = node_ring;
	*out = slot;
	return KWHY_TRANSFER_OK;
}

/*
 * How many of a piece's `bytes` bytes the slot can take at least, whatever the alignment of the piece; a slot
 * that is not open counts as empty.
 */
static uint64_t part_in(
	const struct kwhy_transfer *transfer, const struct kwhy_transfer_slot *slot, uint64_t bytes)
{
	bool open = slot->state == KWHY_TRANSFER_OPEN;
	uint64_t used = (open ? slot->staged : 0) + 15;

	if (used >= transfer->options.slot_bytes ||
		(open &&
			(slot->count == transfer->options.pieces ||
				slot->bytes >= KWHY_TRANSFER_SLOT_ENOUGH_BYTES)))
		return 0;
	return kwhy_transfer_part_bytes(transfer->options.slot_bytes - used, bytes);
}

int kwhy_transfer_has_space(struct kwhy_transfer *transfer, struct kwhy_transfer_ring *ring,
	struct kwhy_transfer_call *call, uint64_t bytes, bool *out)
{
	const struct kwhy_transfer_node_ring *home = &ring->node_rings[home_of(transfer, call)],
					     *open = ring->open;

	if (open)
		bytes -= part_in(transfer, &open->slots[open->at], bytes);
	for (uint32_t i = open == home; i < ring->count && bytes > 0; i++) {
		const struct kwhy_transfer_slot *slot = &home->slots[(home->at + i) % ring->count];
		bool reached = true;
		int code = slot->state == KWHY_TRANSFER_SENT ? has_run(transfer, slot, &reached)
							     : KWHY_TRANSFER_OK;

		if (code)
			return code;
		if (!reached)
			break;
		bytes -= part_in(transfer, slot, bytes);
	}
	*out = bytes == 0;
	return KWHY_TRANSFER_OK;
}

/*
 * Returns the number of slots that had been sent when the ticket was issued or, for a ticket that is no
 * longer remembered, when the oldest remembered one was. A ticket that was not issued yet stands for all
 * slots.
 */
static uint64_t sent_by(const struct kwhy_transfer *transfer, uint64_t ticket)
{
	uint64_t oldest = transfer->flushed < KWHY_TRANSFER_TICKETS_KEPT
		? 1
		: transfer->flushed - KWHY_TRANSFER_TICKETS_KEPT + 1;

	if (ticket > transfer->flushed)
		return transfer->sent;
	return transfer->sent_by[(ticket < oldest ? oldest : ticket) % KWHY_TRANSFER_TICKETS_KEPT];
}

/*
 * The slot of one direction that was sent with this number; NULL: no ring of the direction has it (any more).
 */
static const struct kwhy_transfer_slot *slot_of(
	const struct kwhy_transfer *transfer, const struct kwhy_transfer_ring *ring, uint64_t number)
{
	for (uint32_t node = 0; node < transfer->nodes.count; node++)
		for (uint32_t k = 0; k < ring->count; k++) {
			const struct kwhy_transfer_slot *slot = &ring->node_rings[node].slots[k];

			if (slot->state == KWHY_TRANSFER_SENT && slot->number == number)
				return slot;
		}
	return NULL;
}

/*
 * Waits until the slot with this number has run. A slot that was sent by the inline method was emptied at
 * once and is in no ring; the mark shows when it has run.
 */
static int wait_for_number(struct kwhy_transfer *transfer, uint64_t number)
{
	for (int i = 0; i < KWHY_TRANSFER_OPERATION_COUNT; i++) {
		const struct kwhy_transfer_slot *slot = slot_of(transfer, &transfer->rings[i], number);

		if (slot)
			return wait_for(transfer, slot);
	}
	transfer->counts.waits++;
	return kwhy_transfer_mark_wait(transfer, number);
}

int kwhy_transfer_reach(struct kwhy_transfer *transfer, uint64_t ticket)
{
	uint64_t number = sent_by(transfer, ticket);
	int code = is_known_to_have_run(transfer, number) ? KWHY_TRANSFER_OK
							  : wait_for_number(transfer, number);

	if (code)
		return code;
	if (transfer->reached < number)
		transfer->reached = number;
	for (int i = 0; i < KWHY_TRANSFER_OPERATION_COUNT; i++)
		release_reached(transfer, &transfer->rings[i]);
	return KWHY_TRANSFER_OK;
}
