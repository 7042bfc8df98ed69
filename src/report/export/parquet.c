/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/export.h"
#include "report/export/export_names.h"
#include "vendor/duckdb.h"

#include <math.h>
#include <string.h>

/*
 * Writes the activities with their energy as one Parquet file, by DuckDB. Of the libraries that write
 * Parquet, DuckDB is the one with a stable C interface, and users of Parquet often have it. Rows are
 * written by its appender in the order of the recording.
 */

static const char make_table[] =
	"CREATE TABLE activity(kind VARCHAR, name VARCHAR, device BIGINT, rank BIGINT, process BIGINT, "
	"stream BIGINT, start_ns BIGINT, end_ns BIGINT, bytes BIGINT, blocks BIGINT, threads_per_block "
	"BIGINT, call VARCHAR, energy_nj BIGINT)";

struct writer {
	const struct kwhy_report *report;
	struct kwhy_export_names names;
	struct kwhy_duckdb duckdb;
	kwhy_duckdb_appender appender;
	bool failed;
};

static void put_int(struct writer *writer, int64_t value)
{
	writer->failed |= writer->duckdb.duckdb_append_int64(writer->appender, value) != KWHY_DUCKDB_SUCCESS;
}

static void put_known(struct writer *writer, bool known, int64_t value)
{
	if (known)
		put_int(writer, value);
	else
		writer->failed |= writer->duckdb.duckdb_append_null(writer->appender) != KWHY_DUCKDB_SUCCESS;
}

static void put_text(struct writer *writer, const char *text)
{
	writer->failed |= writer->duckdb.duckdb_append_varchar(writer->appender, text) != KWHY_DUCKDB_SUCCESS;
}

static const char *kind_of(const struct kwhy_activities *rows, size_t row)
{
	static const char *const copies[KWHY_COPY_KIND_COUNT] = {
		[KWHY_COPY_UNKNOWN] = "copy",
		[KWHY_COPY_H2D] = "copy_h2d",
		[KWHY_COPY_D2H] = "copy_d2h",
		[KWHY_COPY_D2D] = "copy_d2d",
		[KWHY_COPY_P2P] = "copy_p2p",
		[KWHY_COPY_H2H] = "copy_h2h",
	};

	return rows->kind[row] == KWHY_ACTIVITY_COPY ? copies[rows->copy_kind[row]]
						     : kwhy_activity_kind_name(rows->kind[row]);
}

static void put_call(struct writer *writer, uint32_t call)
{
	const struct kwhy_recording *recording = writer->report->recording;

	if (call == KWHY_NONE)
		put_known(writer, false, 0);
	else
		put_text(writer, kwhy_names_get(&recording->names, recording->calls.name[call]));
}

static void put_activity(struct writer *writer, size_t row)
{
	const struct kwhy_recording *recording = writer->report->recording;
	const struct kwhy_activities *rows = &recording->activities;
	const struct kwhy_stream *stream = &recording->streams[rows->stream[row]];
	const uint32_t rank = recording->devices[stream->device].rank;
	const double energy_nj = kwhy_ledger_activity_nj(writer->report->ledger, recording, row);

	put_text(writer, kind_of(rows, row));
	put_text(writer, kwhy_names_get(&recording->names, rows->name[row]));
	put_int(writer, kwhy_export_names_device(&writer->names, stream->device));
	put_known(writer, rank != KWHY_NONE, rank);
	put_int(writer, kwhy_export_names_process(&writer->names, stream->process));
	put_int(writer, stream->id);
	put_int(writer, recording->origin_unix_ns + rows->start_ns[row]);
	put_int(writer, recording->origin_unix_ns + rows->end_ns[row]);
	put_known(writer, rows->bytes[row] <= INT64_MAX, (int64_t)rows->bytes[row]);
	put_known(writer, rows->blocks[row] != KWHY_UNKNOWN_BLOCKS, rows->blocks[row]);
	put_known(writer, rows->threads_per_block[row] != KWHY_UNKNOWN_U16, rows->threads_per_block[row]);
	put_call(writer, rows->call[row]);
	put_known(writer, isfinite(energy_nj), isfinite(energy_nj) ? llround(energy_nj) : 0);
	writer->failed |= writer->duckdb.duckdb_appender_end_row(writer->appender) != KWHY_DUCKDB_SUCCESS;
}

static enum kwhy_status append_rows(struct writer *writer, const char *path, struct kwhy_error *error)
{
	const struct kwhy_duckdb *duckdb = &writer->duckdb;
	const size_t count = writer->report->recording->activities.count;

	writer->failed = duckdb->duckdb_appender_create(duckdb->connection, NULL, "activity",
				 &writer->appender) != KWHY_DUCKDB_SUCCESS;
	for (size_t i = 0; !writer->failed && i < count; i++)
		put_activity(writer, i);
	if (writer->appender)
		writer->failed |= duckdb->duckdb_appender_close(writer->appender) != KWHY_DUCKDB_SUCCESS;
	duckdb->duckdb_appender_destroy(&writer->appender);
	if (writer->failed)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s: DuckDB did not take the rows; use its version 1.0 or newer", path);
	return KWHY_OK;
}

/* Makes the statement "COPY activity TO 'PATH' (...)". */
static enum kwhy_status save(const struct kwhy_duckdb *duckdb, const char *path, struct kwhy_error *error)
{
	struct kwhy_text sql = {0};
	enum kwhy_status status;

	kwhy_text_add(&sql, "COPY activity TO '");
	for (const char *c = path; *c; c++)
		kwhy_text_add_bytes(&sql, *c == '\'' ? "''" : c, *c == '\'' ? 2 : 1);
	kwhy_text_add(&sql, "' (FORMAT PARQUET, COMPRESSION ZSTD)");
	status = kwhy_text_check(&sql, error);
	if (!status)
		status = kwhy_duckdb_run(duckdb, sql.data, path, NULL, error);
	kwhy_text_done(&sql);
	return status;
}

static enum kwhy_status write_rows(struct writer *writer, const char *path, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_duckdb_open(&writer->duckdb, error);

	if (status)
		return status;
	status = kwhy_duckdb_run(&writer->duckdb, make_table, path, NULL, error);
	if (!status)
		status = append_rows(writer, path, error);
	if (!status)
		status = save(&writer->duckdb, path, error);
	kwhy_duckdb_close(&writer->duckdb);
	return status;
}

static enum kwhy_status write_parquet(
	const struct kwhy_report *report, const char *path, bool compress, struct kwhy_error *error)
{
	struct writer writer = {.report = report};
	enum kwhy_status status = kwhy_export_names_init(&writer.names, report->recording, error);

	(void)compress; /* compressing the file would be useless, since its columns are compressed */
	if (status)
		return status;
	status = write_rows(&writer, path, error);
	kwhy_export_names_done(&writer.names);
	return status;
}

const struct kwhy_exporter kwhy_export_parquet = {
	.name = "parquet",
	.extension = ".parquet",
	.description = "one row an activity, with its energy, for data frames; needs DuckDB's library",
	.loses_readings = true,
	.loses_bursts = true,
	.write = write_parquet,
};
