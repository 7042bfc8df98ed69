/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_PROJECT_H
#define KWHY_WHATIF_PROJECT_H

#include "whatif/whatif.h"

/* Fills net_w and idle_w from the ledger. */
void kwhy_whatif_read_powers(struct kwhy_whatif *whatif);

/* The recording as it is: no uncertainty of time, energy as metered. */
struct kwhy_projection kwhy_whatif_baseline(const struct kwhy_whatif *whatif);

/* The graph as it was played last; low and high by the uncertainty of the powers and of runs. */
struct kwhy_projection kwhy_whatif_as_played(const struct kwhy_whatif *whatif);

/* Makes one change; the effect has no places where it was refused. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_edit_graph(struct kwhy_whatif *whatif,
	const struct kwhy_whatif_request *change_request, struct kwhy_whatif_effect *effect,
	struct kwhy_error *error);

/* Makes one change and plays; the effect has no places where it was refused, and then nothing was played. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_make(struct kwhy_whatif *whatif,
	const struct kwhy_whatif_request *change_request, struct kwhy_whatif_effect *effect,
	struct kwhy_error *error);

/* The graph with all changes of a plan that is made, played at the costs that are to be expected. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_play_plan(
	struct kwhy_whatif *whatif, const struct kwhy_plan *plan, struct kwhy_error *error);

#endif
