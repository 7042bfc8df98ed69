/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORDING_BLOCK_READER_H
#define KWHY_RECORDING_BLOCK_READER_H

#include "base/status.h"
#include "recording/wire.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Iterates over the blocks of one mapped file, without copying blocks that are stored unpacked. No content of
 * the file is trusted: a block is returned only if its header and payload are valid. Bytes that are not a
 * whole block are returned as an item of their own with the reason; the next item is the next whole header.
 * So a bad sector, or files concatenated, cost only the damaged bytes.
 */
struct kwhy_block_reader {
	const char *path;
	const unsigned char *bytes; /* the mapped file; NULL: the file is empty */
	size_t length, at;
	unsigned char *unpacked; /* contents of the last packed block */
	size_t unpacked_bytes;
	void *zstd;
};

struct kwhy_block {
	uint64_t offset, bytes; /* position and length in the file */
	const char *damage;	/* NULL: the block is whole. Otherwise why these bytes are not a block; the
				   members below are then unset */
	bool is_cut;   /* damage by truncation: the file ends inside a block, as when its writer was killed */
	unsigned kind; /* enum kwhy_wire_kind; higher values come from newer programs */
	uint64_t writer, sequence;
	size_t record_count;
	size_t record_bytes; /* bytes from one record to the next; 0: kind NAME, of varying length */
	const unsigned char *records;
	size_t raw_bytes; /* length of all records */
};

KWHY_MUST_USE enum kwhy_status kwhy_block_reader_open(
	struct kwhy_block_reader *reader, const char *path, struct kwhy_error *error);
void kwhy_block_reader_close(struct kwhy_block_reader *reader);

/* 0: `out` holds an item, valid until the next call; 1: end of file; -1: out of memory, with `error`. */
KWHY_MUST_USE int kwhy_block_reader_next(
	struct kwhy_block_reader *reader, struct kwhy_block *out, struct kwhy_error *error);

/* Is a file that begins with these bytes a file of blocks? */
bool kwhy_block_reader_probe(const void *bytes, size_t length);

/*
 * Record `index` of a block in this program's version of the kind: the record itself if it is aligned and
 * long enough, otherwise a copy in `scratch`, with zeros for members that an older program did not write.
 */
const void *kwhy_block_record(
	const struct kwhy_block *block, size_t index, void *scratch, size_t known_bytes);

/* Iterates over the names of a NAME block; *at starts at 0. False: the end, or malformed bytes. */
bool kwhy_block_name(const struct kwhy_block *block, size_t *at, uint32_t *out_id, const char **out_bytes,
	size_t *out_length);

#endif
