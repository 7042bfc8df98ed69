/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DIGEST_MAKE_H
#define KWHY_DIGEST_MAKE_H

#include "digest/digest.h"
#include "model/finding.h"
#include "model/ledger.h"
#include "model/recording.h"

/* What digests are made from. The caller owns all of it. */
struct kwhy_digest_input {
	const struct kwhy_recording *recording;
	const struct kwhy_ledger *ledger;
	const struct kwhy_findings *findings;
	bool is_running; /* the recorded command still runs: the recording ends early, but does not count as
			    cut */
};

/*
 * One part of a recording; each part gets a digest of its own. A part is a rank with the devices that it
 * used, or one device that was metered but not used. A rank's recording may also meter devices that only
 * other ranks of the host use. These devices have digests of their own, so that a job counts each of them
 * once.
 */
struct kwhy_digest_part {
	uint32_t rank;	 /* KWHY_NONE: unknown */
	uint32_t device; /* for a part of one device that nothing used: this device; otherwise KWHY_NONE */
};

/*
 * The parts of a recording. If a recording does not state a device's rank, it is the rank of the process
 * that used the device first. Free `items` by free().
 */
struct kwhy_digest_parts {
	struct kwhy_digest_part *items; /* first the ranks in rising order, then the devices of unknown rank,
					   then one part for each unused device */
	size_t count;
};
KWHY_MUST_USE enum kwhy_status kwhy_digest_parts(
	const struct kwhy_recording *recording, struct kwhy_digest_parts *out, struct kwhy_error *error);

/*
 * Makes the digest of one part; `part` is an index into `items`. It keeps as many details as fit into
 * KWHY_DIGEST_BYTES_MAX. What belongs to no rank (findings across devices, ranges, host meters) is in the
 * digest of part 0.
 */
KWHY_MUST_USE enum kwhy_status kwhy_digest_make(const struct kwhy_digest_input *input,
	const struct kwhy_digest_parts *parts, size_t part, struct kwhy_digest *out,
	struct kwhy_error *error);

#endif
