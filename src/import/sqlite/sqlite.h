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
 * An untrusted SQLite file, opened read-only. Only rows of plain tables can be read; views, virtual tables
 * and triggers are refused. The work of all queries together is limited in proportion to the size of the
 * file. Only one thread at a time may use it.
 */
struct kwhy_sqlite;

/*
 * A column to select. If the table lacks it, reading its fields gives false. "rowid" is SQLite's own number
 * of a row.
 */
struct kwhy_sqlite_column {
	const char *name;
	const char *older; /* name of the column in other versions of the format; NULL: none */
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
	struct sqlite3_value *
		*values;  /* the current row's fields inside kwhy_sqlite_each(), otherwise NULL */
	uint64_t number;  /* number of rows read so far, which is the current row's number */
	unsigned present; /* bit i: the table has column i */
};

/* A file to open. Its texts must stay valid until kwhy_sqlite_close(). */
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
 * Writes to `out` the names of the plain tables that begin with `prefix`, sorted, each followed by a NUL; at
 * most 4,096 names.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sqlite_tables(
	struct kwhy_sqlite *db, const char *prefix, struct kwhy_text *out, struct kwhy_error *error);

/*
 * Sets *out_has to whether the file has a plain table of that name. KWHY_E_INPUT: the name is that of a view
 * or another object.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sqlite_has(
	struct kwhy_sqlite *db, const char *table, bool *out_has, struct kwhy_error *error);

/*
 * Sets *out_is_key to whether the column is the table's integer primary key, by which SQLite finds a row
 * without reading the table.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sqlite_is_key(struct kwhy_sqlite *db, const char *table,
	const char *column, bool *out_is_key, struct kwhy_error *error);

/*
 * Called by kwhy_sqlite_each() with each row. It may open and read other rows of the same database. Any
 * status but KWHY_OK ends the reading.
 */
typedef enum kwhy_status (*kwhy_sqlite_take)(
	void *context, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error);

/*
 * Calls take() with `context` for each row of a table, until a call fails; returns its status. *out_found
 * false: the table does not exist. It is faster than kwhy_sqlite_rows_next(), because SQLite calls take()
 * from its own loop with all fields at hand.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sqlite_each(struct kwhy_sqlite *db, const struct kwhy_sqlite_table *table,
	kwhy_sqlite_take take, void *context, bool *out_found, struct kwhy_error *error);

/*
 * Estimate of the number of rows of a table, for reserving memory: its highest row number minus its lowest
 * plus 1, but at most as many rows as fit in the file at 24 bytes each. 0: unknown, or the table does not
 * exist.
 */
size_t kwhy_sqlite_row_count(struct kwhy_sqlite *db, const char *table);

/*
 * Opens the rows of a table for kwhy_sqlite_rows_next(). *out_found false: the table does not exist, and
 * `rows` need not be closed.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sqlite_rows_open(struct kwhy_sqlite *db,
	const struct kwhy_sqlite_table *table, struct kwhy_sqlite_rows *rows, bool *out_found,
	struct kwhy_error *error);

/*
 * Opens the rows whose column `key` has a certain value, which kwhy_sqlite_rows_bind() sets and may set anew
 * any number of times.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sqlite_rows_open_by(struct kwhy_sqlite *db,
	const struct kwhy_sqlite_table *table, const char *key, struct kwhy_sqlite_rows *rows,
	struct kwhy_error *error);
void kwhy_sqlite_rows_bind(struct kwhy_sqlite_rows *rows, int64_t key);
void kwhy_sqlite_rows_close(struct kwhy_sqlite_rows *rows);

/* Steps to the next row; *out_row is false after the last row. KWHY_E_INPUT: the file is damaged. */
KWHY_MUST_USE enum kwhy_status kwhy_sqlite_rows_next(
	struct kwhy_sqlite_rows *rows, bool *out_row, struct kwhy_error *error);

/*
 * Get a field of the current row. False: the table lacks the column, or the field has another type or is
 * NULL.
 */
bool kwhy_sqlite_integer(const struct kwhy_sqlite_rows *rows, size_t column, int64_t *out);
bool kwhy_sqlite_number(
	const struct kwhy_sqlite_rows *rows, size_t column, double *out); /* a REAL or an INTEGER */
bool kwhy_sqlite_text(
	const struct kwhy_sqlite_rows *rows, size_t column, const char **out_bytes, size_t *out_length);

/* A text field, copied by kwhy_tracks_text(); NULL: there is none, or memory is exhausted. */
const char *kwhy_sqlite_kept_text(
	const struct kwhy_sqlite_rows *rows, size_t column, struct kwhy_tracks *tracks);

/* Gives KWHY_E_INPUT with the message "FILE, table T, row N: WORDS". */
KWHY_MUST_USE enum kwhy_status kwhy_sqlite_row_fail(
	const struct kwhy_sqlite_rows *rows, struct kwhy_error *error, const char *words);

#endif
