/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_SQLITE_SQLITE_H
#define KWHY_IMPORT_SQLITE_SQLITE_H

#include "base/status.h"
#include "base/text.h"
#include "import/tracks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An untrusted SQLite file, opened read-only. Rows of plain tables can be read, by the columns that a table
 * has. Views, virtual tables and triggers are refused, and the work for a query is limited in proportion to
 * the size of the file. Only one thread at a time may use it.
 */
struct kwhy_sqlite;

/*
 * A column to select. If the table lacks it, its values are unknown. "rowid" is SQLite's own number of the
 * row.
 */
struct kwhy_sqlite_column {
	const char *name;
	const char *older; /* name of the column in other versions; NULL: the name is always the same */
};

struct kwhy_sqlite_table {
	const char *name;
	const struct kwhy_sqlite_column *columns;
	size_t count; /* at most KWHY_SQLITE_COLUMNS_MAX */
};

#define KWHY_SQLITE_COLUMNS_MAX 32

/* The rows of a table; zero-initialise; end with kwhy_sqlite_rows_close(). */
struct kwhy_sqlite_rows {
	struct kwhy_sqlite *db;
	const char *table;
	struct sqlite3_stmt *statement;
	struct sqlite3_value **values; /* the row's fields in kwhy_sqlite_each(); else NULL */
	uint64_t number;	       /* number of the row, from 1 */
	unsigned present;	       /* bit i: the table has column i */
};

/* A file to open; all texts are valid until it is closed. */
struct kwhy_sqlite_file {
	const char *path;
	const char *shown; /* name of the file in messages, such as the name of the report from which it was
			      made; NULL: its path */
	const char *cure;  /* advice on how to make such a file, for messages: "record again with ..." */
};
KWHY_MUST_USE enum kwhy_status kwhy_sqlite_open(
	const struct kwhy_sqlite_file *file, struct kwhy_sqlite **out, struct kwhy_error *error);
void kwhy_sqlite_close(struct kwhy_sqlite *db);

/*
 * Lists the names of the plain tables that begin with `prefix`, in order, each followed by a NUL; at most
 * 4,096.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sqlite_tables(
	struct kwhy_sqlite *db, const char *prefix, struct kwhy_text *out, struct kwhy_error *error);

/*
 * Gets whether a plain table of that name exists. If something else has that name, it returns KWHY_E_INPUT.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sqlite_has(
	struct kwhy_sqlite *db, const char *table, bool *out_has, struct kwhy_error *error);

/* Gets whether that column is the table's integer primary key, by which rows are found quickly. */
KWHY_MUST_USE enum kwhy_status kwhy_sqlite_is_key(struct kwhy_sqlite *db, const char *table,
	const char *column, bool *out_is_key, struct kwhy_error *error);

/*
 * Takes a row of kwhy_sqlite_each(). It may open and step through other rows of the same database. Any status
 * but KWHY_OK ends the reading.
 */
typedef enum kwhy_status (*kwhy_sqlite_take)(
	void *context, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error);

/*
 * Calls take(context) for each row of a table, and returns its first status that is not KWHY_OK. *out_found
 * false: the table does not exist. This is faster than stepping through rows, because SQLite calls take()
 * from its own loop, without a return and a look-up of each field for every row.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sqlite_each(struct kwhy_sqlite *db, const struct kwhy_sqlite_table *table,
	kwhy_sqlite_take take, void *context, bool *out_found, struct kwhy_error *error);

/*
 * Approximate number of rows of a table, for reserving memory, from its lowest and its highest row number. It
 * is at most the number of rows of 24 bytes that fit in the file. 0: unknown, or the table does not exist.
 */
size_t kwhy_sqlite_row_count(struct kwhy_sqlite *db, const char *table);

/* Opens the rows of a table. *out_found false: the table does not exist, and `rows` need not be closed. */
KWHY_MUST_USE enum kwhy_status kwhy_sqlite_rows_open(struct kwhy_sqlite *db,
	const struct kwhy_sqlite_table *table, struct kwhy_sqlite_rows *rows, bool *out_found,
	struct kwhy_error *error);

/*
 * Opens the rows whose column `key` has the value that kwhy_sqlite_rows_bind() sets. kwhy_sqlite_rows_bind()
 * may be called again with other values.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sqlite_rows_open_by(struct kwhy_sqlite *db,
	const struct kwhy_sqlite_table *table, const char *key, struct kwhy_sqlite_rows *rows,
	struct kwhy_error *error);
void kwhy_sqlite_rows_bind(struct kwhy_sqlite_rows *rows, int64_t key);
void kwhy_sqlite_rows_close(struct kwhy_sqlite_rows *rows);

/* Steps to the next row; *out_row is false after the last row. KWHY_E_INPUT: the file is damaged. */
KWHY_MUST_USE enum kwhy_status kwhy_sqlite_rows_next(
	struct kwhy_sqlite_rows *rows, bool *out_row, struct kwhy_error *error);

/* Get a field of the row. False: the column is missing or has another type. */
bool kwhy_sqlite_integer(const struct kwhy_sqlite_rows *rows, size_t column, int64_t *out);
bool kwhy_sqlite_number(
	const struct kwhy_sqlite_rows *rows, size_t column, double *out); /* gets integers and reals */
bool kwhy_sqlite_text(
	const struct kwhy_sqlite_rows *rows, size_t column, const char **out_bytes, size_t *out_length);

/* Gets a text field, copied as by kwhy_tracks_text(). NULL: there is none, or memory is exhausted. */
const char *kwhy_sqlite_kept_text(
	const struct kwhy_sqlite_rows *rows, size_t column, struct kwhy_tracks *tracks);

/* Gives KWHY_E_INPUT with the message "FILE, table T, row N: WORDS". */
KWHY_MUST_USE enum kwhy_status kwhy_sqlite_row_fail(
	const struct kwhy_sqlite_rows *rows, struct kwhy_error *error, const char *words);

#endif
