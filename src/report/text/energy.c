/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "report/account_columns.h"
#include "report/potential.h"
#include "report/text_context.h"

#include <math.h>
#include <stdio.h>

/*
 * Sections on accounts: all rows of the ledger, kernels, groups of accounts of which only the sum of energies
 * is known, and sums by category.
 */

enum { ACCOUNT_ROWS = 20, GROUP_ROWS = 8 };

static void add_name(struct kwhy_table *table, uint32_t category, const char *name)
{
	if (kwhy_category_is_kernels(category))
		kwhy_table_kernel(table, name);
	else
		kwhy_table_cell(table, name);
}

static void explain_marks(const struct kwhy_text_context *context, size_t shown)
{
	bool samples = false, limit = false, unseen = false;

	for (size_t i = 0; i < shown; i++) {
		samples |= context->totals->rows[i].above_samples && !context->totals->rows[i].above_limit;
		limit |= context->totals->rows[i].above_limit;
		unseen |= kwhy_account_is_unseen(context->totals, &context->totals->rows[i]);
	}
	if (samples)
		kwhy_text_context_paragraph(context, "  ",
			"^ mean power above the highest reading: short work that the meter averages away.");
	if (limit)
		kwhy_text_context_paragraph(context, "  ",
			"! mean power above the enforced power limit, which short excursions may exceed.");
	if (unseen)
		kwhy_text_context_paragraph(
			context, "  ", "n/a: ran before the first or after the last reading of the meter.");
}

void kwhy_section_accounts(const struct kwhy_text_context *context)
{
	const struct kwhy_totals *totals = context->totals;
	size_t shown = kwhy_text_context_shown(context, totals->row_count, ACCOUNT_ROWS);
	struct kwhy_text_table table = {.parts = {&kwhy_account_columns}};

	if (!totals->row_count || totals->energy_nj == KWHY_UNKNOWN_NJ)
		return;
	kwhy_text_context_heading(context, "Accounts",
		"The ledger puts each metered joule on exactly one account: a kernel, a kind of copy, a "
		"reason to be idle. gross = idle + net; 90 %: interval of gross.");
	for (size_t i = 0; i < shown; i++) {
		const struct kwhy_account_row row = kwhy_account_row_of_total(totals, &totals->rows[i]);

		kwhy_text_table_add(&table, &row);
	}
	kwhy_table_write(&table.table, context->style, context->out);
	kwhy_text_context_more(context, totals->row_count, shown);
	explain_marks(context, shown);
}

static const struct kwhy_table_column kernel_columns[] = {
	{"kernel", KWHY_COLUMN_NAME},
	{"count", KWHY_COLUMN_RIGHT},
	{"time", KWHY_COLUMN_RIGHT},
	{"each", KWHY_COLUMN_RIGHT},
	{"energy each", KWHY_COLUMN_RIGHT},
};

static void add_kernel(struct kwhy_table *table, const struct kwhy_total *row)
{
	kwhy_table_kernel(table, row->name);
	kwhy_table_count(table, row->count);
	kwhy_table_time(table, row->time_ns);
	kwhy_table_time(table, row->count ? row->time_ns / (int64_t)row->count : KWHY_UNKNOWN_NS);
	if (table->column_count > 4)
		kwhy_table_real(table, kwhy_total_each_j(row), "J");
}

void kwhy_section_kernels(const struct kwhy_text_context *context)
{
	const struct kwhy_totals *totals = context->totals;
	size_t count = 0, shown;
	struct kwhy_table table;

	for (size_t i = 0; i < totals->row_count; i++)
		count += kwhy_category_is_kernels(totals->rows[i].category);
	if (!count)
		return;
	shown = kwhy_text_context_shown(context, count, ACCOUNT_ROWS);
	kwhy_text_context_heading(context, "Kernels",
		totals->energy_nj == KWHY_UNKNOWN_NJ
			? "times are sums of durations"
			: "times are sums of durations; energy: mean power over one");
	kwhy_table_init(&table, kernel_columns, totals->energy_nj == KWHY_UNKNOWN_NJ ? 4 : 5);
	for (size_t i = 0, left = shown; left; i++) {
		if (!kwhy_category_is_kernels(totals->rows[i].category))
			continue;
		add_kernel(&table, &totals->rows[i]);
		left--;
	}
	kwhy_table_write(&table, context->style, context->out);
	kwhy_text_context_more(context, count, shown);
}

static const struct kwhy_table_column group_columns[] = {
	{"accounts that the readings cannot distinguish", KWHY_COLUMN_NAME},
	{"accounts", KWHY_COLUMN_RIGHT},
	{"sum", KWHY_COLUMN_RIGHT},
	{"90 %", KWHY_COLUMN_RIGHT},
};

static void add_group(struct kwhy_table *table, const struct kwhy_device_ledger *device_ledger,
	const struct kwhy_account_group *group)
{
	const struct kwhy_account *first;

	if (!group->member_count || group->members[0] >= device_ledger->account_count)
		return;
	first = &device_ledger->accounts[group->members[0]];
	add_name(table, first->category, first->name);
	kwhy_table_count(table, group->member_count);
	kwhy_table_energy(table, group->gross_nj);
	kwhy_table_interval(table, group->low_nj, group->high_nj);
}

static bool is_probed(const struct kwhy_ledger *ledger)
{
	for (size_t d = 0; d < ledger->device_count; d++)
		if (ledger->devices[d].time.probing_ns > 0)
			return true;
	return false;
}

void kwhy_section_groups(const struct kwhy_text_context *context)
{
	const struct kwhy_ledger *ledger = context->report->ledger;
	struct kwhy_table table;
	size_t count = 0, left = 0;

	kwhy_table_init(&table, group_columns, 4);
	for (size_t d = 0; d < ledger->device_count; d++)
		for (size_t i = 0; i < ledger->devices[d].group_count; i++) {
			if (count++ < GROUP_ROWS || context->style->verbose)
				add_group(&table, &ledger->devices[d], &ledger->devices[d].groups[i]);
			else
				left++;
		}
	if (count)
		kwhy_text_context_heading(
			context, "Known only as sums", "named by their first account; -o x.json lists all");
	kwhy_table_write(&table, context->style, context->out);
	kwhy_text_context_more(context, count, count - left);
	if (count && !is_probed(ledger))
		kwhy_text_context_linef(context, "  ", "%s",
			"kwhy probe -- CMD measures what each kernel draws, by repeating it in place.");
}

static const struct kwhy_table_column category_columns[] = {
	{"category", KWHY_COLUMN_LEFT},
	{"time", KWHY_COLUMN_RIGHT},
	{"gross", KWHY_COLUMN_RIGHT},
	{"net", KWHY_COLUMN_RIGHT},
	{"of total", KWHY_COLUMN_RIGHT},
	{"potential found", KWHY_COLUMN_LEFT},
};

static void add_category(struct kwhy_table *table, const struct kwhy_text_context *context, const char *name,
	const struct kwhy_total *sum)
{
	const struct kwhy_totals *totals = context->totals;

	kwhy_table_cell(table, name);
	kwhy_table_time(table, sum->time_ns);
	kwhy_table_energy(table, sum->gross_nj);
	kwhy_table_energy(table, sum->net_nj);
	kwhy_table_percent(table, kwhy_totals_share(totals, sum));
	kwhy_table_cell(table,
		sum->category == KWHY_CATEGORY_COUNT
			? ""
			: kwhy_potential_name(kwhy_potential_of(context->report->findings,
				  (enum kwhy_category)sum->category, totals->recorded_nj, totals->span_ns)));
}

/*
 * Writes the measured energy without that of unrecorded time, the share of it that went to activities and not
 * to idling, and the mean power.
 */
static void write_explained(const struct kwhy_text_context *context)
{
	const struct kwhy_totals *totals = context->totals;
	char measured[KWHY_QUANTITY_BYTES], explained[KWHY_QUANTITY_BYTES], share[KWHY_QUANTITY_BYTES],
		power[KWHY_QUANTITY_BYTES];
	double known_nj = (double)(totals->energy_nj - totals->unrecorded_nj);
	double active_nj = known_nj - (double)totals->idle_nj;

	if (totals->idle_nj == KWHY_UNKNOWN_NJ || active_nj <= 0)
		return;
	kwhy_text_context_linef(context, "  ",
		"activities of the device took %s of the %s %s, %s; average power %s.",
		kwhy_quantity_si(explained, active_nj * 1e-9, "J", 3),
		kwhy_quantity_energy(measured, totals->energy_nj - totals->unrecorded_nj),
		totals->modelled ? "modelled" : "measured",
		kwhy_quantity_percent(share, active_nj / known_nj),
		kwhy_quantity_si(power, totals->power_w, "W", 3));
}

/*
 * Explains rows without joules, if part of the run is unmetered: times are those of the whole run, while
 * joules exist only where the run was metered.
 */
static void write_unseen(const struct kwhy_text_context *context)
{
	struct kwhy_text unseen = {0};

	if (!(context->totals->unmetered_nj > 0) || context->totals->modelled)
		return;
	kwhy_text_context_add_unmetered(&unseen, context);
	kwhy_text_context_linef(context, "  ",
		"Time is of all the recording, joules cover what was metered; %s of it is unmetered.",
		unseen.failed ? "" : unseen.data);
	context->out->failed |= unseen.failed;
	kwhy_text_done(&unseen);
}

void kwhy_section_categories(const struct kwhy_text_context *context)
{
	const struct kwhy_totals *totals = context->totals;
	struct kwhy_category_sum sums[KWHY_CATEGORY_COUNT + 1];
	struct kwhy_table table;

	if (totals->energy_nj == KWHY_UNKNOWN_NJ)
		return;
	kwhy_totals_categories(totals, sums);
	kwhy_text_context_heading(
		context, "Energy by category", "potential: best finding; high 10 %, medium 3 %, low 0.1 %");
	kwhy_table_init(&table, category_columns, 6);
	for (uint32_t category = 0; category < KWHY_CATEGORY_COUNT; category++)
		if (sums[category].account_count)
			add_category(&table, context, kwhy_category_name((enum kwhy_category)category),
				&sums[category].sum);
	kwhy_table_rule(&table);
	add_category(&table, context, "sum", &sums[KWHY_CATEGORY_COUNT].sum);
	kwhy_table_write(&table, context->style, context->out);
	write_unseen(context);
	write_explained(context);
}
