/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_CHOICES_H
#define KWHY_REPLAY_CHOICES_H

#include "replay/proxy.h"

/*
 * Chooses the proxy kernels of each account, by the power that the ledger gives the account and the powers
 * that proxy kernels draw. Pure.
 */

/*
 * Grids whose proxy kernels' powers are worth measuring: those of the accounts that drew most above the idle
 * level, each at least 5 % of what all accounts drew. Of grids with about as many threads and as long
 * kernels, only one is taken. Returns how many of out[KWHY_REPLAY_GRIDS_MEASURED] are filled. `grids`: those
 * of the pattern on this GPU.
 */
size_t kwhy_replay_grids_that_matter(const struct kwhy_replay_pattern *pattern,
	const struct kwhy_proxy_grid *grids, double idle_w, uint32_t *out);

/* The first grid with about as many threads and as long kernels; NULL: no such grid. */
const struct kwhy_proxy_grid *kwhy_replay_alike(
	const struct kwhy_proxy_grid *grids, size_t count, const struct kwhy_proxy_grid *grid);

/* Gives grids that were not measured the powers of the measured grid nearest by threads and kernel length. */
void kwhy_replay_spread_powers(
	struct kwhy_proxy_grid *grids, size_t grid_count, const uint32_t *measured, size_t measured_count);

/*
 * The choice that draws wanted_w by the grid's measured powers: the weakest class that reaches it, on part of
 * the multiprocessors where it draws more. Where no class draws so much, it is the strongest class on all
 * multiprocessors; where powers are unknown, the waiting class.
 */
struct kwhy_proxy_choice kwhy_replay_choose(const struct kwhy_proxy_grid *grid, double wanted_w);

/* A limit of the power that proxy kernels can draw. */
enum kwhy_replay_bound { KWHY_REPLAY_NO_BOUND, KWHY_REPLAY_ALL_WAIT, KWHY_REPLAY_ALL_WORK };

/* Whether all choices are at that limit, so that asking for less, or more, power changes nothing. Pure. */
bool kwhy_replay_is_at(enum kwhy_replay_bound bound, const struct kwhy_replay_pattern *pattern,
	const struct kwhy_proxy_grid *grids, const struct kwhy_proxy_choice *choices);

#endif
