/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DIGEST_MAKING_H
#define KWHY_DIGEST_MAKING_H

#include "digest/make.h"

/* How many rows of a recording a digest keeps. Sums are always over all rows. */
struct kwhy_digest_limits {
	size_t accounts; /* number of accounts of each device and category, the largest first; one further row
			    sums the others */
	size_t rows;	 /* number of rows of each table of details, the largest first */
	size_t collectives;
	/*
	 * largest numbers of operations and communicators in a digest. Those with the most collectives are
	 * kept, and collectives of all others are left out
	 */
	size_t operations, communicators;
};

/* State while a digest is made. */
struct kwhy_digest_making {
	const struct kwhy_recording *recording;
	const struct kwhy_ledger *ledger;
	const struct kwhy_findings *findings;
	bool is_running;
	const struct kwhy_digest_limits *limits;
	struct kwhy_digest_part part;
	const char *identity;
	bool is_first;	    /* this digest also has what belongs to no rank */
	uint32_t *place_of; /* [devices of the recording] row of each device in table device; KWHY_NONE:
			       another part has the device */
	struct kwhy_digest *digest;
	struct kwhy_error *error;
};

/*
 * Copies a text in at most KWHY_DIGEST_NAME_BYTES (name) or KWHY_DIGEST_SENTENCE_BYTES (sentence) bytes.
 * The end of a longer text is replaced by a hash of the whole text, so that different texts stay different.
 * NULL: `text` is NULL, or out of memory.
 */
enum { KWHY_DIGEST_NAME_BYTES = 200, KWHY_DIGEST_SENTENCE_BYTES = 1000 };
const char *kwhy_digest_name(struct kwhy_digest *digest, const char *text);
const char *kwhy_digest_sentence(struct kwhy_digest *digest, const char *text);

KWHY_MUST_USE enum kwhy_status kwhy_digest_make_accounts(const struct kwhy_digest_making *making);
KWHY_MUST_USE enum kwhy_status kwhy_digest_make_collectives(const struct kwhy_digest_making *making);
KWHY_MUST_USE enum kwhy_status kwhy_digest_make_meters(const struct kwhy_digest_making *making);
KWHY_MUST_USE enum kwhy_status kwhy_digest_make_details(const struct kwhy_digest_making *making);

/* The number of rows, of `count`, that a table of details keeps. */
static inline size_t kwhy_digest_kept(const struct kwhy_digest_making *making, size_t count)
{
	return count < making->limits->rows ? count : making->limits->rows;
}

#endif
