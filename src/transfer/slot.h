/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_SLOT_H
#define KWHY_TRANSFER_SLOT_H

#include "gpu/gpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A slot of the ring: its list of pieces directly precedes their data, so that one copy moves both. The list
 * grows down from the start of the data: piece i is pieces_end[-1 - i].
 *
 *	| ... piece 2 | piece 1 | piece 0 | data ...
 *	                                  ^ pieces_end, host, mapped, staging
 */

enum kwhy_transfer_operation { KWHY_TRANSFER_PUT, KWHY_TRANSFER_GET, KWHY_TRANSFER_OPERATION_COUNT };

/*
 * A piece, `bytes` bytes to move from `from` to `to`, in the form that kernels read; kernels/move.cu has the
 * same struct.
 */
struct kwhy_transfer_piece {
	/*
	 * addresses for kernels; an address in the slot's data is given as in the slot's page-locked memory
	 * (`mapped`)
	 */
	uint64_t to, from;
	uint32_t bytes;
	/*
	 * KWHY_TRANSFER_FROM_MOVES, KWHY_TRANSFER_TO_MOVES or 0: which of the two addresses lies in the
	 * slot's data. If that data is elsewhere when the kernel runs, such as at `staging`, the kernel adds
	 * the distance to that address.
	 */
	uint32_t moves;
};

enum { KWHY_TRANSFER_FROM_MOVES = 1, KWHY_TRANSFER_TO_MOVES = 2 };

/*
 * A piece of a get: its data is copied from `offset` in the slot to `to` once the slot has run. bytes 0:
 * nothing is copied, since the device wrote to the destination itself (page-locked memory).
 */
struct kwhy_transfer_delivery {
	void *to;
	uint64_t offset;
	size_t bytes;
};

/* The address range that a piece writes. */
struct kwhy_transfer_extent {
	uint64_t start, end;
};

enum kwhy_transfer_slot_state { KWHY_TRANSFER_EMPTY, KWHY_TRANSFER_OPEN, KWHY_TRANSFER_SENT };

struct kwhy_transfer_slot {
	char *host; /* the slot's data, in page-locked memory */
	/*
	 * mapped: address by which kernels access `host`; staging: device memory of the same size, used by
	 * the packed method
	 */
	uint64_t mapped, staging;
	struct kwhy_gpu_event *event;
	bool marked; /* whether the mark, and not the event, shows that the slot has run */
	struct kwhy_transfer_delivery *deliveries; /* one for each piece of gets; NULL in a slot for puts */
	enum kwhy_transfer_slot_state state;
	uint64_t number; /* number of the slot in the order of sending, from 1; valid once it was sent */
	uint32_t count;	 /* number of pieces */
	uint64_t staged; /* bytes of data in the slot, including gaps for alignment */
	uint64_t bytes;	 /* bytes of all pieces, including those whose data is elsewhere */
	struct kwhy_transfer_extent
		written; /* smallest address range that contains everything that the slot's puts write */
	/*
	 * whether a put wrote inside of the range `written` so far, so that some may overlap; false: none
	 * overlap
	 */
	bool unordered;
};

/*
 * Offset in the slot's data at which a further piece is placed. It is aligned modulo 16 bytes like the
 * piece's device address `beside`, so that the data can be moved by 16-byte accesses.
 */
static inline uint64_t kwhy_transfer_slot_reserve(const struct kwhy_transfer_slot *slot, uint64_t beside)
{
	return slot->staged + ((beside - slot->staged) & 15);
}

/*
 * KWHY_TRANSFER_SLOT_LOSS: bytes of a slot that may stay unused, 15 because of alignment and 63 because
 * pieces are cut at multiples of 64.
 */
enum { KWHY_TRANSFER_SLOT_LOSS = 15 + 63, KWHY_TRANSFER_SLOT_BYTES_MIN = 8192 };

/*
 * A slot is sent when its pieces have this many bytes in total, in the slot or elsewhere. 4 MiB take about 80
 * us on a PCIe link of 50 GB/s; meanwhile further pieces are gathered in the next slot.
 */
enum { KWHY_TRANSFER_SLOT_ENOUGH_BYTES = 4 << 20 };

/*
 * Returns how many of a piece's `bytes` bytes go into a free space of `space` bytes: all, or a multiple of 64
 * if the piece must be cut; 0: the space is below 4096 bytes, too small to cut the piece.
 */
static inline uint64_t kwhy_transfer_part_bytes(uint64_t space, uint64_t bytes)
{
	const uint64_t least = 4096, unit = 64;

	if (space >= bytes)
		return bytes;
	return space >= least ? space / unit * unit : 0;
}

void kwhy_transfer_slot_clear(struct kwhy_transfer_slot *slot);

/*
 * Adds a piece; the caller has checked that it fits. `data_end`: offset at which the slot's data ends with
 * this piece; 0: the piece's data is elsewhere. This function and the next are inline, because a small put
 * takes no longer than a few function calls.
 */
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

/*
 * Extends `written` by a put, and sets `unordered`. It is called for puts in addition to
 * kwhy_transfer_slot_add().
 */
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

/*
 * Whether any two puts of the slot write the same byte. `extents` must have space for one entry per piece.
 */
bool kwhy_transfer_slot_overlaps(const struct kwhy_transfer_slot *slot, struct kwhy_transfer_extent *extents);

/*
 * Copies fetched pieces from the slot to their destinations in host memory, in the order in which they were
 * added.
 */
void kwhy_transfer_slot_deliver(const struct kwhy_transfer_slot *slot);

#endif
