/* SPDX-License-Identifier: Apache-2.0 */
#include "report/plan.h"
#include "report/table.h"
#include "report/text_context.h"

#include <stdio.h>

/*
 * Section with a summary of the projected changes. `kwhy whatif` also lists assumptions and refused
 * changes.
 */

static void add_row(struct kwhy_table *table, const struct kwhy_plan *whole, size_t changes)
{
	/* a copy that is cut to the first `changes` changes, for the bound of their common saving */
	struct kwhy_plan plan = *whole;
	const struct kwhy_projected_change *change = &whole->changes[changes - 1];
	const struct kwhy_projection *before = &whole->before, *after = &change->after;
	bool has_energy = before->energy_nj != KWHY_UNKNOWN_NJ;
	char number[24], saved[KWHY_PLAN_SHARE_BYTES];

	plan.change_count = changes;
	snprintf(number, sizeof(number), "%zu", changes);
	kwhy_table_cell(table, number);
	kwhy_table_cell(table, change->title);
	kwhy_table_cell(table, kwhy_effort_name(change->effort));
	kwhy_table_cell(table, kwhy_risk_name(change->risk));
	kwhy_table_cell(table,
		kwhy_plan_share(
			saved, kwhy_plan_bound(&plan), before->time_ns - after->time_ns, before->time_ns));
	kwhy_table_cell(table,
		kwhy_plan_share(saved, kwhy_plan_bound(&plan), before->energy_nj - after->energy_nj,
			has_energy ? before->energy_nj : 0));
}

static void write_table(const struct kwhy_text_context *context, const struct kwhy_plan *plan)
{
	static const struct kwhy_table_column columns[] = {
		{"", KWHY_COLUMN_RIGHT},
		{"change", KWHY_COLUMN_NAME},
		{"effort", KWHY_COLUMN_LEFT},
		{"risk", KWHY_COLUMN_LEFT},
		{"saved time", KWHY_COLUMN_RIGHT},
		{"saved energy", KWHY_COLUMN_RIGHT},
	};
	struct kwhy_table table;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 1; i <= plan->change_count; i++)
		add_row(&table, plan, i);
	kwhy_table_write(&table, context->style, context->out);
}

void kwhy_section_plan(const struct kwhy_text_context *context)
{
	const struct kwhy_plan *plan = context->report->plan;

	if (!plan && !context->report->no_plan)
		return;
	kwhy_text_context_heading(
		context, "Plan", "of the run, first start to last end: with each change and those above");
	if (!plan)
		kwhy_text_context_linef(context, "  ", "none: %s", context->report->no_plan);
	else if (!plan->change_count)
		kwhy_text_context_linef(context, "  ", "no change saves enough (--min-gain)");
	else
		write_table(context, plan);
	if (plan && kwhy_plan_lost(context->report))
		kwhy_text_context_linef(context, "  ", "%s", kwhy_plan_lost(context->report));
	if (plan)
		kwhy_text_context_linef(context, "  ",
			"assumptions, risks, and what was left out: kwhy whatif --plan of the same");
}
