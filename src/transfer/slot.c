/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer/slot.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct kwhy_transfer_piece) == 24, "kernels/move.cu has the same");

void kwhy_transfer_slot_clear(struct kwhy_transfer_slot *slot)
{
	slot->state = KWHY_TRANSFER_EMPTY;
	slot->count = 0;
	slot->staged = slot->bytes = 0;
	slot->written = (struct kwhy_transfer_extent){0};
	slot->unordered = false;
}

static struct kwhy_transfer_piece *pieces_end(const struct kwhy_transfer_slot *slot)
{
	return (struct kwhy_transfer_piece *)(void *)slot->host;
}

static int by_start(const void *a, const void *b)
{
	const struct kwhy_transfer_extent *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

bool kwhy_transfer_slot_overlaps(const struct kwhy_transfer_slot *slot, struct kwhy_transfer_extent *extents)
{
	const struct kwhy_transfer_piece *piece = pieces_end(slot) - slot->count;

	if (!slot->unordered)
		return false;
	for (uint32_t i = 0; i < slot->count; i++, piece++)
		extents[i] = (struct kwhy_transfer_extent){piece->to, piece->to + piece->bytes};
	qsort(extents, slot->count, sizeof(*extents), by_start);
	for (uint32_t i = 1; i < slot->count; i++)
		if (extents[i].start < extents[i - 1].end)
			return true;
	return false;
}

void kwhy_transfer_slot_deliver(const struct kwhy_transfer_slot *slot)
{
	for (uint32_t i = 0; i < slot->count; i++) {
		const struct kwhy_transfer_delivery *delivery = &slot->deliveries[i];

		if (delivery->bytes > 0)
			memcpy(delivery->to, slot->host + delivery->offset, delivery->bytes);
	}
}
