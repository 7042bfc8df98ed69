/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_WHATIF_H
#define KWHY_WHATIF_WHATIF_H

#include "whatif/change.h"

/*
 * Projects the effect of changes to a program: the graph of a recording is changed as the program would be,
 * and then simulated. Times and energies are those of all devices, from the first start to the last end of
 * their work.
 */

/*
 * Makes the dependency graph and reads what changes need. `ledger` and `profile` may be NULL. All arguments
 * must outlive the result, which only one thread at a time may use. KWHY_E_UNSUPPORTED: the run was recorded
 * in windows only, or by kwhy probe.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_new(const struct kwhy_recording *recording,
	const struct kwhy_ledger *ledger, const struct kwhy_profile *profile, struct kwhy_whatif **out,
	struct kwhy_error *error);
void kwhy_whatif_free(struct kwhy_whatif *whatif);

/* A change that a caller requests, with its argument. */
struct kwhy_whatif_request {
	const struct kwhy_whatif_change *change;
	uint32_t number;
};

/*
 * Makes a plan of the requested changes, in their order. A change that cannot be made is refused, and the
 * plan states why. The plan does not refer to `whatif`; the caller frees it with kwhy_plan_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_project(struct kwhy_whatif *whatif,
	const struct kwhy_whatif_request *change_requests, size_t change_request_count,
	struct kwhy_plan **out, struct kwhy_error *error);

/*
 * Makes a plan that repeatedly takes the change with the largest gain in addition to those taken (energy, or
 * time if energies are unknown), until none saves the share min_gain_ratio of the run's time or energy.
 * Changes that alter numerical results are tried only with `numerics`; otherwise the plan lists them as not
 * tried.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_plan(struct kwhy_whatif *whatif, double min_gain_ratio,
	bool numerics, struct kwhy_plan **out, struct kwhy_error *error);
void kwhy_plan_free(struct kwhy_plan *plan);

/* The change with an id; NULL: no change has it. */
const struct kwhy_whatif_change *kwhy_whatif_change_find(const char *id);

#endif
