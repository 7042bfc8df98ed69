/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_OWNER_METRICS_H
#define KWHY_SERVE_OWNER_METRICS_H

#include "owners/keeper.h"
#include "serve/exposition.h"

/*
 * Writes the energy of each owner that has labels of its own, by device and by domain of the host, and the
 * sum of the others. Call it before kwhy_exposition_end().
 */
void kwhy_owner_metrics_write(const struct kwhy_keeper_state *state, struct kwhy_exposition *to);

#endif
