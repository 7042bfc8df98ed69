/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_CROSSOVER_H
#define KWHY_BENCH_TRANSFERS_CROSSOVER_H

#include "model/transfers.h"

/* From where on the transfer engine had better go another way, by the points that were chosen from. Pure. */
KWHY_MUST_USE enum kwhy_status kwhy_transfers_find_crossovers(
	struct kwhy_transfers *transfers, struct kwhy_error *error);

#endif
