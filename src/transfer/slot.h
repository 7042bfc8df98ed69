/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_SLOT_H
#define KWHY_TRANSFER_SLOT_H

#include "gpu/gpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A slot of the ring: pieces and their data beside each other, so that one copy takes both. Their list grows
 * down from the data's beginning: piece i is pieces_end[-1 - i].
 *
 *	| ... piece 2 | piece 1 | piece 0 | data ...
 *	                                  ^ pieces_end, host, mapped, staging
 */

enum kwhy_transfer_operation { KWHY_TRANSFER_PUT, KWHY_TRANSFER_GET, KWHY_TRANSFER_OPERATION_COUNT };

/* What the kernel reads; kernels/move.cu has the same. */
struct kwhy_transfer_piece {
	uint64_t to, from; /* as the device has them; of the slot's own data: in its mapped memory */
	uint32_t bytes;
	uint32_t moves; /* which of the two lies `delta` further where the data was copied to the device */
};

enum { KWHY_TRANSFER_FROM_MOVES = 1, KWHY_TRANSFER_TO_MOVES = 2 };

/* Where a fetched piece goes on the host; bytes 0: it went there by itself. */
struct kwhy_transfer_delivery {
	void *to;
	uint64_t offset;
	size_t bytes;
};

/* From where to where a piece writes. */
struct kwhy_transfer_extent {
	uint64_t start, end;
};

enum kwhy_transfer_slot_state { KWHY_TRANSFER_EMPTY, KWHY_TRANSFER_OPEN, KWHY_TRANSFER_SENT };

struct kwhy_transfer_slot {
	char *host;		  /* the data, page-locked */
	uint64_t mapped, staging; /* the same as kernels reach it, and its double on the device */
	struct kwhy_gpu_event *event;
	bool marked;				   /* a kernel's mark tells that it has run, not the event */
	struct kwhy_transfer_delivery *deliveries; /* of gets, one a piece */
	enum kwhy_transfer_slot_state state;
	uint64_t number;		     /* of its sending */
	uint32_t count;			     /* pieces */
	uint64_t staged;		     /* bytes of data, with what alignment needs */
	uint64_t bytes;			     /* of all pieces, also of those that lie elsewhere */
	struct kwhy_transfer_extent written; /* puts: what all pieces span */
	bool unordered; /* puts came neither upwards nor downwards, so some may overlap */
};

/* Where data of a piece at device address `beside` begins, aligned alike, so that vectors can move it. */
static inline uint64_t kwhy_transfer_slot_reserve(const struct kwhy_transfer_slot *slot, uint64_t beside)
{
	return slot->staged + ((beside - slot->staged) & 15);
}

/* A slot may lose this many bytes to alignment and to where pieces are cut. */
enum { KWHY_TRANSFER_SLOT_LOSS = 15 + 63, KWHY_TRANSFER_SLOT_BYTES_MIN = 8192 };

/*
 * So much keeps a PCIe link of 50 GB/s busy for 80 us, in which more can be collected: a slot is sent then,
 * however much of it lies elsewhere.
 */
enum { KWHY_TRANSFER_SLOT_ENOUGH_BYTES = 4 << 20 };

/* Of a piece, what goes where there is `room`; 0: nothing, it is not worth cutting. */
static inline uint64_t kwhy_transfer_part_bytes(uint64_t space, uint64_t bytes)
{
	const uint64_t least = 4096, unit = 64;

	if (space >= bytes)
		return bytes;
	return space >= least ? space / unit * unit : 0;
}

void kwhy_transfer_slot_clear(struct kwhy_transfer_slot *slot);

/* There is space. `data_end`: where the slot's data ends with this piece; 0: it lies elsewhere. Inline, as
 * the next: a put of a small piece takes no longer than a few calls. */
static inline void kwhy_transfer_slot_add(
	struct kwhy_transfer_slot *slot, const struct kwhy_transfer_piece *piece, uint64_t data_end)
{
	struct kwhy_transfer_piece *pieces_end = (struct kwhy_transfer_piece *)(void *)slot->host;

	slot->count++;
	pieces_end[-(ptrdiff_t)slot->count] = *piece;
	slot->bytes += piece->bytes;
	if (data_end > 0)
		slot->staged = data_end;
}

/* Notes where a put writes; beside kwhy_transfer_slot_add(). */
static inline void kwhy_transfer_slot_write(struct kwhy_transfer_slot *slot, uint64_t to, uint64_t bytes)
{
	struct kwhy_transfer_extent *written = &slot->written;

	if (written->end == 0)
		*written = (struct kwhy_transfer_extent){to, to};
	if (to < written->end && to + bytes > written->start)
		slot->unordered = true;
	if (to < written->start)
		written->start = to;
	if (to + bytes > written->end)
		written->end = to + bytes;
}

/* Whether two of its puts write to the same byte. `extents` is room for as many as there are pieces. */
bool kwhy_transfer_slot_overlaps(const struct kwhy_transfer_slot *slot, struct kwhy_transfer_extent *extents);

/* Puts what was fetched in place, in order. */
void kwhy_transfer_slot_deliver(const struct kwhy_transfer_slot *slot);

#endif
