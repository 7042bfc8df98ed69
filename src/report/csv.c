/* SPDX-License-Identifier: Apache-2.0 */
#include "report/account_columns.h"
#include "report/report.h"

/* Writes CSV files with the columns of docs/formats/report.md. */

enum kwhy_status kwhy_report_accounts_csv(
	const struct kwhy_report *report, struct kwhy_text *out, struct kwhy_error *error)
{
	kwhy_columns_csv_head(&kwhy_account_columns, out);
	for (size_t d = 0; d < report->ledger->device_count; d++)
		for (size_t i = 0; i < report->ledger->devices[d].account_count; i++) {
			const struct kwhy_account_row row = kwhy_account_row_of(
				&report->ledger->devices[d], &report->recording->devices[d], i);

			kwhy_columns_csv(&kwhy_account_columns, out, &row);
		}
	return kwhy_text_check(out, error);
}

struct finding_row {
	struct kwhy_finding finding;
	/*
	 * number of the device in the trace; KWHY_UNKNOWN_NJ, which the CSV shows as an empty cell: the
	 * finding is not about a single device
	 */
	int64_t device;
	uint32_t rank;
};

#define AT(member) KWHY_AT(struct finding_row, member)

static const struct kwhy_column finding_items[] = {
	{"id", NULL, KWHY_UNIT_WORDS, KWHY_IN_CSV, AT(finding.id)},
	{"device", NULL, KWHY_UNIT_ONE, KWHY_IN_CSV, AT(device)},
	{"rank", NULL, KWHY_UNIT_ONE, KWHY_IN_CSV, AT(rank)},
	{"title", NULL, KWHY_UNIT_WORDS, KWHY_IN_CSV, AT(finding.title)},
	{"count", NULL, KWHY_UNIT_ONE, KWHY_IN_CSV, AT(finding.count)},
	{"time_ns", NULL, KWHY_UNIT_NS, KWHY_IN_CSV, AT(finding.time_ns)},
	{"energy_nj", NULL, KWHY_UNIT_NJ, KWHY_IN_CSV, AT(finding.energy_nj)},
	{"low_nj", NULL, KWHY_UNIT_NJ, KWHY_IN_CSV, AT(finding.low_nj)},
	{"high_nj", NULL, KWHY_UNIT_NJ, KWHY_IN_CSV, AT(finding.high_nj)},
	{"cure", NULL, KWHY_UNIT_WORDS, KWHY_IN_CSV, AT(finding.cure)},
	{"saving_time_ns", NULL, KWHY_UNIT_NS, KWHY_IN_CSV, AT(finding.saving.time_ns)},
	{"saving_energy_nj", NULL, KWHY_UNIT_NJ, KWHY_IN_CSV, AT(finding.saving.energy_nj)},
	{"saving_low_nj", NULL, KWHY_UNIT_NJ, KWHY_IN_CSV, AT(finding.saving.low_nj)},
	{"saving_high_nj", NULL, KWHY_UNIT_NJ, KWHY_IN_CSV, AT(finding.saving.high_nj)},
	{"assumption", NULL, KWHY_UNIT_WORDS, KWHY_IN_CSV, AT(finding.saving.assumption)},
};

enum kwhy_status kwhy_report_findings_csv(
	const struct kwhy_report *report, struct kwhy_text *out, struct kwhy_error *error)
{
	const struct kwhy_columns columns = {KWHY_COLUMNS(finding_items)};
	const struct kwhy_device *devices = report->recording->devices;

	kwhy_columns_csv_head(&columns, out);
	for (size_t i = 0; report->findings && i < report->findings->count; i++) {
		struct finding_row row = {report->findings->items[i], KWHY_UNKNOWN_NJ, KWHY_NONE};

		if (row.finding.device != KWHY_NONE) {
			row.device = devices[row.finding.device].index;
			row.rank = devices[row.finding.device].rank;
		}
		kwhy_columns_csv(&columns, out, &row);
	}
	return kwhy_text_check(out, error);
}

struct wait_row {
	const char *reason, *kind, *name, *file;
	int64_t device; /* number of the device in the trace */
	uint32_t rank, line;
	uint64_t gap_count;
	int64_t time_ns, longest_ns;
};

#define WAIT(member) KWHY_AT(struct wait_row, member)

static const struct kwhy_column wait_items[] = {
	{"device", NULL, KWHY_UNIT_ONE, KWHY_IN_CSV, WAIT(device)},
	{"rank", NULL, KWHY_UNIT_ONE, KWHY_IN_CSV, WAIT(rank)},
	{"reason", NULL, KWHY_UNIT_WORDS, KWHY_IN_CSV, WAIT(reason)},
	{"kind", NULL, KWHY_UNIT_WORDS, KWHY_IN_CSV, WAIT(kind)},
	{"name", NULL, KWHY_UNIT_WORDS, KWHY_IN_CSV, WAIT(name)},
	{"file", NULL, KWHY_UNIT_WORDS, KWHY_IN_CSV, WAIT(file)},
	{"line", NULL, KWHY_UNIT_ONE, KWHY_IN_CSV, WAIT(line)},
	{"time_ns", NULL, KWHY_UNIT_NS, KWHY_IN_CSV, WAIT(time_ns)},
	{"gap_count", NULL, KWHY_UNIT_ONE, KWHY_IN_CSV, WAIT(gap_count)},
	{"longest_ns", NULL, KWHY_UNIT_NS, KWHY_IN_CSV, WAIT(longest_ns)},
};

static struct wait_row wait_row_of(const struct kwhy_recording *recording, const struct kwhy_device *device,
	const struct kwhy_host_sum *sum)
{
	const bool is_range = sum->what == KWHY_HOST_WAIT_RANGE;

	return (struct wait_row){.reason = kwhy_host_wait_reason_name((enum kwhy_host_wait_reason)sum->what),
		.kind = is_range ? kwhy_host_kind_name((enum kwhy_host_kind)sum->kind) : NULL,
		.name = sum->name ? kwhy_names_get(&recording->names, sum->name) : NULL,
		.file = sum->file ? kwhy_names_get(&recording->names, sum->file) : NULL,
		.device = device->index,
		.rank = device->rank,
		.line = sum->line ? sum->line : KWHY_NONE,
		.gap_count = sum->gaps,
		.time_ns = sum->time_ns,
		.longest_ns = sum->longest_ns};
}

enum kwhy_status kwhy_report_waits_csv(
	const struct kwhy_report *report, struct kwhy_text *out, struct kwhy_error *error)
{
	const struct kwhy_columns columns = {KWHY_COLUMNS(wait_items)};

	kwhy_columns_csv_head(&columns, out);
	for (size_t d = 0; d < report->ledger->device_count; d++)
		for (size_t i = 0; i < report->ledger->devices[d].host_sum_count; i++) {
			const struct wait_row row = wait_row_of(report->recording,
				&report->recording->devices[d], &report->ledger->devices[d].host_sums[i]);

			kwhy_columns_csv(&columns, out, &row);
		}
	return kwhy_text_check(out, error);
}
