/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_TIME_HOST_SUMS_H
#define KWHY_LEDGER_TIME_HOST_SUMS_H

#include "base/map.h"
#include "model/host_time.h"
#include "model/ledger.h"

/*
 * Idle time of one device, divided by the host ranges that the host was in (model/host_time.h). The rows add
 * up to the length of all gaps that were added.
 */
struct kwhy_host_sums {
	const struct kwhy_recording *recording;
	struct kwhy_host_time time;
	struct kwhy_map places, keys; /* places: ids of the pairs (name, file). keys: index in items by that
					 id, line, and kind */
	struct kwhy_host_sum *items;
	struct in_gap {
		uint64_t gap;
		int64_t time_ns;
	} * now; /* [count] for each row, the latest gap in which it occurred, and its time in that gap */
	size_t count, capacity, now_capacity;
	uint64_t gap;
	struct kwhy_error *error;
	enum kwhy_status status; /* status of the first failure; KWHY_OK: none so far. kwhy_host_sums_finish()
				    returns it */
};

/*
 * Begins the sums. A failure of kwhy_host_sums_add() is kept and returned by kwhy_host_sums_finish().
 * kwhy_host_sums_done() must always be called.
 */
void kwhy_host_sums_init(
	struct kwhy_host_sums *sums, const struct kwhy_recording *recording, struct kwhy_error *error);
void kwhy_host_sums_done(struct kwhy_host_sums *sums);

/* Adds a gap. The parameters are those of kwhy_host_time_divide(). */
void kwhy_host_sums_add(
	struct kwhy_host_sums *sums, const struct kwhy_host_span *gap, uint32_t before, uint32_t after);

/* Writes the rows, longest first, to the device's part of the ledger. */
KWHY_MUST_USE enum kwhy_status kwhy_host_sums_finish(
	struct kwhy_host_sums *sums, struct kwhy_ledger *ledger, uint32_t device);

#endif
