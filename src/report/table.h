/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_TABLE_H
#define KWHY_REPORT_TABLE_H

#include "base/text.h"
#include "report/report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kwhy_column_kind {
	KWHY_COLUMN_LEFT,
	KWHY_COLUMN_RIGHT,
	KWHY_COLUMN_BAR, /* bar of block characters, aligned left and, if the style has colours, coloured */
	/*
	 * name, aligned left; names are shortened to the width that the other columns leave (at least 12), so
	 * a table has at most one such column
	 */
	KWHY_COLUMN_NAME,
};

struct kwhy_table_column {
	const char *title;
	enum kwhy_column_kind kind;
};

/*
 * A table in the text. Callers fill its cells from left to right, row after row. kwhy_table_write() then
 * lays them out within the style's columns and frees the table. The table keeps the first failure.
 */
struct kwhy_table {
	const struct kwhy_table_column *columns;
	size_t column_count, cell_count;
	struct kwhy_text cells; /* text of all cells, each of which ends in NUL */
	/* [rows] for a table with a column of names: 1 if the name in the row is that of a kernel, else 0 */
	struct kwhy_text kernels;
	size_t rule_row; /* index of the row above which a line is drawn; 0: no line */
	bool failed;
};

void kwhy_table_init(struct kwhy_table *table, const struct kwhy_table_column *columns, size_t column_count);

void kwhy_table_cell(struct kwhy_table *table, const char *text); /* NULL is shown as "n/a" */
void kwhy_table_kernel(struct kwhy_table *table, const char *name);
void kwhy_table_count(struct kwhy_table *table, uint64_t count);
/* KWHY_UNKNOWN_NS is shown as "n/a" */
void kwhy_table_time(struct kwhy_table *table, int64_t time_ns);
/* KWHY_UNKNOWN_NJ is shown as "n/a" */
void kwhy_table_energy(struct kwhy_table *table, int64_t energy_nj);
/* a value that is not finite is shown as "n/a" */
void kwhy_table_real(struct kwhy_table *table, double value, const char *unit);
/* a ratio that is not finite is shown as "n/a" */
void kwhy_table_percent(struct kwhy_table *table, double ratio);
/* KWHY_UNKNOWN_BYTES is shown as "n/a" */
void kwhy_table_bytes(struct kwhy_table *table, uint64_t bytes);
void kwhy_table_interval(struct kwhy_table *table, int64_t low_nj, int64_t high_nj);
/*
 * Formats half the width of the interval [low_nj, high_nj]: "±4.2 J"; "" if it has no width. NULL: one of the
 * ends is KWHY_UNKNOWN_NJ. `out` has KWHY_QUANTITY_BYTES + 4 bytes.
 */
const char *kwhy_table_interval_text(char *out, int64_t low_nj, int64_t high_nj);
void kwhy_table_bar(struct kwhy_table *table, double ratio, size_t columns);

/* Has a line drawn above the row that is filled next, such as one with sums. */
void kwhy_table_rule(struct kwhy_table *table);

/* Writes text with its special characters escaped, so that Markdown shows it as it is. */
void kwhy_table_markdown(struct kwhy_text *out, const char *text);

/* Writes the table, as Markdown if the style asks for it, and frees its memory. */
void kwhy_table_write(struct kwhy_table *table, const struct kwhy_text_style *style, struct kwhy_text *out);

#endif
