/* SPDX-License-Identifier: Apache-2.0 */
#include "import/rocprof/rocpd.h"

#include "import/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A process has a set of tables whose names end in its GUID, so the tables whose names begin with this text
 * show which processes the file has; a merged file has several.
 */
static const char process_table[] = "rocpd_info_process";

static const char cure[] = "record again with \"rocprofv3 --output-format rocpd\"";

const char *kwhy_rocpd_table(struct kwhy_rocpd *rocpd, const char *name)
{
	snprintf(rocpd->table, sizeof(rocpd->table), "%s%s", name, rocpd->suffix);
	return rocpd->table;
}

struct table_read {
	struct kwhy_rocpd *rocpd;
	const struct kwhy_rocpd_reader *reader;
};

static enum kwhy_status take_row(void *context, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	const struct table_read *read = context;
	struct kwhy_rocpd *rocpd = read->rocpd;
	enum kwhy_status status;

	rocpd->rocprof.place = read->reader->table;
	rocpd->rocprof.number = rows->number;
	status = read->reader->read(rocpd, rows, error);
	return read->reader->is_event ? kwhy_rocprof_pass(&rocpd->rocprof, status) : status;
}

enum kwhy_status kwhy_rocpd_each(
	struct kwhy_rocpd *rocpd, const struct kwhy_rocpd_reader *reader, struct kwhy_error *error)
{
	const struct kwhy_sqlite_table table = {
		kwhy_rocpd_table(rocpd, reader->table), reader->columns, reader->count};
	struct table_read read = {rocpd, reader};
	bool found;
	enum kwhy_status status = kwhy_sqlite_each(rocpd->db, &table, take_row, &read, &found, error);

	if (status != KWHY_E_INPUT || !rocpd->rocprof.options->partial)
		return status;
	rocpd->rocprof.recording->lost.truncated = true;
	return KWHY_OK;
}

int64_t kwhy_rocpd_integer(const struct kwhy_sqlite_rows *rows, size_t column)
{
	int64_t value;

	return kwhy_sqlite_integer(rows, column, &value) ? value : KWHY_ROCPROF_UNKNOWN;
}

struct kwhy_span kwhy_rocpd_text(const struct kwhy_sqlite_rows *rows, size_t column)
{
	struct kwhy_span span = {"", 0};

	if (!kwhy_sqlite_text(rows, column, &span.bytes, &span.length))
		return (struct kwhy_span){"", 0};
	return span;
}

/* Reads the current process: its metadata, then its calls, ranges, kernels and copies. */
static enum kwhy_status read_process(struct kwhy_rocpd *rocpd, struct kwhy_error *error)
{
	static const struct kwhy_rocpd_reader *const readers[] = {
		&kwhy_rocpd_regions, &kwhy_rocpd_kernels, &kwhy_rocpd_copies};
	enum kwhy_status status = kwhy_rocpd_process_read(rocpd, error);

	if (!status)
		status = kwhy_rocpd_lookups_open(rocpd, error);
	for (size_t i = 0; !status && i < sizeof(readers) / sizeof(readers[0]); i++)
		status = kwhy_rocpd_each(rocpd, readers[i], error);
	kwhy_rocpd_lookups_close(rocpd);
	return status;
}

static enum kwhy_status read_processes(
	struct kwhy_rocpd *rocpd, const struct kwhy_text *tables, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (const char *name = tables->data; !status && name < tables->data + tables->length;
		name += strlen(name) + 1) {
		rocpd->suffix = name + sizeof(process_table) - 1;
		if (strlen(rocpd->suffix) > KWHY_ROCPD_SUFFIX_MAX)
			return kwhy_fail(error, KWHY_E_INPUT,
				"%s: the name of table %.100s is longer than rocprofv3 makes it; record "
				"again",
				rocpd->rocprof.tracks.path, name);
		status = read_process(rocpd, error);
	}
	return status;
}

static enum kwhy_status read_rocpd(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	const struct kwhy_source source = {.path = path, .format = KWHY_FORMAT_ROCPD};
	struct kwhy_rocpd rocpd = {0};
	struct kwhy_text tables = {0};
	enum kwhy_status status = kwhy_sqlite_open(
		&(struct kwhy_sqlite_file){path, NULL, cure}, &rocpd.db, error);

	if (!status)
		status = kwhy_rocprof_begin(&rocpd.rocprof, recording, &source, options, error);
	if (!status)
		status = kwhy_sqlite_tables(rocpd.db, process_table, &tables, error);
	if (!status)
		status = read_processes(&rocpd, &tables, error);
	if (!status)
		status = kwhy_rocprof_finish(&rocpd.rocprof, error);
	kwhy_text_done(&tables);
	kwhy_rocprof_release(&rocpd.rocprof);
	kwhy_sqlite_close(rocpd.db);
	return status;
}

static bool probe_rocpd(const char *path, const unsigned char *head, size_t length)
{
	static const char magic[] = "SQLite format 3";
	struct kwhy_sqlite *db;
	struct kwhy_text tables = {0};
	struct kwhy_error error;
	bool found;

	if (length < sizeof(magic) || memcmp(head, magic, sizeof(magic)) != 0 ||
		kwhy_sqlite_open(&(struct kwhy_sqlite_file){path, NULL, cure}, &db, &error) != KWHY_OK)
		return false;
	found = kwhy_sqlite_tables(db, process_table, &tables, &error) == KWHY_OK && tables.length > 0;
	kwhy_text_done(&tables);
	kwhy_sqlite_close(db);
	return found;
}

const struct kwhy_trace_reader kwhy_reader_rocpd = {.probe = probe_rocpd, .read = read_rocpd};
