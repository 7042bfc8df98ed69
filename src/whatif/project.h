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
 * The unchanged run as a projection: recorded time and energy, without uncertainty; only net energy has the
 * interval of the idle power and of the variation between runs.
 */
struct kwhy_projection kwhy_whatif_baseline(const struct kwhy_whatif *whatif);

/*
 * The graph as last simulated, as a projection, whose intervals contain the uncertainty of the powers and the
 * variation between runs. Host-limited time varies only if the costs are not the expected ones.
 */
struct kwhy_projection kwhy_whatif_as_played(const struct kwhy_whatif *whatif);

/*
 * Makes one change, in addition to those in the graph, without simulating the graph. effect->places 0: the
 * change was refused, and the graph is as before.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_edit_graph(struct kwhy_whatif *whatif,
	const struct kwhy_whatif_request *change_request, struct kwhy_whatif_effect *effect,
	struct kwhy_error *error);

/*
 * Makes one change, in addition to those in the graph, and simulates the graph. effect->places 0: the change
 * was refused, and the graph is as before, but its times may be those of another graph until it is simulated
 * again.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_make(struct kwhy_whatif *whatif,
	const struct kwhy_whatif_request *change_request, struct kwhy_whatif_effect *effect,
	struct kwhy_error *error);

/*
 * Undoes all edits, makes all changes of a finished plan, and simulates the graph, at the costs of
 * whatif->corner (the expected ones between calls).
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_play_plan(
	struct kwhy_whatif *whatif, const struct kwhy_plan *plan, struct kwhy_error *error);

#endif
