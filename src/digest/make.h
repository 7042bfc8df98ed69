/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DIGEST_MAKE_H
#define KWHY_DIGEST_MAKE_H

#include "digest/digest.h"
#include "model/finding.h"
#include "model/ledger.h"
#include "model/recording.h"

/* What digests are made from; borrowed. */
struct kwhy_digest_input {
	const struct kwhy_recording *recording;
	const struct kwhy_ledger *ledger;
	const struct kwhy_findings *findings;
};

/*
 * The ranks of a recording, each of which gets a digest of its own. A device that states no rank has that of
 * the process that used it first. Free `ranks` by free().
 */
struct kwhy_digest_parts {
	uint32_t *ranks; /* [count] ranks in rising order; KWHY_NONE: the rank of these devices is unknown */
	size_t count;
};
KWHY_MUST_USE enum kwhy_status kwhy_digest_parts(
	const struct kwhy_recording *recording, struct kwhy_digest_parts *out, struct kwhy_error *error);

/* How much of a recording a digest keeps; sums are of all of it nevertheless. */
struct kwhy_digest_limits {
	size_t accounts; /* largest accounts of each device and category; the others become one row each */
	size_t rows;	 /* rows of each table of details, the largest first */
	size_t collectives;
};

/*
 * Makes the digest of one part (an index into `ranks`). What belongs to no rank, such as findings across
 * devices, ranges and host meters, is in the digest of part 0.
 */
KWHY_MUST_USE enum kwhy_status kwhy_digest_make(const struct kwhy_digest_input *input,
	const struct kwhy_digest_parts *parts, size_t part, const struct kwhy_digest_limits *limits,
	struct kwhy_digest *out, struct kwhy_error *error);

/* Makes the digest of one part with as much as fits into KWHY_DIGEST_BYTES_MAX. */
KWHY_MUST_USE enum kwhy_status kwhy_digest_make_fitting(const struct kwhy_digest_input *input,
	const struct kwhy_digest_parts *parts, size_t part, struct kwhy_digest *out,
	struct kwhy_error *error);

#endif
