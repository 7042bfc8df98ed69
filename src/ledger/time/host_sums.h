/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_TIME_HOST_SUMS_H
#define KWHY_LEDGER_TIME_HOST_SUMS_H

#include "ledger/keys.h"
#include "model/host_time.h"
#include "model/ledger.h"

/* Idle time of one device by the host range that held the host: the rows add up to all gaps given. */
struct kwhy_host_sums {
	const struct kwhy_recording *recording;
	struct kwhy_host_time time;
	struct kwhy_keys places, keys; /* of name and file; of that, line and kind */
	struct kwhy_host_sum *items;
	struct in_gap {
		uint64_t gap;
		int64_t time_ns;
	} * now; /* [count] of each item in the gap that it was last in */
	size_t count, capacity, now_capacity;
	uint64_t gap;
	struct kwhy_error *error;
	enum kwhy_status status; /* sticky */
};

/* The failure of any call is given by finish; done is always due. */
void kwhy_host_sums_init(
	struct kwhy_host_sums *sums, const struct kwhy_recording *recording, struct kwhy_error *error);
void kwhy_host_sums_done(struct kwhy_host_sums *sums);

/* As kwhy_host_time_divide(). */
void kwhy_host_sums_add(
	struct kwhy_host_sums *sums, const struct kwhy_host_span *gap, uint32_t before, uint32_t after);

/* Longest first, in the ledger's arena. */
KWHY_MUST_USE enum kwhy_status kwhy_host_sums_finish(
	struct kwhy_host_sums *sums, struct kwhy_ledger *ledger, uint32_t device);

#endif
