/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "report/compare/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Adds three cells: the relative change, its interval, and whether the change is significant. */
static void add_change(struct kwhy_table *table, const struct kwhy_difference *difference)
{
	char text[KWHY_QUANTITY_BYTES];

	snprintf(text, sizeof(text), "%+.1f %%", 100 * difference->ratio);
	kwhy_table_cell(table, isfinite(difference->ratio) ? text : NULL);
	kwhy_compare_add_interval(table, difference, false);
}

/*
 * Adds a mean as a cell. A figure without a unit is an amount of work, which is written in full below 1e6 and
 * with an SI prefix from there on.
 */
static void add_mean(struct kwhy_table *table, double mean, const char *unit)
{
	char text[KWHY_QUANTITY_BYTES];

	if (strcmp(unit, "/s") == 0)
		snprintf(text, sizeof(text), fabs(mean) >= 1000 ? "%.0f /s" : "%.4g /s", mean);
	else if (*unit || fabs(mean) >= 1e6)
		kwhy_quantity_si(text, mean, unit, 4);
	else
		snprintf(text, sizeof(text), fabs(mean) >= 1000 ? "%.0f" : "%.4g", mean);
	kwhy_table_cell(table, isfinite(mean) ? text : NULL);
}

void kwhy_compare_changes_text(const struct kwhy_figure_change *changes, size_t count, bool with_of,
	const struct kwhy_text_context *context)
{
	static const struct kwhy_table_column rest[] = {{"A", KWHY_COLUMN_RIGHT}, {"B", KWHY_COLUMN_RIGHT},
		{"change", KWHY_COLUMN_RIGHT}, {"95 %", KWHY_COLUMN_RIGHT},
		{"significant", KWHY_COLUMN_LEFT}};
	struct kwhy_table_column columns[7] = {{"", KWHY_COLUMN_NAME}, {"of", KWHY_COLUMN_LEFT}};
	struct kwhy_table table;

	memcpy(columns + 1 + with_of, rest, sizeof(rest));
	kwhy_table_init(&table, columns, 1 + with_of + sizeof(rest) / sizeof(*rest));
	for (size_t i = 0; i < count; i++) {
		kwhy_table_cell(&table, changes[i].name);
		if (with_of)
			kwhy_table_cell(&table, changes[i].of);
		add_mean(&table, changes[i].a.mean, changes[i].unit);
		add_mean(&table, changes[i].b.mean, changes[i].unit);
		add_change(&table, &changes[i].difference);
	}
	kwhy_table_write(&table, context->style, context->out);
}

static void write_estimate(struct kwhy_json *json, const char *key, const struct kwhy_estimate *estimate)
{
	kwhy_json_row(json, key);
	kwhy_json_count(json, "count", estimate->count);
	kwhy_json_real(json, "mean", estimate->mean);
	kwhy_json_real(json, "low", estimate->low);
	kwhy_json_real(json, "high", estimate->high);
	kwhy_json_object_end(json);
}

static void write_json_change(
	struct kwhy_json *json, const struct kwhy_figure_change *change, const char *of_key)
{
	kwhy_json_row(json, NULL);
	kwhy_json_string(json, "name", change->name);
	kwhy_json_string(json, of_key, *change->of ? change->of : NULL);
	kwhy_json_string(json, "unit", *change->unit ? change->unit : NULL);
	write_estimate(json, "a", &change->a);
	write_estimate(json, "b", &change->b);
	kwhy_json_real(json, "change", change->difference.change);
	kwhy_json_real(json, "low", change->difference.low);
	kwhy_json_real(json, "high", change->difference.high);
	kwhy_json_real(json, "change_ratio", change->difference.ratio);
	kwhy_json_real(json, "ratio_low", change->difference.ratio_low);
	kwhy_json_real(json, "ratio_high", change->difference.ratio_high);
	if (kwhy_difference_is_known(&change->difference))
		kwhy_json_bool(json, "significant", kwhy_difference_is_significant(&change->difference));
	else
		kwhy_json_null(json, "significant");
	kwhy_json_object_end(json);
}

void kwhy_compare_changes_json(
	struct kwhy_json *json, const struct kwhy_figure_change *changes, size_t count, const char *of_key)
{
	kwhy_json_array(json, "figures");
	for (size_t i = 0; i < count; i++)
		write_json_change(json, &changes[i], of_key);
	kwhy_json_array_end(json);
}
