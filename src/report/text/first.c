/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "model/known_sum.h"
#include "report/account_columns.h"
#include "report/shown_name.h"
#include "report/text_context.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * The rest of the first screen, after the cost: largest accounts and advice. With three findings the screen
 * has at most 24 lines.
 */

enum { SCREEN_LINES = 24, WHERE_ROWS = 6, WHERE_MIN = 3, WHERE_BAR = 10, ADVICE_ROWS = 3 };

static const struct kwhy_table_column energy_columns[] = {
	{"", KWHY_COLUMN_BAR},
	{"", KWHY_COLUMN_NAME},
	{"energy", KWHY_COLUMN_RIGHT},
	{"90 %", KWHY_COLUMN_RIGHT},
	{"share", KWHY_COLUMN_RIGHT},
};

static const struct kwhy_table_column time_columns[] = {
	{"", KWHY_COLUMN_BAR},
	{"", KWHY_COLUMN_NAME},
	{"time", KWHY_COLUMN_RIGHT},
	{"count", KWHY_COLUMN_RIGHT},
	{"share", KWHY_COLUMN_RIGHT},
};

static void add_name(struct kwhy_table *table, const struct kwhy_total *row)
{
	if (kwhy_category_is_kernels(row->category))
		kwhy_table_kernel(table, row->name);
	else
		kwhy_table_cell(table, row->name);
}

static void add_rest(struct kwhy_table *table, const struct kwhy_totals *totals, size_t shown, bool energy)
{
	struct kwhy_total rest = {.gross_nj = 0};
	char name[64];

	for (size_t i = shown; i < totals->row_count; i++) {
		if (energy)
			kwhy_known_add(&rest.gross_nj, totals->rows[i].gross_nj);
		kwhy_time_add(&rest.time_ns, totals->rows[i].time_ns);
		rest.count += totals->rows[i].count;
	}
	snprintf(name, sizeof(name), "%zu more accounts", totals->row_count - shown);
	kwhy_table_bar(table, kwhy_totals_share(totals, &rest), WHERE_BAR);
	kwhy_table_cell(table, name);
	if (energy) {
		kwhy_table_energy(table, rest.gross_nj);
		kwhy_table_cell(table, "");
	} else {
		kwhy_table_time(table, rest.time_ns);
		kwhy_table_count(table, rest.count);
	}
	kwhy_table_percent(table, kwhy_totals_share(totals, &rest));
}

static bool has_grouped(const struct kwhy_totals *totals, size_t shown)
{
	for (size_t i = 0; i < shown; i++)
		if (totals->rows[i].basis == KWHY_BASIS_GROUPED)
			return true;
	return false;
}

/* The totals that the account table shows: those of the whole run, if random windows are samples of it. */
static struct kwhy_totals shown_totals(const struct kwhy_text_context *context)
{
	struct kwhy_totals totals = *context->totals;

	if (!totals.whole_count)
		return totals;
	totals.rows = totals.whole_rows;
	totals.row_count = totals.whole_count;
	totals.span_ns = totals.whole_ns;
	return totals;
}

static const char *remark_on(const struct kwhy_totals *totals, size_t shown, bool energy)
{
	if (totals->whole_count)
		return "of the whole run, estimated from the windows";
	if (!energy)
		return "share of the devices' time; streams may overlap";
	return has_grouped(totals, shown) ? "some rows are sure only as a sum: see Known only as sums" : NULL;
}

/*
 * Number of findings that are shown. Findings are sorted by saving, and those whose remedy is projected to
 * save nothing are not shown.
 */
static size_t advice_count(const struct kwhy_findings *findings)
{
	size_t count = 0;

	while (count < findings->count && count < ADVICE_ROWS &&
		(findings->items[count].saving.time_ns > 0 || findings->items[count].saving.energy_nj > 0))
		count++;
	return count;
}

/*
 * Number of account rows for which the first screen has space, next to the lines above the table, a line for
 * each heading, one for the columns' titles, and the findings.
 */
static size_t where_rows(const struct kwhy_text_context *context)
{
	size_t taken = 5 + 2 * advice_count(context->report->findings), rows;

	for (size_t i = 0; i < context->out->length; i++)
		taken += context->out->data[i] == '\n';
	rows = taken < SCREEN_LINES ? SCREEN_LINES - taken : 0;
	return rows < WHERE_MIN ? WHERE_MIN : rows > WHERE_ROWS ? WHERE_ROWS : rows;
}

void kwhy_section_where(const struct kwhy_text_context *context)
{
	const struct kwhy_totals whole = shown_totals(context), *totals = &whole;
	bool energy = totals->energy_nj != KWHY_UNKNOWN_NJ;
	size_t space = where_rows(context),
	       shown = totals->row_count <= space ? totals->row_count : space - 1;
	struct kwhy_table table;

	if (!totals->row_count)
		return;
	kwhy_text_context_heading(context, energy ? "Where the energy went" : "Where the time went",
		remark_on(totals, shown, energy));
	kwhy_table_init(&table, energy ? energy_columns : time_columns, 5);
	for (size_t i = 0; i < shown; i++) {
		const struct kwhy_total *row = &totals->rows[i];

		kwhy_table_bar(&table, kwhy_totals_share(totals, row), WHERE_BAR);
		add_name(&table, row);
		if (energy) {
			kwhy_table_energy(&table, row->gross_nj);
			kwhy_table_interval(&table, row->low_nj, row->high_nj);
		} else {
			kwhy_table_time(&table, row->time_ns);
			kwhy_table_count(&table, row->count);
		}
		kwhy_table_percent(&table, kwhy_totals_share(totals, row));
	}
	if (shown < totals->row_count)
		add_rest(&table, totals, shown, energy);
	kwhy_table_write(&table, context->style, context->out);
}

/* Writes one line, cut to the width of the page. */
static void write_cut(const struct kwhy_text_context *context, const char *lead, const char *text)
{
	struct kwhy_arena arena = {0};
	char *clean = kwhy_shown_clean(&arena, text);

	clean = clean ? kwhy_shown_cut(&arena, clean, context->style->columns - strlen(lead)) : NULL;
	kwhy_text_addf(context->out, "%s%s\n", lead, clean ? clean : "");
	context->out->failed |= !clean;
	kwhy_arena_done(&arena);
}

/*
 * Writes what a remedy saves: "up to 120 J (23.5 %), 1.2 s", or "projected: ..." where the saving is no upper
 * bound.
 */
static void write_saving(
	const struct kwhy_text_context *context, const struct kwhy_saving *saving, struct kwhy_text *out)
{
	double whole_nj = context->totals->recorded_nj;
	char energy[KWHY_QUANTITY_BYTES], share[KWHY_QUANTITY_BYTES], time[KWHY_QUANTITY_BYTES];

	kwhy_text_add(out, saving->bound == KWHY_BOUND_EXPECTED ? "projected: " : "up to ");
	if (saving->energy_nj != KWHY_UNKNOWN_NJ && whole_nj > 0)
		kwhy_text_addf(out, "%s (%s), ", kwhy_quantity_energy(energy, saving->energy_nj),
			kwhy_quantity_percent(share, (double)saving->energy_nj / whole_nj));
	kwhy_text_addf(out, "%s%s", kwhy_quantity_time(time, saving->time_ns),
		saving->frees_device ? " of the device" : "");
}

/*
 * Whether the energy to which findings' shares refer differs by 1 % or more from the energy in the first
 * line.
 */
static bool is_base_apart(const struct kwhy_totals *totals)
{
	return totals->recorded_nj > 0 &&
		fabs(totals->recorded_nj - (double)totals->energy_nj) >= 0.01 * totals->recorded_nj;
}

/*
 * Writes the heading with the number of findings. If their shares do not refer to the metered energy, it says
 * to which energy they do.
 */
static void write_advice_heading(const struct kwhy_text_context *context, size_t count)
{
	const struct kwhy_totals *totals = context->totals;
	const size_t all = context->report->findings->count;
	char energy[KWHY_QUANTITY_BYTES];
	struct kwhy_text remark = {0};

	if (count && all > count)
		kwhy_text_addf(&remark, "best %zu of %zu findings (all below); savings overlap", count, all);
	else if (count > 1)
		kwhy_text_add(&remark, "savings overlap");
	if (count && is_base_apart(totals))
		kwhy_text_addf(&remark, "%sshares of %s", remark.length ? "; " : "",
			kwhy_quantity_si(energy, totals->recorded_nj * 1e-9, "J", 3));
	kwhy_text_context_heading(
		context, "What to do", remark.length && !remark.failed ? remark.data : NULL);
	context->out->failed |= remark.failed;
	kwhy_text_done(&remark);
}

void kwhy_section_advice(const struct kwhy_text_context *context)
{
	const struct kwhy_findings *findings = context->report->findings;
	const size_t count = findings ? advice_count(findings) : 0;
	struct kwhy_text line = {0};

	if (!findings)
		return;
	write_advice_heading(context, count);
	if (!count)
		kwhy_text_add(context->out,
			context->totals->active_count
				? "  nothing found that would save enough to be worth it\n"
				: "  no activity of a device was recorded, so nothing can be advised\n");
	for (size_t i = 0; i < count; i++) {
		const struct kwhy_finding *finding = &findings->items[i];
		char lead[24 + KWHY_DEVICE_LABEL_BYTES], label[KWHY_DEVICE_LABEL_BYTES];
		bool named = finding->device != KWHY_NONE && context->totals->active_count > 1;

		snprintf(lead, sizeof(lead), "  %zu. %s%s", i + 1,
			named ? kwhy_device_label(
					label, &context->report->recording->devices[finding->device])
			      : "",
			named ? ": " : "");
		write_cut(context, lead, finding->title);
		kwhy_text_clear(&line);
		write_saving(context, &finding->saving, &line);
		kwhy_text_addf(&line, ": %s", finding->cure);
		write_cut(context, "     ", line.failed ? "" : line.data);
	}
	context->out->failed |= line.failed;
	kwhy_text_done(&line);
}
