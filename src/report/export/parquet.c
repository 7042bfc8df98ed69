/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "report/export/export.h"
#include "report/export/tables.h"
#include "vendor/duckdb.h"

#include <string.h>

/*
 * Writes the tables of the SQLite export as one Parquet file, by DuckDB. Of the libraries that write Parquet,
 * DuckDB is the one with a stable C interface, and users of Parquet often have it. A Parquet file has one
 * table, so the rows of all tables lie one after another in it: the column "table" names the table of a row,
 * and the columns of other tables are NULL. The table meta is the file's metadata.
 */

struct writer {
	struct kwhy_table_rows rows; /* first, so that its address is that of the writer */
	const char *path;
	struct kwhy_duckdb duckdb;
	kwhy_duckdb_appender appender;
	/* keys and values of the file's metadata, in the syntax of DuckDB's COPY */
	struct kwhy_text metadata;
	/*
	 * is_meta: the rows of the table meta are being written; is_value: the next text of such a row is its
	 * value, not its key
	 */
	bool is_meta, is_value;
	struct kwhy_error *error; /* reason of the first statement that failed */
	enum kwhy_status status;
};

static struct writer *writer_of(struct kwhy_table_rows *rows)
{
	return (struct writer *)rows;
}

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

static const char *name_of(const struct kwhy_export_column *column)
{
	return column->in_parquet ? column->in_parquet : column->name;
}

/* Runs a statement and releases its text. */
static void run(struct writer *writer, struct kwhy_text *sql)
{
	if (!writer->rows.failed) {
		writer->status = kwhy_text_check(sql, writer->error);
		if (!writer->status)
			writer->status = kwhy_duckdb_run(
				&writer->duckdb, sql->data, writer->path, NULL, writer->error);
		writer->rows.failed = writer->status != KWHY_OK;
	}
	kwhy_text_done(sql);
}

/* Records the failure if a call of DuckDB's appender did not succeed; only the first failure counts. */
static void appended(struct writer *writer, enum kwhy_duckdb_state state)
{
	if (state == KWHY_DUCKDB_SUCCESS || writer->rows.failed)
		return;
	writer->rows.failed = true;
	writer->status = kwhy_fail(writer->error, KWHY_E_INPUT,
		"%s: DuckDB did not take the rows; use its version 1.0 or newer", writer->path);
}

static void create_table(struct writer *writer, const struct kwhy_export_table *table)
{
	static const char *const types[] = {[KWHY_COLUMN_INTEGER] = "BIGINT",
		[KWHY_COLUMN_REAL] = "DOUBLE",
		[KWHY_COLUMN_TEXT] = "VARCHAR"};
	struct kwhy_text sql = {0};

	kwhy_text_addf(&sql, "CREATE TABLE \"%s\"(", table->name);
	for (size_t i = 0; i < table->count; i++)
		kwhy_text_addf(&sql, "%s\"%s\" %s", i ? ", " : "", name_of(&table->columns[i]),
			types[table->columns[i].type]);
	kwhy_text_add(&sql, ")");
	run(writer, &sql);
}

static void begin(struct kwhy_table_rows *rows, const struct kwhy_export_table *table)
{
	struct writer *writer = writer_of(rows);

	writer->is_meta = table == &kwhy_export_tables[KWHY_TABLE_META];
	if (writer->is_meta)
		return;
	create_table(writer, table);
	if (!rows->failed)
		appended(writer,
			writer->duckdb.duckdb_appender_create(
				writer->duckdb.connection, NULL, table->name, &writer->appender));
}

static void put_int(struct kwhy_table_rows *rows, int64_t value)
{
	struct writer *writer = writer_of(rows);

	appended(writer, writer->duckdb.duckdb_append_int64(writer->appender, value));
}

static void put_real(struct kwhy_table_rows *rows, double value)
{
	struct writer *writer = writer_of(rows);

	appended(writer, writer->duckdb.duckdb_append_double(writer->appender, value));
}

static void put_text(struct kwhy_table_rows *rows, const char *text)
{
	struct writer *writer = writer_of(rows);

	if (!writer->is_meta) {
		appended(writer, writer->duckdb.duckdb_append_varchar(writer->appender, text));
		return;
	}
	kwhy_text_add(&writer->metadata, writer->is_value ? ": " : writer->metadata.length ? ", " : "");
	add_quoted(&writer->metadata, text, writer->is_value ? '\'' : '"');
	writer->is_value = !writer->is_value;
}

static void put_null(struct kwhy_table_rows *rows)
{
	struct writer *writer = writer_of(rows);

	appended(writer, writer->duckdb.duckdb_append_null(writer->appender));
}

static void end_row(struct kwhy_table_rows *rows)
{
	struct writer *writer = writer_of(rows);

	if (!writer->is_meta)
		appended(writer, writer->duckdb.duckdb_appender_end_row(writer->appender));
}

static void end(struct kwhy_table_rows *rows)
{
	struct writer *writer = writer_of(rows);

	if (writer->is_meta)
		return;
	appended(writer, writer->duckdb.duckdb_appender_close(writer->appender));
	writer->duckdb.duckdb_appender_destroy(&writer->appender);
}

static const struct kwhy_table_calls calls = {begin, put_int, put_real, put_text, put_null, end_row, end};

static bool has_name_id(const struct kwhy_export_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		if (!strcmp(table->columns[i].name, "name_id"))
			return true;
	return false;
}

/*
 * Adds the query for the rows of one table, with its name in the column "table". Rows that refer to the table
 * name by an id get the string as a further column, because all tables are in one file, which data frames
 * cannot easily join with itself.
 */
static void add_query(struct kwhy_text *sql, const struct kwhy_export_table *table)
{
	kwhy_text_addf(sql, "(SELECT '%s' AS \"table\", t.*", table->name);
	if (has_name_id(table))
		kwhy_text_addf(sql,
			", n.text AS name FROM \"%s\" t LEFT JOIN name n ON n.id = t.name_id ORDER BY t.id)",
			table->name);
	else
		kwhy_text_addf(sql, " FROM \"%s\" t)", table->name);
}

/* Runs the statement "COPY (TABLE UNION ALL BY NAME ...) TO 'PATH' (...)", which writes the file. */
static void save(struct writer *writer)
{
	struct kwhy_text sql = {0};

	kwhy_text_add(&sql, "COPY (");
	for (size_t t = KWHY_TABLE_META + 1; t < KWHY_TABLE_COUNT; t++) {
		kwhy_text_add(&sql, t == KWHY_TABLE_META + 1 ? "" : " UNION ALL BY NAME ");
		add_query(&sql, &kwhy_export_tables[t]);
	}
	kwhy_text_add(&sql, ") TO ");
	add_quoted(&sql, writer->path, '\'');
	/*
	 * No temporary file of DuckDB: the path is already that of a temporary file, which kwhy renames;
	 * DuckDB's own would remain if kwhy were interrupted.
	 */
	kwhy_text_add(&sql, " (FORMAT PARQUET, COMPRESSION ZSTD, USE_TMP_FILE false, KV_METADATA {");
	kwhy_text_add_bytes(&sql, writer->metadata.data, writer->metadata.length);
	kwhy_text_add(&sql, "})");
	sql.failed |= writer->metadata.failed;
	run(writer, &sql);
}

static enum kwhy_status write_parquet(
	const struct kwhy_report *report, const char *path, bool compress, struct kwhy_error *error)
{
	struct writer writer = {
		.rows = {&calls, KWHY_EXPORT_PARQUET_SCHEMA, false}, .path = path, .error = error};
	enum kwhy_status status = kwhy_duckdb_open(&writer.duckdb, error);

	(void)compress;
	if (status)
		return status;
	kwhy_tables_write(report, &writer.rows);
	save(&writer);
	if (writer.appender)
		writer.duckdb.duckdb_appender_destroy(&writer.appender);
	kwhy_duckdb_close(&writer.duckdb);
	kwhy_text_done(&writer.metadata);
	return writer.status;
}

const struct kwhy_exporter kwhy_export_parquet = {
	.name = "parquet",
	.extension = ".parquet",
	.description = "the tables of sqlite in one file, for data frames; needs DuckDB's library",
	.uncompressed = "the columns of a Parquet file are compressed",
	.loses_bursts = true,
	.write = write_parquet,
};
