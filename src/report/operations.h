/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_OPERATIONS_H
#define KWHY_REPORT_OPERATIONS_H

#include "base/status.h"
#include "model/ledger.h"

#include <stdbool.h>

/*
 * Count, time and energy of one kind of operation on the memory of one device: one kind of copy, or memsets.
 * Energies are gross, from the ledger's accounts; KWHY_UNKNOWN_NJ: unknown. The ends of an interval are the
 * sums of those of the accounts: right if the errors of the accounts are fully correlated, too wide if they
 * are independent.
 */
struct kwhy_operation {
	uint64_t count;
	int64_t time_ns;      /* sum of the operations' durations */
	uint64_t known_count; /* number of operations whose power is known */
	/*
	 * whole_nj: estimated energy in metered and unmetered time, nJ, of the operations whose power is
	 * known: power times known_ns; metered_ns: metered part of known_ns
	 */
	double whole_nj, metered_ns;
	int64_t known_ns; /* sum of the durations of the operations whose power is known */
	/* energy in metered time only, and the ends of its 90 % interval */
	int64_t gross_nj, low_nj, high_nj;
};

/* Mean energy of one operation whose power is known, nJ; NAN: there is no such operation. */
double kwhy_operation_each_nj(const struct kwhy_operation *operation);

/*
 * Time and energy of one kind of copy, in three parts. dma: the copies themselves. wait: the part of the
 * device's idle time after a copy in which the thread that issued the copy is blocked in a synchronising or
 * copying call. rest: the other idle time after a copy, which the host spends on work and launches. Idle time
 * after a copy lasts until the device's next activity, so no interval is counted twice. Copies whose thread
 * is unknown are not included.
 */
struct kwhy_transfer_split {
	uint64_t count;	       /* number of copies whose thread is known */
	uint64_t priced_count; /* number of these copies whose power is known; dma_nj covers them only */
	int64_t dma_ns, wait_ns, rest_ns;
	int64_t dma_nj, wait_nj, rest_nj;
	/*
	 * Median and longest rest after one copy. The mean rest is no measure of a usual copy, as a few long
	 * rests, such as while a program starts, dominate it.
	 */
	int64_t rest_median_ns, rest_longest_ns;
};

struct kwhy_operations {
	/* copies by kind, indexed by enum kwhy_copy_kind */
	struct kwhy_operation copies[KWHY_COPY_KIND_COUNT];
	struct kwhy_operation memset, sum;
	/*
	 * whether `splits` is known; false if API calls were not recorded, as it is then unknown when threads
	 * were blocked
	 */
	bool split_known;
	struct kwhy_transfer_split splits[KWHY_COPY_KIND_COUNT];
};

/*
 * Finds the kind of copy (enum kwhy_copy_kind) of each of the device's accounts from its activities.
 * KWHY_COPY_UNKNOWN: its copies are of several kinds, or of unknown kind. KWHY_COPY_KIND_COUNT: the account
 * has no copies.
 */
void kwhy_operations_kinds(const struct kwhy_recording *recording,
	const struct kwhy_device_ledger *device_ledger, uint32_t device, uint8_t *out_kinds);

KWHY_MUST_USE enum kwhy_status kwhy_operations_of(const struct kwhy_recording *recording,
	const struct kwhy_ledger *ledger, uint32_t device, struct kwhy_operations *out,
	struct kwhy_error *error);

/* Makes the operations of all devices, an array with device_count entries, which the caller frees. */
KWHY_MUST_USE enum kwhy_status kwhy_operations_new(const struct kwhy_recording *recording,
	const struct kwhy_ledger *ledger, struct kwhy_operations **out, struct kwhy_error *error);

#endif
