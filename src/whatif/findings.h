/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_FINDINGS_H
#define KWHY_WHATIF_FINDINGS_H

#include "model/finding.h"
#include "whatif/whatif.h"

/* Recordings of more activities and calls keep their bounds: a play needs about 90 bytes for each of them. */
#define KWHY_WHATIF_FINDINGS_ROWS_MAX ((size_t)2000000)

/*
 * Puts the projection of a finding's cure in the place of its first bound, where there is a change that is
 * that cure and it can be made: the figures and the bound of a plan of that change alone. Recordings of one
 * device that worked, known as a whole; others keep their bounds. Savings do not add up.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_project_findings(const struct kwhy_recording *recording,
	const struct kwhy_ledger *ledger, const struct kwhy_profile *profile, struct kwhy_findings *findings,
	struct kwhy_error *error);

#endif
