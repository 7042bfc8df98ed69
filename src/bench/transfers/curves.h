/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_CURVES_H
#define KWHY_BENCH_TRANSFERS_CURVES_H

#include "model/transfers.h"

/*
 * Fits time (at four sizes or more) and gross energy (at three or more) of one transfer as functions of its
 * size, for each strategy and direction, and time also for each clock; stores them in transfers->curves.
 * Transfers of pieces are left out. Pure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_transfers_fit_curves(
	struct kwhy_transfers *transfers, struct kwhy_error *error);

#endif
