/* SPDX-License-Identifier: Apache-2.0 */
#include "import/nsys/nsys.h"

#include "import/reader.h"
#include "model/recording_reserve.h"

#include <stdlib.h>
#include <string.h>

/*
 * The readers of tables in the order in which they run. The reader of calls is first, because rows about
 * devices may lack the process. They are then given to the only process that called CUDA, which the calls
 * show.
 */
static const struct kwhy_nsys_reader *const readers[] = {
	&kwhy_nsys_calls,
	&kwhy_nsys_kernels,
	&kwhy_nsys_graphs,
	&kwhy_nsys_copies,
	&kwhy_nsys_memsets,
	&kwhy_nsys_ranges,
	&kwhy_nsys_system_calls,
	&kwhy_nsys_memory,
	&kwhy_nsys_overheads[0],
	&kwhy_nsys_overheads[1],
};

enum { READER_COUNT = sizeof(readers) / sizeof(readers[0]) };

struct table_read {
	struct kwhy_nsys *nsys;
	const struct kwhy_nsys_reader *reader;
};

static enum kwhy_status take_row(void *context, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	const struct table_read *read = context;
	enum kwhy_status status = read->reader->read(read->nsys, rows, error);

	read->nsys->tally.rows++;
	return kwhy_reader_pass(read->nsys->recording, read->nsys->options, status);
}

static enum kwhy_status read_table(struct kwhy_nsys *nsys, const struct kwhy_nsys_reader *reader,
	bool *out_found, struct kwhy_error *error)
{
	struct table_read read = {nsys, reader};
	enum kwhy_status status = kwhy_sqlite_each(
		nsys->db, &reader->table, take_row, &read, out_found, error);

	if (status != KWHY_E_INPUT || !nsys->options->partial)
		return status;
	nsys->tally.corrupt = true;
	nsys->recording->lost.truncated = true;
	return KWHY_OK;
}

/* Reserves memory for the rows of the large tables. */
static void reserve(struct kwhy_nsys *nsys)
{
	const struct kwhy_recording_rows rows = {
		.activities = kwhy_sqlite_row_count(nsys->db, kwhy_nsys_kernels.table.name) +
			kwhy_sqlite_row_count(nsys->db, kwhy_nsys_copies.table.name) +
			kwhy_sqlite_row_count(nsys->db, kwhy_nsys_memsets.table.name),
		.calls = kwhy_sqlite_row_count(nsys->db, kwhy_nsys_calls.table.name),
		.ranges = kwhy_sqlite_row_count(nsys->db, kwhy_nsys_ranges.table.name),
	};

	kwhy_recording_reserve(nsys->recording, &rows);
}

static bool is_digest(const struct kwhy_nsys *nsys)
{
	struct kwhy_error error;
	bool has = false;

	return kwhy_sqlite_has(nsys->db, "digest", &has, &error) == KWHY_OK && has;
}

static enum kwhy_status no_cuda(const struct kwhy_nsys *nsys, struct kwhy_error *error)
{
	if (!nsys->has_strings && is_digest(nsys))
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is a digest of a rank, not its trace; kwhy report takes digests without traces, "
			"other "
			"commands take the trace",
			nsys->tracks.path);
	if (!nsys->has_strings)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is an SQLite database, but no export of Nsight Systems: it has neither StringIds "
			"nor CUPTI_ACTIVITY_KIND_* tables; make one with \"nsys export --type sqlite\"",
			nsys->tracks.path);
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s shows no CUDA work (no CUPTI_ACTIVITY_KIND_* tables); record with \"nsys profile "
		"--trace=cuda\"",
		nsys->tracks.path);
}

static enum kwhy_status read_tables(struct kwhy_nsys *nsys, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	bool cuda = false, found;

	reserve(nsys);
	for (size_t i = 0; !status && i < READER_COUNT; i++) {
		found = false;
		status = read_table(nsys, readers[i], &found, error);
		cuda |= found && readers[i]->is_cuda;
	}
	if (!status && !cuda && !nsys->tally.corrupt)
		return no_cuda(nsys, error);
	return status;
}

/*
 * If the export states no rank and is not the first source of the recording, its rank becomes its position
 * among the sources, so that its devices are distinct from those of the earlier sources.
 */
static void choose_rank(struct kwhy_nsys *nsys)
{
	nsys->rank_by_order = nsys->rank == KWHY_NONE && nsys->tracks.source > 0;
	if (nsys->rank_by_order)
		nsys->rank = nsys->tracks.source;
}

static enum kwhy_status begin(struct kwhy_nsys *nsys, const char *path, struct kwhy_error *error)
{
	struct kwhy_source source = {.format = KWHY_FORMAT_NSYS};
	enum kwhy_status status;

	source.path = kwhy_recording_copy(nsys->recording, path, strlen(path));
	if (!source.path)
		return kwhy_fail_memory(error, "the name of a trace");
	nsys->tracks = (struct kwhy_tracks){.recording = nsys->recording,
		.path = source.path,
		.source = (uint32_t)nsys->recording->source_count};
	status = kwhy_nsys_meta_read(nsys, &source, error);
	if (!status)
		status = kwhy_recording_add_source(nsys->recording, &source, NULL, error);
	choose_rank(nsys);
	if (!status)
		status = kwhy_nsys_strings_open(nsys, error);
	return status ? status : kwhy_nsys_devices_read(nsys, error);
}

static enum kwhy_status finish(struct kwhy_nsys *nsys, struct kwhy_error *error)
{
	struct kwhy_recording *recording = nsys->recording;
	enum kwhy_status status = kwhy_nsys_devices_sort(nsys, error);

	if (!status)
		status = kwhy_nsys_memory_finish(nsys, error);

	recording->sources[nsys->tracks.source].events = nsys->tally.rows;
	for (size_t i = nsys->first_process; i < recording->process_count; i++) {
		recording->processes[i].rank = nsys->rank;
		recording->processes[i].rank_by_order = nsys->rank_by_order;
		recording->processes[i].world_size = nsys->world_size;
	}
	return status ? status : kwhy_nsys_notes_add(nsys, error);
}

static void release(struct kwhy_nsys *nsys)
{
	kwhy_nsys_strings_close(nsys);
	kwhy_sqlite_close(nsys->db);
	kwhy_collectives_free(nsys->collectives);
	kwhy_tracks_done(&nsys->tracks);
	kwhy_track_map_done(&nsys->physical);
	free(nsys->name_is_collective);
	free(nsys->gpus);
	free(nsys->memory);
}

enum kwhy_status kwhy_nsys_read(struct kwhy_recording *recording, const struct kwhy_sqlite_file *file,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	struct kwhy_nsys nsys = {.recording = recording, .options = options, .rank = KWHY_NONE};
	enum kwhy_status status;

	nsys.first_device = recording->device_count;
	nsys.first_stream = recording->stream_count;
	nsys.activities_before = recording->activities.count;
	nsys.first_process = (uint32_t)recording->process_count;
	status = kwhy_sqlite_open(file, &nsys.db, error);
	if (!status)
		status = kwhy_collectives_new(options->collectives_path, &nsys.collectives, error);
	if (!status)
		status = begin(&nsys, file->shown ? file->shown : file->path, error);
	if (!status)
		status = read_tables(&nsys, error);
	if (!status)
		status = finish(&nsys, error);
	release(&nsys);
	return status;
}

static enum kwhy_status read_nsys(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	const struct kwhy_sqlite_file file = {
		.path = path, .cure = "export it again with \"nsys export --type sqlite\""};

	return kwhy_nsys_read(recording, &file, options, error);
}

static bool probe_nsys(const char *path, const unsigned char *head, size_t length)
{
	static const char magic[] = "SQLite format 3";

	(void)path;
	return length >= sizeof(magic) && !memcmp(head, magic, sizeof(magic));
}

const struct kwhy_trace_reader kwhy_reader_nsys = {
	.probe = probe_nsys,
	.read = read_nsys,
};
