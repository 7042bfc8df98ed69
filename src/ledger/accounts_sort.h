/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ACCOUNTS_SORT_H
#define KWHY_LEDGER_ACCOUNTS_SORT_H

#include "base/status.h"
#include "model/ledger.h"

/*
 * Sorts a device's accounts in descending order of gross energy or, if that is unknown, of time; accounts
 * that are equal in this are sorted by category and name. Drops the account of time before and after the
 * activities if it is empty. Updates account_of and the members of groups.
 */
KWHY_MUST_USE enum kwhy_status kwhy_accounts_sort(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, uint32_t device, struct kwhy_error *error);

#endif
