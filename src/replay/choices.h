/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_CHOICES_H
#define KWHY_REPLAY_CHOICES_H

#include "replay/standin.h"

/* Which kernels stand for those of each account: by the ledger's power of it and what stand-ins draw. Pure.
 */

enum { KWHY_REPLAY_GRIDS_MEASURED = 4 };

/*
 * Grids whose stand-ins' power matters: of the accounts that drew most above the idle level, each at least
 * 1 % of `energy_nj`. Gives how many of out[KWHY_REPLAY_GRIDS_MEASURED] it filled.
 */
size_t kwhy_replay_grids_that_matter(
	const struct kwhy_replay_pattern *pattern, double idle_w, double energy_nj, uint32_t *out);

/*
 * The class that draws just as much as asked, or more and then not all of the time, by the grid's powers; all
 * of the time of the strongest where none draws so much. Waits where powers are unknown.
 */
struct kwhy_standin_choice kwhy_replay_choose(const struct kwhy_standin_grid *grid, double wanted_w);

#endif
