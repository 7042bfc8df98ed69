/* SPDX-License-Identifier: Apache-2.0 */
#include "report/account_columns.h"

#include "base/quantity.h"

#include <stdio.h>

enum { TEXT = KWHY_IN_TEXT, JSON = KWHY_IN_JSON, CSV = KWHY_IN_CSV, BOTH = JSON | CSV, ALL = TEXT | BOTH };

struct kwhy_account_row kwhy_account_row_of(
	const struct kwhy_device_ledger *ledger, const struct kwhy_device *device, size_t account)
{
	struct kwhy_account_row row = {
		.account = kwhy_account_reported(&ledger->energy, &ledger->accounts[account])};
	const struct kwhy_account *a = &row.account;

	row.name = a->name ? a->name : "";
	row.device = device->index;
	row.rank = device->rank;
	row.mean_power_mw = a->mean_power_mw < 0 ? KWHY_UNKNOWN_NJ : a->mean_power_mw;
	row.whole_ns = a->has_whole ? a->whole_ns : KWHY_UNKNOWN_NS;
	row.whole_nj = a->has_whole ? a->whole_nj : KWHY_UNKNOWN_NJ;
	row.whole_low_nj = a->has_whole ? a->whole_low_nj : KWHY_UNKNOWN_NJ;
	row.whole_high_nj = a->has_whole ? a->whole_high_nj : KWHY_UNKNOWN_NJ;
	return row;
}

bool kwhy_account_is_unseen(const struct kwhy_totals *totals, const struct kwhy_total *total)
{
	return !totals->modelled && total->gross_nj == 0 && total->time_ns > 0;
}

struct kwhy_account_row kwhy_account_row_of_total(
	const struct kwhy_totals *totals, const struct kwhy_total *total)
{
	bool unseen = kwhy_account_is_unseen(totals, total);

	return (struct kwhy_account_row){
		.account = {.category = total->category,
			.gross_nj = unseen ? KWHY_UNKNOWN_NJ : total->gross_nj,
			.idle_nj = unseen ? KWHY_UNKNOWN_NJ : total->idle_nj,
			.net_nj = unseen ? KWHY_UNKNOWN_NJ : total->net_nj,
			.low_nj = unseen ? KWHY_UNKNOWN_NJ : total->low_nj,
			.high_nj = unseen ? KWHY_UNKNOWN_NJ : total->high_nj,
			.basis = unseen ? KWHY_BASIS_NONE : total->basis,
			.above_samples = total->above_samples,
			.above_limit = total->above_limit},
		.name = total->name,
		.power_w = kwhy_total_power_w(total),
	};
}

bool kwhy_category_is_kernels(uint32_t category)
{
	return category == KWHY_CATEGORY_COMPUTE || category == KWHY_CATEGORY_COLLECTIVE;
}

static bool is_kernel(const void *row)
{
	return kwhy_category_is_kernels(((const struct kwhy_account_row *)row)->account.category);
}

static const char *show_interval(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	const struct kwhy_account *account = &((const struct kwhy_account_row *)row)->account;

	(void)value;
	return kwhy_table_interval_text(out, account->low_nj, account->high_nj);
}

static const char *show_power(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *data)
{
	const struct kwhy_account_row *row = data;
	char number[KWHY_QUANTITY_BYTES];

	(void)value;
	snprintf(out, KWHY_SHOWN_BYTES, "%s%s", kwhy_quantity_si(number, row->power_w, "W", 3),
		row->account.above_limit	     ? "!"
			: row->account.above_samples ? "^"
						     : "");
	return out;
}

#define AT(member) KWHY_AT(struct kwhy_account_row, member)

static const struct kwhy_column items[] = {
	{"device", NULL, KWHY_UNIT_ONE, CSV, AT(device)},
	{"rank", NULL, KWHY_UNIT_ONE, CSV, AT(rank)},
	{"category", "category", KWHY_UNIT_WORDS, BOTH, AT(account.category), .name = kwhy_category_name},
	{"name", "account", KWHY_UNIT_NAME, ALL, AT(name)},
	{"count", "count", KWHY_UNIT_ONE, BOTH, AT(account.count)},
	{"bytes", "bytes", KWHY_UNIT_B, BOTH, AT(account.bytes)},
	{"time_ns", "time", KWHY_UNIT_NS, BOTH, AT(account.time_ns)},
	{"gross_nj", "gross", KWHY_UNIT_NJ, ALL, AT(account.gross_nj)},
	{NULL, "90 %", KWHY_UNIT_NJ, TEXT, AT(account.gross_nj), .show = show_interval},
	{"idle_nj", "idle", KWHY_UNIT_NJ, ALL, AT(account.idle_nj)},
	{"net_nj", "net", KWHY_UNIT_NJ, ALL, AT(account.net_nj)},
	{"low_nj", NULL, KWHY_UNIT_NJ, BOTH, AT(account.low_nj)},
	{"high_nj", NULL, KWHY_UNIT_NJ, BOTH, AT(account.high_nj)},
	{"mean_power_mw", "power", KWHY_UNIT_MW, ALL, AT(mean_power_mw), .show = show_power},
	{"basis", "basis", KWHY_UNIT_WORDS, ALL, AT(account.basis), .name = kwhy_basis_name},
	{"group", NULL, KWHY_UNIT_ONE, BOTH, AT(account.group)},
	{"power_class", NULL, KWHY_UNIT_ONE, JSON, AT(account.power_class)},
	{"above_samples", NULL, KWHY_UNIT_WORDS, JSON, AT(account.above_samples)},
	{"above_limit", NULL, KWHY_UNIT_WORDS, JSON, AT(account.above_limit)},
	{"whole_ns", NULL, KWHY_UNIT_NS, CSV, AT(whole_ns)},
	{"whole_nj", NULL, KWHY_UNIT_NJ, CSV, AT(whole_nj)},
	{"whole_low_nj", NULL, KWHY_UNIT_NJ, CSV, AT(whole_low_nj)},
	{"whole_high_nj", NULL, KWHY_UNIT_NJ, CSV, AT(whole_high_nj)},
};
const struct kwhy_columns kwhy_account_columns = {KWHY_COLUMNS(items), .is_kernel = is_kernel};

static const struct kwhy_column whole_items[] = {
	{"time_ns", NULL, KWHY_UNIT_NS, JSON, AT(account.whole_ns)},
	{"gross_nj", NULL, KWHY_UNIT_NJ, JSON, AT(account.whole_nj)},
	{"low_nj", NULL, KWHY_UNIT_NJ, JSON, AT(account.whole_low_nj)},
	{"high_nj", NULL, KWHY_UNIT_NJ, JSON, AT(account.whole_high_nj)},
	{"sampling_error_ratio", NULL, KWHY_UNIT_RATIO, JSON, AT(account.whole_error_ratio)},
};
const struct kwhy_columns kwhy_account_whole_columns = {KWHY_COLUMNS(whole_items)};
