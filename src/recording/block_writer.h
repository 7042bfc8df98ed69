/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORDING_BLOCK_WRITER_H
#define KWHY_RECORDING_BLOCK_WRITER_H

#include "recording/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Gathers records by kind in memory that the caller provides. It appends the records of a kind to the file,
 * as a block, when the memory of that kind is full; on a flush it does so for each kind. It runs inside other
 * people's programs, so it allocates nothing, takes no lock, and makes one write and four other system calls
 * for each block. Only one thread at a time may use it.
 *
 * The first failed write is final: from then on records are only counted as lost, so that the earlier blocks
 * stay readable. The failure is EBADF if the descriptor refers to another file, because the program has
 * closed it and opened a file of its own; it is EFBIG at the process's limit on file sizes, and the program
 * then gets no SIGXFSZ.
 */
struct kwhy_block_writer {
	int fd; /* opened by the caller for appending */
	dev_t device;
	ino_t inode; /* device, inode: the file for which the writer was made */
	uint64_t writer, sequence;
	uint64_t records, lost_records;
	uint64_t written_bytes, limit_bytes; /* limit_bytes 0: no limit */
	int failure;			     /* errno of the first failed write; 0: no write failed */
	bool full; /* a block would have exceeded limit_bytes; later records are lost */
	/* For each of the KWHY_WIRE_KIND_COUNT kinds: space for a header and for share_bytes of records. */
	unsigned char *memory;
	uint32_t share_bytes;
	uint32_t used_bytes[KWHY_WIRE_KIND_COUNT], counts[KWHY_WIRE_KIND_COUNT];
	/*
	 * Compresses a payload into at most `space` bytes at `packed` and returns their number; 0: it does
	 * not fit. NULL instead of a function: payloads are stored uncompressed.
	 */
	size_t (*pack)(void *context, void *packed, size_t space, const void *payload, size_t length);
	void *pack_context;
	unsigned char *packed; /* the buffer `packed` of pack(), of share_bytes */
};

/* Size of the memory that kwhy_block_writer_init() needs, in bytes. */
#define KWHY_BLOCK_WRITER_BYTES(share_bytes) \
	((size_t)KWHY_WIRE_KIND_COUNT * ((share_bytes) + sizeof(struct kwhy_wire_header)))

/*
 * share_bytes is the space for the records of each kind: a multiple of 8, from 4 KiB to
 * KWHY_WIRE_BLOCK_LIMIT_BYTES. A name that does not fit is cut. `memory` has
 * KWHY_BLOCK_WRITER_BYTES(share_bytes).
 */
void kwhy_block_writer_init(
	struct kwhy_block_writer *writer, int fd, uint64_t writer_id, void *memory, uint32_t share_bytes);

/*
 * Returns zeroed space for one record of a kind, which the caller fills before the next call. NULL: the
 * record was counted as lost, because a write failed or the size limit is reached.
 */
void *kwhy_block_writer_add(struct kwhy_block_writer *writer, enum kwhy_wire_kind kind);

void kwhy_block_writer_add_name(
	struct kwhy_block_writer *writer, uint32_t id, const char *bytes, size_t length);

/*
 * Writes all gathered records. Names are written first, so that the names of the other records are in a file
 * that is truncated.
 */
void kwhy_block_writer_flush(struct kwhy_block_writer *writer);

/*
 * Flushes, writes the number of lost records, if any, and an END record with the time now_mono_ns. The file
 * stays open.
 */
void kwhy_block_writer_finish(struct kwhy_block_writer *writer, int64_t now_mono_ns);

/* Closes the file, unless the descriptor now refers to another file. */
void kwhy_block_writer_close(struct kwhy_block_writer *writer);

#endif
