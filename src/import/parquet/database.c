/* SPDX-License-Identifier: Apache-2.0 */
#include "import/parquet/database.h"

#include "base/temporary.h"
#include "base/text.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS_MAX = 256 };

/* A column that is copied from the Parquet file to the database. */
struct column {
	const char *from, *to; /* its names in the Parquet file and in the database */
	int type;	       /* type of the values, KWHY_DUCKDB_TYPE_... */
};

struct copier {
	struct kwhy_parquet_database *made;
	const struct kwhy_parquet_part *part;
	struct kwhy_duckdb_result head; /* result of a query for 0 rows; it owns the names of the columns */
	struct kwhy_duckdb_result result;
	struct column columns[COLUMNS_MAX];
	size_t count;
	sqlite3_stmt *insert;
};

static void add_quoted(struct kwhy_text *sql, const char *text, char quote)
{
	kwhy_text_add_bytes(sql, &quote, 1);
	for (; *text; text++) {
		if (*text == quote)
			kwhy_text_add_bytes(sql, &quote, 1);
		kwhy_text_add_bytes(sql, text, 1);
	}
	kwhy_text_add_bytes(sql, &quote, 1);
}

/*
 * Adds a path as a quoted SQL text. DuckDB reads paths as glob patterns, so each of the characters * ? [ is
 * put in brackets, where it stands for itself.
 */
static void add_path(struct kwhy_text *sql, const char *path)
{
	kwhy_text_add(sql, "'");
	for (; *path; path++) {
		const bool is_pattern = strchr("*?[", *path) != NULL;

		kwhy_text_add(sql, is_pattern ? "[" : *path == '\'' ? "'" : "");
		kwhy_text_add_bytes(sql, path, 1);
		kwhy_text_add(sql, is_pattern ? "]" : "");
	}
	kwhy_text_add(sql, "'");
}

static enum kwhy_status sqlite_failed(const struct kwhy_parquet_database *made, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_IO,
		"%s: its tables cannot be written into a temporary database: %s; set TMPDIR to a place with "
		"space",
		made->shown, sqlite3_errmsg(made->db));
}

static enum kwhy_status open_database(struct kwhy_parquet_database *made, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_temporary_folder_make(
		made->folder, "parquet", "the tables of a Parquet file", error);

	if (status)
		return status;
	snprintf(made->path, sizeof(made->path), "%s/e.sqlite", made->folder);
	if (sqlite3_open(made->path, &made->db) ||
		sqlite3_exec(
			made->db, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN", NULL, NULL, NULL))
		return sqlite_failed(made, error);
	return KWHY_OK;
}

enum kwhy_status kwhy_parquet_database_open(
	struct kwhy_parquet_database *made, const char *shown, const char *instead, struct kwhy_error *error)
{
	struct kwhy_error why;
	enum kwhy_status status;

	*made = (struct kwhy_parquet_database){.shown = shown};
	status = kwhy_duckdb_open(&made->duckdb, &why);
	if (status == KWHY_E_UNSUPPORTED)
		return kwhy_fail(error, status, "%s: %s, or %s", shown, why.text, instead);
	if (status) {
		*error = why;
		return status;
	}
	status = open_database(made, error);
	if (status)
		kwhy_parquet_database_close(made);
	return status;
}

void kwhy_parquet_database_close(struct kwhy_parquet_database *made)
{
	sqlite3_close(made->db);
	if (made->folder[0]) {
		unlink(made->path);
		rmdir(made->folder);
	}
	kwhy_duckdb_close(&made->duckdb);
}

enum kwhy_status kwhy_parquet_database_finish(struct kwhy_parquet_database *made, struct kwhy_error *error)
{
	if (sqlite3_exec(made->db, "COMMIT", NULL, NULL, NULL))
		return sqlite_failed(made, error);
	sqlite3_close(made->db);
	made->db = NULL;
	return KWHY_OK;
}

/*
 * Runs "SELECT WHAT FROM read_parquet('FILE', ...) TAIL", or, if the part has `before`, "SELECT WHAT FROM
 * BEFORE 'FILE' AFTER TAIL".
 */
static enum kwhy_status query(const struct copier *copier, const char *what, const char *tail,
	struct kwhy_duckdb_result *out, struct kwhy_error *error)
{
	struct kwhy_text sql = {0};
	struct kwhy_error why;
	enum kwhy_status status;

	kwhy_text_addf(&sql, "SELECT %s FROM %s", what,
		copier->part->before ? copier->part->before : "read_parquet(");
	add_path(&sql, copier->part->file);
	kwhy_text_addf(&sql, "%s%s",
		copier->part->before ? copier->part->after : ", hive_partitioning = false)", tail);
	status = kwhy_text_check(&sql, error);
	if (!status)
		status = kwhy_duckdb_run(&copier->made->duckdb, sql.data, copier->part->file, out, &why);
	if (status == KWHY_E_INPUT)
		(void)kwhy_fail(error, status, "%s; the file is damaged: export it again", why.text);
	kwhy_text_done(&sql);
	return status;
}

/* The name that the column `found` of the file gets in the table; NULL: the column is not copied. */
static const char *name_of(const struct kwhy_parquet_part *part, const char *found)
{
	if (!part->columns)
		return found;
	for (size_t i = 0; i < part->column_count; i++)
		if (!strcmp(part->columns[i], found))
			return part->names ? part->names[i] : found;
	return NULL;
}

static enum kwhy_status find_columns(struct copier *copier, struct kwhy_error *error)
{
	const struct kwhy_duckdb *duckdb = &copier->made->duckdb;
	enum kwhy_status status = query(copier, "*", " LIMIT 0", &copier->head, error);
	uint64_t count;

	if (status)
		return status;
	count = duckdb->duckdb_column_count(&copier->head);
	for (uint64_t i = 0; i < count; i++) {
		const char *found = duckdb->duckdb_column_name(&copier->head, i);
		const char *name = found ? name_of(copier->part, found) : NULL;

		if (name && count <= COLUMNS_MAX)
			copier->columns[copier->count++] = (struct column){
				found, name, duckdb->duckdb_column_type(&copier->head, i)};
	}
	if (copier->count == 0)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s has no columns of the table %s, or too many; export it again", copier->part->file,
			copier->part->table);
	return KWHY_OK;
}

/* Whether values of this DuckDB type are copied as they are; values of other types are copied as texts. */
static bool is_direct(int type)
{
	return type == KWHY_DUCKDB_TYPE_BIGINT || type == KWHY_DUCKDB_TYPE_DOUBLE ||
		type == KWHY_DUCKDB_TYPE_VARCHAR;
}

/*
 * Writes the SQL statements that create the table and insert a row. A column whose values are texts gets the
 * type TEXT, so that a name of digits stays a text; a column of another type, whose values may be copied as
 * texts, gets NUMERIC, by which SQLite turns texts of numbers back into numbers.
 */
static void write_table(const struct copier *copier, struct kwhy_text *create, struct kwhy_text *insert)
{
	const char *key = copier->part->key;

	kwhy_text_add(create, "CREATE TABLE ");
	add_quoted(create, copier->part->table, '"');
	kwhy_text_add(insert, "INSERT INTO ");
	add_quoted(insert, copier->part->table, '"');
	for (size_t i = 0; i < copier->count; i++) {
		const struct column *column = &copier->columns[i];
		const bool is_text = column->type == KWHY_DUCKDB_TYPE_VARCHAR;

		kwhy_text_add(create, i ? ", " : "(");
		add_quoted(create, column->to, '"');
		kwhy_text_add(create,
			is_text					  ? " TEXT"
				: key && !strcmp(column->to, key) ? " INTEGER PRIMARY KEY"
								  : " NUMERIC");
		kwhy_text_add(insert, i ? ",?" : " VALUES(?");
	}
	kwhy_text_add(create, ")");
	kwhy_text_add(insert, ")");
}

static enum kwhy_status create_table(struct copier *copier, struct kwhy_error *error)
{
	struct kwhy_text create = {0}, insert = {0};
	enum kwhy_status status;

	write_table(copier, &create, &insert);
	status = kwhy_text_check(&create, error);
	if (!status)
		status = kwhy_text_check(&insert, error);
	if (!status &&
		(sqlite3_exec(copier->made->db, create.data, NULL, NULL, NULL) ||
			sqlite3_prepare_v2(copier->made->db, insert.data, -1, &copier->insert, NULL)))
		status = sqlite_failed(copier->made, error);
	kwhy_text_done(&create);
	kwhy_text_done(&insert);
	return status;
}

static enum kwhy_status select_rows(struct copier *copier, struct kwhy_error *error)
{
	struct kwhy_text what = {0}, tail = {0};
	enum kwhy_status status;

	for (size_t i = 0; i < copier->count; i++) {
		const bool casts = !is_direct(copier->columns[i].type);

		kwhy_text_add(&what, i ? ", " : "");
		kwhy_text_add(&what, casts ? "CAST(" : "");
		add_quoted(&what, copier->columns[i].from, '"');
		kwhy_text_add(&what, casts ? " AS VARCHAR)" : "");
	}
	if (copier->part->condition)
		kwhy_text_addf(&tail, " WHERE %s", copier->part->condition);
	status = kwhy_text_check(&what, error);
	if (!status)
		status = kwhy_text_check(&tail, error);
	if (!status)
		status = query(copier, what.data, tail.data ? tail.data : "", &copier->result, error);
	kwhy_text_done(&what);
	kwhy_text_done(&tail);
	return status;
}

static void bind_text(sqlite3_stmt *insert, int place, const union kwhy_duckdb_string *value)
{
	const uint32_t length = value->inlined.length;

	sqlite3_bind_text(insert, place,
		length <= sizeof(value->inlined.bytes) ? value->inlined.bytes : value->pointer.bytes,
		(int)length, SQLITE_STATIC);
}

static void bind(const struct copier *copier, kwhy_duckdb_chunk chunk, size_t column, uint64_t row)
{
	const struct kwhy_duckdb *duckdb = &copier->made->duckdb;
	kwhy_duckdb_vector vector = duckdb->duckdb_data_chunk_get_vector(chunk, column);
	const uint64_t *valid = duckdb->duckdb_vector_get_validity(vector);
	const void *data = duckdb->duckdb_vector_get_data(vector);
	const int place = (int)column + 1;

	if (valid && !(valid[row / 64] >> row % 64 & 1))
		sqlite3_bind_null(copier->insert, place);
	else if (copier->columns[column].type == KWHY_DUCKDB_TYPE_BIGINT)
		sqlite3_bind_int64(copier->insert, place, ((const int64_t *)data)[row]);
	else if (copier->columns[column].type == KWHY_DUCKDB_TYPE_DOUBLE)
		sqlite3_bind_double(copier->insert, place, ((const double *)data)[row]);
	else
		bind_text(copier->insert, place, (const union kwhy_duckdb_string *)data + row);
}

static bool insert_chunk(const struct copier *copier, kwhy_duckdb_chunk chunk)
{
	const uint64_t count = copier->made->duckdb.duckdb_data_chunk_get_size(chunk);
	bool good = true;

	for (uint64_t row = 0; good && row < count; row++) {
		for (size_t column = 0; column < copier->count; column++)
			bind(copier, chunk, column, row);
		good = sqlite3_step(copier->insert) == SQLITE_DONE;
		sqlite3_reset(copier->insert);
	}
	return good;
}

static enum kwhy_status copy_rows(struct copier *copier, struct kwhy_error *error)
{
	const struct kwhy_duckdb *duckdb = &copier->made->duckdb;
	enum kwhy_status status = select_rows(copier, error);
	kwhy_duckdb_chunk chunk;
	bool good = true;

	if (status)
		return status;
	while (good && (chunk = duckdb->duckdb_fetch_chunk(copier->result)) != NULL) {
		good = insert_chunk(copier, chunk);
		duckdb->duckdb_destroy_data_chunk(&chunk);
	}
	duckdb->duckdb_destroy_result(&copier->result);
	return good ? KWHY_OK : sqlite_failed(copier->made, error);
}

enum kwhy_status kwhy_parquet_database_add(
	struct kwhy_parquet_database *made, const struct kwhy_parquet_part *part, struct kwhy_error *error)
{
	struct copier copier = {.made = made, .part = part};
	enum kwhy_status status = find_columns(&copier, error);

	if (!status)
		status = create_table(&copier, error);
	if (!status)
		status = copy_rows(&copier, error);
	sqlite3_finalize(copier.insert);
	made->duckdb.duckdb_destroy_result(&copier.head);
	return status;
}
