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

/* A piece in the form that kernels read; kernels/move.cu has the same struct. */
struct kwhy_transfer_piece {
	/* device addresses; an end that is in the slot has its address in the mapped memory */
	uint64_t to, from;
	uint32_t bytes;
	/*
	 * bits of KWHY_TRANSFER_FROM_MOVES and KWHY_TRANSFER_TO_MOVES: the addresses to which kernels add
	 * `delta` if the data was copied to the device
	 */
	uint32_t moves;
};

enum { KWHY_TRANSFER_FROM_MOVES = 1, KWHY_TRANSFER_TO_MOVES = 2 };

/* Where a fetched piece is delivered in host memory. bytes 0: the device wrote the piece there itself. */
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
	/* mapped: address of the data for kernels; staging: address of its counterpart on the device */
	uint64_t mapped, staging;
	struct kwhy_gpu_event *event;
	bool marked; /* whether the mark, and not the event, shows that the slot has run */
	struct kwhy_transfer_delivery *deliveries; /* for gets only: one for each piece */
	enum kwhy_transfer_slot_state state;
	uint64_t number; /* number of the slot, in the order of sending */
	uint32_t count;	 /* number of pieces */
	uint64_t staged; /* bytes of data in the slot, including gaps for alignment */
	uint64_t bytes;	 /* bytes of all pieces, including those whose data is elsewhere */
	struct kwhy_transfer_extent
		written; /* for puts: the range from the lowest to the highest address that they write */
	/* the puts came in neither rising nor falling order of addresses, so some may overlap */
	bool unordered;
};

/*
 * Offset in the slot for the data of a piece whose other end is at device address `beside`. Both have the
 * same alignment to 16 bytes, so that vector accesses can move the data.
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
 * A slot is sent when its pieces have this many bytes in total, in the slot or elsewhere. Moving them takes
 * 80 us on a PCIe link of 50 GB/s; meanwhile further pieces are gathered.
 */
enum { KWHY_TRANSFER_SLOT_ENOUGH_BYTES = 4 << 20 };

/*
 * Returns how many of a piece's `bytes` bytes go into a free space of `space` bytes; 0: the space is too
 * small to cut the piece.
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

/* Extends the range that the slot's puts write. It is called in addition to kwhy_transfer_slot_add(). */
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

/* Copies fetched pieces from the slot to their destinations, in the order of the calls. */
void kwhy_transfer_slot_deliver(const struct kwhy_transfer_slot *slot);

#endif
