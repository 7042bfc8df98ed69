/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/export.h"
#include "report/export/tables.h"

#include <sqlite3.h>

static const char views[] =
#include "report/export/sqlite_views.inc"
	;

struct writer {
	struct kwhy_table_rows rows; /* first, so that its address is that of the writer */
	sqlite3 *db;
	sqlite3_stmt *insert;
	int column; /* index of the column that is bound next */
};

static struct writer *writer_of(struct kwhy_table_rows *rows)
{
	return (struct writer *)rows;
}

static void run(struct writer *writer, const char *sql)
{
	if (!writer->rows.failed && sqlite3_exec(writer->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		writer->rows.failed = true;
}

static void begin(struct kwhy_table_rows *rows, const struct kwhy_export_table *table)
{
	struct writer *writer = writer_of(rows);
	struct kwhy_text sql = {0};

	kwhy_text_addf(&sql, "INSERT INTO %s VALUES(?", table->name);
	for (size_t i = 1; i < table->count; i++)
		kwhy_text_add(&sql, ",?");
	kwhy_text_add(&sql, ")");
	if (sql.failed || sqlite3_prepare_v2(writer->db, sql.data, -1, &writer->insert, NULL) != SQLITE_OK)
		rows->failed = true;
	kwhy_text_done(&sql);
	writer->column = 0;
}

static void put_int(struct kwhy_table_rows *rows, int64_t value)
{
	struct writer *writer = writer_of(rows);

	sqlite3_bind_int64(writer->insert, ++writer->column, value);
}

static void put_real(struct kwhy_table_rows *rows, double value)
{
	struct writer *writer = writer_of(rows);

	sqlite3_bind_double(writer->insert, ++writer->column, value);
}

static void put_text(struct kwhy_table_rows *rows, const char *text)
{
	struct writer *writer = writer_of(rows);

	sqlite3_bind_text(writer->insert, ++writer->column, text, -1, SQLITE_STATIC);
}

static void put_null(struct kwhy_table_rows *rows)
{
	struct writer *writer = writer_of(rows);

	sqlite3_bind_null(writer->insert, ++writer->column);
}

static void end_row(struct kwhy_table_rows *rows)
{
	struct writer *writer = writer_of(rows);

	if (sqlite3_step(writer->insert) != SQLITE_DONE)
		rows->failed = true;
	sqlite3_reset(writer->insert);
	writer->column = 0;
}

static void end(struct kwhy_table_rows *rows)
{
	struct writer *writer = writer_of(rows);

	sqlite3_finalize(writer->insert);
	writer->insert = NULL;
}

static const struct kwhy_table_calls calls = {begin, put_int, put_real, put_text, put_null, end_row, end};

static void create_tables(struct writer *writer)
{
	static const char *const types[] = {
		[KWHY_COLUMN_INTEGER] = "INTEGER", [KWHY_COLUMN_REAL] = "REAL", [KWHY_COLUMN_TEXT] = "TEXT"};

	for (size_t t = 0; t < KWHY_TABLE_COUNT; t++) {
		const struct kwhy_export_table *table = &kwhy_export_tables[t];
		struct kwhy_text sql = {0};

		kwhy_text_addf(&sql, "CREATE TABLE %s(", table->name);
		for (size_t i = 0; i < table->count; i++)
			kwhy_text_addf(&sql, "%s%s %s%s", i ? ", " : "", table->columns[i].name,
				types[table->columns[i].type],
				table->columns[i].constraint ? table->columns[i].constraint : "");
		kwhy_text_addf(&sql, ")%s", table->tail ? table->tail : "");
		writer->rows.failed |= sql.failed;
		run(writer, sql.failed ? "" : sql.data);
		kwhy_text_done(&sql);
	}
}

static void write_all(struct writer *writer, const struct kwhy_report *report)
{
	/* the database needs no journal, since it is a new file that is renamed only when complete */
	run(writer, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN");
	create_tables(writer);
	run(writer, views);
	kwhy_tables_write(report, &writer->rows);
	run(writer, "CREATE INDEX activity_start ON activity(start_ns)");
	run(writer, "COMMIT");
}

static enum kwhy_status write_sqlite(
	const struct kwhy_report *report, const char *path, bool compress, struct kwhy_error *error)
{
	struct writer writer = {.rows = {&calls, KWHY_EXPORT_SQLITE_SCHEMA, false}};
	enum kwhy_status status = KWHY_OK;

	(void)compress;
	writer.rows.failed = sqlite3_open(path, &writer.db) != SQLITE_OK;
	write_all(&writer, report);
	if (writer.rows.failed)
		status = kwhy_fail(error, KWHY_E_IO, "cannot write %s: %s", path,
			writer.db ? sqlite3_errmsg(writer.db) : "out of memory");
	sqlite3_finalize(writer.insert);
	sqlite3_close(writer.db);
	return status;
}

const struct kwhy_exporter kwhy_export_sqlite = {
	.name = "sqlite",
	.extension = ".sqlite",
	.description = "SQLite tables and views (docs/formats/sqlite.md)",
	.uncompressed = "a database cannot be queried when compressed",
	.loses_bursts = true,
	.write = write_sqlite,
};
