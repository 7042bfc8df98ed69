/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_CHOICES_H
#define KWHY_REPLAY_CHOICES_H

#include "replay/proxy.h"

/* Which kernels stand for those of each account: by the ledger's power of it and what proxy kernels draw.
 * Pure.
 */

/*
 * Grids whose proxy kernels' power matters: of the accounts that drew most above the idle level, each at
 * least 5 % of what all of them did; of grids with about as many threads and as long kernels one alone. Gives
 * how many of out[KWHY_REPLAY_GRIDS_MEASURED] it filled. `grids`: those of the pattern on this GPU.
 */
size_t kwhy_replay_grids_that_matter(const struct kwhy_replay_pattern *pattern,
	const struct kwhy_proxy_grid *grids, double idle_w, uint32_t *out);

/* The first that has about as many threads and as long kernels; NULL: none. */
const struct kwhy_proxy_grid *kwhy_replay_alike(
	const struct kwhy_proxy_grid *grids, size_t count, const struct kwhy_proxy_grid *grid);

/* Grids that were not measured take the powers of the measured one that is nearest by threads and length. */
void kwhy_replay_spread_powers(
	struct kwhy_proxy_grid *grids, size_t grid_count, const uint32_t *measured, size_t measured_count);

/*
 * The class that draws just as much as asked, or more and then not all of the time, by the grid's powers; all
 * of the time of the strongest where none draws so much. Waits where powers are unknown.
 */
struct kwhy_proxy_choice kwhy_replay_choose(const struct kwhy_proxy_grid *grid, double wanted_w);

/* An end of what proxy kernels can draw. */
enum kwhy_replay_bound { KWHY_REPLAY_NO_BOUND, KWHY_REPLAY_ALL_WAIT, KWHY_REPLAY_ALL_WORK };

/* Whether the choices are at that end: nothing draws less, or more, whatever is asked of it. Pure. */
bool kwhy_replay_is_at(enum kwhy_replay_bound bound, const struct kwhy_replay_pattern *pattern,
	const struct kwhy_proxy_grid *grids, const struct kwhy_proxy_choice *choices);

#endif
