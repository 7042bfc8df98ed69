/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_FINDINGS_H
#define KWHY_WHATIF_FINDINGS_H

#include "model/finding.h"
#include "whatif/whatif.h"

/*
 * Largest number of activities and calls for which findings are projected: a play needs about 90 bytes for
 * each. Larger recordings keep their bounds.
 */
#define KWHY_WHATIF_FINDINGS_ROWS_MAX ((size_t)2000000)

/*
 * Replaces the first bound of a finding by the projection of the change that cures it, where there is such a
 * change and it can be made: the figures and the bound of a plan of that change alone. This is done for
 * recordings in which one device worked and of which nothing is lost or unrecorded; others keep their bounds.
 * Savings do not add up.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_project_findings(const struct kwhy_recording *recording,
	const struct kwhy_ledger *ledger, const struct kwhy_profile *profile, struct kwhy_findings *findings,
	struct kwhy_error *error);

#endif
