/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DIGEST_MAKING_H
#define KWHY_DIGEST_MAKING_H

#include "digest/make.h"

/* Limits of what a digest keeps of a recording. Sums are over everything. */
struct kwhy_digest_limits {
	size_t accounts; /* rows of their own for the largest accounts of each device; the others are summed
			    in one row for each category */
	size_t rows;	 /* rows of each table of details */
	size_t collectives;
	/*
	 * Largest numbers of rows of the tables operation and communicator. The operations and communicators
	 * with the most collectives are kept; collectives of the other ones are left out.
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
	bool is_first;	    /* the digest also has what belongs to no rank */
	uint32_t *place_of; /* [devices of the recording] row in table device; KWHY_NONE: the device is of
			       another part */
	struct kwhy_digest *digest;
	struct kwhy_error *error;
};

/*
 * Returns `text`, or a copy cut to KWHY_DIGEST_NAME_BYTES or KWHY_DIGEST_SENTENCE_BYTES. A cut text ends with
 * a hash of the whole, so that different texts remain different. NULL: `text` is NULL, or memory is
 * exhausted.
 */
enum { KWHY_DIGEST_NAME_BYTES = 200, KWHY_DIGEST_SENTENCE_BYTES = 1000 };
const char *kwhy_digest_name(struct kwhy_digest *digest, const char *text);
const char *kwhy_digest_sentence(struct kwhy_digest *digest, const char *text);

KWHY_MUST_USE enum kwhy_status kwhy_digest_make_accounts(const struct kwhy_digest_making *making);
KWHY_MUST_USE enum kwhy_status kwhy_digest_make_collectives(const struct kwhy_digest_making *making);
KWHY_MUST_USE enum kwhy_status kwhy_digest_make_meters(const struct kwhy_digest_making *making);
KWHY_MUST_USE enum kwhy_status kwhy_digest_make_details(const struct kwhy_digest_making *making);

/* How many of `count` rows a table of details keeps. */
static inline size_t kwhy_digest_kept(const struct kwhy_digest_making *making, size_t count)
{
	return count < making->limits->rows ? count : making->limits->rows;
}

#endif
