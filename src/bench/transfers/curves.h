/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_CURVES_H
#define KWHY_BENCH_TRANSFERS_CURVES_H

#include "model/transfers.h"

/* Fits time and energy as functions of the size, for each method that was measured at enough sizes. Pure. */
KWHY_MUST_USE enum kwhy_status kwhy_transfers_fit_curves(
	struct kwhy_transfers *transfers, struct kwhy_error *error);

#endif
