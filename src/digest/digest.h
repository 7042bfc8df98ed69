/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DIGEST_DIGEST_H
#define KWHY_DIGEST_DIGEST_H

#include "base/arena.h"
#include "base/random.h"
#include "base/status.h"
#include "digest/tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The digest of one rank: the figures of its report, in an SQLite file of at most KWHY_DIGEST_BYTES_MAX bytes
 * (docs/formats/digest.md). digest/job.h joins the digests of any number of ranks. Its rows and texts are
 * owned by its arena. Once made or read, it is not changed, so any number of threads may read it.
 */
#define KWHY_DIGEST_SCHEMA "kwhy.digest/1"

enum {
	KWHY_DIGEST_BYTES_MAX = 100000,
	/* "kwhD": SQLite's application id, which is in the first KWHY_DIGEST_HEAD_BYTES of the file */
	KWHY_DIGEST_APPLICATION = 0x6b776844,
	KWHY_DIGEST_HEAD_BYTES = 72
};

struct kwhy_digest {
	struct kwhy_arena arena;
#define X(name, list)                    \
	struct kwhy_digest_##name *name; \
	size_t name##_count;
	KWHY_DIGEST_TABLES(X)
#undef X
};

void kwhy_digest_done(struct kwhy_digest *digest);

/*
 * Whether a digest that keeps the share `ratio` of its collectives keeps those with this sequence number. All
 * ranks keep the same numbers, and the numbers of a smaller share are among those of a larger one. The choice
 * is pseudorandom, because every second or fourth number would be the same layer or bucket in each step.
 */
static inline bool kwhy_digest_keeps(int64_t sequence, double ratio)
{
	return !(kwhy_random_share(kwhy_random_of((uint64_t)sequence + KWHY_RANDOM_STEP)) >= ratio);
}

/* The only row of table `digest`. */
static inline struct kwhy_digest_digest *kwhy_digest_about(const struct kwhy_digest *digest)
{
	return digest->digest;
}

enum kwhy_digest_table_id {
#define X(name, list) KWHY_DIGEST_TABLE_##name,
	KWHY_DIGEST_TABLES(X)
#undef X
};

/*
 * Adds a row with all values unknown to a table of the digest; NULL: memory is exhausted. The pointer is
 * valid until the next row of this table is added.
 */
void *kwhy_digest_add_row(
	const struct kwhy_digest_table *table, struct kwhy_digest *digest, struct kwhy_error *error);
#define KWHY_DIGEST_ADD(digest, name, error)               \
	((struct kwhy_digest_##name *)kwhy_digest_add_row( \
		&kwhy_digest_tables[KWHY_DIGEST_TABLE_##name], (digest), (error)))

/* Whether these bytes are the beginning of a digest file. */
bool kwhy_digest_is_one(const unsigned char *head, size_t length);

/*
 * Whether the digest is of a single device on which nothing ran: its rank is unknown, and its one device has
 * a UUID and no busy time.
 */
bool kwhy_digest_is_unused(const struct kwhy_digest *digest);

/*
 * Reads the tables that a report over several digests needs: those from `digest` to `lost` in
 * KWHY_DIGEST_TABLES. KWHY_E_INPUT: the file, which is not trusted, is damaged or has another schema.
 */
KWHY_MUST_USE enum kwhy_status kwhy_digest_read_sums(
	const char *path, struct kwhy_digest *out, struct kwhy_error *error);
/* Reads only the tables digest, source and device. */
KWHY_MUST_USE enum kwhy_status kwhy_digest_read_head(
	const char *path, struct kwhy_digest *out, struct kwhy_error *error);

/*
 * Writes the digest as a SQLite database to the file `path`. An existing file is replaced only when the new
 * one is complete. KWHY_E_IO: the file could not be written.
 */
KWHY_MUST_USE enum kwhy_status kwhy_digest_save(
	const struct kwhy_digest *digest, const char *path, struct kwhy_error *error);
/* Gets the size of the file that kwhy_digest_save() would write, in bytes. */
KWHY_MUST_USE enum kwhy_status kwhy_digest_size(
	const struct kwhy_digest *digest, size_t *out_bytes, struct kwhy_error *error);

#endif
