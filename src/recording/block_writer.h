/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORDING_BLOCK_WRITER_H
#define KWHY_RECORDING_BLOCK_WRITER_H

#include "recording/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Gathers records by kind in memory that the caller lends and appends a block whenever a kind's share is
 * full, or on flush. No allocation, no lock, one write and four small calls a block: for use inside other
 * people's programs. One thread at a time. The first failure of the file stays: from then on records are
 * counted as lost and nothing is written, so that what lies in the file stays readable. A descriptor that has
 * become another file's, because the program closed it and opened one of its own, is such a failure: EBADF;
 * so is a limit of the process on files, without its signal: EFBIG.
 */
struct kwhy_block_writer {
	int fd; /* opened for appending, by the caller */
	dev_t device;
	ino_t inode; /* of the file that it was opened for */
	uint64_t writer, sequence;
	uint64_t records, lost_records;
	uint64_t written_bytes, limit_bytes; /* limit 0: none */
	int failure;			     /* errno of the first failed write; 0: none */
	bool full;			     /* the limit is reached */
	unsigned char *memory;		     /* KWHY_WIRE_KIND_COUNT shares */
	uint32_t share_bytes;
	uint32_t used_bytes[KWHY_WIRE_KIND_COUNT], counts[KWHY_WIRE_KIND_COUNT];
	/* Packs a payload into `room` bytes and gives its length; 0: does not get smaller. NULL: stored
	 * plain. */
	size_t (*pack)(void *context, void *packed, size_t space, const void *payload, size_t length);
	void *pack_context;
	unsigned char *packed; /* share_bytes of room for it */
};

/* Bytes of memory that a writer with such shares needs (a header before each share). */
#define KWHY_BLOCK_WRITER_BYTES(share_bytes) \
	((size_t)KWHY_WIRE_KIND_COUNT * ((share_bytes) + sizeof(struct kwhy_wire_header)))

/* share_bytes: a multiple of 8, from 4 KiB to KWHY_WIRE_BLOCK_LIMIT_BYTES. Longer names are cut to fit. */
void kwhy_block_writer_init(
	struct kwhy_block_writer *writer, int fd, uint64_t writer_id, void *memory, uint32_t share_bytes);

/* Space for one record of a kind, zeroed, to be filled before the next call; NULL: lost, and counted. */
void *kwhy_block_writer_add(struct kwhy_block_writer *writer, enum kwhy_wire_kind kind);

void kwhy_block_writer_add_name(
	struct kwhy_block_writer *writer, uint32_t id, const char *bytes, size_t length);

/* Writes what is gathered: names first, so that a reader of a cut file knows them. */
void kwhy_block_writer_flush(struct kwhy_block_writer *writer);

/* Flushes, says what was lost, ends with an END record. The file stays open. */
void kwhy_block_writer_finish(struct kwhy_block_writer *writer, int64_t now_mono_ns);

/* Closes the file, unless the descriptor is another's by now. */
void kwhy_block_writer_close(struct kwhy_block_writer *writer);

#endif
