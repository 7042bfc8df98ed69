/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "report/ladder.h"
#include "report/sheet.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Sections on efficiency: what a byte costs in each kind of transfer, what a unit of work costs. */

enum { RUNG_ROWS = 12 };

static const struct kwhy_table_column rung_columns[] = {
	{"transfer", KWHY_COLUMN_NAME},
	{"rate", KWHY_COLUMN_RIGHT},
	{"peak", KWHY_COLUMN_RIGHT},
	{"x best", KWHY_COLUMN_RIGHT},
	{"gross/B", KWHY_COLUMN_RIGHT},
	{"net/B", KWHY_COLUMN_RIGHT},
	{"a joule", KWHY_COLUMN_RIGHT},
};

static void add_ratio(struct kwhy_table *table, double ratio)
{
	char text[KWHY_QUANTITY_BYTES];

	kwhy_table_cell(table, kwhy_quantity_number(text, ratio));
}

/* Small copies reach so little that a tenth of a percent is too coarse. */
static void add_share_of_peak(struct kwhy_table *table, const struct kwhy_rung *rung)
{
	double share = rung->rate_bytes_per_s / rung->peak_bytes_per_s;

	if (share < 0.0005)
		kwhy_table_cell(table, "<0.1 %");
	else
		kwhy_table_percent(table, share);
}

static void add_rung(struct kwhy_table *table, const struct kwhy_rung *rung)
{
	kwhy_table_cell(table, rung->account->name);
	kwhy_table_real(table, rung->rate_bytes_per_s, "B/s");
	add_share_of_peak(table, rung);
	add_ratio(table, rung->ratio_to_best);
	if (table->column_count < 7)
		return;
	kwhy_table_real(table, rung->gross_j_per_byte, "J");
	kwhy_table_real(table, rung->net_j_per_byte, "J");
	kwhy_table_real(table, 1 / rung->gross_j_per_byte, "B");
}

static void write_ladder(const struct kwhy_sheet *sheet, size_t device)
{
	const struct kwhy_ladder *ladder = &sheet->ladders[device];
	bool energy = sheet->report->ledger->devices[device].energy.known;
	size_t shown = kwhy_sheet_shown(sheet, ladder->count, RUNG_ROWS);
	char label[KWHY_DEVICE_LABEL_BYTES], title[KWHY_DEVICE_LABEL_BYTES + 32];
	struct kwhy_table table;

	snprintf(title, sizeof(title), "What a byte costs, %s",
		kwhy_device_label(label, &sheet->report->recording->devices[device]));
	kwhy_sheet_heading(sheet, title, energy ? "best first; net: above idle" : "best first");
	kwhy_table_init(&table, rung_columns, energy ? 7 : 4);
	for (size_t i = 0; i < shown; i++)
		add_rung(&table, &ladder->rungs[i]);
	kwhy_table_write(&table, sheet->style, sheet->out);
	kwhy_sheet_more(sheet, ladder->count, shown);
}

void kwhy_section_ladder(const struct kwhy_sheet *sheet)
{
	for (size_t d = 0; d < sheet->report->ledger->device_count; d++)
		if (sheet->ladders[d].count)
			write_ladder(sheet, d);
}

static const struct kwhy_table_column work_columns[] = {
	{"work", KWHY_COLUMN_NAME},
	{"count", KWHY_COLUMN_RIGHT},
	{"a second", KWHY_COLUMN_RIGHT},
	{"energy each", KWHY_COLUMN_RIGHT},
	{"a joule", KWHY_COLUMN_RIGHT},
};

/* What a copy costs in the work that the device is there for: S joules a copy are N multiply-adds. */
static void write_equivalents(const struct kwhy_sheet *sheet, double j_per_flop)
{
	char flop[KWHY_QUANTITY_BYTES], each[KWHY_QUANTITY_BYTES], count[KWHY_QUANTITY_BYTES];

	kwhy_sheet_linef(sheet, "  ", "Kernels draw %s a floating-point operation.",
		kwhy_quantity_si(flop, j_per_flop, "J", 3));
	for (size_t d = 0; d < sheet->report->ledger->device_count; d++)
		for (uint32_t kind = 0; kind < KWHY_COPY_KIND_COUNT; kind++) {
			const struct kwhy_operation *copies = &sheet->operations[d].copies[kind];
			double each_j = kwhy_operation_each_nj(copies) * 1e-9;

			if (copies->count && isfinite(each_j))
				kwhy_sheet_linef(sheet, "  ", "One %s copy (%s) is worth %s multiply-adds.",
					kwhy_copy_kind_name((enum kwhy_copy_kind)kind),
					kwhy_quantity_si(each, each_j, "J", 3),
					kwhy_quantity_count(count, (uint64_t)(each_j / j_per_flop / 2)));
		}
}

void kwhy_section_work(const struct kwhy_sheet *sheet)
{
	const struct kwhy_recording *recording = sheet->report->recording;
	double seconds = sheet->totals->run_s, energy_j = sheet->totals->run_nj * 1e-9;
	double j_per_flop = kwhy_joules_per_flop(sheet->report);
	char amount[KWHY_QUANTITY_BYTES];
	char unmetered[KWHY_QUANTITY_BYTES];
	struct kwhy_table table;

	if (!recording->work_count)
		return;
	kwhy_sheet_heading(
		sheet, "Work done", "energy from the first start to the last end, idling included");
	kwhy_table_init(&table, work_columns, 5);
	for (size_t i = 0; i < recording->work_count; i++) {
		double count = recording->work[i].count > 0 ? recording->work[i].count : NAN;

		kwhy_table_cell(&table, recording->work[i].unit);
		kwhy_table_cell(&table, kwhy_quantity_amount(amount, recording->work[i].count));
		add_ratio(&table, count / seconds);
		kwhy_table_real(&table, energy_j / count, "J");
		add_ratio(&table, energy_j > 0 ? count / energy_j : NAN);
	}
	kwhy_table_write(&table, sheet->style, sheet->out);
	if (sheet->totals->unmetered_nj > 0 && isfinite(energy_j))
		kwhy_sheet_linef(sheet, "  ", "%s of the energy are worked out where no reading was.",
			kwhy_quantity_si(unmetered, sheet->totals->unmetered_nj * 1e-9, "J", 3));
	if (isfinite(j_per_flop))
		write_equivalents(sheet, j_per_flop);
}
