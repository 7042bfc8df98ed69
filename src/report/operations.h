/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_OPERATIONS_H
#define KWHY_REPORT_OPERATIONS_H

#include "base/status.h"
#include "model/ledger.h"

#include <stdbool.h>

/*
 * Operations on memory of one device: count, time and energy of each kind of copy and of the memsets.
 * Energies are gross, from the accounts; KWHY_UNKNOWN_NJ where unknown. Intervals are sums of the accounts'
 * intervals, which is too wide when their errors are independent and right when they are fully correlated.
 */
struct kwhy_operation {
	uint64_t count;
	int64_t time_ns; /* sum of durations */
	/*
	 * Operations whose power is known: their count, their energy at mean power over all of their time,
	 * metered or not, and the time of it that was metered, which gross_nj covers.
	 */
	uint64_t known_count;
	double whole_nj, metered_ns;
	int64_t known_ns;
	int64_t gross_nj, low_nj, high_nj;
};

/* Mean energy of one operation whose power is known; NAN where there is none. */
double kwhy_operation_each_nj(const struct kwhy_operation *operation);

/*
 * Time and energy of transfers of one kind beyond the copies themselves. After a copy the device idles until
 * its next activity. During that time the thread that issued the copy is blocked in a synchronising or
 * copying call (wait) or not (rest: host work and launches). Each idle interval has one activity before it,
 * so no interval is counted twice. Copies whose thread is unknown are left out.
 */
struct kwhy_transfer_split {
	uint64_t count;	       /* copies whose thread is known */
	uint64_t priced_count; /* those of them whose power is known, which dma_nj covers */
	int64_t dma_ns, wait_ns, rest_ns;
	int64_t dma_nj, wait_nj, rest_nj;
};

struct kwhy_operations {
	struct kwhy_operation copies[KWHY_COPY_KIND_COUNT]; /* indexed by enum kwhy_copy_kind */
	struct kwhy_operation memset, sum;
	bool split_known; /* false without API calls, when it is unknown what the host did */
	struct kwhy_transfer_split splits[KWHY_COPY_KIND_COUNT];
};

/*
 * Copy kind of each account, from its activities: unknown where they differ, KWHY_COPY_KIND_COUNT where the
 * account has no copies.
 */
void kwhy_operations_kinds(const struct kwhy_recording *recording,
	const struct kwhy_device_ledger *device_ledger, uint32_t device, uint8_t *out_kinds);

KWHY_MUST_USE enum kwhy_status kwhy_operations_of(const struct kwhy_recording *recording,
	const struct kwhy_ledger *ledger, uint32_t device, struct kwhy_operations *out,
	struct kwhy_error *error);

/* The operations of all devices: an array of device_count, which the caller frees. */
KWHY_MUST_USE enum kwhy_status kwhy_operations_new(const struct kwhy_recording *recording,
	const struct kwhy_ledger *ledger, struct kwhy_operations **out, struct kwhy_error *error);

#endif
