/* SPDX-License-Identifier: Apache-2.0 */
#include "import/csv/table.h"
#include "import/folder.h"
#include "import/identity.h"
#include "import/nsys/parquet.h"
#include "import/one_run.h"
#include "import/reader.h"
#include "import/trace_head.h"
#include "recording/bundle.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct kwhy_trace_reader *const readers[KWHY_FORMAT_COUNT] = {
#define X(format, reader, text, words) &kwhy_reader_##reader,
#include "model/trace_formats.def"
#undef X
};

static bool ends_in(const char *path, const char *suffix)
{
	size_t length = strlen(path), tail = strlen(suffix);

	return length >= tail && !strcasecmp(path + length - tail, suffix);
}

/* Decided by the name, because the content does not show it. */
static bool is_recording(const char *path)
{
	return ends_in(path, ".kwhy") || ends_in(path, KWHY_BUNDLE_SUFFIX);
}

static enum kwhy_status refuse_format(const char *path, struct kwhy_error *error)
{
	static const char *const formats[KWHY_FORMAT_COUNT] = {
#define X(format, reader, text, words) words,
#include "model/trace_formats.def"
#undef X
	};
	char known[900] = "neither ";

	for (size_t i = 0; i < KWHY_FORMAT_COUNT; i++)
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s", i ? ", nor " : "",
			formats[i]);
	return kwhy_fail(error, KWHY_E_INPUT, "%s is no trace known here: %s", path, known);
}

static enum kwhy_status unknown(
	const char *path, const unsigned char *head, size_t length, struct kwhy_error *error)
{
	if (ends_in(path, ".qdstrm"))
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is the raw stream of a run that Nsight Systems did not finish; make a report of "
			"it "
			"with its QdstrmImporter",
			path);
	if (is_recording(path))
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is damaged at byte 0: no block begins here; copy the recording again, or read "
			"what is whole with --partial",
			path);
	if (kwhy_csv_head_names(head, length, "time_ns") && kwhy_csv_head_names(head, length, "source"))
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s holds power readings, not a trace; give it with --power beside the trace", path);
	return refuse_format(path, error);
}

/* NULL: no reader recognises it. */
static const struct kwhy_trace_reader *reader_of(const char *path, const unsigned char *head, size_t length)
{
	for (size_t i = 0; i < KWHY_FORMAT_COUNT; i++)
		if (readers[i]->probe(path, head, length))
			return readers[i];
	return NULL;
}

static enum kwhy_status read_trace(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	unsigned char head[KWHY_TRACE_HEAD_BYTES];
	const struct kwhy_trace_reader *reader;
	enum kwhy_status status;
	size_t length;

	if (kwhy_bundle_is_folder(path))
		return kwhy_reader_kwhy.read(recording, path, options, error);
	if (kwhy_nsys_parquet_is(path))
		return kwhy_reader_nsys_parquet.read(recording, path, options, error);
	status = kwhy_trace_head_read(path, head, &length, error);
	if (status)
		return status;
	reader = reader_of(path, head, length);
	if (!reader && options->partial && is_recording(path))
		reader = &kwhy_reader_kwhy;
	return reader ? reader->read(recording, path, options, error) : unknown(path, head, length, error);
}

/*
 * Refuses a trace of the host alone: a report of devices would say that they did nothing, which the trace
 * does not. One with API calls passes, because there the devices may have had nothing to do; so does a
 * recording of kwhy, which would hold their work.
 */
static enum kwhy_status check_work(const struct kwhy_recording *recording, const struct kwhy_one_run *before,
	size_t ranges_before, const char *path, struct kwhy_error *error)
{
	size_t ranges = recording->range_count + recording->host_ranges.count - ranges_before;
	bool is_own = recording->source_count > 0 &&
		recording->sources[recording->source_count - 1].format == KWHY_FORMAT_KWHY;

	if (is_own || ranges == 0 || recording->activities.count > before->activities ||
		recording->calls.count > before->calls || recording->coverage_count > before->coverage)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s is not readable as a trace of a device: it holds %zu operators and ranges of the host, "
		"and no kernel, copy or API call; " KWHY_TRACE_CURE,
		path, ranges);
}

static enum kwhy_status import_file(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	const struct kwhy_one_run before = kwhy_one_run_begin(recording);
	const size_t ranges_before = recording->range_count + recording->host_ranges.count;
	enum kwhy_status status = kwhy_one_run_check_file(recording, path, error);

	if (!status)
		status = read_trace(recording, path, options, error);
	if (!status && recording->source_count == before.sources)
		return KWHY_OK; /* it was read with an earlier file of the same trace */
	if (!status && !options->partial && !options->host_alone)
		status = check_work(recording, &before, ranges_before, path, error);
	if (!status)
		status = kwhy_identity_check_trace(recording, before.activities, path, error);
	return status ? status : kwhy_one_run_check_window(recording, &before, path, error);
}

/* Whether a file of a folder is a trace; files of other kinds may lie beside the traces. */
static bool is_trace(const char *path)
{
	unsigned char head[KWHY_TRACE_HEAD_BYTES];
	struct kwhy_error error;
	size_t length;

	return kwhy_bundle_is_folder(path) || kwhy_nsys_parquet_is(path) ||
		(kwhy_trace_head_read(path, head, &length, &error) == KWHY_OK &&
			(reader_of(path, head, length) || is_recording(path)));
}

static enum kwhy_status import_files(struct kwhy_recording *recording, const struct kwhy_folder *folder,
	const char *path, const struct kwhy_import_options *options, struct kwhy_error *error)
{
	const char *other = NULL;
	size_t traces = 0;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < folder->count; i++) {
		if (!is_trace(folder->paths[i])) {
			other = other ? other : folder->paths[i];
			continue;
		}
		status = import_file(recording, folder->paths[i], options, error);
		traces++;
	}
	if (status)
		return status;
	if (traces == 0)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is a folder that holds no trace; name the folder of a run's traces, or a trace",
			path);
	if (!other)
		return KWHY_OK;
	return kwhy_recording_add_note(recording, KWHY_NOTE_COMPLETENESS, "other-files", error,
		"%s: %zu of %zu files are no traces and were left out, %s the first of them.", path,
		folder->count - traces, folder->count, other);
}

enum kwhy_status kwhy_import_trace(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	struct kwhy_folder folder = {0};
	enum kwhy_status status;

	if (!kwhy_folder_is(path) || kwhy_bundle_is_folder(path) || kwhy_nsys_parquet_is(path))
		return import_file(recording, path, options, error);
	status = kwhy_folder_list(&folder, path, error);
	if (!status)
		status = import_files(recording, &folder, path, options, error);
	kwhy_folder_done(&folder);
	return status;
}
