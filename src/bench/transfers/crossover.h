/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_CROSSOVER_H
#define KWHY_BENCH_TRANSFERS_CROSSOVER_H

#include "model/transfers.h"

/*
 * Computes transfers->crossover from the measured points: the sizes from which the transfer engine
 * (kwhy/transfer.h) should use another method. Pure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_transfers_find_crossovers(
	struct kwhy_transfers *transfers, struct kwhy_error *error);

#endif
