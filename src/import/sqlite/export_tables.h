/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_SQLITE_EXPORT_TABLES_H
#define KWHY_IMPORT_SQLITE_EXPORT_TABLES_H

#include <stddef.h>

/*
 * The tables of kwhy's exports to SQLite and Parquet. A table with foreign keys comes after the tables to
 * which they refer. docs/formats/sqlite.md explains each column.
 */
enum kwhy_export_table_id {
	KWHY_TABLE_META,
	KWHY_TABLE_MACHINE,
	KWHY_TABLE_PROCESS,
	KWHY_TABLE_DEVICE,
	KWHY_TABLE_STREAM,
	KWHY_TABLE_NAME,
	KWHY_TABLE_ACTIVITY,
	KWHY_TABLE_CALL,
	KWHY_TABLE_RANGE,
	KWHY_TABLE_HOST_RANGE,
	KWHY_TABLE_POWER,
	KWHY_TABLE_WORK,
	KWHY_TABLE_COVERAGE,
	KWHY_TABLE_ACCOUNT,
	KWHY_TABLE_FINDING,
	KWHY_TABLE_HOST_WAIT,
	KWHY_TABLE_COUNT
};

enum kwhy_export_type { KWHY_COLUMN_INTEGER, KWHY_COLUMN_REAL, KWHY_COLUMN_TEXT };

struct kwhy_export_column {
	const char *name;
	enum kwhy_export_type type;
	const char *constraint; /* constraint of the column in SQLite's CREATE TABLE, with a leading space;
				   NULL: none */
	const char *in_parquet; /* name in Parquet, where all tables are in one file and columns of one name
				   have one type; NULL: `name` */
};

struct kwhy_export_table {
	const char *name;
	const struct kwhy_export_column *columns;
	size_t count;
	const char *tail; /* end of SQLite's CREATE TABLE, with a leading space; NULL: none */
};

extern const struct kwhy_export_table kwhy_export_tables[KWHY_TABLE_COUNT];

/* Value of the key "schema" in the table meta of an export, and in the metadata of a Parquet file. */
#define KWHY_EXPORT_SQLITE_SCHEMA "kwhy.sqlite/1"
#define KWHY_EXPORT_PARQUET_SCHEMA "kwhy.parquet/1"

#endif
