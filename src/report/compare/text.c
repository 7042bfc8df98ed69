/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "report/compare.h"
#include "report/projection_check.h"
#include "report/table.h"
#include "report/text_context.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ACCOUNT_ROWS = 20 };

static const struct kwhy_table_column figure_columns[] = {
	{"", KWHY_COLUMN_LEFT},
	{"A", KWHY_COLUMN_RIGHT},
	{"B", KWHY_COLUMN_RIGHT},
	{"change", KWHY_COLUMN_RIGHT},
	{"", KWHY_COLUMN_RIGHT},
};

/* Adds the change from A to B as "+12.3 %", or "new" where A's value is 0 and B's is not. */
static void add_ratio(struct kwhy_table *table, double a, double b)
{
	char text[KWHY_QUANTITY_BYTES];

	if (!isfinite(a) || !isfinite(b)) {
		kwhy_table_cell(table, NULL);
		return;
	}
	if (a == 0)
		snprintf(text, sizeof(text), "%s", b == 0 ? "0 %" : "new");
	else
		snprintf(text, sizeof(text), "%+.1f %%", (b / a - 1) * 100);
	kwhy_table_cell(table, text);
}

/* Adds a change with its unit: "+1.20 J". */
static void add_change(struct kwhy_table *table, double change, const char *unit)
{
	char number[KWHY_QUANTITY_BYTES], text[KWHY_QUANTITY_BYTES + 2];

	kwhy_quantity_si(number, change, unit, 3);
	snprintf(text, sizeof(text), "%s%s", change > 0 ? "+" : "", number);
	kwhy_table_cell(table, isfinite(change) ? text : NULL);
}

static void add_row(struct kwhy_table *table, const char *name, double a, double b, const char *unit)
{
	if (!isfinite(a) && !isfinite(b))
		return;
	kwhy_table_cell(table, name);
	kwhy_table_real(table, a, unit);
	kwhy_table_real(table, b, unit);
	add_change(table, b - a, unit);
	add_ratio(table, a, b);
}

/* Adds the busy ratio. Its change is in percentage points, so that 50 % to 60 % is not shown as "20 %". */
static void add_busy(struct kwhy_table *table, const struct kwhy_comparison *comparison)
{
	double points = (comparison->b->busy_ratio - comparison->a->busy_ratio) * 100;
	char text[KWHY_QUANTITY_BYTES];

	kwhy_table_cell(table, "device busy");
	kwhy_table_percent(table, comparison->a->busy_ratio);
	kwhy_table_percent(table, comparison->b->busy_ratio);
	snprintf(text, sizeof(text), "%+.1f points", points);
	kwhy_table_cell(table, isfinite(points) ? text : NULL);
	kwhy_table_cell(table, "");
}

static void add_work(struct kwhy_table *table, const struct kwhy_comparison *comparison)
{
	const struct kwhy_side *a = comparison->a, *b = comparison->b;

	for (size_t i = 0; i < a->work_count; i++) {
		const struct kwhy_side_work *other = kwhy_side_work_of(b, a->work[i].unit);
		char name[64];

		if (!other)
			continue;
		snprintf(name, sizeof(name), "energy each, %.40s", a->work[i].unit);
		add_row(table, name, a->work[i].each_j, other->each_j, "J");
	}
}

/*
 * Name of the attributed energy in the table, which depends on where the joules come from (a meter or assumed
 * powers).
 */
static const char *energy_name(const struct kwhy_comparison *comparison)
{
	static const char *const names[2][2] = {
		{"energy, metered", "energy, B modelled"}, {"energy, A modelled", "energy, modelled"}};

	return names[comparison->a->modelled][comparison->b->modelled];
}

static void write_figures(const struct kwhy_comparison *comparison, const struct kwhy_text_context *context)
{
	static const struct {
		enum kwhy_figure figure;
		const char *name;
	} rows[] = {
		{KWHY_FIGURE_ENERGY, NULL},
		{KWHY_FIGURE_IDLE, "of that, the run idling"},
		{KWHY_FIGURE_RUN, "energy of the run"},
		{KWHY_FIGURE_TIME, "time, longest span"},
		{KWHY_FIGURE_POWER, "average power"},
	};
	struct kwhy_table table;

	kwhy_table_init(&table, figure_columns, 5);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		add_row(&table, rows[i].name ? rows[i].name : energy_name(comparison),
			kwhy_figure_of(comparison->a, rows[i].figure),
			kwhy_figure_of(comparison->b, rows[i].figure), kwhy_figure_unit(rows[i].figure));
	add_busy(&table, comparison);
	add_work(&table, comparison);
	kwhy_table_write(&table, context->style, context->out);
}

static void write_side(
	const struct kwhy_text_context *context, const char *lead, const struct kwhy_side *side)
{
	kwhy_text_context_linef(context, lead, "%s%s%s%s", side->label, *side->device ? ", " : "",
		side->device,
		side->energy_nj == KWHY_UNKNOWN_NJ ? ", time only"
			: side->modelled	   ? ", modelled powers"
						   : "");
}

static const struct kwhy_table_column energy_columns[] = {
	{"account", KWHY_COLUMN_NAME},
	{"A", KWHY_COLUMN_RIGHT},
	{"B", KWHY_COLUMN_RIGHT},
	{"change", KWHY_COLUMN_RIGHT},
	{"90 %", KWHY_COLUMN_RIGHT},
	{"", KWHY_COLUMN_RIGHT},
	{"", KWHY_COLUMN_LEFT},
};

static void add_name(struct kwhy_table *table, const struct kwhy_account_pair *pair)
{
	if (strcmp(pair->category, "compute") == 0 || strcmp(pair->category, "collective") == 0)
		kwhy_table_kernel(table, pair->name);
	else
		kwhy_table_cell(table, pair->name);
}

static void add_energy_pair(struct kwhy_table *table, const struct kwhy_account_pair *pair)
{
	int64_t a_nj = pair->a ? pair->a->gross_nj : 0, b_nj = pair->b ? pair->b->gross_nj : 0;
	int64_t width_nj = pair->half_width_nj;

	add_name(table, pair);
	kwhy_table_energy(table, a_nj);
	kwhy_table_energy(table, b_nj);
	add_change(table, pair->change_nj == KWHY_UNKNOWN_NJ ? NAN : (double)pair->change_nj * 1e-9, "J");
	kwhy_table_interval(table, width_nj == KWHY_UNKNOWN_NJ ? width_nj : -width_nj, width_nj);
	add_ratio(table, a_nj == KWHY_UNKNOWN_NJ ? NAN : (double)a_nj,
		b_nj == KWHY_UNKNOWN_NJ ? NAN : (double)b_nj);
	kwhy_table_cell(table, pair->significant ? "*" : "");
}

static const struct kwhy_table_column time_columns[] = {
	{"account", KWHY_COLUMN_NAME},
	{"A", KWHY_COLUMN_RIGHT},
	{"B", KWHY_COLUMN_RIGHT},
	{"change", KWHY_COLUMN_RIGHT},
	{"", KWHY_COLUMN_RIGHT},
};

static void add_time_pair(struct kwhy_table *table, const struct kwhy_account_pair *pair)
{
	int64_t a_ns = pair->a ? pair->a->time_ns : 0, b_ns = pair->b ? pair->b->time_ns : 0;

	add_name(table, pair);
	kwhy_table_time(table, a_ns);
	kwhy_table_time(table, b_ns);
	add_change(table, (double)pair->change_ns * 1e-9, "s");
	add_ratio(table, (double)a_ns, (double)b_ns);
}

static const char *totals_words(const struct kwhy_comparison *comparison)
{
	static const char *const words[2][2] = {
		{"Totals are metered; how much they vary from run to run, one run of each cannot show.",
			"Totals of A are metered, those of B modelled from assumed powers."},
		{"Totals of A are modelled from assumed powers, those of B metered.",
			"Totals are modelled from assumed powers."}};

	return words[comparison->a->modelled][comparison->b->modelled];
}

static void write_accounts(const struct kwhy_comparison *comparison, const struct kwhy_text_context *context)
{
	bool energy = comparison->a->energy_nj != KWHY_UNKNOWN_NJ &&
		comparison->b->energy_nj != KWHY_UNKNOWN_NJ;
	size_t shown = kwhy_text_context_shown(context, comparison->pair_count, ACCOUNT_ROWS);
	struct kwhy_table table;

	if (!comparison->pair_count)
		return;
	kwhy_text_context_heading(context, "Accounts",
		energy ? "by change of energy; * beyond the 90 % interval of the change"
		       : "by change of time");
	kwhy_table_init(&table, energy ? energy_columns : time_columns, energy ? 7 : 5);
	for (size_t i = 0; i < shown; i++)
		(energy ? add_energy_pair : add_time_pair)(&table, &comparison->pairs[i]);
	kwhy_table_write(&table, context->style, context->out);
	kwhy_text_context_more(context, comparison->pair_count, shown);
	if (energy)
		kwhy_text_context_paragraph(context, "  ", totals_words(comparison));
}

static bool has_finding(const struct kwhy_side *side, const char *id)
{
	for (size_t i = 0; i < side->finding_count; i++)
		if (strcmp(side->findings[i].id, id) == 0)
			return true;
	return false;
}

/* Writes the findings of one side that are of a kind that the other side does not have. */
static void write_findings(const struct kwhy_text_context *context, const char *title,
	const struct kwhy_side *of, const struct kwhy_side *other)
{
	bool any = false;

	for (size_t i = 0; i < of->finding_count; i++) {
		if (has_finding(other, of->findings[i].id))
			continue;
		if (!any)
			kwhy_text_context_heading(context, title, NULL);
		any = true;
		kwhy_text_context_linef(
			context, "  - ", "%s [%s]", of->findings[i].title, of->findings[i].id);
	}
}

static void write_verdicts(const struct kwhy_text_context *context, const struct kwhy_conditions *conditions)
{
	if (conditions->count)
		kwhy_text_context_heading(context, "Conditions", NULL);
	for (size_t i = 0; i < conditions->count; i++) {
		const struct kwhy_condition *condition = &conditions->items[i];
		const char *unit = condition->figure == KWHY_FIGURE_COUNT
			? "J"
			: kwhy_figure_unit(condition->figure);
		char value[KWHY_QUANTITY_BYTES];

		if (condition->relative)
			snprintf(value, sizeof(value), "%+.2f %%", conditions->verdicts[i].value * 100);
		else if (!*unit) /* a ratio is written as the condition states it */
			snprintf(value, sizeof(value), "%.4g", conditions->verdicts[i].value);
		else
			kwhy_quantity_si(value, conditions->verdicts[i].value, unit, 4);
		kwhy_text_context_linef(context, "  ", "%s: %s, %s", condition->text, value,
			conditions->verdicts[i].exceeded ? "EXCEEDED" : "kept");
	}
}

enum kwhy_status kwhy_compare_text(const struct kwhy_comparison *comparison,
	const struct kwhy_conditions *conditions, const struct kwhy_text_style *style, struct kwhy_text *out,
	struct kwhy_error *error)
{
	struct kwhy_text_context context = {.style = style, .out = out};

	write_side(&context, "A  ", comparison->a);
	write_side(&context, "B  ", comparison->b);
	kwhy_text_context_heading(&context, "Summary", NULL);
	write_figures(comparison, &context);
	kwhy_projection_check_text(comparison, &context);
	write_accounts(comparison, &context);
	write_findings(&context, "Findings gone", comparison->a, comparison->b);
	write_findings(&context, "Findings new", comparison->b, comparison->a);
	write_verdicts(&context, conditions);
	return kwhy_text_check(out, error);
}
