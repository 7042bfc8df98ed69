/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "report/compare/parts.h"
#include "report/compare/stat.h"

#include <math.h>
#include <stdio.h>

static void write_changes(
	const struct kwhy_stat_comparison *comparison, const struct kwhy_text_context *context)
{
	kwhy_compare_changes_text(comparison->changes, comparison->change_count, true, context);
	kwhy_text_context_paragraph(context, "  ",
		"means over the runs of each side; the interval is that of the change, in percent of A, "
		"whose own error is in it: Welch's t over the runs; of a single run compared with several, "
		"their scatter and its meter; of single runs, the meters alone");
}

/*
 * Adds three cells of one side: joules, seconds, and, if not all of its runs reached the value, how many did,
 * as "2 of 3". Returns whether all runs reached it.
 */
static bool add_reached(struct kwhy_table *table, const struct kwhy_stat_comparison *comparison,
	const struct kwhy_stat_reached *level, size_t side)
{
	bool by_all = level->runs[side] == comparison->results[side]->run_count;
	char text[KWHY_QUANTITY_BYTES] = "";

	if (!by_all)
		snprintf(text, sizeof(text), "%zu of %zu", level->runs[side],
			comparison->results[side]->run_count);
	kwhy_table_real(table, level->joules[side], "J");
	kwhy_table_real(table, level->time_s[side], "s");
	kwhy_table_cell(table, text);
	return by_all;
}

static void write_curve(const struct kwhy_stat_comparison *comparison,
	const struct kwhy_stat_curve_pair *curve, const struct kwhy_text_context *context)
{
	static const struct kwhy_table_column columns[] = {{"reached", KWHY_COLUMN_RIGHT},
		{"A", KWHY_COLUMN_RIGHT}, {"", KWHY_COLUMN_RIGHT}, {"", KWHY_COLUMN_RIGHT},
		{"B", KWHY_COLUMN_RIGHT}, {"", KWHY_COLUMN_RIGHT}, {"", KWHY_COLUMN_RIGHT},
		{"joules", KWHY_COLUMN_RIGHT}};
	struct kwhy_table table;
	bool by_all = true;

	kwhy_text_context_heading(context, curve->name, "joules and seconds until a target is first reached");
	if (!curve->level_count) {
		kwhy_text_context_paragraph(context, "  ", "no value was reached by both after their first");
		return;
	}
	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < curve->level_count; i++) {
		const struct kwhy_stat_reached *level = &curve->levels[i];
		double ratio = level->joules[1] / level->joules[0] - 1;
		char text[KWHY_QUANTITY_BYTES];

		snprintf(text, sizeof(text), "%.5g", level->value);
		kwhy_table_cell(&table, text);
		for (size_t side = 0; side < 2; side++)
			by_all &= add_reached(&table, comparison, level, side);
		snprintf(text, sizeof(text), "%+.1f %%", 100 * ratio);
		kwhy_table_cell(&table, isfinite(ratio) ? text : NULL);
	}
	kwhy_table_write(&table, context->style, context->out);
	if (!by_all)
		kwhy_text_context_paragraph(context, "  ",
			"k of n: only k runs reached the value, and the means are of those; the others would "
			"have raised them");
}

enum kwhy_status kwhy_compare_stat_text(const struct kwhy_stat_comparison *comparison,
	const struct kwhy_conditions *conditions, const struct kwhy_text_style *style, struct kwhy_text *out,
	struct kwhy_error *error)
{
	struct kwhy_text_context context = {.style = style, .out = out};

	for (size_t side = 0; side < 2; side++)
		kwhy_text_context_linef(&context, side ? "B  " : "A  ", "%s: %s",
			comparison->results[side]->label, comparison->results[side]->command);
	if (style->markdown)
		kwhy_compare_conditions_text(&context, conditions);
	kwhy_text_add(out, "\n");
	write_changes(comparison, &context);
	for (size_t i = 0; i < comparison->curve_count; i++)
		write_curve(comparison, &comparison->curves[i], &context);
	if (!style->markdown)
		kwhy_compare_conditions_text(&context, conditions);
	return kwhy_text_check(out, error);
}

static void write_json_curve(struct kwhy_json *json, const struct kwhy_stat_curve_pair *curve)
{
	static const char *const keys[2][3] = {
		{"a_joules", "a_time_s", "a_runs"}, {"b_joules", "b_time_s", "b_runs"}};

	kwhy_json_object(json, NULL);
	kwhy_json_string(json, "name", curve->name);
	kwhy_json_bool(json, "rises", curve->rises);
	kwhy_json_array(json, "reached");
	for (size_t i = 0; i < curve->level_count; i++) {
		kwhy_json_row(json, NULL);
		kwhy_json_real(json, "value", curve->levels[i].value);
		for (size_t side = 0; side < 2; side++) {
			kwhy_json_real(json, keys[side][0], curve->levels[i].joules[side]);
			kwhy_json_real(json, keys[side][1], curve->levels[i].time_s[side]);
			kwhy_json_count(json, keys[side][2], curve->levels[i].runs[side]);
		}
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
	kwhy_json_object_end(json);
}

enum kwhy_status kwhy_compare_stat_json(const struct kwhy_stat_comparison *comparison,
	const struct kwhy_conditions *conditions, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_json json;

	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	kwhy_json_string(&json, "schema", "kwhy.compare-stat/1");
	for (size_t side = 0; side < 2; side++) {
		kwhy_json_row(&json, side ? "b" : "a");
		kwhy_json_string(&json, "path", comparison->results[side]->label);
		kwhy_json_string(&json, "command", comparison->results[side]->command);
		kwhy_json_count(&json, "runs", comparison->results[side]->run_count);
		kwhy_json_object_end(&json);
	}
	kwhy_compare_changes_json(&json, comparison->changes, comparison->change_count, "domain");
	kwhy_json_array(&json, "metrics");
	for (size_t i = 0; i < comparison->curve_count; i++)
		write_json_curve(&json, &comparison->curves[i]);
	kwhy_json_array_end(&json);
	kwhy_compare_conditions_json(&json, conditions);
	kwhy_json_object_end(&json);
	return kwhy_text_check(out, error);
}
