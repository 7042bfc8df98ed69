/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_WHATIF_H
#define KWHY_WHATIF_WHATIF_H

#include "whatif/change.h"

/*
 * What changes to a program would bring: its recording is changed as the program would be, and played again.
 * Times and energies are of the devices: from the first start to the last end of their work.
 */

/*
 * `ledger` and `profile` may be NULL; all must outlive the result. One thread at a time. KWHY_E_UNSUPPORTED
 * where the run is known in windows alone.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_new(const struct kwhy_recording *recording,
	const struct kwhy_ledger *ledger, const struct kwhy_profile *profile, struct kwhy_whatif **out,
	struct kwhy_error *error);
void kwhy_whatif_free(struct kwhy_whatif *whatif);

/* One change that is asked for. */
struct kwhy_whatif_request {
	const struct kwhy_whatif_change *change;
	uint32_t number; /* its argument */
};

/*
 * Makes the changes in the order given. Those that cannot be made are refused, with the reason. The plan
 * needs the whatif no longer.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_project(struct kwhy_whatif *whatif,
	const struct kwhy_whatif_request *change_requests, size_t change_request_count,
	struct kwhy_plan **out, struct kwhy_error *error);

/*
 * Takes the change that saves most beyond those taken, until none saves anything, or min_gain_ratio of the
 * energy, or of the time where that is not known. Changes whose results are other numbers are not tried
 * unless `numerics`, and listed among those left out.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_plan(struct kwhy_whatif *whatif, double min_gain_ratio,
	bool numerics, struct kwhy_plan **out, struct kwhy_error *error);
void kwhy_plan_free(struct kwhy_plan *plan);

/* NULL: there is none of that id. */
const struct kwhy_whatif_change *kwhy_whatif_change_find(const char *id);

#endif
