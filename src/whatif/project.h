/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_PROJECT_H
#define KWHY_WHATIF_PROJECT_H

#include "whatif/whatif.h"

/*
 * Reads powers from the ledger and the recording. Sets idle_w, idle_half_ci90_w, has_energy, first_ns and
 * last_ns and, if has_energy is true, net_w and half_ci90_ratio.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_read_powers(struct kwhy_whatif *whatif, struct kwhy_error *error);

/*
 * The unchanged recording as a projection. Its time has no uncertainty; its energy has that of the meters.
 */
struct kwhy_projection kwhy_whatif_baseline(const struct kwhy_whatif *whatif);

/*
 * The graph as last simulated, as a projection. The intervals contain the uncertainty of the powers and the
 * variation between runs.
 */
struct kwhy_projection kwhy_whatif_as_played(const struct kwhy_whatif *whatif);

/* Makes one change without simulating the graph. effect->places is 0 if the change was refused. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_edit_graph(struct kwhy_whatif *whatif,
	const struct kwhy_whatif_request *change_request, struct kwhy_whatif_effect *effect,
	struct kwhy_error *error);

/*
 * Makes one change and simulates the graph. effect->places is 0 if the change was refused; then the times
 * of the graph are invalid until it is simulated again.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_make(struct kwhy_whatif *whatif,
	const struct kwhy_whatif_request *change_request, struct kwhy_whatif_effect *effect,
	struct kwhy_error *error);

/* Makes all changes of a finished plan and simulates the graph at the expected costs. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_play_plan(
	struct kwhy_whatif *whatif, const struct kwhy_plan *plan, struct kwhy_error *error);

#endif
