/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORDING_BLOCK_READER_H
#define KWHY_RECORDING_BLOCK_READER_H

#include "base/status.h"
#include "recording/wire.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Iterates over the blocks of one file, which is read into memory when it is opened, without copying blocks
 * that are stored uncompressed. No content of the file is trusted: a block is returned only if its header and
 * payload are valid. Bytes that are not a whole block are returned as an item of their own with the reason,
 * and reading continues at the next valid header, so that only the damaged bytes are lost.
 */
struct kwhy_block_reader {
	const char *path;
	const unsigned char *bytes; /* the file's bytes; NULL: the file is empty */
	size_t length, at, space;   /* `space`: size of the memory at `bytes` */
	unsigned char *unpacked;    /* contents of the last compressed block, after decompression */
	size_t unpacked_bytes;
	void *zstd;
};

struct kwhy_block {
	uint64_t offset, bytes; /* offset and length of the item in the file */
	/*
	 * NULL: the item is a whole block. Otherwise it states why the bytes are not a block, and of the
	 * other members only offset, bytes and is_cut are set.
	 */
	const char *damage;
	/* The bytes are a truncated block: the file ends inside it, because its writer was killed. */
	bool is_cut;
	unsigned kind; /* enum kwhy_wire_kind; higher values come from newer programs */
	uint64_t writer, sequence;
	size_t record_count;
	size_t record_bytes; /* length of each record; 0: records of kind NAME, whose lengths differ */
	const unsigned char *records;
	size_t raw_bytes; /* length of all records together */
};

KWHY_MUST_USE enum kwhy_status kwhy_block_reader_open(
	struct kwhy_block_reader *reader, const char *path, struct kwhy_error *error);
void kwhy_block_reader_close(struct kwhy_block_reader *reader);

/*
 * Reads the next item. 0: the item is in `out`, valid until the next call; 1: the file has ended; -1: out of
 * memory, with `error` set.
 */
KWHY_MUST_USE int kwhy_block_reader_next(
	struct kwhy_block_reader *reader, struct kwhy_block *out, struct kwhy_error *error);

/* Whether a file that begins with these bytes consists of blocks. */
bool kwhy_block_reader_probe(const void *bytes, size_t length);

/*
 * Record `index` of a block, in the layout of this version of kwhy. It is the record in the file if that is
 * aligned and at least known_bytes long; otherwise a copy in `scratch` with zeros for members that an older
 * version did not write.
 */
const void *kwhy_block_record(
	const struct kwhy_block *block, size_t index, void *scratch, size_t known_bytes);

/*
 * Gives the names of a NAME block one after the other; *at starts at 0. False: the end, or malformed bytes.
 */
bool kwhy_block_name(const struct kwhy_block *block, size_t *at, uint32_t *out_id, const char **out_bytes,
	size_t *out_length);

#endif
