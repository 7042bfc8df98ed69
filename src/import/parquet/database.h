/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_PARQUET_DATABASE_H
#define KWHY_IMPORT_PARQUET_DATABASE_H

#include "base/temporary.h"
#include "vendor/duckdb.h"

#include <stddef.h>

/*
 * Tables of Parquet files in a temporary SQLite database, which the readers of databases can read. DuckDB
 * reads the Parquet files.
 */
struct kwhy_parquet_database {
	struct kwhy_duckdb duckdb;
	struct sqlite3 *db;
	const char *shown; /* path that the user gave, for messages */
	/* folder and file of the database; folder "": there is no database */
	char folder[KWHY_TEMPORARY_BYTES], path[KWHY_TEMPORARY_BYTES + 16];
};

/*
 * Opens DuckDB and an empty database. `instead` is what the user can do without DuckDB, for the message.
 * After a failure nothing needs to be closed.
 */
KWHY_MUST_USE enum kwhy_status kwhy_parquet_database_open(
	struct kwhy_parquet_database *made, const char *shown, const char *instead, struct kwhy_error *error);
/* Closes DuckDB and removes the database. */
void kwhy_parquet_database_close(struct kwhy_parquet_database *made);

/* Rows of a Parquet file that become a table. */
struct kwhy_parquet_part {
	const char *file;	    /* path of the Parquet file */
	const char *before, *after; /* SQL between FROM and the quoted path, and after the path; NULL:
				       read_parquet() with all rows of the file */
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

/* Ends the writing. Now the file at made->path can be read. */
KWHY_MUST_USE enum kwhy_status kwhy_parquet_database_finish(
	struct kwhy_parquet_database *made, struct kwhy_error *error);

#endif
