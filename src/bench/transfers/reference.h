/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_REFERENCE_H
#define KWHY_BENCH_TRANSFERS_REFERENCE_H

#include "bench/transfers/room.h"
#include "model/transfers.h"

/*
 * How fast this CPU and the device are now: a copy of 16 B to the device by `pinned`, by each clock. Fills in
 * all but at_s; where the copy cannot be made, NAN. Only a device that is lost is a failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_reference_measure(
	struct kwhy_bench_room *room, struct kwhy_transfer_moment *out, struct kwhy_error *error);

#endif
