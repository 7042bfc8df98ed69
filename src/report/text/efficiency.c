/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "report/cost_ranking.h"
#include "report/table.h"
#include "report/text_context.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Sections on efficiency: joules per byte of each kind of transfer, and joules per unit of work. */

enum { RANKING_ROWS = 12 };

static const struct kwhy_table_column cost_columns[] = {
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

/*
 * Adds an entry's rate as a share of its peak rate. A share that would be rounded to 0.0 % is shown as "<0.1
 * %".
 */
static void add_share_of_peak(struct kwhy_table *table, const struct kwhy_ranked_cost *cost)
{
	double share = cost->rate_bytes_per_s / cost->peak_bytes_per_s;

	if (share < 0.0005)
		kwhy_table_cell(table, "<0.1 %");
	else
		kwhy_table_percent(table, share);
}

static void add_cost(struct kwhy_table *table, const struct kwhy_ranked_cost *cost)
{
	kwhy_table_cell(table, cost->account->name);
	kwhy_table_real(table, cost->rate_bytes_per_s, "B/s");
	add_share_of_peak(table, cost);
	add_ratio(table, cost->ratio_to_best);
	if (table->column_count < 7)
		return;
	kwhy_table_real(table, cost->gross_j_per_byte, "J");
	kwhy_table_real(table, cost->net_j_per_byte, "J");
	kwhy_table_real(table, 1 / cost->gross_j_per_byte, "B");
}

static void write_ranking(const struct kwhy_text_context *context, size_t device)
{
	const struct kwhy_cost_ranking *ranking = &context->rankings[device];
	bool energy = context->report->ledger->devices[device].energy.known;
	size_t shown = kwhy_text_context_shown(context, ranking->count, RANKING_ROWS);
	char label[KWHY_DEVICE_LABEL_BYTES], title[KWHY_DEVICE_LABEL_BYTES + 32];
	struct kwhy_table table;

	snprintf(title, sizeof(title), "What a byte costs, %s",
		kwhy_device_label(label, &context->report->recording->devices[device]));
	kwhy_text_context_heading(context, title, energy ? "best first; net: above idle" : "best first");
	kwhy_table_init(&table, cost_columns, energy ? 7 : 4);
	for (size_t i = 0; i < shown; i++)
		add_cost(&table, &ranking->costs[i]);
	kwhy_table_write(&table, context->style, context->out);
	kwhy_text_context_more(context, ranking->count, shown);
}

void kwhy_section_cost_ranking(const struct kwhy_text_context *context)
{
	for (size_t d = 0; d < context->report->ledger->device_count; d++)
		if (context->rankings[d].count)
			write_ranking(context, d);
}

static const struct kwhy_table_column work_columns[] = {
	{"work", KWHY_COLUMN_NAME},
	{"count", KWHY_COLUMN_RIGHT},
	{"a second", KWHY_COLUMN_RIGHT},
	{"energy each", KWHY_COLUMN_RIGHT},
	{"a joule", KWHY_COLUMN_RIGHT},
};

/* Writes for each kind of copy how many multiply-adds take as much energy as one copy. */
static void write_equivalents(const struct kwhy_text_context *context, double j_per_flop)
{
	char flop[KWHY_QUANTITY_BYTES], each[KWHY_QUANTITY_BYTES], count[KWHY_QUANTITY_BYTES];

	kwhy_text_context_linef(context, "  ", "Kernels draw %s a floating-point operation.",
		kwhy_quantity_si(flop, j_per_flop, "J", 3));
	for (size_t d = 0; d < context->report->ledger->device_count; d++)
		for (uint32_t kind = 0; kind < KWHY_COPY_KIND_COUNT; kind++) {
			const struct kwhy_operation *copies = &context->operations[d].copies[kind];
			double each_j = kwhy_operation_each_nj(copies) * 1e-9;

			if (copies->count && isfinite(each_j))
				kwhy_text_context_linef(context, "  ",
					"One %s copy (%s) is worth %s multiply-adds.",
					kwhy_copy_kind_name((enum kwhy_copy_kind)kind),
					kwhy_quantity_si(each, each_j, "J", 3),
					kwhy_quantity_count(count, (uint64_t)(each_j / j_per_flop / 2)));
		}
}

void kwhy_section_work(const struct kwhy_text_context *context)
{
	const struct kwhy_recording *recording = context->report->recording;
	double seconds = context->totals->run_s, energy_j = context->totals->run_nj * 1e-9;
	double j_per_flop = kwhy_joules_per_flop(context->report);
	char amount[KWHY_QUANTITY_BYTES];
	char unmetered[KWHY_QUANTITY_BYTES];
	struct kwhy_table table;

	if (!recording->work_count)
		return;
	kwhy_text_context_heading(
		context, "Work done", "energy from the first start to the last end, idling included");
	kwhy_table_init(&table, work_columns, 5);
	for (size_t i = 0; i < recording->work_count; i++) {
		double count = recording->work[i].count > 0 ? recording->work[i].count : NAN;

		kwhy_table_cell(&table, recording->work[i].unit);
		kwhy_table_cell(&table, kwhy_quantity_amount(amount, recording->work[i].count));
		add_ratio(&table, count / seconds);
		kwhy_table_real(&table, energy_j / count, "J");
		add_ratio(&table, energy_j > 0 ? count / energy_j : NAN);
	}
	kwhy_table_write(&table, context->style, context->out);
	if (context->totals->unmetered_nj > 0 && isfinite(energy_j))
		kwhy_text_context_linef(context, "  ", "%s of the energy are estimated where no reading was.",
			kwhy_quantity_si(unmetered, context->totals->unmetered_nj * 1e-9, "J", 3));
	if (isfinite(j_per_flop))
		write_equivalents(context, j_per_flop);
}
