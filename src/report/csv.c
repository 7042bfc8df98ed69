/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report.h"

#include <inttypes.h>
#include <string.h>

/* CSV of RFC 4180 with the columns of docs/formats/report.md; an empty cell is unknown. */

static void add_string(struct kwhy_text *out, const char *value)
{
	value = value ? value : "";
	/* a spreadsheet takes text that starts with one of these for a formula */
	if (!strpbrk(value, ",\"\n\r") && !strchr("=+-@", *value)) {
		kwhy_text_add(out, value);
		return;
	}
	kwhy_text_add(out, *value && strchr("=+-@", *value) ? "\"'" : "\"");
	for (; *value; value++)
		kwhy_text_add_bytes(out, *value == '"' ? "\"\"" : value, *value == '"' ? 2 : 1);
	kwhy_text_add(out, "\"");
}

static void add_known(struct kwhy_text *out, int64_t value)
{
	if (value == KWHY_UNKNOWN_NJ)
		kwhy_text_add(out, ",");
	else
		kwhy_text_addf(out, ",%" PRId64, value);
}

static void add_index(struct kwhy_text *out, uint32_t value)
{
	add_known(out, value == KWHY_NONE ? KWHY_UNKNOWN_NJ : (int64_t)value);
}

static void add_account(
	struct kwhy_text *out, const struct kwhy_device *device, const struct kwhy_account *account)
{
	kwhy_text_addf(out, "%" PRId32, device->index);
	add_index(out, device->rank);
	kwhy_text_addf(out, ",%s,", kwhy_category_name((enum kwhy_category)account->category));
	add_string(out, account->name);
	kwhy_text_addf(
		out, ",%" PRIu64 ",%" PRIu64 ",%" PRId64, account->count, account->bytes, account->time_ns);
	add_known(out, account->gross_nj);
	add_known(out, account->idle_nj);
	add_known(out, account->net_nj);
	add_known(out, account->low_nj);
	add_known(out, account->high_nj);
	add_known(out, account->mean_power_mw < 0 ? KWHY_UNKNOWN_NJ : account->mean_power_mw);
	kwhy_text_addf(out, ",%s", kwhy_basis_name((enum kwhy_basis)account->basis));
	add_index(out, account->group);
	add_known(out, account->has_whole ? account->whole_ns : KWHY_UNKNOWN_NJ);
	add_known(out, account->has_whole ? account->whole_nj : KWHY_UNKNOWN_NJ);
	add_known(out, account->has_whole ? account->whole_low_nj : KWHY_UNKNOWN_NJ);
	add_known(out, account->has_whole ? account->whole_high_nj : KWHY_UNKNOWN_NJ);
	kwhy_text_add(out, "\n");
}

enum kwhy_status kwhy_report_accounts_csv(
	const struct kwhy_report *report, struct kwhy_text *out, struct kwhy_error *error)
{
	kwhy_text_add(out,
		"device,rank,category,name,count,bytes,time_ns,gross_nj,idle_nj,net_nj,low_nj,high_nj,"
		"mean_power_mw,basis,group,whole_ns,whole_nj,whole_low_nj,whole_high_nj\n");
	for (size_t d = 0; d < report->ledger->device_count; d++) {
		const struct kwhy_device_ledger *device_ledger = &report->ledger->devices[d];

		for (size_t i = 0; i < device_ledger->account_count; i++) {
			struct kwhy_account reported = kwhy_account_reported(
				&device_ledger->energy, &device_ledger->accounts[i]);

			add_account(out, &report->recording->devices[d], &reported);
		}
	}
	return kwhy_text_check(out, error);
}

static void add_finding(
	struct kwhy_text *out, const struct kwhy_recording *recording, const struct kwhy_finding *finding)
{
	const struct kwhy_device *device = finding->device == KWHY_NONE
		? NULL
		: &recording->devices[finding->device];

	add_string(out, finding->id);
	add_known(out, device ? device->index : KWHY_UNKNOWN_NJ);
	add_index(out, device ? device->rank : KWHY_NONE);
	kwhy_text_add(out, ",");
	add_string(out, finding->title);
	kwhy_text_addf(out, ",%" PRIu64, finding->count);
	add_known(out, finding->time_ns);
	add_known(out, finding->energy_nj);
	add_known(out, finding->low_nj);
	add_known(out, finding->high_nj);
	kwhy_text_add(out, ",");
	add_string(out, finding->cure);
	add_known(out, finding->saving.time_ns);
	add_known(out, finding->saving.energy_nj);
	add_known(out, finding->saving.low_nj);
	add_known(out, finding->saving.high_nj);
	kwhy_text_add(out, ",");
	add_string(out, finding->saving.assumption);
	kwhy_text_add(out, "\n");
}

enum kwhy_status kwhy_report_findings_csv(
	const struct kwhy_report *report, struct kwhy_text *out, struct kwhy_error *error)
{
	kwhy_text_add(out,
		"id,device,rank,title,count,time_ns,energy_nj,low_nj,high_nj,cure,saving_time_ns,"
		"saving_energy_nj,saving_low_nj,saving_high_nj,assumption\n");
	for (size_t i = 0; report->findings && i < report->findings->count; i++)
		add_finding(out, report->recording, &report->findings->items[i]);
	return kwhy_text_check(out, error);
}
