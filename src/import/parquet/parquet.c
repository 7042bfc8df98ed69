/* SPDX-License-Identifier: Apache-2.0 */
#include "import/parquet/database.h"
#include "import/reader.h"
#include "import/sqlite/export_tables.h"
#include "import/sqlite/tables.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * This file reads kwhy's own Parquet export (docs/formats/sqlite.md), one file that has all tables of kwhy's
 * SQLite export. The tables are copied into a temporary SQLite database, which kwhy_sqlite_read_export() then
 * reads.
 */

static const char cure[] = "make it again with \"kwhy export --to parquet\"";

static const char magic[] = "PAR1";

enum {
	COLUMNS_MAX = KWHY_SQLITE_COLUMNS_MAX,
	MAGIC_BYTES = sizeof(magic) - 1,
	FOOTER_BYTES = 1 << 16 /* bytes read at the end of a file, where Parquet has the metadata */
};

/*
 * Makes the table "meta" from the metadata of the Parquet file: one row for each of the four keys that kwhy
 * writes there. Keys of other programs are not copied, because their values may not be UTF-8.
 */
static enum kwhy_status add_meta(
	struct kwhy_parquet_database *made, const char *path, struct kwhy_error *error)
{
	static const char before[] =
		"(SELECT decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata(";
	static const char after[] = ") WHERE key IN ('schema'::BLOB, 'producer'::BLOB, "
				    "'origin_unix_ns'::BLOB, 'clock'::BLOB))";
	const struct kwhy_parquet_part part = {
		.file = path, .table = "meta", .before = before, .after = after};

	return kwhy_parquet_database_add(made, &part, error);
}

static enum kwhy_status add_table(struct kwhy_parquet_database *made, const char *path,
	const struct kwhy_export_table *table, struct kwhy_error *error)
{
	const char *columns[COLUMNS_MAX], *names[COLUMNS_MAX];
	char condition[64];
	const struct kwhy_parquet_part part = {.file = path,
		.table = table->name,
		.condition = condition,
		.columns = columns,
		.names = names,
		.column_count = table->count};

	for (size_t i = 0; i < table->count; i++) {
		names[i] = table->columns[i].name;
		columns[i] = table->columns[i].in_parquet ? table->columns[i].in_parquet : names[i];
	}
	snprintf(condition, sizeof(condition), "\"table\" = '%s'", table->name);
	return kwhy_parquet_database_add(made, &part, error);
}

static enum kwhy_status add_tables(
	struct kwhy_parquet_database *made, const char *path, struct kwhy_error *error)
{
	enum kwhy_status status = add_meta(made, path, error);

	for (size_t t = KWHY_TABLE_META + 1; !status && t <= KWHY_TABLE_COVERAGE; t++)
		status = add_table(made, path, &kwhy_export_tables[t], error);
	return status ? status : kwhy_parquet_database_finish(made, error);
}

static enum kwhy_status read_parquet(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	struct kwhy_parquet_database made;
	enum kwhy_status status = kwhy_parquet_database_open(
		&made, path, "give the trace that it was made from", error);

	(void)options; /* --partial has no effect: a Parquet file is complete or cannot be opened */
	if (status)
		return status;
	status = add_tables(&made, path, error);
	if (!status)
		status = kwhy_sqlite_read_export(recording, &(struct kwhy_sqlite_file){made.path, path, cure},
			KWHY_FORMAT_PARQUET, error);
	kwhy_parquet_database_close(&made);
	return status;
}

/*
 * Whether the last FOOTER_BYTES of a file contain the schema of kwhy's Parquet export, so that files of other
 * programs and truncated files are refused without DuckDB.
 */
static bool states_schema(const char *path)
{
	static const char schema[] = KWHY_EXPORT_PARQUET_SCHEMA;
	char end[FOOTER_BYTES];
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct stat about;
	ssize_t got = -1;

	if (file < 0)
		return false;
	if (fstat(file, &about) == 0 && S_ISREG(about.st_mode))
		got = pread(file, end, sizeof(end),
			about.st_size > FOOTER_BYTES ? about.st_size - FOOTER_BYTES : 0);
	close(file);
	return got > MAGIC_BYTES && !memcmp(end + got - MAGIC_BYTES, magic, MAGIC_BYTES) &&
		memmem(end, (size_t)got, schema, sizeof(schema) - 1) != NULL;
}

static bool probe_parquet(const char *path, const unsigned char *head, size_t length)
{
	return length >= MAGIC_BYTES && !memcmp(head, magic, MAGIC_BYTES) && states_schema(path);
}

const struct kwhy_trace_reader kwhy_reader_parquet = {.probe = probe_parquet, .read = read_parquet};
