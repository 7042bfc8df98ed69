/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_CHOICES_H
#define KWHY_REPLAY_CHOICES_H

#include "replay/proxy.h"

/*
 * Chooses proxy kernels for each account, from the power of the account in the ledger and the measured powers
 * of proxy kernels. Pure.
 */

/*
 * Selects the grids whose proxy kernels are to be measured. They belong to the accounts with the most energy
 * above the idle level; each of these accounts has at least 5 % of the energy above idle of all accounts. Of
 * grids with similar numbers of threads and kernel lengths, only one is selected. `grids` are the pattern's
 * grids as measured on this GPU. Writes indices of grids to out[KWHY_REPLAY_GRIDS_MEASURED], that of the
 * account with most energy first, and returns how many.
 */
size_t kwhy_replay_grids_that_matter(const struct kwhy_replay_pattern *pattern,
	const struct kwhy_proxy_grid *grids, double idle_w, uint32_t *out);

/*
 * The first of `grids` whose number of threads and kernel length differ from those of `grid` by less than a
 * factor of 1.25 together; NULL: there is none.
 */
const struct kwhy_proxy_grid *kwhy_replay_alike(
	const struct kwhy_proxy_grid *grids, size_t count, const struct kwhy_proxy_grid *grid);

/*
 * `measured`: indices of the grids whose powers were measured. Every other grid gets the powers of the
 * measured grid that is most similar in number of threads and kernel length.
 */
void kwhy_replay_spread_powers(
	struct kwhy_proxy_grid *grids, size_t grid_count, const uint32_t *measured, size_t measured_count);

/*
 * The proxy kernel that draws wanted_w, by the grid's measured powers. Of the classes that draw at least
 * wanted_w on all multiprocessors, the one with the lowest power is taken, and works only on such a share of
 * the multiprocessors that the GPU draws wanted_w; it waits on the others. If every class draws less than
 * wanted_w, the class with the highest power runs on all multiprocessors. If powers are unknown, the waiting
 * class is taken.
 */
struct kwhy_proxy_choice kwhy_replay_choose(const struct kwhy_proxy_grid *grid, double wanted_w);

/*
 * Limits of the power that proxy kernels can draw: the lowest (ALL_WAIT), at which all of them only wait, and
 * the highest (ALL_WORK), at which all are of the class with the highest power and work on all
 * multiprocessors.
 */
enum kwhy_replay_bound { KWHY_REPLAY_NO_BOUND, KWHY_REPLAY_ALL_WAIT, KWHY_REPLAY_ALL_WORK };

/*
 * Whether the proxy kernels of all accounts are at the limit `bound`, so that another factor on their wanted
 * power would not change the energy. Pure.
 */
bool kwhy_replay_is_at(enum kwhy_replay_bound bound, const struct kwhy_replay_pattern *pattern,
	const struct kwhy_proxy_grid *grids, const struct kwhy_proxy_choice *choices);

#endif
