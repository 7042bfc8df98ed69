/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_EXPORT_TABLES_H
#define KWHY_REPORT_EXPORT_TABLES_H

#include "import/sqlite/export_tables.h"
#include "report/report.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A destination of the rows of the exported tables: a database or a file. Exporters begin their own struct
 * with this one.
 */
struct kwhy_table_rows {
	const struct kwhy_table_calls *calls;
	const char *schema; /* value of the key "schema" of the table meta */
	bool failed;	    /* set by a call that failed; rows after that are discarded */
};

/*
 * Each table is begun once and ended. Between, the values of a row are put in the order of its columns, and
 * then the row is ended. A text stays valid until the end of its row.
 */
struct kwhy_table_calls {
	void (*begin)(struct kwhy_table_rows *rows, const struct kwhy_export_table *table);
	void (*put_int)(struct kwhy_table_rows *rows, int64_t value);
	void (*put_real)(struct kwhy_table_rows *rows, double value);
	void (*put_text)(struct kwhy_table_rows *rows, const char *text);
	void (*put_null)(struct kwhy_table_rows *rows);
	void (*end_row)(struct kwhy_table_rows *rows);
	void (*end)(struct kwhy_table_rows *rows);
};

/* Passes the rows of all tables to rows->calls, table by table. Check rows->failed afterwards. */
void kwhy_tables_write(const struct kwhy_report *report, struct kwhy_table_rows *rows);

#endif
