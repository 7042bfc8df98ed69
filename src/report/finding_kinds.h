/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_FINDING_KINDS_H
#define KWHY_REPORT_FINDING_KINDS_H

#include "base/status.h"
#include "base/text.h"
#include "model/finding.h"
#include "model/recording.h"

/* All findings that have the same id, on whichever devices; a summary shows them in one row. */
struct kwhy_finding_kind {
	/* the one of these findings that has the longest time_ns; borrowed */
	const struct kwhy_finding *worst;
	size_t device_count; /* number of devices that have the finding; 0: the finding is not about single
				devices */
	int64_t least_ns, most_ns; /* shortest and longest time_ns of one of these findings */
	/*
	 * What the cure would save: the time is the longest that one finding saves, since devices run
	 * concurrently; the energy is the sum over the findings, KWHY_UNKNOWN_NJ if one of them is unknown.
	 */
	int64_t saved_ns, saved_nj;
};

struct kwhy_finding_kinds {
	/*
	 * kinds that would save something first, of these those for whose device the others wait
	 * (kwhy_finding.leads), then by saved energy or, if some energy is unknown, by saved time, the
	 * largest first
	 */
	struct kwhy_finding_kind *items;
	size_t count;
	size_t worth_count; /* number of kinds at the start of the list that would save time or energy */
};

/*
 * Groups findings into kinds. `findings` must outlive the kinds; NULL: there are none.
 * kwhy_finding_kinds_done() frees the memory.
 */
KWHY_MUST_USE enum kwhy_status kwhy_finding_kinds_init(
	struct kwhy_finding_kinds *kinds, const struct kwhy_findings *findings, struct kwhy_error *error);
void kwhy_finding_kinds_done(struct kwhy_finding_kinds *kinds);

/*
 * Appends the sentence for a kind. With several findings: "Launch-bound on 64 of 64 ranks, 560 to 590 ms,
 * worst rank 39". With one: its headline, with " on GPU 1" or " on rank 1" inserted if it is about one of
 * several devices. `active_count` is the number of devices with activities.
 */
void kwhy_finding_kind_words(const struct kwhy_finding_kind *kind, const struct kwhy_recording *recording,
	size_t active_count, struct kwhy_text *out);

#endif
