/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_ANALYSE_SAVINGS_H
#define KWHY_ANALYSE_SAVINGS_H

#include "detect/detect.h"
#include "model/finding.h"
#include "whatif/whatif.h"

/*
 * Largest number of activities and calls together for which savings are projected, since a simulation needs
 * about 90 bytes for each. In larger recordings findings keep the bounds of their detectors.
 */
#define KWHY_SAVINGS_ROWS_MAX ((size_t)2000000)

/* The change that cures a finding; NULL: no change does. */
const struct kwhy_whatif_change *kwhy_saving_change(const struct kwhy_finding *finding);

/*
 * Whether savings can be projected. Only one device may have worked, no work may be lost or unrecorded, and
 * the recording may not be too large. `ledger` may be NULL.
 */
bool kwhy_savings_are_projected(const struct kwhy_recording *recording, const struct kwhy_ledger *ledger);

/*
 * Sets the saving of each finding that a change cures to the saving of a plan with that change alone. A
 * finding whose change cannot be made keeps the bound of its detector. Findings that save too little are
 * removed. If one change cures several findings, the saving of the change is counted at the finding that
 * costs most, and the other findings refer to that finding. Sorts the findings.
 */
KWHY_MUST_USE enum kwhy_status kwhy_savings_project(
	struct kwhy_whatif *whatif, struct kwhy_findings *findings, struct kwhy_error *error);

#endif
