/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_OPERATIONS_H
#define KWHY_REPORT_OPERATIONS_H

#include "base/status.h"
#include "model/ledger.h"

#include <stdbool.h>

/*
 * Operations on memory of one device: what each kind of copy and the memsets took and drew. Energies are
 * gross, from the accounts, KWHY_UNKNOWN_NJ where unknown. Intervals are the sums of the accounts', which is
 * wide when their errors are independent and right when they go together.
 */
struct kwhy_operation {
	uint64_t count;
	int64_t time_ns; /* sum of durations */
	/* Of those whose power is known: how many, mean power over all of their time, metered or not, and how
	   much of it was metered, which gross_nj is of. */
	uint64_t known_count;
	double whole_nj, metered_ns;
	int64_t known_ns;
	int64_t gross_nj, low_nj, high_nj;
};

/* Mean energy of one of those whose power is known; NAN where none is. */
double kwhy_operation_each_nj(const struct kwhy_operation *operation);

/*
 * Where the time and energy of transfers of one kind went beyond the copy itself: the device idles right
 * after it until its next activity, and meanwhile the thread that issued the copy is blocked in a
 * synchronising or copying call (wait) or not (rest: host work and launches). Each idle interval has one
 * activity before it, so nothing is counted twice. Copies of which nobody knows the thread are left out.
 */
struct kwhy_transfer_split {
	uint64_t count;	       /* of the copies whose thread is known */
	uint64_t priced_count; /* of these, whose power is known: dma_nj is theirs */
	int64_t dma_ns, wait_ns, rest_ns;
	int64_t dma_nj, wait_nj, rest_nj;
};

struct kwhy_operations {
	struct kwhy_operation copies[KWHY_COPY_KIND_COUNT]; /* by enum kwhy_copy_kind */
	struct kwhy_operation memset, sum;
	bool split_known; /* false without API calls: then nobody can say what the host did */
	struct kwhy_transfer_split splits[KWHY_COPY_KIND_COUNT];
};

/* Copy kind of each account, from the activities posted to it; unknown where they differ,
   KWHY_COPY_KIND_COUNT where there are none. */
void kwhy_operations_kinds(const struct kwhy_recording *recording,
	const struct kwhy_device_ledger *device_ledger, uint32_t device, uint8_t *out_kinds);

KWHY_MUST_USE enum kwhy_status kwhy_operations_of(const struct kwhy_recording *recording,
	const struct kwhy_ledger *ledger, uint32_t device, struct kwhy_operations *out,
	struct kwhy_error *error);

/* Of all devices: an array of device_count; the caller frees it. */
KWHY_MUST_USE enum kwhy_status kwhy_operations_new(const struct kwhy_recording *recording,
	const struct kwhy_ledger *ledger, struct kwhy_operations **out, struct kwhy_error *error);

#endif
