/* SPDX-License-Identifier: Apache-2.0 */
#include "import/nsys/parquet.h"

#include "base/temporary.h"
#include "import/nsys/nsys.h"
#include "import/reader.h"
#include "vendor/duckdb.h"

#include <dirent.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The folder has the tables of the SQLite export. DuckDB reads them and kwhy writes them into a temporary
 * database, which the reader of the SQLite export then reads.
 */

static const char ending[] = ".parquet";

enum { COLUMNS_MAX = 256, FILES_MAX = 1024 };

struct copier {
	struct kwhy_duckdb duckdb;
	sqlite3 *db;
	const char *path; /* path of the folder */
	struct kwhy_duckdb_result result;
	uint64_t columns;
	sqlite3_stmt *insert;
};

bool kwhy_nsys_parquet_is(const char *path)
{
	struct kwhy_text name = {0};
	bool is;

	kwhy_text_addf(&name, "%s/StringIds.parquet", path);
	is = !name.failed && access(name.data, F_OK) == 0;
	kwhy_text_done(&name);
	return is;
}

/* Adds a text in quotes; quotes inside it are doubled. */
static void add_quoted(struct kwhy_text *sql, const char *text, size_t length, char quote)
{
	kwhy_text_add_bytes(sql, &quote, 1);
	for (size_t i = 0; i < length && text[i]; i++) {
		if (text[i] == quote)
			kwhy_text_add_bytes(sql, &quote, 1);
		kwhy_text_add_bytes(sql, text + i, 1);
	}
	kwhy_text_add_bytes(sql, &quote, 1);
}

static enum kwhy_status sqlite_failed(const struct copier *copier, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_IO,
		"%s: its tables cannot be written into a temporary database: %s; set TMPDIR to a place with "
		"space",
		copier->path, sqlite3_errmsg(copier->db));
}

/* Runs "SELECT WHAT FROM read_parquet('FOLDER/FILE') TAIL". */
static enum kwhy_status select_from(
	struct copier *copier, const char *file, const char *what, const char *tail, struct kwhy_error *error)
{
	struct kwhy_text sql = {0}, path = {0};
	enum kwhy_status status;

	kwhy_text_addf(&path, "%s/%s", copier->path, file);
	kwhy_text_addf(&sql, "SELECT %s FROM read_parquet(", what);
	add_quoted(&sql, path.data ? path.data : "", SIZE_MAX, '\'');
	kwhy_text_addf(&sql, ")%s", tail);
	status = kwhy_text_check(&path, error);
	if (!status)
		status = kwhy_text_check(&sql, error);
	if (!status)
		status = kwhy_duckdb_run(&copier->duckdb, sql.data, path.data, &copier->result, error);
	kwhy_text_done(&path);
	kwhy_text_done(&sql);
	return status;
}

/*
 * Writes the statements that create a table of the database and insert a row. Columns of texts get the type
 * TEXT, so that a name that consists of digits stays a text. Other columns get the type NUMERIC, by which
 * SQLite turns texts of numbers into numbers.
 */
static void write_table(
	struct copier *copier, const char *file, struct kwhy_text *create, struct kwhy_text *insert)
{
	const struct kwhy_duckdb *duckdb = &copier->duckdb;
	const size_t name = strlen(file) - strlen(ending);

	kwhy_text_add(create, "CREATE TABLE ");
	add_quoted(create, file, name, '"');
	kwhy_text_add(insert, "INSERT INTO ");
	add_quoted(insert, file, name, '"');
	for (uint64_t i = 0; i < copier->columns; i++) {
		const char *column = duckdb->duckdb_column_name(&copier->result, i);
		const bool is_text = duckdb->duckdb_column_type(&copier->result, i) ==
			KWHY_DUCKDB_TYPE_VARCHAR;

		kwhy_text_add(create, i ? ", " : "(");
		add_quoted(create, column ? column : "", SIZE_MAX, '"');
		kwhy_text_add(create,
			is_text ? " TEXT"
				: !strcmp(file, "StringIds.parquet") && column && !strcmp(column, "id")
				? " INTEGER PRIMARY KEY"
				: " NUMERIC");
		kwhy_text_add(insert, i ? ",?" : " VALUES(?");
	}
	kwhy_text_add(create, ")");
	kwhy_text_add(insert, ")");
}

static enum kwhy_status make_table(struct copier *copier, const char *file, struct kwhy_error *error)
{
	struct kwhy_text create = {0}, insert = {0};
	enum kwhy_status status = select_from(copier, file, "*", " LIMIT 0", error);

	if (status)
		return status;
	copier->columns = copier->duckdb.duckdb_column_count(&copier->result);
	write_table(copier, file, &create, &insert);
	copier->duckdb.duckdb_destroy_result(&copier->result);
	status = kwhy_text_check(&create, error);
	if (!status)
		status = kwhy_text_check(&insert, error);
	if (!status && (copier->columns == 0 || copier->columns > COLUMNS_MAX))
		status = kwhy_fail(error, KWHY_E_INPUT, "%s/%s has no columns, or too many; export it again",
			copier->path, file);
	if (!status &&
		(sqlite3_exec(copier->db, create.data, NULL, NULL, NULL) ||
			sqlite3_prepare_v2(copier->db, insert.data, -1, &copier->insert, NULL)))
		status = sqlite_failed(copier, error);
	kwhy_text_done(&create);
	kwhy_text_done(&insert);
	return status;
}

static void bind(struct copier *copier, kwhy_duckdb_chunk chunk, uint64_t column, uint64_t row)
{
	const struct kwhy_duckdb *duckdb = &copier->duckdb;
	kwhy_duckdb_vector vector = duckdb->duckdb_data_chunk_get_vector(chunk, column);
	const uint64_t *valid = duckdb->duckdb_vector_get_validity(vector);
	const union kwhy_duckdb_string *value = (const union kwhy_duckdb_string *)
							duckdb->duckdb_vector_get_data(vector) +
		row;
	const uint32_t length = value->inlined.length;

	if (valid && !(valid[row / 64] >> row % 64 & 1))
		sqlite3_bind_null(copier->insert, (int)column + 1);
	else
		sqlite3_bind_text(copier->insert, (int)column + 1,
			length <= sizeof(value->inlined.bytes) ? value->inlined.bytes : value->pointer.bytes,
			(int)length, SQLITE_STATIC);
}

static bool insert_chunk(struct copier *copier, kwhy_duckdb_chunk chunk)
{
	const uint64_t count = copier->duckdb.duckdb_data_chunk_get_size(chunk);
	bool good = true;

	for (uint64_t row = 0; good && row < count; row++) {
		for (uint64_t column = 0; column < copier->columns; column++)
			bind(copier, chunk, column, row);
		good = sqlite3_step(copier->insert) == SQLITE_DONE;
		sqlite3_reset(copier->insert);
	}
	return good;
}

static enum kwhy_status copy_rows(struct copier *copier, const char *file, struct kwhy_error *error)
{
	kwhy_duckdb_chunk chunk;
	bool good = true;
	enum kwhy_status status = select_from(copier, file, "CAST(COLUMNS(*) AS VARCHAR)", "", error);

	if (status)
		return status;
	while (good && (chunk = copier->duckdb.duckdb_fetch_chunk(copier->result)) != NULL) {
		good = insert_chunk(copier, chunk);
		copier->duckdb.duckdb_destroy_data_chunk(&chunk);
	}
	copier->duckdb.duckdb_destroy_result(&copier->result);
	return good ? KWHY_OK : sqlite_failed(copier, error);
}

static int is_table(const struct dirent *entry)
{
	const size_t length = strlen(entry->d_name), tail = sizeof(ending) - 1;

	return length > tail && !strcmp(entry->d_name + length - tail, ending);
}

static enum kwhy_status copy_tables(struct copier *copier, struct kwhy_error *error)
{
	struct dirent **entries = NULL;
	int count = scandir(copier->path, &entries, is_table, alphasort);
	enum kwhy_status status = KWHY_OK;

	if (count < 0)
		return kwhy_fail(error, KWHY_E_IO, "folder %s cannot be read: %s; check its permissions",
			copier->path, strerror(errno));
	for (int i = 0; i < count; i++) {
		if (!status && i < FILES_MAX)
			status = make_table(copier, entries[i]->d_name, error);
		if (!status && i < FILES_MAX)
			status = copy_rows(copier, entries[i]->d_name, error);
		sqlite3_finalize(copier->insert);
		copier->insert = NULL;
		free(entries[i]);
	}
	free(entries);
	return status;
}

static enum kwhy_status make_database(struct copier *copier, const char *database, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (sqlite3_open(database, &copier->db) ||
		sqlite3_exec(copier->db, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN", NULL, NULL,
			NULL))
		status = sqlite_failed(copier, error);
	else
		status = copy_tables(copier, error);
	if (!status && sqlite3_exec(copier->db, "COMMIT", NULL, NULL, NULL))
		status = sqlite_failed(copier, error);
	sqlite3_close(copier->db);
	return status;
}

static enum kwhy_status read_by(struct copier *copier, struct kwhy_recording *recording,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	const char *base = kwhy_temporary_folder();
	char folder[128], database[144];
	enum kwhy_status status;

	snprintf(folder, sizeof(folder), "%s/kwhy-parquet-XXXXXX", strlen(base) < 64 ? base : "/tmp");
	if (!mkdtemp(folder))
		return kwhy_fail(error, KWHY_E_IO,
			"%s: no folder can be made there: %s; set TMPDIR to a place with space", folder,
			strerror(errno));
	snprintf(database, sizeof(database), "%s/e.sqlite", folder);
	status = make_database(copier, database, error);
	if (!status)
		status = kwhy_nsys_read(recording,
			&(struct kwhy_sqlite_file){
				database, copier->path, "export it again with \"nsys export --type sqlite\""},
			options, error);
	unlink(database);
	rmdir(folder);
	return status;
}

static enum kwhy_status read_parquet(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	struct copier copier = {.path = path};
	struct kwhy_error why;
	enum kwhy_status status = kwhy_duckdb_open(&copier.duckdb, &why);

	if (status == KWHY_E_UNSUPPORTED)
		return kwhy_fail(error, status, "%s: %s, or export it with \"nsys export --type sqlite\"",
			path, why.text);
	if (status) {
		*error = why;
		return status;
	}
	status = read_by(&copier, recording, options, error);
	kwhy_duckdb_close(&copier.duckdb);
	return status;
}

/* Recognises the format by the folder, because a single file of it is no trace. */
static bool probe_parquet(const char *path, const unsigned char *head, size_t length)
{
	(void)head;
	(void)length;
	return kwhy_nsys_parquet_is(path);
}

const struct kwhy_trace_reader kwhy_reader_nsys_parquet = {.probe = probe_parquet, .read = read_parquet};
