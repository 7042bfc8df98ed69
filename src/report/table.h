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
	KWHY_COLUMN_BAR, /* bar, aligned left and coloured */
	/*
	 * name, aligned left; it is shortened to the width that the other columns leave, so a table has at
	 * most one such column
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
	struct kwhy_text cells;	  /* text of all cells, each of which ends in NUL */
	struct kwhy_text kernels; /* [rows] 1: the name in the row is that of a kernel; 0: it is another
				     name */
	size_t rule_row;	  /* index of the row above which a line is drawn; 0: no line */
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
 * Formats the half-width of an interval: "±4.2 J". The text is empty if the interval has no width; NULL:
 * the interval is unknown. `out` has KWHY_QUANTITY_BYTES + 4 bytes.
 */
const char *kwhy_table_interval_text(char *out, int64_t low_nj, int64_t high_nj);
void kwhy_table_bar(struct kwhy_table *table, double ratio, size_t columns);

/* Draws a line above the next row, which contains sums. */
void kwhy_table_rule(struct kwhy_table *table);

/* Writes text with its special characters escaped, so that Markdown shows it as it is. */
void kwhy_table_markdown(struct kwhy_text *out, const char *text);

/* Lays out the table, as Markdown where the style asks for it. */
void kwhy_table_write(struct kwhy_table *table, const struct kwhy_text_style *style, struct kwhy_text *out);

#endif
