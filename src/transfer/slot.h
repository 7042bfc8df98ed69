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

/* A piece as the kernel reads it; kernels/move.cu has the same struct. */
struct kwhy_transfer_piece {
	uint64_t to, from; /* device addresses; for the slot's own data those of its mapped memory */
	uint32_t bytes;
	uint32_t moves; /* which address the kernel shifts by `delta` if the data was copied to the device */
};

enum { KWHY_TRANSFER_FROM_MOVES = 1, KWHY_TRANSFER_TO_MOVES = 2 };

/* Where a fetched piece is delivered on the host; bytes 0: the device wrote it there itself. */
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
	char *host;		  /* the data, in page-locked memory */
	uint64_t mapped, staging; /* its address for kernels; its counterpart on the device */
	struct kwhy_gpu_event *event;
	bool marked; /* the slot's end shows in a kernel's mark, not in the event */
	struct kwhy_transfer_delivery *deliveries; /* one a piece, for gets only */
	enum kwhy_transfer_slot_state state;
	uint64_t number;		     /* sequence number in the order of sending */
	uint32_t count;			     /* number of pieces */
	uint64_t staged;		     /* bytes of data, alignment included */
	uint64_t bytes;			     /* bytes of all pieces, also of those outside the slot */
	struct kwhy_transfer_extent written; /* puts: the address range of all pieces */
	bool unordered; /* puts were in neither rising nor falling order, so some may overlap */
};

/*
 * Offset for the data of a piece at device address `beside`, with the same alignment so that vector accesses
 * can move it.
 */
static inline uint64_t kwhy_transfer_slot_reserve(const struct kwhy_transfer_slot *slot, uint64_t beside)
{
	return slot->staged + ((beside - slot->staged) & 15);
}

/* Bytes of a slot that alignment and the cutting of pieces may leave unused. */
enum { KWHY_TRANSFER_SLOT_LOSS = 15 + 63, KWHY_TRANSFER_SLOT_BYTES_MIN = 8192 };

/*
 * A slot is sent once its pieces have this many bytes, in the slot or elsewhere. That keeps a PCIe link of 50
 * GB/s busy for 80 us, during which further pieces are collected.
 */
enum { KWHY_TRANSFER_SLOT_ENOUGH_BYTES = 4 << 20 };

/* How many of a piece's `bytes` go into `space` bytes; 0: cutting it is not worthwhile. */
static inline uint64_t kwhy_transfer_part_bytes(uint64_t space, uint64_t bytes)
{
	const uint64_t least = 4096, unit = 64;

	if (space >= bytes)
		return bytes;
	return space >= least ? space / unit * unit : 0;
}

void kwhy_transfer_slot_clear(struct kwhy_transfer_slot *slot);

/*
 * Adds a piece; the caller has checked that there is space. `data_end`: where the slot's data ends with this
 * piece; 0: the data lies elsewhere. This function and the next are inline, since a small put takes no longer
 * than a few calls.
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

/* Records the range that a put writes; called in addition to kwhy_transfer_slot_add(). */
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
 * Whether two of the slot's puts write the same byte. `extents` has space for as many entries as there are
 * pieces.
 */
bool kwhy_transfer_slot_overlaps(const struct kwhy_transfer_slot *slot, struct kwhy_transfer_extent *extents);

/* Copies fetched pieces to their destinations, in order. */
void kwhy_transfer_slot_deliver(const struct kwhy_transfer_slot *slot);

#endif
