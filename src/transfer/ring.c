/* SPDX-License-Identifier: Apache-2.0 */
/* The page-locked slab, its double on the device, and the slots they are cut into. */
#include "transfer/engine.h"

#include <stdlib.h>

enum { ALIGNMENT = 256 }; /* of data: vectors, and what copies like */

static uint64_t rounded_up(uint64_t bytes)
{
	return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static uint64_t list_bytes(const struct kwhy_transfer *transfer)
{
	return rounded_up(transfer->options.pieces * sizeof(struct kwhy_transfer_piece));
}

/* Of a slot with its list. */
static uint64_t stride(const struct kwhy_transfer *transfer)
{
	return list_bytes(transfer) + rounded_up(transfer->options.slot_bytes);
}

static enum kwhy_status slot_init(struct kwhy_transfer *transfer, struct kwhy_transfer_slot *slot,
	enum kwhy_transfer_direction direction, uint64_t offset, struct kwhy_error *error)
{
	slot->host = (char *)transfer->slab.memory + offset;
	slot->mapped = transfer->slab.address + offset;
	slot->staging = transfer->staging + offset;
	if (direction == KWHY_TRANSFER_GET) {
		slot->deliveries = calloc(transfer->options.pieces, sizeof(*slot->deliveries));
		if (!slot->deliveries)
			return kwhy_fail_memory(error, "a slot of the transfer engine");
	}
	return transfer->ops->event_new(transfer->gpu, false, &slot->event, error);
}

static enum kwhy_status ring_new(
	struct kwhy_transfer *transfer, enum kwhy_transfer_direction direction, struct kwhy_error *error)
{
	struct kwhy_transfer_ring *ring = &transfer->rings[direction];
	uint32_t count = transfer->options.slots;
	enum kwhy_status status = KWHY_OK;

	ring->direction = direction;
	ring->slots = calloc(count, sizeof(*ring->slots));
	if (!ring->slots)
		return kwhy_fail_memory(error, "the ring of the transfer engine");
	ring->count = count;
	for (uint32_t i = 0; i < count && !status; i++)
		status = slot_init(transfer, &ring->slots[i], direction,
			((uint64_t)direction * count + i) * stride(transfer) + list_bytes(transfer), error);
	return status;
}

static enum kwhy_status slab_new(struct kwhy_transfer *transfer, struct kwhy_error *error)
{
	uint64_t bytes = (uint64_t)KWHY_TRANSFER_DIRECTION_COUNT * transfer->options.slots * stride(transfer);
	enum kwhy_status status = transfer->ops->host_new(
		transfer->gpu, KWHY_GPU_HOST_PINNED, bytes, transfer->node, &transfer->slab, error);

	if (!status && !transfer->slab.address)
		status = kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%s does not reach page-locked host memory, which the transfer engine needs; use "
			"another GPU",
			transfer->gpu->facts.name);
	if (!status)
		status = transfer->ops->memory_new(transfer->gpu, bytes, &transfer->staging, error);
	return status;
}

enum kwhy_status kwhy_transfer_rings_new(struct kwhy_transfer *transfer, struct kwhy_error *error)
{
	uint32_t pieces = transfer->options.pieces;
	enum kwhy_status status = slab_new(transfer, error);

	for (int i = 0; i < KWHY_TRANSFER_DIRECTION_COUNT && !status; i++)
		status = ring_new(transfer, (enum kwhy_transfer_direction)i, error);
	if (status)
		return status;
	transfer->copies = calloc(pieces, sizeof(*transfer->copies));
	transfer->extents = calloc(pieces, sizeof(*transfer->extents));
	if (!transfer->copies || !transfer->extents)
		return kwhy_fail_memory(error, "the lists of the transfer engine");
	return KWHY_OK;
}

void kwhy_transfer_rings_free(struct kwhy_transfer *transfer)
{
	for (int i = 0; i < KWHY_TRANSFER_DIRECTION_COUNT; i++) {
		struct kwhy_transfer_ring *ring = &transfer->rings[i];

		for (uint32_t k = 0; k < ring->count; k++) {
			transfer->ops->event_free(transfer->gpu, ring->slots[k].event);
			free(ring->slots[k].deliveries);
		}
		free(ring->slots);
	}
	free(transfer->copies);
	free(transfer->extents);
	transfer->ops->memory_free(transfer->gpu, transfer->staging);
	transfer->ops->host_free(transfer->gpu, &transfer->slab);
}

/* It has run: what it fetched is put in place, and it is free. */
static void release(struct kwhy_transfer *transfer, struct kwhy_transfer_slot *slot)
{
	if (transfer->reached < slot->number)
		transfer->reached = slot->number;
	if (slot->deliveries)
		kwhy_transfer_slot_deliver(slot);
	kwhy_transfer_slot_clear(slot);
}

/* Whether a sent slot has run, without waiting. */
static int has_run(struct kwhy_transfer *transfer, const struct kwhy_transfer_slot *slot, bool *out)
{
	int code;

	*out = slot->number <= transfer->reached;
	if (*out)
		return KWHY_TRANSFER_OK;
	code = kwhy_transfer_enter(transfer);
	if (code)
		return code;
	return kwhy_transfer_check(
		transfer, transfer->ops->event_reached(transfer->gpu, slot->event, out, &transfer->error));
}

/* Without asking before: the driver answers at once for what has run. */
static int wait_for(struct kwhy_transfer *transfer, const struct kwhy_transfer_slot *slot)
{
	int code;

	if (slot->number <= transfer->reached)
		return KWHY_TRANSFER_OK;
	code = kwhy_transfer_enter(transfer);
	if (code)
		return code;
	transfer->counts.waits++;
	return kwhy_transfer_check(
		transfer, transfer->ops->event_synchronize(transfer->gpu, slot->event, &transfer->error));
}

/* Makes room in the slot whose turn it is. */
static int reclaim(struct kwhy_transfer *transfer, struct kwhy_transfer_slot *slot, unsigned cancels)
{
	bool reached = true;
	int code = transfer->options.refuse_full ? has_run(transfer, slot, &reached)
						 : wait_for(transfer, slot);

	if (code)
		return code;
	if (!reached)
		return kwhy_transfer_fail(transfer, KWHY_TRANSFER_FULL,
			"the ring of %u slots is full; wait for an earlier flush, or open the engine with "
			"more slots",
			transfer->options.slots);
	release(transfer, slot);
	if (atomic_load(&transfer->cancels) != cancels)
		return kwhy_transfer_fail(
			transfer, KWHY_TRANSFER_CANCELLED, "cancelled while the ring was full");
	return KWHY_TRANSFER_OK;
}

int kwhy_transfer_slot_open(struct kwhy_transfer *transfer, struct kwhy_transfer_ring *ring, unsigned cancels,
	struct kwhy_transfer_slot **out)
{
	struct kwhy_transfer_slot *slot = &ring->slots[ring->at];
	int code = slot->state == KWHY_TRANSFER_SENT ? reclaim(transfer, slot, cancels) : KWHY_TRANSFER_OK;

	if (code)
		return code;
	slot->state = KWHY_TRANSFER_OPEN;
	*out = slot;
	return KWHY_TRANSFER_OK;
}

/* Of a piece, what a slot takes at least, wherever it is aligned. */
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

int kwhy_transfer_has_room(
	struct kwhy_transfer *transfer, struct kwhy_transfer_ring *ring, uint64_t bytes, bool *out)
{
	for (uint32_t i = 0; i < ring->count && bytes > 0; i++) {
		const struct kwhy_transfer_slot *slot = &ring->slots[(ring->at + i) % ring->count];
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

/* The last one sent of tickets up to this one; NULL: none is under way. */
static const struct kwhy_transfer_slot *last_sent(const struct kwhy_transfer *transfer, uint64_t ticket)
{
	const struct kwhy_transfer_slot *last = NULL;

	for (int i = 0; i < KWHY_TRANSFER_DIRECTION_COUNT; i++)
		for (uint32_t k = 0; k < transfer->rings[i].count; k++) {
			const struct kwhy_transfer_slot *slot = &transfer->rings[i].slots[k];

			if (slot->state == KWHY_TRANSFER_SENT && slot->ticket <= ticket &&
				(!last || slot->number > last->number))
				last = slot;
		}
	return last;
}

/* What has run, oldest first: of gets to the same place the later one stays. */
static void release_reached(struct kwhy_transfer *transfer, struct kwhy_transfer_ring *ring)
{
	for (uint32_t i = 0; i < ring->count; i++) {
		struct kwhy_transfer_slot *slot = &ring->slots[(ring->at + i) % ring->count];

		if (slot->state == KWHY_TRANSFER_SENT && slot->number <= transfer->reached)
			release(transfer, slot);
	}
}

int kwhy_transfer_reach(struct kwhy_transfer *transfer, uint64_t ticket)
{
	const struct kwhy_transfer_slot *last = last_sent(transfer, ticket);
	int code = last ? wait_for(transfer, last) : KWHY_TRANSFER_OK;

	if (code || !last)
		return code;
	if (transfer->reached < last->number)
		transfer->reached = last->number;
	for (int i = 0; i < KWHY_TRANSFER_DIRECTION_COUNT; i++)
		release_reached(transfer, &transfer->rings[i]);
	return KWHY_TRANSFER_OK;
}
