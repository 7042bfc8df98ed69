/* SPDX-License-Identifier: Apache-2.0 */
#include "import/sqlite/sqlite.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Name of the SQL function, on_row(), that kwhy_sqlite_each() makes SQLite call for each row. */
#define EACH_FUNCTION "kwhy_each"

enum {
	OPERATIONS_A_CALL = 100000, /* number of instructions of SQLite's virtual machine after which SQLite
				       calls the progress handler again */
	FIRST_CALLS = 100,
	BYTES_A_CALL = 2000,  /* the handler may be called once for each BYTES_A_CALL bytes of the file before
				 it stops SQLite; this allows 50 instructions for each byte, while reading the
				 whole file takes about 1 */
	ROW_BYTES_MIN = 6,    /* bytes of the shortest row with a start, an end and a type */
	ROW_BYTES_USUAL = 24, /* size of a short row of a trace, bytes; limits the estimate of
				 kwhy_sqlite_row_count() */
	SQL_BYTES = 4096
};

struct kwhy_sqlite {
	sqlite3 *handle;
	const char *file;	 /* path of the file */
	const char *path, *cure; /* path: name of the file in messages, which may differ from `file`; cure:
				    advice for messages */
	uint64_t file_bytes;
	uint64_t calls_left; /* calls of the progress handler until it stops SQLite */
	struct walk *walk;   /* the innermost kwhy_sqlite_each() that runs */
};

/* The state of a call of kwhy_sqlite_each(). */
struct walk {
	struct kwhy_sqlite_rows rows;
	kwhy_sqlite_take take;
	void *context;
	enum kwhy_status status; /* status of the last call of take() */
	struct kwhy_error *error;
};

/* Limits (sqlite3_limit()) for an untrusted database, far above what any real export needs. */
static const struct {
	int limit, value;
} limits[] = {
	{SQLITE_LIMIT_LENGTH, 16 << 20},
	{SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
	{SQLITE_LIMIT_EXPR_DEPTH, 100},
	{SQLITE_LIMIT_COMPOUND_SELECT, 500},
	{SQLITE_LIMIT_VDBE_OP, 250000},
	{SQLITE_LIMIT_FUNCTION_ARG, KWHY_SQLITE_COLUMNS_MAX},
	{SQLITE_LIMIT_ATTACHED, 0},
	{SQLITE_LIMIT_TRIGGER_DEPTH, 1},
	{SQLITE_LIMIT_WORKER_THREADS, 0},
};

/* Settings that sqlite.org/security.html advises for "untrusted SQLite database files". */
static const struct {
	int option, on;
} settings[] = {
	{SQLITE_DBCONFIG_DEFENSIVE, 1},
	{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
	{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
	{SQLITE_DBCONFIG_ENABLE_VIEW, 0},
	{SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
};

/* Converts SQLite's last error to a status, with a message that names the file and says what to do. */
static enum kwhy_status database_failed(
	const struct kwhy_sqlite *db, const char *table, struct kwhy_error *error)
{
	char words[3 * 200 + 1];
	const char *message = sqlite3_errmsg(db->handle);
	size_t length = strlen(message);

	switch (sqlite3_errcode(db->handle)) {
	case SQLITE_NOMEM:
		return kwhy_fail_memory(error, "reading a database");
	case SQLITE_NOTADB:
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is not an SQLite database, or it is damaged or encrypted; %s", db->path,
			db->cure);
	case SQLITE_INTERRUPT:
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s: table %s has no end that fits the file's size: the file is damaged; %s",
			db->path, table, db->cure);
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
		return kwhy_fail(error, KWHY_E_IO, "%s cannot be read: %s; check the path and the disk",
			db->path, message);
	default:
		kwhy_text_sanitize(words, message, length < 200 ? length : 200);
		return kwhy_fail(error, KWHY_E_INPUT, "%s: table %s: %s; the file is damaged: %s", db->path,
			table, words, db->cure);
	}
}

static int on_progress(void *context)
{
	struct kwhy_sqlite *db = context;

	if (db->calls_left == 0)
		return 1;
	db->calls_left--;
	return 0;
}

/*
 * Makes the URI "file:PATH?mode=ro&immutable=1", with which SQLite takes no lock and creates no file beside
 * the database. The caller frees it; NULL: memory is exhausted.
 */
static char *uri_of(const char *path)
{
	static const char tail[] = "?mode=ro&immutable=1";
	struct kwhy_text uri = {0};

	kwhy_text_add(&uri, "file:");
	for (const char *c = path; *c; c++)
		if (strchr("%?#", *c))
			kwhy_text_addf(&uri, "%%%02x", (unsigned char)*c);
		else
			kwhy_text_add_bytes(&uri, c, 1);
	kwhy_text_add(&uri, tail);
	if (!uri.failed)
		return uri.data;
	kwhy_text_done(&uri);
	return NULL;
}

static bool has_bytes(const char *path, const char *suffix)
{
	struct kwhy_text name = {0};
	struct stat about;
	bool has;

	kwhy_text_addf(&name, "%s%s", path, suffix);
	has = !name.failed && stat(name.data, &about) == 0 && about.st_size > 0;
	kwhy_text_done(&name);
	return has;
}

/*
 * Refuses a file that has a write-ahead log or rollback journal in its folder that is not empty. SQLite opens
 * the file as immutable and would ignore these, so rows would be missing or wrong.
 */
static enum kwhy_status check_siblings(const struct kwhy_sqlite *db, struct kwhy_error *error)
{
	static const char *const suffixes[] = {"-wal", "-journal"};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (has_bytes(db->file, suffixes[i]))
			return kwhy_fail(error, KWHY_E_INPUT,
				"%s is being written or was left unfinished: rows are still in %s%s; close "
				"what writes it, then run sqlite3 FILE \"PRAGMA journal_mode=DELETE\"",
				db->path, db->path, suffixes[i]);
	return KWHY_OK;
}

static enum kwhy_status check_file(struct kwhy_sqlite *db, struct kwhy_error *error)
{
	static const char magic[] = "SQLite format 3";
	char head[sizeof(magic)] = {0};
	int file = open(db->file, O_RDONLY | O_CLOEXEC);
	struct stat about;
	ssize_t got;

	if (file < 0)
		return kwhy_fail(error, KWHY_E_IO,
			"%s cannot be opened: %s; check the path and its permissions", db->path,
			strerror(errno));
	got = pread(file, head, sizeof(head), 0);
	db->file_bytes = fstat(file, &about) == 0 && about.st_size > 0 ? (uint64_t)about.st_size : 0;
	close(file);
	if (got == (ssize_t)sizeof(head) && !memcmp(head, magic, sizeof(magic)))
		return check_siblings(db, error);
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s is not an SQLite database itself; if it is compressed, unpack it first: databases are "
		"not read front to back",
		db->path);
}

static void on_row(sqlite3_context *function, int count, sqlite3_value **values);

static enum kwhy_status open_handle(struct kwhy_sqlite *db, struct kwhy_error *error)
{
	char *uri = uri_of(db->file);
	int code;

	if (!uri)
		return kwhy_fail_memory(error, "reading a database");
	code = sqlite3_open_v2(uri, &db->handle,
		SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE,
		NULL);
	free(uri);
	if (!db->handle)
		return kwhy_fail_memory(error, "reading a database");
	if (code != SQLITE_OK)
		return database_failed(db, "sqlite_master", error);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(db->handle, limits[i].limit, limits[i].value);
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		sqlite3_db_config(db->handle, settings[i].option, settings[i].on, NULL);
	db->calls_left = FIRST_CALLS + db->file_bytes / BYTES_A_CALL;
	sqlite3_progress_handler(db->handle, OPERATIONS_A_CALL, on_progress, db);
	if (sqlite3_create_function(
		    db->handle, EACH_FUNCTION, -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, db, on_row, NULL, NULL))
		return database_failed(db, "sqlite_master", error);
	if (sqlite3_exec(db->handle, "PRAGMA cell_size_check=ON; PRAGMA query_only=ON", NULL, NULL, NULL))
		return database_failed(db, "sqlite_master", error);
	return KWHY_OK;
}

enum kwhy_status kwhy_sqlite_open(
	const struct kwhy_sqlite_file *file, struct kwhy_sqlite **out, struct kwhy_error *error)
{
	struct kwhy_sqlite *db = calloc(1, sizeof(*db));
	enum kwhy_status status;

	if (!db)
		return kwhy_fail_memory(error, "reading a database");
	db->file = file->path;
	db->path = file->shown ? file->shown : file->path;
	db->cure = file->cure;
	status = check_file(db, error);
	if (!status)
		status = open_handle(db, error);
	if (status) {
		kwhy_sqlite_close(db);
		return status;
	}
	*out = db;
	return KWHY_OK;
}

void kwhy_sqlite_close(struct kwhy_sqlite *db)
{
	if (!db)
		return;
	sqlite3_close(db->handle);
	free(db);
}

static enum kwhy_status prepare(struct kwhy_sqlite *db, const char *table, const char *sql,
	sqlite3_stmt **out, struct kwhy_error *error)
{
	if (sqlite3_prepare_v2(db->handle, sql, -1, out, NULL) == SQLITE_OK)
		return KWHY_OK;
	return database_failed(db, table, error);
}

enum kwhy_status kwhy_sqlite_tables(
	struct kwhy_sqlite *db, const char *prefix, struct kwhy_text *out, struct kwhy_error *error)
{
	static const char sql[] = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND "
				  "substr(name, 1, length(?1)) = ?1 ORDER BY name LIMIT 4096";
	sqlite3_stmt *statement;
	enum kwhy_status status = prepare(db, "sqlite_master", sql, &statement, error);
	int code;

	if (status)
		return status;
	sqlite3_bind_text(statement, 1, prefix, -1, SQLITE_STATIC);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW)
		kwhy_text_add_bytes(out, sqlite3_column_text(statement, 0),
			strlen((const char *)sqlite3_column_text(statement, 0)) + 1);
	status = code == SQLITE_DONE ? kwhy_text_check(out, error)
				     : database_failed(db, "sqlite_master", error);
	sqlite3_finalize(statement);
	return status;
}

enum kwhy_status kwhy_sqlite_has(
	struct kwhy_sqlite *db, const char *table, bool *out_has, struct kwhy_error *error)
{
	static const char sql[] =
		"SELECT type = 'table' AND rootpage > 0 FROM sqlite_master WHERE name = ?1 COLLATE NOCASE "
		"AND type IN ('table', 'view')";
	sqlite3_stmt *statement;
	enum kwhy_status status = prepare(db, "sqlite_master", sql, &statement, error);
	int code;

	if (status)
		return status;
	sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
	code = sqlite3_step(statement);
	*out_has = code == SQLITE_ROW && sqlite3_column_int(statement, 0) == 1;
	if (code == SQLITE_ROW && !*out_has)
		status = kwhy_fail(error, KWHY_E_INPUT,
			"%s: %s is a view or a virtual table where a table is expected; %s", db->path, table,
			db->cure);
	else if (code != SQLITE_ROW && code != SQLITE_DONE)
		status = database_failed(db, "sqlite_master", error);
	sqlite3_finalize(statement);
	return status;
}

enum kwhy_status kwhy_sqlite_is_key(struct kwhy_sqlite *db, const char *table, const char *column,
	bool *out_is_key, struct kwhy_error *error)
{
	static const char sql[] =
		"SELECT count(*), sum(name = ?2 COLLATE NOCASE AND type = 'INTEGER' COLLATE NOCASE) "
		"FROM pragma_table_info(?1) WHERE pk > 0";
	sqlite3_stmt *statement;
	enum kwhy_status status = prepare(db, table, sql, &statement, error);

	if (status)
		return status;
	sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 2, column, -1, SQLITE_STATIC);
	if (sqlite3_step(statement) == SQLITE_ROW)
		*out_is_key = sqlite3_column_int(statement, 0) == 1 && sqlite3_column_int(statement, 1) == 1;
	else
		status = database_failed(db, table, error);
	sqlite3_finalize(statement);
	return status;
}

static void note_column(const struct kwhy_sqlite_column *column, const char *found, const char **name)
{
	if (!sqlite3_stricmp(found, column->name))
		*name = column->name;
	else if (!*name && column->older && !sqlite3_stricmp(found, column->older))
		*name = column->older;
}

/* Finds by which name the table has each wanted column; names[i] NULL: it lacks column i. */
static enum kwhy_status find_columns(struct kwhy_sqlite *db, const struct kwhy_sqlite_table *table,
	const char *names[KWHY_SQLITE_COLUMNS_MAX], struct kwhy_error *error)
{
	sqlite3_stmt *statement;
	enum kwhy_status status = prepare(
		db, table->name, "SELECT name FROM pragma_table_info(?1)", &statement, error);
	int code;

	for (size_t i = 0; i < table->count; i++)
		names[i] = strcmp(table->columns[i].name, "rowid") ? NULL : "rowid";
	if (status)
		return status;
	sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		const char *found = (const char *)sqlite3_column_text(statement, 0);

		for (size_t i = 0; found && i < table->count; i++)
			note_column(&table->columns[i], found, &names[i]);
	}
	if (code != SQLITE_DONE)
		status = database_failed(db, table->name, error);
	sqlite3_finalize(statement);
	return status;
}

/* Writes the SQL list of the wanted columns: "start", NULL, ...; a column that the table lacks is NULL. */
static void write_columns(struct kwhy_text *sql, const struct kwhy_sqlite_table *table,
	const char *const names[KWHY_SQLITE_COLUMNS_MAX])
{
	for (size_t i = 0; i < table->count; i++) {
		kwhy_text_add(sql, i ? ", " : "");
		if (names[i])
			kwhy_text_addf(sql, "\"%s\"", names[i]);
		else
			kwhy_text_add(sql, "NULL");
	}
}

static void write_select(struct kwhy_text *sql, const struct kwhy_sqlite_table *table,
	const char *const names[KWHY_SQLITE_COLUMNS_MAX], const char *key)
{
	kwhy_text_add(sql, "SELECT ");
	write_columns(sql, table, names);
	kwhy_text_addf(sql, " FROM \"%s\"", table->name);
	if (key)
		kwhy_text_addf(sql, " WHERE %s = ?1", key);
}

/*
 * Writes a SELECT that calls on_row() with the wanted columns of each row. on_row() gives NULL, so the SELECT
 * has no result.
 */
static void write_each(struct kwhy_text *sql, const struct kwhy_sqlite_table *table,
	const char *const names[KWHY_SQLITE_COLUMNS_MAX])
{
	kwhy_text_addf(sql, "SELECT 1 FROM \"%s\" WHERE " EACH_FUNCTION "(", table->name);
	write_columns(sql, table, names);
	kwhy_text_add(sql, ")");
}

static enum kwhy_status open_rows(struct kwhy_sqlite *db, const struct kwhy_sqlite_table *table, bool each,
	const char *key, struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	const char *names[KWHY_SQLITE_COLUMNS_MAX];
	struct kwhy_text sql = {0};
	enum kwhy_status status;

	*rows = (struct kwhy_sqlite_rows){.db = db, .table = table->name};
	status = find_columns(db, table, names, error);
	if (status)
		return status;
	for (size_t i = 0; i < table->count; i++)
		rows->present |= (unsigned)(names[i] != NULL) << i;
	if (each)
		write_each(&sql, table, names);
	else
		write_select(&sql, table, names, key);
	status = kwhy_text_check(&sql, error);
	if (!status)
		status = prepare(db, table->name, sql.data, &rows->statement, error);
	kwhy_text_done(&sql);
	return status;
}

enum kwhy_status kwhy_sqlite_rows_open(struct kwhy_sqlite *db, const struct kwhy_sqlite_table *table,
	struct kwhy_sqlite_rows *rows, bool *out_found, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_sqlite_has(db, table->name, out_found, error);

	return status || !*out_found ? status : open_rows(db, table, false, NULL, rows, error);
}

enum kwhy_status kwhy_sqlite_rows_open_by(struct kwhy_sqlite *db, const struct kwhy_sqlite_table *table,
	const char *key, struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	return open_rows(db, table, false, key, rows, error);
}

void kwhy_sqlite_rows_bind(struct kwhy_sqlite_rows *rows, int64_t key)
{
	sqlite3_reset(rows->statement);
	sqlite3_bind_int64(rows->statement, 1, key);
	rows->number = 0;
}

void kwhy_sqlite_rows_close(struct kwhy_sqlite_rows *rows)
{
	sqlite3_finalize(rows->statement);
	rows->statement = NULL;
}

static enum kwhy_status count_row(struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	if (++rows->number <= rows->db->file_bytes / ROW_BYTES_MIN)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s: table %s has more rows than fit in the file: it is damaged; %s", rows->db->path,
		rows->table, rows->db->cure);
}

enum kwhy_status kwhy_sqlite_rows_next(struct kwhy_sqlite_rows *rows, bool *out_row, struct kwhy_error *error)
{
	int code = sqlite3_step(rows->statement);

	*out_row = code == SQLITE_ROW;
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		return database_failed(rows->db, rows->table, error);
	return *out_row ? count_row(rows, error) : KWHY_OK;
}

static void on_row(sqlite3_context *function, int count, sqlite3_value **values)
{
	struct walk *walk = ((struct kwhy_sqlite *)sqlite3_user_data(function))->walk;

	(void)count;
	walk->rows.values = values;
	walk->status = count_row(&walk->rows, walk->error);
	if (!walk->status)
		walk->status = walk->take(walk->context, &walk->rows, walk->error);
	if (walk->status)
		sqlite3_result_error_code(function, SQLITE_ABORT);
}

enum kwhy_status kwhy_sqlite_each(struct kwhy_sqlite *db, const struct kwhy_sqlite_table *table,
	kwhy_sqlite_take take, void *context, bool *out_found, struct kwhy_error *error)
{
	struct walk walk = {.take = take, .context = context, .error = error};
	struct walk *outer = db->walk;
	enum kwhy_status status = kwhy_sqlite_has(db, table->name, out_found, error);
	int code;

	if (!status && *out_found)
		status = open_rows(db, table, true, NULL, &walk.rows, error);
	if (status || !*out_found)
		return status;
	db->walk = &walk;
	code = sqlite3_step(walk.rows.statement);
	db->walk = outer;
	status = walk.status;
	if (!status && code != SQLITE_DONE)
		status = database_failed(db, table->name, error);
	kwhy_sqlite_rows_close(&walk.rows);
	return status;
}

size_t kwhy_sqlite_row_count(struct kwhy_sqlite *db, const char *table)
{
	struct kwhy_text sql = {0};
	sqlite3_stmt *statement = NULL;
	uint64_t count = 0, most = db->file_bytes / ROW_BYTES_USUAL;

	/* two subqueries, since SQLite reads the whole table for one query of both max() and min() */
	kwhy_text_addf(&sql, "SELECT (SELECT max(rowid) FROM \"%s\") - (SELECT min(rowid) FROM \"%s\") + 1",
		table, table);
	if (!sql.failed && sqlite3_prepare_v2(db->handle, sql.data, -1, &statement, NULL) == SQLITE_OK &&
		sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int64(statement, 0) > 0)
		count = (uint64_t)sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	kwhy_text_done(&sql);
	return (size_t)(count < most ? count : most);
}

/* 2^53: a double holds all integers up to this one exactly */
static const double exact_limit = 9007199254740992.0;

/*
 * A field of the row as an sqlite3_value, from which type and content are read without a further call for
 * each field. It may be read although sqlite3_column_value() gives an unprotected value, because the
 * connection has no mutexes (SQLITE_OPEN_NOMUTEX).
 */
static sqlite3_value *value_of(const struct kwhy_sqlite_rows *rows, size_t column)
{
	return rows->values ? rows->values[column] : sqlite3_column_value(rows->statement, (int)column);
}

bool kwhy_sqlite_integer(const struct kwhy_sqlite_rows *rows, size_t column, int64_t *out)
{
	sqlite3_value *value = value_of(rows, column);
	double real;

	switch (sqlite3_value_type(value)) {
	case SQLITE_INTEGER:
		*out = sqlite3_value_int64(value);
		return true;
	case SQLITE_FLOAT:
		real = sqlite3_value_double(value);
		if (!(real >= -exact_limit && real <= exact_limit) || (double)(int64_t)real != real)
			return false;
		*out = (int64_t)real;
		return true;
	default:
		return false;
	}
}

bool kwhy_sqlite_number(const struct kwhy_sqlite_rows *rows, size_t column, double *out)
{
	sqlite3_value *value = value_of(rows, column);
	int type = sqlite3_value_type(value);

	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
		return false;
	*out = sqlite3_value_double(value);
	return true;
}

bool kwhy_sqlite_text(
	const struct kwhy_sqlite_rows *rows, size_t column, const char **out_bytes, size_t *out_length)
{
	sqlite3_value *value = value_of(rows, column);

	if (sqlite3_value_type(value) != SQLITE_TEXT)
		return false;
	*out_bytes = (const char *)sqlite3_value_text(value);
	*out_length = (size_t)sqlite3_value_bytes(value);
	return *out_bytes != NULL && *out_length > 0;
}

const char *kwhy_sqlite_kept_text(
	const struct kwhy_sqlite_rows *rows, size_t column, struct kwhy_tracks *tracks)
{
	const char *bytes;
	size_t length;

	return kwhy_sqlite_text(rows, column, &bytes, &length) ? kwhy_tracks_text(tracks, bytes, length)
							       : NULL;
}

enum kwhy_status kwhy_sqlite_row_fail(
	const struct kwhy_sqlite_rows *rows, struct kwhy_error *error, const char *words)
{
	return kwhy_fail(error, KWHY_E_INPUT, "%s, table %s, row %" PRIu64 ": %s", rows->db->path,
		rows->table, rows->number, words);
}
