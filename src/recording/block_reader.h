/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORDING_BLOCK_READER_H
#define KWHY_RECORDING_BLOCK_READER_H

#include "base/status.h"
#include "recording/wire.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads the blocks of one file, one after the other. The whole file is read into memory when it is opened;
 * uncompressed blocks are not copied. No content is trusted: a block is given only if its header and payload
 * are valid. Bytes that are not a whole block are given as an item of their own with the reason, and reading
 * goes on at the next valid header, so that only the damaged bytes are lost.
 */
struct kwhy_block_reader {
	const char *path;
	const unsigned char *bytes; /* the file's bytes; NULL: the file is empty */
	size_t length, at, space;   /* length: of the file; at: offset of the next item; space: size of the
				       memory at `bytes` */
	unsigned char *unpacked;    /* the last compressed block, decompressed */
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
	/*
	 * With `damage`: the bytes are a truncated block, as a killed writer leaves at the end of its file.
	 */
	bool is_cut;
	unsigned kind; /* enum kwhy_wire_kind; higher values come from newer versions of kwhy */
	uint64_t writer, sequence;
	size_t record_count;
	size_t record_bytes; /* length of each record; 0: records of kind NAME, whose lengths differ */
	const unsigned char *records;
	size_t raw_bytes; /* length of all records together, decompressed, bytes */
};

KWHY_MUST_USE enum kwhy_status kwhy_block_reader_open(
	struct kwhy_block_reader *reader, const char *path, struct kwhy_error *error);
void kwhy_block_reader_close(struct kwhy_block_reader *reader);

/*
 * Reads the next item, a block or damaged bytes. 0: it is in *out, valid until the next call; 1: the file has
 * ended; -1: memory is exhausted, and `error` is set.
 */
KWHY_MUST_USE int kwhy_block_reader_next(
	struct kwhy_block_reader *reader, struct kwhy_block *out, struct kwhy_error *error);

/* Whether a file that begins with bytes[0, length) begins with a block. */
bool kwhy_block_reader_probe(const void *bytes, size_t length);

/*
 * Record `index` of a block. known_bytes is the length of such a record in this version of kwhy. If the
 * record in the file is aligned and at least known_bytes long, it is returned in place; otherwise it is
 * copied to `scratch`, which has known_bytes bytes, with zeros for the members that an older version of kwhy
 * did not write.
 */
const void *kwhy_block_record(
	const struct kwhy_block *block, size_t index, void *scratch, size_t known_bytes);

/*
 * Gives the next name of a NAME block; *at, 0 at first, moves past it. False: there is no further name, or
 * the bytes are malformed.
 */
bool kwhy_block_name(const struct kwhy_block *block, size_t *at, uint32_t *out_id, const char **out_bytes,
	size_t *out_length);

#endif
