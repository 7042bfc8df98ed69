/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORDING_BLOCK_WRITER_H
#define KWHY_RECORDING_BLOCK_WRITER_H

#include "recording/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Gathers records by kind in memory that the caller provides. It appends a block to the file when the memory
 * of a kind is full, and for each kind on a flush. It allocates nothing, takes no lock, and needs one write
 * and four small system calls for each block, so that it can run inside other people's programs. Only one
 * thread at a time may use it.
 *
 * The first failed write is permanent: from then on records are counted as lost and nothing is written, so
 * that the earlier blocks stay readable. The failure is EBADF if the descriptor refers to another file,
 * because the program has closed it and opened a file of its own. It is EFBIG at the process's limit on file
 * sizes; the program then gets no SIGXFSZ.
 */
struct kwhy_block_writer {
	int fd; /* opened for appending, by the caller */
	dev_t device;
	ino_t inode; /* device and inode identify the file that `fd` was opened for */
	uint64_t writer, sequence;
	uint64_t records, lost_records;
	uint64_t written_bytes, limit_bytes; /* limit_bytes 0: no limit */
	int failure;			     /* errno of the first failed write; 0: no write failed */
	bool full;			     /* limit_bytes is reached */
	/* For each of the KWHY_WIRE_KIND_COUNT kinds: a header and then share_bytes for records. */
	unsigned char *memory;
	uint32_t share_bytes;
	uint32_t used_bytes[KWHY_WIRE_KIND_COUNT], counts[KWHY_WIRE_KIND_COUNT];
	/*
	 * Compresses a payload into at most `space` bytes and returns the compressed length; 0: it would not
	 * get smaller. A NULL function: payloads are stored uncompressed.
	 */
	size_t (*pack)(void *context, void *packed, size_t space, const void *payload, size_t length);
	void *pack_context;
	unsigned char *packed; /* output buffer for `pack`, of share_bytes */
};

/* Memory that a writer needs in bytes: for each kind a header and `share_bytes` for records. */
#define KWHY_BLOCK_WRITER_BYTES(share_bytes) \
	((size_t)KWHY_WIRE_KIND_COUNT * ((share_bytes) + sizeof(struct kwhy_wire_header)))

/*
 * share_bytes is the space for records of each kind: a multiple of 8, from 4 KiB to
 * KWHY_WIRE_BLOCK_LIMIT_BYTES. Names that do not fit are cut.
 */
void kwhy_block_writer_init(
	struct kwhy_block_writer *writer, int fd, uint64_t writer_id, void *memory, uint32_t share_bytes);

/*
 * Returns zeroed space for one record of a kind, which the caller fills before the next call. NULL: the
 * record is lost and counted as lost.
 */
void *kwhy_block_writer_add(struct kwhy_block_writer *writer, enum kwhy_wire_kind kind);

void kwhy_block_writer_add_name(
	struct kwhy_block_writer *writer, uint32_t id, const char *bytes, size_t length);

/*
 * Writes all gathered records. Names come first, so that a truncated file still has the names of its records.
 */
void kwhy_block_writer_flush(struct kwhy_block_writer *writer);

/* Flushes, and then writes the number of lost records and an END record. The file stays open. */
void kwhy_block_writer_finish(struct kwhy_block_writer *writer, int64_t now_mono_ns);

/* Closes the file, unless the descriptor now refers to another file. */
void kwhy_block_writer_close(struct kwhy_block_writer *writer);

#endif
