/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "report/compare/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Changes of time of at most this share of A's time are due to rounding and shown as 0. */
#define ROUNDING 1e-9

enum { ACCOUNT_ROWS = 8, COLUMNS_MAX = 6 };

/* Adds a cell with a count per unit of the comparison (such as a step), which may be a fraction. */
static void add_count(struct kwhy_table *table, double count)
{
	char text[KWHY_QUANTITY_BYTES];

	kwhy_table_cell(table, kwhy_compare_count(text, count));
}

/*
 * Mean time of one activity of an account, s. `time_s` and `count` are for one unit of the comparison. NAN:
 * the side has no such activity.
 */
static double each_of(double time_s, double count)
{
	return count > 0 ? time_s / count : NAN;
}

static void add_side(
	struct kwhy_table *table, const struct kwhy_account_pair *pair, size_t side, bool has_energy)
{
	const double count = pair->counts[side], time_s = (side ? pair->time.b : pair->time.a).mean;

	kwhy_table_cell(table, side ? "B" : "A");
	add_count(table, count);
	if (count > 0)
		kwhy_table_real(table, each_of(time_s, count), "s");
	else
		kwhy_table_cell(table, "");
	kwhy_table_real(table, time_s, "s");
	if (has_energy)
		kwhy_table_real(table, (side ? pair->energy.b : pair->energy.a).mean, "J");
}

/*
 * Adds the relative change from A to B, preceded by an asterisk if the interval of the change is known and
 * excludes 0.
 */
static void add_marked(struct kwhy_table *table, const struct kwhy_change *change)
{
	const double a = change->a.mean, b = change->b.mean;
	const char *mark = kwhy_difference_is_significant(&change->difference) ? "* " : "";
	char text[KWHY_QUANTITY_BYTES];

	if (!isfinite(a) || !isfinite(b) || a == 0) {
		kwhy_compare_add_ratio(table, a, b);
		return;
	}
	snprintf(text, sizeof(text), "%s%+.1f %%", mark, (b / a - 1) * 100);
	kwhy_table_cell(table, text);
}

static void add_changes(struct kwhy_table *table, const struct kwhy_account_pair *pair, bool has_energy)
{
	const double a_each_s = each_of(pair->time.a.mean, pair->counts[0]),
		     b_each_s = each_of(pair->time.b.mean, pair->counts[1]);

	kwhy_table_cell(table, "");
	kwhy_table_cell(table, "");
	kwhy_compare_add_ratio(table, pair->counts[0], pair->counts[1]);
	if (isfinite(a_each_s) && isfinite(b_each_s))
		kwhy_compare_add_ratio(table, a_each_s, b_each_s);
	else
		kwhy_table_cell(table, "");
	add_marked(table, &pair->time);
	if (has_energy)
		add_marked(table, &pair->energy);
}

static void add_pair(struct kwhy_table *table, const struct kwhy_account_pair *pair, bool has_energy)
{
	if (kwhy_pair_is_kernel(pair))
		kwhy_table_kernel(table, pair->name);
	else
		kwhy_table_cell(table, pair->name);
	add_side(table, pair, 0, has_energy);
	kwhy_table_cell(table, "");
	add_side(table, pair, 1, has_energy);
	add_changes(table, pair, has_energy);
}

static bool knows_energy(const struct kwhy_comparison *comparison)
{
	for (size_t i = 0; i < comparison->pair_count; i++)
		if (isfinite(comparison->pairs[i].energy.a.mean) ||
			isfinite(comparison->pairs[i].energy.b.mean))
			return true;
	return false;
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

/* Time of all accounts of a category on one side (0: A, 1: B) for one unit of the comparison, s. */
static double category_s(const struct kwhy_comparison *comparison, const char *category, size_t side)
{
	double time_s = 0;

	for (size_t i = 0; i < comparison->pair_count; i++) {
		const struct kwhy_account_pair *pair = &comparison->pairs[i];

		if (strcmp(pair->category, category) == 0)
			time_s += (side ? pair->time.b : pair->time.a).mean;
	}
	return time_s;
}

/* Writes the time of each category that took time on a side, for runs whose energies are unknown. */
static void write_categories(
	const struct kwhy_comparison *comparison, const struct kwhy_text_context *context)
{
	static const struct kwhy_table_column columns[] = {{"category", KWHY_COLUMN_LEFT},
		{"A", KWHY_COLUMN_RIGHT}, {"B", KWHY_COLUMN_RIGHT}, {"change", KWHY_COLUMN_RIGHT},
		{"", KWHY_COLUMN_RIGHT}};
	char unit[80], remark[120];
	struct kwhy_table table;

	snprintf(remark, sizeof(remark), "for %s; no energy is known",
		kwhy_compare_unit_words(unit, comparison));
	kwhy_text_context_heading(context, "Time by category", remark);
	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(*columns));
	for (int i = 0; i < KWHY_CATEGORY_COUNT; i++) {
		const char *name = kwhy_category_name((enum kwhy_category)i);
		double a_s = category_s(comparison, name, 0), b_s = category_s(comparison, name, 1);
		char label[48];

		if (!(a_s > 0) && !(b_s > 0))
			continue;
		snprintf(label, sizeof(label), "%s%s",
			i >= KWHY_CATEGORY_SYNC && i < KWHY_CATEGORY_IDLE ? "idle: " : "", name);
		kwhy_table_cell(&table, label);
		kwhy_table_real(&table, a_s, "s");
		kwhy_table_real(&table, b_s, "s");
		kwhy_compare_add_change(&table, fabs(b_s - a_s) > ROUNDING * a_s ? b_s - a_s : 0, "s");
		kwhy_compare_add_ratio(&table, a_s, b_s);
	}
	kwhy_table_write(&table, context->style, context->out);
}

void kwhy_compare_accounts_text(
	const struct kwhy_comparison *comparison, const struct kwhy_text_context *context)
{
	const bool has_energy = knows_energy(comparison), repeated = kwhy_comparison_is_repeated(comparison);
	const struct kwhy_table_column columns[COLUMNS_MAX] = {{"account", KWHY_COLUMN_NAME},
		{"", KWHY_COLUMN_LEFT}, {"count", KWHY_COLUMN_RIGHT}, {"time each", KWHY_COLUMN_RIGHT},
		{"time", KWHY_COLUMN_RIGHT}, {"energy", KWHY_COLUMN_RIGHT}};
	size_t shown = kwhy_text_context_shown(context, comparison->pair_count, ACCOUNT_ROWS);
	char unit[80], remark[160];
	struct kwhy_table table;

	if (!comparison->pair_count)
		return;
	if (!has_energy)
		write_categories(comparison, context);
	snprintf(remark, sizeof(remark), "for %s%s", kwhy_compare_unit_words(unit, comparison),
		repeated	     ? "; * beyond the 95 % interval of the change"
			: has_energy ? "; * beyond the 90 % interval of the change"
				     : "");
	kwhy_text_context_heading(context, "Accounts", remark);
	kwhy_table_init(&table, columns, has_energy ? COLUMNS_MAX : COLUMNS_MAX - 1);
	for (size_t i = 0; i < shown; i++)
		add_pair(&table, &comparison->pairs[i], has_energy);
	kwhy_table_write(&table, context->style, context->out);
	kwhy_text_context_more(context, comparison->pair_count, shown);
	if (repeated)
		kwhy_text_context_paragraph(context, "  ",
			"Changes without * cannot be distinguished from none. Of changes that are none, one "
			"in twenty has a * by chance.");
	else if (has_energy)
		kwhy_text_context_paragraph(context, "  ", totals_words(comparison));
}
