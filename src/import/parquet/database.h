/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_PARQUET_DATABASE_H
#define KWHY_IMPORT_PARQUET_DATABASE_H

#include "base/temporary.h"
#include "vendor/duckdb.h"

#include <stddef.h>

/*
 * Tables of Parquet files, copied into a temporary SQLite database for the readers of SQLite databases.
 * DuckDB reads the Parquet files.
 */
struct kwhy_parquet_database {
	struct kwhy_duckdb duckdb;
	struct sqlite3 *db;
	const char *shown; /* path that the user gave, for messages */
	/* temporary folder and database file in it; folder "": there is neither */
	char folder[KWHY_TEMPORARY_BYTES], path[KWHY_TEMPORARY_BYTES + 16];
};

/*
 * Opens DuckDB and an empty database. KWHY_E_UNSUPPORTED: DuckDB is not installed; the message then advises
 * `instead`. After a failure nothing needs to be closed.
 */
KWHY_MUST_USE enum kwhy_status kwhy_parquet_database_open(
	struct kwhy_parquet_database *made, const char *shown, const char *instead, struct kwhy_error *error);
/* Closes DuckDB and removes the database. */
void kwhy_parquet_database_close(struct kwhy_parquet_database *made);

/* A table to add: which rows and columns of a Parquet file it gets. */
struct kwhy_parquet_part {
	const char *file;	    /* path of the Parquet file */
	const char *before, *after; /* SQL before and after the quoted path, in place of read_parquet();
				       `before` NULL: read_parquet() */
	const char *table;	    /* name of the new table */
	const char *condition;	    /* SQL condition of the rows to take; NULL: all rows */
	const char *key;	    /* integer column that becomes the primary key; NULL: none */
	const char *const
		*columns; /* [column_count] columns to take, if the file has them; NULL: all columns */
	const char *const *names; /* [column_count] their names in the new table; NULL: the same */
	size_t column_count;
};
KWHY_MUST_USE enum kwhy_status kwhy_parquet_database_add(
	struct kwhy_parquet_database *made, const struct kwhy_parquet_part *part, struct kwhy_error *error);

/* Commits and closes the database. After success the file at made->path can be read. */
KWHY_MUST_USE enum kwhy_status kwhy_parquet_database_finish(
	struct kwhy_parquet_database *made, struct kwhy_error *error);

#endif
