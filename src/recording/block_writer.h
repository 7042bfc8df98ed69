/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORDING_BLOCK_WRITER_H
#define KWHY_RECORDING_BLOCK_WRITER_H

#include "recording/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Gathers records by kind in memory that the caller provides, and appends a block when the share of a kind is
 * full, or on flush. It makes no allocation, takes no lock, and needs one write and four small system calls a
 * block, so that it can run inside other people's programs. Only one thread at a time may use it.
 *
 * The first failure of the file is permanent: from then on records are counted as lost and nothing is
 * written, so that the earlier blocks stay readable. EBADF is the failure if the descriptor refers to another
 * file, because the program closed it and opened one of its own. EFBIG is the failure at the process's limit
 * on file sizes, without its signal.
 */
struct kwhy_block_writer {
	int fd; /* opened for appending, by the caller */
	dev_t device;
	ino_t inode; /* identity of the file that it was opened for */
	uint64_t writer, sequence;
	uint64_t records, lost_records;
	uint64_t written_bytes, limit_bytes; /* limit 0: no limit */
	int failure;			     /* errno of the first failed write; 0: no write failed */
	bool full;			     /* the limit is reached */
	unsigned char *memory; /* one share of share_bytes for each of KWHY_WIRE_KIND_COUNT kinds, each after
				  a header */
	uint32_t share_bytes;
	uint32_t used_bytes[KWHY_WIRE_KIND_COUNT], counts[KWHY_WIRE_KIND_COUNT];
	/*
	 * Packs a payload into at most `space` bytes and returns the packed length; 0: it does not get
	 * smaller. NULL: payloads are stored unpacked.
	 */
	size_t (*pack)(void *context, void *packed, size_t space, const void *payload, size_t length);
	void *pack_context;
	unsigned char *packed; /* output buffer for `pack`, of share_bytes */
};

/* Bytes of memory that a writer with such shares needs (a header before each share). */
#define KWHY_BLOCK_WRITER_BYTES(share_bytes) \
	((size_t)KWHY_WIRE_KIND_COUNT * ((share_bytes) + sizeof(struct kwhy_wire_header)))

/* share_bytes: a multiple of 8, from 4 KiB to KWHY_WIRE_BLOCK_LIMIT_BYTES. Longer names are cut to fit. */
void kwhy_block_writer_init(
	struct kwhy_block_writer *writer, int fd, uint64_t writer_id, void *memory, uint32_t share_bytes);

/*
 * Zeroed space for one record of a kind, to be filled before the next call. NULL: the record is lost and
 * counted.
 */
void *kwhy_block_writer_add(struct kwhy_block_writer *writer, enum kwhy_wire_kind kind);

void kwhy_block_writer_add_name(
	struct kwhy_block_writer *writer, uint32_t id, const char *bytes, size_t length);

/* Writes all gathered records, names first, so that a reader of a truncated file knows them. */
void kwhy_block_writer_flush(struct kwhy_block_writer *writer);

/* Flushes, and writes what was lost and an END record. The file stays open. */
void kwhy_block_writer_finish(struct kwhy_block_writer *writer, int64_t now_mono_ns);

/* Closes the file, unless the descriptor refers to another file by now. */
void kwhy_block_writer_close(struct kwhy_block_writer *writer);

#endif
