/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_ACCOUNT_COLUMNS_H
#define KWHY_REPORT_ACCOUNT_COLUMNS_H

#include "report/columns.h"
#include "report/totals.h"

/* Columns of a device's accounts, for the text, the JSON, the CSV and the page. */
extern const struct kwhy_columns kwhy_account_columns;
/*
 * Columns of an account's time, gross energy and 90 % interval in the whole run, unmetered time included, and
 * of the sampling error of these estimates. report.json has them in the account's member "whole_run".
 */
extern const struct kwhy_columns kwhy_account_whole_columns;

struct kwhy_account_row {
	struct kwhy_account account;
	const char *name;
	int device; /* number of the device in the trace */
	uint32_t rank;
	int64_t mean_power_mw, whole_ns, whole_nj, whole_low_nj, whole_high_nj;
	double power_w; /* mean power, W, in the row of an account summed over all devices; 0 in the row of an
			   account of one device, whose mean power is mean_power_mw */
};

/* Row of an account of one device. */
struct kwhy_account_row kwhy_account_row_of(
	const struct kwhy_device_ledger *ledger, const struct kwhy_device *device, size_t account);
/* Row of an account summed over all devices. */
struct kwhy_account_row kwhy_account_row_of_total(
	const struct kwhy_totals *totals, const struct kwhy_total *total);

/*
 * Whether an account summed over all devices has time, but no metered energy (gross_nj is 0), because all of
 * its time is unmetered. kwhy_account_row_of_total() then makes its energy unknown. Always false for modelled
 * energy.
 */
bool kwhy_account_is_unseen(const struct kwhy_totals *totals, const struct kwhy_total *total);

bool kwhy_category_is_kernels(uint32_t category);

#endif
