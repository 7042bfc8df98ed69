/* SPDX-License-Identifier: Apache-2.0 */
#include "report/columns.h"

#include "base/csv_cell.h"
#include "base/quantity.h"
#include "model/recording.h"
#include "report/transfers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { DIGITS = 3 };

/*
 * For each unit: its name in JSON, the symbol that text shows, and the factor that converts a stored value
 * to the symbol's unit.
 */
static const struct {
	const char *name, *symbol;
	double scale;
} units[KWHY_UNIT_COUNT] = {
	[KWHY_UNIT_WORDS] = {"", "", 1},
	[KWHY_UNIT_NAME] = {"", "", 1},
	[KWHY_UNIT_ONE] = {"", "", 1},
	[KWHY_UNIT_RATIO] = {"ratio", "", 1},
	[KWHY_UNIT_S] = {"s", "s", 1},
	[KWHY_UNIT_NS] = {"ns", "s", 1e-9},
	[KWHY_UNIT_J] = {"J", "J", 1},
	[KWHY_UNIT_NJ] = {"nJ", "J", 1e-9},
	[KWHY_UNIT_W] = {"W", "W", 1},
	[KWHY_UNIT_MW] = {"mW", "W", 1e-3},
	[KWHY_UNIT_B] = {"B", "B", 1},
	[KWHY_UNIT_SIZE] = {"B", "B", 1},
	[KWHY_UNIT_B_PER_S] = {"B/s", "B/s", 1},
	[KWHY_UNIT_HZ] = {"Hz", "Hz", 1},
	[KWHY_UNIT_C] = {"C", "C", 1},
};

const char *kwhy_column_unit_name(enum kwhy_column_unit unit)
{
	return units[unit].name;
}

const char *kwhy_column_unit_symbol(enum kwhy_column_unit unit)
{
	return units[unit].symbol;
}

const char *kwhy_stat_interval_basis_name(enum kwhy_stat_interval_basis basis)
{
	static const char *const names[] = {
		[KWHY_STAT_BY_NONE] = NULL, [KWHY_STAT_BY_RUNS] = "runs", [KWHY_STAT_BY_METER] = "meter"};

	return names[basis];
}

struct kwhy_value kwhy_value_text(const char *text)
{
	return (struct kwhy_value){text ? KWHY_VALUE_TEXT : KWHY_VALUE_UNKNOWN, .text = text};
}

struct kwhy_value kwhy_value_real(double real)
{
	return (struct kwhy_value){isfinite(real) ? KWHY_VALUE_REAL : KWHY_VALUE_UNKNOWN, .real = real};
}

struct kwhy_value kwhy_value_count(uint64_t count)
{
	return (struct kwhy_value){
		count == KWHY_UNKNOWN_BYTES ? KWHY_VALUE_UNKNOWN : KWHY_VALUE_COUNT, .count = count};
}

struct kwhy_value kwhy_value_integer(int64_t integer)
{
	return (struct kwhy_value){
		integer == KWHY_UNKNOWN_NJ ? KWHY_VALUE_UNKNOWN : KWHY_VALUE_INTEGER, .integer = integer};
}

struct kwhy_value kwhy_value_figure(const struct kwhy_stat_figure *figure)
{
	return (struct kwhy_value){KWHY_VALUE_FIGURE, .figure = *figure};
}

double kwhy_value_number(const struct kwhy_value *value)
{
	switch (value->kind) {
	case KWHY_VALUE_COUNT:
		return (double)value->count;
	case KWHY_VALUE_INTEGER:
		return (double)value->integer;
	case KWHY_VALUE_REAL:
		return value->real;
	case KWHY_VALUE_FIGURE:
		return value->figure.estimate.mean;
	case KWHY_VALUE_INTERVAL:
		return value->interval.value;
	default:
		return NAN;
	}
}

struct kwhy_value kwhy_column_value(const struct kwhy_column *column, const void *row)
{
	const void *field = (const char *)row + column->offset;

	if (column->name)
		return kwhy_value_text(column->name(*(const uint32_t *)field));
	switch (column->field) {
	case KWHY_FIELD_TEXT:
		return kwhy_value_text(*(const char *const *)field);
	case KWHY_FIELD_BOOL:
		return (struct kwhy_value){KWHY_VALUE_FLAG, .flag = *(const bool *)field};
	case KWHY_FIELD_INT:
		return kwhy_value_integer(*(const int *)field);
	case KWHY_FIELD_U32:
		return kwhy_value_count(*(const uint32_t *)field == KWHY_NONE ? KWHY_UNKNOWN_BYTES
									      : *(const uint32_t *)field);
	case KWHY_FIELD_U64:
		return kwhy_value_count(*(const uint64_t *)field);
	case KWHY_FIELD_I64:
		return kwhy_value_integer(*(const int64_t *)field);
	case KWHY_FIELD_REAL:
		return kwhy_value_real(*(const double *)field);
	case KWHY_FIELD_FIGURE:
		return kwhy_value_figure(field);
	case KWHY_FIELD_INTERVAL:
		return (struct kwhy_value){
			KWHY_VALUE_INTERVAL, .interval = *(const struct kwhy_pair_figure *)field};
	case KWHY_FIELD_NONE:
		break;
	}
	return column->value(column, row);
}

static const char *show_real(const struct kwhy_columns *columns, enum kwhy_column_unit unit,
	char out[KWHY_QUANTITY_BYTES], double real)
{
	if (!isfinite(real))
		return NULL;
	if (unit == KWHY_UNIT_RATIO)
		return kwhy_quantity_percent(out, real);
	return kwhy_quantity_si(out, real * units[unit].scale, units[unit].symbol,
		columns->digits ? columns->digits : DIGITS);
}

const char *kwhy_column_show(const struct kwhy_columns *columns, const struct kwhy_column *column,
	char out[KWHY_SHOWN_BYTES], const void *row)
{
	const struct kwhy_value value = kwhy_column_value(column, row);

	if (column->show)
		return column->show(out, &value, row);
	switch (value.kind) {
	case KWHY_VALUE_TEXT:
		return value.text;
	case KWHY_VALUE_FLAG:
		return value.flag ? "yes" : "no";
	case KWHY_VALUE_COUNT:
		return column->unit == KWHY_UNIT_SIZE ? kwhy_transfer_size_text(out, value.count)
			: column->unit == KWHY_UNIT_B ? kwhy_quantity_bytes(out, value.count)
						      : kwhy_quantity_count(out, value.count);
	default:
		return show_real(columns, column->unit, out, kwhy_value_number(&value));
	}
}

const char *kwhy_show_known(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	(void)out;
	(void)row;
	return value->text ? value->text : "";
}

static void write_figure(struct kwhy_json *json, const char *key, const struct kwhy_stat_figure *figure)
{
	const struct kwhy_estimate *estimate = &figure->estimate;

	kwhy_json_row(json, key);
	kwhy_json_count(json, "count", estimate->count);
	kwhy_json_real(json, "mean", estimate->mean);
	kwhy_json_real(json, "low", estimate->low);
	kwhy_json_real(json, "high", estimate->high);
	kwhy_json_string(json, "interval", kwhy_stat_interval_basis_name(figure->basis));
	kwhy_json_real(json, "deviation", estimate->deviation);
	kwhy_json_real(json, "least", estimate->least);
	kwhy_json_real(json, "most", estimate->most);
	kwhy_json_object_end(json);
}

static void write_value(struct kwhy_json *json, const char *key, const struct kwhy_value *value)
{
	switch (value->kind) {
	case KWHY_VALUE_UNKNOWN:
		kwhy_json_null(json, key);
		break;
	case KWHY_VALUE_TEXT:
		kwhy_json_string(json, key, value->text);
		break;
	case KWHY_VALUE_FLAG:
		kwhy_json_bool(json, key, value->flag);
		break;
	case KWHY_VALUE_COUNT:
		kwhy_json_count(json, key, value->count);
		break;
	case KWHY_VALUE_INTEGER:
		kwhy_json_int(json, key, value->integer);
		break;
	case KWHY_VALUE_REAL:
		kwhy_json_real(json, key, value->real);
		break;
	case KWHY_VALUE_FIGURE:
		write_figure(json, key, &value->figure);
		break;
	case KWHY_VALUE_INTERVAL:
		kwhy_json_list(json, key);
		kwhy_json_real(json, NULL, value->interval.value);
		kwhy_json_real(json, NULL, value->interval.low);
		kwhy_json_real(json, NULL, value->interval.high);
		kwhy_json_array_end(json);
		break;
	}
}

void kwhy_columns_json(const struct kwhy_columns *columns, struct kwhy_json *json, const void *row)
{
	for (size_t i = 0; i < columns->count; i++)
		if (columns->items[i].outputs & KWHY_IN_JSON) {
			const struct kwhy_value value = kwhy_column_value(&columns->items[i], row);

			write_value(json, columns->items[i].key, &value);
		}
}

void kwhy_columns_json_row(const struct kwhy_columns *columns, struct kwhy_json *json, const void *row)
{
	kwhy_json_row(json, NULL);
	kwhy_columns_json(columns, json, row);
	kwhy_json_object_end(json);
}

void kwhy_columns_json_array(const struct kwhy_columns *columns, struct kwhy_json *json, const char *key,
	const void *rows, size_t count, size_t row_bytes)
{
	kwhy_json_array(json, key);
	for (size_t i = 0; i < count; i++)
		kwhy_columns_json_row(columns, json, (const char *)rows + i * row_bytes);
	kwhy_json_array_end(json);
}

static void add_csv_value(struct kwhy_text *out, const struct kwhy_value *value)
{
	switch (value->kind) {
	case KWHY_VALUE_UNKNOWN:
		break;
	case KWHY_VALUE_TEXT:
		kwhy_csv_add_shown_text(out, value->text);
		break;
	case KWHY_VALUE_FLAG:
		kwhy_text_add(out, value->flag ? "1" : "0");
		break;
	case KWHY_VALUE_COUNT:
		kwhy_text_addf(out, "%" PRIu64, value->count);
		break;
	case KWHY_VALUE_INTEGER:
		kwhy_text_addf(out, "%" PRId64, value->integer);
		break;
	default:
		kwhy_text_addf(out, "%.9g", kwhy_value_number(value));
		break;
	}
}

void kwhy_columns_csv_head(const struct kwhy_columns *columns, struct kwhy_text *out)
{
	const char *comma = "";

	for (size_t i = 0; i < columns->count; i++)
		if (columns->items[i].outputs & KWHY_IN_CSV) {
			kwhy_text_addf(out, "%s%s", comma, columns->items[i].key);
			comma = ",";
		}
	kwhy_text_add(out, "\n");
}

void kwhy_columns_csv(const struct kwhy_columns *columns, struct kwhy_text *out, const void *row)
{
	const char *comma = "";

	for (size_t i = 0; i < columns->count; i++)
		if (columns->items[i].outputs & KWHY_IN_CSV) {
			const struct kwhy_value value = kwhy_column_value(&columns->items[i], row);

			kwhy_text_add(out, comma);
			add_csv_value(out, &value);
			comma = ",";
		}
	kwhy_text_add(out, "\n");
}

static bool is_shown(const struct kwhy_column *column, const void *row)
{
	return column->outputs & KWHY_IN_TEXT && (!column->is_shown || column->is_shown(row));
}

static enum kwhy_column_kind kind_of(enum kwhy_column_unit unit)
{
	return unit == KWHY_UNIT_NAME	  ? KWHY_COLUMN_NAME
		: unit == KWHY_UNIT_WORDS ? KWHY_COLUMN_LEFT
					  : KWHY_COLUMN_RIGHT;
}

static void begin(struct kwhy_text_table *table, const struct kwhy_columns *columns, const void *row)
{
	for (size_t i = 0; i < columns->count; i++)
		if (is_shown(&columns->items[i], row))
			table->columns[table->table.column_count++] = (struct kwhy_table_column){
				columns->items[i].title, kind_of(columns->items[i].unit)};
}

static void add_cells(struct kwhy_table *table, const struct kwhy_columns *columns, const void *row)
{
	for (size_t i = 0; i < columns->count; i++) {
		const struct kwhy_column *column = &columns->items[i];
		char text[KWHY_SHOWN_BYTES];
		const char *shown;

		if (!is_shown(column, row))
			continue;
		shown = kwhy_column_show(columns, column, text, row);
		if (shown && column->unit == KWHY_UNIT_NAME && columns->is_kernel && columns->is_kernel(row))
			kwhy_table_kernel(table, shown);
		else
			kwhy_table_cell(table, shown);
	}
}

void kwhy_text_table_add(struct kwhy_text_table *table, const void *row)
{
	bool is_first = !table->table.column_count;

	table->table.columns = table->columns;
	for (size_t p = 0; p < 2 && table->parts[p] && is_first; p++)
		begin(table, table->parts[p], row);
	for (size_t p = 0; p < 2 && table->parts[p]; p++)
		add_cells(&table->table, table->parts[p], row);
}
