/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DIGEST_MAKING_H
#define KWHY_DIGEST_MAKING_H

#include "digest/make.h"

/* A digest while it is made. */
struct kwhy_digest_making {
	const struct kwhy_recording *recording;
	const struct kwhy_ledger *ledger;
	const struct kwhy_findings *findings;
	const struct kwhy_digest_limits *limits;
	uint32_t rank;
	bool is_first;	    /* true: this digest also has what belongs to no rank */
	uint32_t *place_of; /* [devices of the recording] row of table device; KWHY_NONE: another rank's */
	struct kwhy_digest *digest;
	struct kwhy_error *error;
};

/* The rank of a device; KWHY_NONE: unknown. */
uint32_t kwhy_digest_rank_of(const struct kwhy_recording *recording, size_t device);

/*
 * A text in at most KWHY_DIGEST_NAME_BYTES bytes. A longer one is cut and gets a hash of all of it, so that
 * different texts stay different. NULL: `text` is NULL, or out of memory.
 */
enum { KWHY_DIGEST_NAME_BYTES = 200 };
const char *kwhy_digest_name(struct kwhy_digest *digest, const char *text);

/* Hash of what ran and of the readings of the part's devices, in 16 hexadecimal digits; NULL: out of memory.
 */
const char *kwhy_digest_identity(const struct kwhy_digest_making *making);

KWHY_MUST_USE enum kwhy_status kwhy_digest_make_accounts(const struct kwhy_digest_making *making);
KWHY_MUST_USE enum kwhy_status kwhy_digest_make_collectives(const struct kwhy_digest_making *making);
KWHY_MUST_USE enum kwhy_status kwhy_digest_make_meters(const struct kwhy_digest_making *making);
KWHY_MUST_USE enum kwhy_status kwhy_digest_make_details(const struct kwhy_digest_making *making);

/* The number of rows of a table of details that are kept. */
static inline size_t kwhy_digest_kept(const struct kwhy_digest_making *making, size_t count)
{
	return count < making->limits->rows ? count : making->limits->rows;
}

#endif
