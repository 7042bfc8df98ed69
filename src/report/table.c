/* SPDX-License-Identifier: Apache-2.0 */
#include "report/table.h"

#include "base/quantity.h"
#include "report/shown_name.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDENT 2
#define GAP 2

enum { NAME_MIN = 12, BAR_STEPS = 8 };

void kwhy_table_init(struct kwhy_table *table, const struct kwhy_table_column *columns, size_t column_count)
{
	*table = (struct kwhy_table){.columns = columns, .column_count = column_count};
}

static void add(struct kwhy_table *table, const char *text, char kernel)
{
	if (!table->column_count)
		return;
	if (table->columns[table->cell_count % table->column_count].kind == KWHY_COLUMN_NAME)
		kwhy_text_add_bytes(&table->kernels, &kernel, 1);
	kwhy_text_add_bytes(&table->cells, text, strlen(text) + 1);
	table->cell_count++;
}

void kwhy_table_cell(struct kwhy_table *table, const char *text)
{
	add(table, text ? text : "n/a", 0);
}

void kwhy_table_kernel(struct kwhy_table *table, const char *name)
{
	add(table, name, 1);
}

void kwhy_table_count(struct kwhy_table *table, uint64_t count)
{
	char text[KWHY_QUANTITY_BYTES];

	kwhy_table_cell(table, kwhy_quantity_count(text, count));
}

void kwhy_table_time(struct kwhy_table *table, int64_t time_ns)
{
	char text[KWHY_QUANTITY_BYTES];

	kwhy_table_cell(table, time_ns == KWHY_UNKNOWN_NS ? NULL : kwhy_quantity_time(text, time_ns));
}

void kwhy_table_energy(struct kwhy_table *table, int64_t energy_nj)
{
	char text[KWHY_QUANTITY_BYTES];

	kwhy_table_cell(table, energy_nj == KWHY_UNKNOWN_NJ ? NULL : kwhy_quantity_energy(text, energy_nj));
}

void kwhy_table_real(struct kwhy_table *table, double value, const char *unit)
{
	char text[KWHY_QUANTITY_BYTES];

	kwhy_table_cell(table, kwhy_quantity_si(text, value, unit, 3));
}

void kwhy_table_percent(struct kwhy_table *table, double ratio)
{
	char text[KWHY_QUANTITY_BYTES];

	kwhy_table_cell(table, kwhy_quantity_percent(text, ratio));
}

void kwhy_table_bytes(struct kwhy_table *table, uint64_t bytes)
{
	char text[KWHY_QUANTITY_BYTES];

	kwhy_table_cell(table, bytes == KWHY_UNKNOWN_BYTES ? NULL : kwhy_quantity_bytes(text, bytes));
}

const char *kwhy_table_interval_text(char *out, int64_t low_nj, int64_t high_nj)
{
	char number[KWHY_QUANTITY_BYTES];

	if (low_nj == KWHY_UNKNOWN_NJ || high_nj == KWHY_UNKNOWN_NJ)
		return NULL;
	if (low_nj == high_nj) /* a metered energy whose interval has no width */
		return "";
	kwhy_quantity_si(number, ((double)high_nj - (double)low_nj) / 2 * 1e-9, "J", 2);
	snprintf(out, KWHY_QUANTITY_BYTES + 4, "\xC2\xB1%s", number);
	return out;
}

void kwhy_table_interval(struct kwhy_table *table, int64_t low_nj, int64_t high_nj)
{
	char text[KWHY_QUANTITY_BYTES + 4];

	kwhy_table_cell(table, kwhy_table_interval_text(text, low_nj, high_nj));
}

void kwhy_table_bar(struct kwhy_table *table, double ratio, size_t columns)
{
	static const char *const parts[BAR_STEPS] = {
		"", "\u258F", "\u258E", "\u258D", "\u258C", "\u258B", "\u258A", "\u2589"};
	double bounded = isfinite(ratio) ? fmin(fmax(ratio, 0), 1) : 0;
	size_t steps = (size_t)lround(bounded * (double)columns * BAR_STEPS);
	struct kwhy_text bar = {0};

	for (size_t i = 0; i < steps / BAR_STEPS; i++)
		kwhy_text_add(&bar, "\u2588");
	kwhy_text_add(&bar, parts[steps % BAR_STEPS]);
	for (size_t i = (steps + BAR_STEPS - 1) / BAR_STEPS; i < columns; i++)
		kwhy_text_add(&bar, " ");
	kwhy_table_cell(table, bar.failed ? "" : bar.data);
	table->failed |= bar.failed;
	kwhy_text_done(&bar);
}

void kwhy_table_rule(struct kwhy_table *table)
{
	table->rule_row = table->cell_count / table->column_count;
}

/* State of kwhy_table_write(): the table's cells as strings, row after row, and the width of each column. */
struct layout {
	const struct kwhy_table *table;
	const struct kwhy_text_style *style;
	struct kwhy_arena arena;
	const char **cells;
	size_t *widths;
	size_t rows;
};

static void measure(struct layout *layout)
{
	const struct kwhy_table *table = layout->table;

	if (!table->column_count)
		return;
	for (size_t c = 0; c < table->column_count; c++)
		layout->widths[c] = kwhy_shown_columns(table->columns[c].title);
	for (size_t i = 0; i < table->cell_count; i++) {
		size_t width = kwhy_shown_columns(layout->cells[i]), c = i % table->column_count;

		if (table->columns[c].kind != KWHY_COLUMN_NAME && width > layout->widths[c])
			layout->widths[c] = width;
	}
}

/*
 * Width that the other columns leave to the column with index `name`; at least NAME_MIN, with which lines may
 * be longer than the style's columns.
 */
static size_t space_for(const struct layout *layout, size_t name)
{
	size_t used = INDENT + GAP * (layout->table->column_count - 1);

	for (size_t c = 0; c < layout->table->column_count; c++)
		used += c == name ? 0 : layout->widths[c];
	return used + NAME_MIN > layout->style->columns ? NAME_MIN : layout->style->columns - used;
}

/* Shortens the names in column `name`, and sets its width to that of the longest shortened name. */
static bool fit_names(struct layout *layout, size_t name)
{
	size_t stride = layout->table->column_count;
	const char **names = kwhy_arena_alloc(&layout->arena, layout->rows, sizeof(*names));
	const char **shown = kwhy_arena_alloc(&layout->arena, layout->rows, sizeof(*shown));
	bool done;

	if (!names || !shown)
		return false;
	for (size_t row = 0; row < layout->rows; row++)
		names[row] = layout->cells[row * stride + name];
	done = kwhy_shown_names(&layout->arena, names, (const bool *)layout->table->kernels.data,
		layout->rows, space_for(layout, name), shown);
	for (size_t row = 0; done && row < layout->rows; row++) {
		size_t width = kwhy_shown_columns(shown[row]);

		layout->cells[row * stride + name] = shown[row];
		layout->widths[name] = width > layout->widths[name] ? width : layout->widths[name];
	}
	return done;
}

static bool lay_out(struct layout *layout)
{
	const struct kwhy_table *table = layout->table;
	const char *cell = table->cells.data;

	layout->rows = table->column_count ? table->cell_count / table->column_count : 0;
	layout->cells = kwhy_arena_alloc(&layout->arena, table->cell_count + 1, sizeof(char *));
	layout->widths = kwhy_arena_alloc(&layout->arena, table->column_count, sizeof(size_t));
	if (!layout->cells || !layout->widths)
		return false;
	for (size_t i = 0; i < table->cell_count; i++, cell += strlen(cell) + 1)
		layout->cells[i] = cell;
	measure(layout);
	for (size_t c = 0; c < table->column_count; c++)
		if (table->columns[c].kind == KWHY_COLUMN_NAME)
			return fit_names(layout, c);
	return true;
}

static void write_row(
	const struct layout *layout, const char *const *cells, const char *paint, struct kwhy_text *out)
{
	const struct kwhy_table *table = layout->table;
	size_t pending = INDENT;

	for (size_t c = 0; c < table->column_count; c++) {
		bool bar = table->columns[c].kind == KWHY_COLUMN_BAR && !paint;
		const char *sgr = !layout->style->color ? NULL : bar ? "36" : paint;
		size_t pad = layout->widths[c] - kwhy_shown_columns(cells[c]);

		if (table->columns[c].kind == KWHY_COLUMN_RIGHT)
			pending += pad;
		if (*cells[c]) {
			kwhy_text_repeat(out, ' ', pending);
			pending = 0;
			kwhy_text_addf(out, sgr ? "\033[%sm%s\033[0m" : "%.0s%s", sgr ? sgr : "", cells[c]);
		}
		pending += GAP + (table->columns[c].kind == KWHY_COLUMN_RIGHT ? 0 : pad);
	}
	kwhy_text_add(out, "\n");
}

static void write_rule(const struct layout *layout, struct kwhy_text *out)
{
	size_t width = GAP * (layout->table->column_count - 1);

	for (size_t c = 0; c < layout->table->column_count; c++)
		width += layout->widths[c];
	kwhy_text_repeat(out, ' ', INDENT);
	kwhy_text_repeat(out, '-', width);
	kwhy_text_add(out, "\n");
}

static void write_title(struct layout *layout, struct kwhy_text *out)
{
	const struct kwhy_table *table = layout->table;
	const char **titles = kwhy_arena_alloc(&layout->arena, table->column_count, sizeof(*titles));
	bool any = false;

	out->failed |= !titles;
	for (size_t c = 0; titles && c < table->column_count; c++) {
		titles[c] = table->columns[c].title;
		any |= *titles[c] != '\0';
	}
	if (any)
		write_row(layout, titles, "2", out);
}

void kwhy_table_markdown(struct kwhy_text *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\`*_[]<>|#~&$@", *text))
			kwhy_text_add(out, "\\");
		kwhy_text_add_bytes(out, text, 1);
	}
}

static void write_markdown(const struct layout *layout, struct kwhy_text *out)
{
	const struct kwhy_table *table = layout->table;

	kwhy_text_add(out, "\n|");
	for (size_t c = 0; c < table->column_count; c++)
		kwhy_text_addf(out, " %s |", table->columns[c].title);
	kwhy_text_add(out, "\n|");
	for (size_t c = 0; c < table->column_count; c++)
		kwhy_text_add(out, table->columns[c].kind == KWHY_COLUMN_RIGHT ? " --: |" : " :-- |");
	kwhy_text_add(out, "\n");
	for (size_t row = 0; row < layout->rows; row++) {
		kwhy_text_add(out, "|");
		for (size_t c = 0; c < table->column_count; c++) {
			kwhy_text_add(out, " ");
			kwhy_table_markdown(out, layout->cells[row * table->column_count + c]);
			kwhy_text_add(out, " |");
		}
		kwhy_text_add(out, "\n");
	}
	kwhy_text_add(out, "\n");
}

void kwhy_table_write(struct kwhy_table *table, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	struct layout layout = {.table = table, .style = style};

	table->failed |= table->cells.failed || table->kernels.failed;
	if (table->failed || !lay_out(&layout)) {
		out->failed = true;
	} else if (layout.rows && style->markdown) {
		write_markdown(&layout, out);
	} else if (layout.rows) {
		write_title(&layout, out);
		for (size_t row = 0; row < layout.rows; row++) {
			if (row && row == table->rule_row)
				write_rule(&layout, out);
			write_row(&layout, layout.cells + row * table->column_count, NULL, out);
		}
	}
	kwhy_arena_done(&layout.arena);
	kwhy_text_done(&table->cells);
	kwhy_text_done(&table->kernels);
}
