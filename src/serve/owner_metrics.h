/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_OWNER_METRICS_H
#define KWHY_SERVE_OWNER_METRICS_H

#include "owners/keeper.h"
#include "serve/exposition.h"

/*
 * Writes energies, times and uncertainties for each owner that is shown under its own name, and the sum of
 * the remaining owners as "other": one sample for each device or, of the energy of the host, each CPU or
 * board domain. Also the number of failed transactions of the file of accounts. Call it before
 * kwhy_exposition_end().
 */
void kwhy_owner_metrics_write(const struct kwhy_keeper_state *state, struct kwhy_exposition *to);

#endif
