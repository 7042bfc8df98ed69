/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ACCOUNTS_SORT_H
#define KWHY_LEDGER_ACCOUNTS_SORT_H

#include "base/status.h"
#include "model/ledger.h"

/*
 * Sorts a device's accounts by gross energy, then by time, both descending, then by category and name.
 * Accounts of unknown energy come last. Drops the accounts of time before and after the activities whose time
 * is 0 and whose energy is 0 or unknown. Updates account_of and the members of groups.
 */
KWHY_MUST_USE enum kwhy_status kwhy_accounts_sort(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, uint32_t device, struct kwhy_error *error);

#endif
