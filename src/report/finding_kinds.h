/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_FINDING_KINDS_H
#define KWHY_REPORT_FINDING_KINDS_H

#include "base/status.h"
#include "base/text.h"
#include "model/finding.h"
#include "model/recording.h"

/* The findings with one id on all devices, which a summary shows in one row. */
struct kwhy_finding_kind {
	/* of these findings, the one whose waste takes the most time; borrowed */
	const struct kwhy_finding *worst;
	size_t device_count; /* number of devices that have the finding; 0: the finding is not about single
				devices */
	int64_t least_ns, most_ns; /* least and longest time that the waste takes on a device */
	/*
	 * What the cure would save on all devices. Devices run concurrently, so the time is the longest
	 * that one device saves. Joules are added; KWHY_UNKNOWN_NJ: those of some device are unknown.
	 */
	int64_t saved_ns, saved_nj;
};

struct kwhy_finding_kinds {
	struct kwhy_finding_kind *items; /* sorted by saving, the largest first */
	size_t count;
	size_t worth_count; /* the first worth_count kinds have a cure that is projected to save something */
};

/* Makes the kinds; `findings` may be NULL. kwhy_finding_kinds_done() frees the memory. */
KWHY_MUST_USE enum kwhy_status kwhy_finding_kinds_init(
	struct kwhy_finding_kinds *kinds, const struct kwhy_findings *findings, struct kwhy_error *error);
void kwhy_finding_kinds_done(struct kwhy_finding_kinds *kinds);

/*
 * Appends the sentence for a kind: the headline of its finding or, if several devices have the finding,
 * "Launch-bound on 64 of 64 ranks, 560 to 590 ms, worst rank 39". `active_count` is the number of devices
 * with activities.
 */
void kwhy_finding_kind_words(const struct kwhy_finding_kind *kind, const struct kwhy_recording *recording,
	size_t active_count, struct kwhy_text *out);

#endif
