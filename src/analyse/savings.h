/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_ANALYSE_SAVINGS_H
#define KWHY_ANALYSE_SAVINGS_H

#include "detect/detect.h"
#include "model/finding.h"
#include "whatif/whatif.h"

/*
 * Largest number of activities plus calls for which savings are projected, since a simulation needs about 90
 * bytes for each. In larger recordings findings keep the upper bounds of their detectors.
 */
#define KWHY_SAVINGS_ROWS_MAX ((size_t)2000000)

/* The change of what-if that cures a finding (kind of waste); NULL: none does. */
const struct kwhy_whatif_change *kwhy_saving_change(const struct kwhy_finding *finding);

/*
 * Whether savings can be projected: exactly one device worked, no activities were lost, there is neither
 * unrecorded time nor time of kwhy probe, and the recording is not larger than KWHY_SAVINGS_ROWS_MAX.
 * `ledger` may be NULL.
 */
bool kwhy_savings_are_projected(const struct kwhy_recording *recording, const struct kwhy_ledger *ledger);

/*
 * Projects the saving of each finding that a change cures: that of a plan with this change alone. A finding
 * whose change is refused keeps the upper bound of its detector. Then findings that save too little are
 * removed; if one change cures several findings, its saving is credited to the one that takes most energy, to
 * which the others refer. Sorts the findings.
 */
KWHY_MUST_USE enum kwhy_status kwhy_savings_project(
	struct kwhy_whatif *whatif, struct kwhy_findings *findings, struct kwhy_error *error);

#endif
