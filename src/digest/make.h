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
	bool is_running; /* the recorded command still runs, so the recording ends early, but is not cut */
};

/*
 * The parts of a recording, each of which gets a digest of its own: its ranks, and devices that were metered
 * but not used. Where each rank is recorded by itself, one rank's idle device is the device of another rank,
 * so only a digest of its own lets a job count it once.
 */
struct kwhy_digest_part {
	uint32_t rank;	 /* KWHY_NONE: unknown */
	uint32_t device; /* the only device of the part, which nothing used; KWHY_NONE: the rank's devices */
};

/* A device that states no rank has that of the process that used it first. Free `items` by free(). */
struct kwhy_digest_parts {
	struct kwhy_digest_part *items; /* ranks in rising order, then an unknown one, then unused devices */
	size_t count;
};
KWHY_MUST_USE enum kwhy_status kwhy_digest_parts(
	const struct kwhy_recording *recording, struct kwhy_digest_parts *out, struct kwhy_error *error);

/*
 * Makes the digest of one part, an index into `items`, with as much as fits into KWHY_DIGEST_BYTES_MAX. What
 * belongs to no rank, such as findings across devices, ranges and host meters, is in the digest of part 0.
 */
KWHY_MUST_USE enum kwhy_status kwhy_digest_make(const struct kwhy_digest_input *input,
	const struct kwhy_digest_parts *parts, size_t part, struct kwhy_digest *out,
	struct kwhy_error *error);

#endif
