/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORDING_BLOCK_READER_H
#define KWHY_RECORDING_BLOCK_READER_H

#include "base/status.h"
#include "recording/wire.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Walks the blocks of one file, mapped, without copying what is stored plain. Nothing in the file is trusted:
 * a block is given only when its header and payload check out. Bytes that are no whole block come as an item
 * of their own that says why; the walk goes on at the next whole header, so that one bad sector, or files
 * written one after the other, cost no more than they must.
 */
struct kwhy_block_reader {
	const char *path;
	const unsigned char *bytes; /* of the file, mapped; NULL: empty */
	size_t length, at;
	unsigned char *unpacked; /* of the latest packed block */
	size_t unpacked_bytes;
	void *zstd;
};

struct kwhy_block {
	uint64_t offset, bytes; /* where in the file */
	const char *damage;	/* NULL: whole. Else why these bytes are no block; all below is unset */
	bool is_cut;		/* damage: the file ends inside a block, as when its writer was killed */
	unsigned kind;		/* enum kwhy_wire_kind, or beyond: made by a newer program */
	uint64_t writer, sequence;
	size_t record_count;
	size_t record_bytes; /* distance of records; 0: NAME */
	const unsigned char *records;
	size_t raw_bytes; /* of all records */
};

KWHY_MUST_USE enum kwhy_status kwhy_block_reader_open(
	struct kwhy_block_reader *reader, const char *path, struct kwhy_error *error);
void kwhy_block_reader_close(struct kwhy_block_reader *reader);

/* 0: an item in `out`, valid until the next call; 1: the end; -1: no memory, with `error`. */
KWHY_MUST_USE int kwhy_block_reader_next(
	struct kwhy_block_reader *reader, struct kwhy_block *out, struct kwhy_error *error);

/* Does a file that begins with these bytes hold blocks? */
bool kwhy_block_reader_probe(const void *bytes, size_t length);

/*
 * Record `index` of a block as this program knows the kind: the record itself where it lies aligned and is
 * long enough, else a copy in `scratch` with zeros for what an older program did not write.
 */
const void *kwhy_block_record(
	const struct kwhy_block *block, size_t index, void *scratch, size_t known_bytes);

/* The names of a NAME block one by one: *at begins at 0. False: no more, or what follows is malformed. */
bool kwhy_block_name(const struct kwhy_block *block, size_t *at, uint32_t *out_id, const char **out_bytes,
	size_t *out_length);

#endif
