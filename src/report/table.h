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
	KWHY_COLUMN_BAR,  /* left-aligned, coloured */
	KWHY_COLUMN_NAME, /* left-aligned, takes the remaining width and is shortened to it; one a table */
};

struct kwhy_table_column {
	const char *title;
	enum kwhy_column_kind kind;
};

/*
 * A table of text. Fill cells from left to right, row after row; kwhy_table_write() lays them out within the
 * style's columns and frees the table. It remembers its own failure.
 */
struct kwhy_table {
	const struct kwhy_table_column *columns;
	size_t column_count, cell_count;
	struct kwhy_text cells;	  /* each ends in NUL */
	struct kwhy_text kernels; /* one byte a row: not 0 where its name is a kernel's */
	size_t rule_row;	  /* row that a line is drawn above; 0: no line */
	bool failed;
};

void kwhy_table_init(struct kwhy_table *table, const struct kwhy_table_column *columns, size_t column_count);

void kwhy_table_cell(struct kwhy_table *table, const char *text); /* NULL: "n/a" */
void kwhy_table_kernel(struct kwhy_table *table, const char *name);
void kwhy_table_count(struct kwhy_table *table, uint64_t count);
void kwhy_table_time(struct kwhy_table *table, int64_t time_ns);		/* KWHY_UNKNOWN_NS: n/a */
void kwhy_table_energy(struct kwhy_table *table, int64_t energy_nj);		/* KWHY_UNKNOWN_NJ: n/a */
void kwhy_table_real(struct kwhy_table *table, double value, const char *unit); /* not finite: n/a */
void kwhy_table_percent(struct kwhy_table *table, double ratio);		/* not finite: n/a */
void kwhy_table_bytes(struct kwhy_table *table, uint64_t bytes);		/* KWHY_UNKNOWN_BYTES: n/a */
void kwhy_table_interval(struct kwhy_table *table, int64_t low_nj, int64_t high_nj);
/* "±4.2 J"; empty where the interval has no width, NULL: unknown. `out` has KWHY_QUANTITY_BYTES + 4. */
const char *kwhy_table_interval_text(char *out, int64_t low_nj, int64_t high_nj);
void kwhy_table_bar(struct kwhy_table *table, double ratio, size_t columns);

/* Draws a line above the next row, which is a sum. */
void kwhy_table_rule(struct kwhy_table *table);

void kwhy_table_write(struct kwhy_table *table, const struct kwhy_text_style *style, struct kwhy_text *out);

#endif
