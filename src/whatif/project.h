/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_PROJECT_H
#define KWHY_WHATIF_PROJECT_H

#include "whatif/whatif.h"

/*
 * Fills net_w, idle_w, their intervals, has_energy and the run's first and last times from the ledger and the
 * recording.
 */
void kwhy_whatif_read_powers(struct kwhy_whatif *whatif);

/* The recording unchanged: time without uncertainty, energy as metered. */
struct kwhy_projection kwhy_whatif_baseline(const struct kwhy_whatif *whatif);

/*
 * The graph as last played; low and high come from the uncertainty of the powers and from the scatter of
 * runs.
 */
struct kwhy_projection kwhy_whatif_as_played(const struct kwhy_whatif *whatif);

/* Makes one change without playing the graph. effect->places is 0 where the change was refused. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_edit_graph(struct kwhy_whatif *whatif,
	const struct kwhy_whatif_request *change_request, struct kwhy_whatif_effect *effect,
	struct kwhy_error *error);

/*
 * Makes one change and plays the graph. effect->places is 0 where the change was refused; the times of the
 * graph are then not valid before it is played again.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_make(struct kwhy_whatif *whatif,
	const struct kwhy_whatif_request *change_request, struct kwhy_whatif_effect *effect,
	struct kwhy_error *error);

/* Makes all changes of a finished plan and plays the graph at the expected costs. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_play_plan(
	struct kwhy_whatif *whatif, const struct kwhy_plan *plan, struct kwhy_error *error);

#endif
