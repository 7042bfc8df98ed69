/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DIGEST_MAKE_H
#define KWHY_DIGEST_MAKE_H

#include "digest/digest.h"
#include "model/finding.h"
#include "model/ledger.h"
#include "model/recording.h"

/* What digests are made from, owned by the caller. */
struct kwhy_digest_input {
	const struct kwhy_recording *recording;
	const struct kwhy_ledger *ledger;
	const struct kwhy_findings *findings;
	bool is_running; /* the recorded command still runs; the recording then ends early without being cut
			  */
};

/*
 * A part of a recording, which gets a digest of its own: a rank with the devices that it used, or one device
 * that was metered but not used. The recording of a rank often has the meters of all devices of the host,
 * also of those that other ranks use. As such a device has its own digest, a job can count it once.
 */
struct kwhy_digest_part {
	uint32_t rank;	 /* KWHY_NONE: unknown */
	uint32_t device; /* index of the unused device; KWHY_NONE: the part is a rank */
};

/*
 * The parts of a recording. A device whose rank is not stated belongs to the rank of the process that used it
 * first. Free `items` by free().
 */
struct kwhy_digest_parts {
	struct kwhy_digest_part *items; /* first the ranks in ascending order, then the devices of unknown
					   rank in one part, then each unused device */
	size_t count;
};
KWHY_MUST_USE enum kwhy_status kwhy_digest_parts(
	const struct kwhy_recording *recording, struct kwhy_digest_parts *out, struct kwhy_error *error);

/*
 * Makes the digest of items[part]; free it by kwhy_digest_done(). Details are left out until it fits in
 * KWHY_DIGEST_BYTES_MAX. KWHY_E_UNSUPPORTED: it is too large even without them. Part 0 also has what belongs
 * to no rank: findings across devices, steps, ranges, calls, and host meters.
 */
KWHY_MUST_USE enum kwhy_status kwhy_digest_make(const struct kwhy_digest_input *input,
	const struct kwhy_digest_parts *parts, size_t part, struct kwhy_digest *out,
	struct kwhy_error *error);

#endif
