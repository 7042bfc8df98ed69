/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/plural.h"
#include "base/text.h"
#include "import/folder.h"
#include "import/identity.h"
#include "import/kineto/is_trace.h"
#include "import/nsys/parquet.h"
#include "import/one_run.h"
#include "import/own_result.h"
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

/*
 * Whether the file is named like a recording of kwhy. The name decides only if no reader recognises the
 * file's content, as when the start of a recording is damaged.
 */
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
	char known[900] = "";

	for (size_t i = 0; i < KWHY_FORMAT_COUNT; i++)
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s", i ? ", " : "",
			formats[i]);
	return kwhy_fail(
		error, KWHY_E_INPUT, "%s is not a trace of a known format; known are: %s", path, known);
}

static enum kwhy_status refuse_power(const char *path, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s holds power readings, not a trace; give it as --power together with a trace", path);
}

static enum kwhy_status unknown(
	const char *path, const unsigned char *head, size_t length, struct kwhy_error *error)
{
	if (ends_in(path, ".qdstrm"))
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is the raw stream of a run that Nsight Systems did not finish; make a report of "
			"it with its QdstrmImporter",
			path);
	if (is_recording(path))
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is damaged at byte 0: no block begins here; copy the recording again, or read "
			"what is whole with --partial",
			path);
	if (length >= 4 && !memcmp(head, "PAR1", 4))
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is a Parquet file, but no whole Parquet export of kwhy; give the trace that it "
			"was made from, or of Nsight Systems the folder of --type parquetdir",
			path);
	if (kwhy_import_is_power(head, length))
		return refuse_power(path, error);
	return refuse_format(path, error);
}

/*
 * Refuses JSON that is known to be no trace: results of kwhy, power readings, and the trees of Triton Proton,
 * which have sums over kernels without their times.
 */
static enum kwhy_status refuse_results(
	const char *path, const unsigned char *head, size_t length, struct kwhy_error *error)
{
	const bool is_json = length && (*head == '{' || *head == '[');
	enum kwhy_status status;

	/* a trace of Kineto may contain the keys "frame" and "metrics" in its metadata; it is not refused */
	if (is_json && memmem(head, length, "\"frame\"", 7) && memmem(head, length, "\"metrics\"", 9) &&
		!kwhy_kineto_is_trace(path, head, length))
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is a tree of sums that Triton Proton wrote (hatchet), without the times of "
			"kernels; profile again with proton.start(data=\"trace\")",
			path);
	/*
	 * JSON results of kwhy have members such as "power_w", so they would also pass for power readings.
	 * Testing for results first gives them the right message.
	 */
	status = kwhy_own_result_refuse_head(path, head, length, "a trace", error);
	if (!status && is_json && kwhy_import_is_power(head, length) &&
		!kwhy_kineto_is_trace(path, head, length))
		status = refuse_power(path, error);
	return status;
}

/* The reader that recognises a file; NULL: none does. */
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
	status = refuse_results(path, head, length, error);
	if (status)
		return status;
	reader = reader_of(path, head, length);
	if (!reader && options->partial && is_recording(path))
		reader = &kwhy_reader_kwhy;
	return reader ? reader->read(recording, path, options, error) : unknown(path, head, length, error);
}

/* A trace file: the recording's row counts before the file was read, and what is known about the file. */
struct file {
	const char *path;
	struct kwhy_row_counts before;
	uint64_t skipped_before;
	bool is_incomplete; /* the file ends early or has gaps, or unusable events were skipped because of
			       --partial */
};

/* Describes the contents of a trace without work of a device: "12 ranges of the host, 3 API calls". */
static void describe(const struct kwhy_recording *recording, const struct file *file, struct kwhy_text *out)
{
	const struct kwhy_row_counts now = kwhy_row_counts_of(recording);
	const size_t ranges = now.ranges + now.host_ranges - file->before.ranges - file->before.host_ranges;
	const size_t calls = now.calls - file->before.calls;
	const uint64_t skipped = recording->lost.skipped_events - file->skipped_before;

	kwhy_text_add(out, "no kernel, copy or memset");
	if (ranges)
		kwhy_text_addf(out, ", but %zu %s of the host", ranges,
			kwhy_plural(ranges, "operator or range", "operators and ranges"));
	if (calls)
		kwhy_text_addf(out, "%s%zu %s", ranges ? " and " : ", but ", calls,
			kwhy_plural(calls, "API call", "API calls"));
	if (skipped)
		kwhy_text_addf(out, ", and %llu %s skipped as unusable", (unsigned long long)skipped,
			kwhy_plural(skipped, "event was", "events were"));
}

static enum kwhy_status refuse_idle(
	const struct kwhy_recording *recording, const struct file *file, struct kwhy_error *error)
{
	static const char *const formats[KWHY_FORMAT_COUNT] = {
#define X(format, reader, text, words) text,
#include "model/trace_formats.def"
#undef X
	};
	const struct kwhy_source *source = &recording->sources[recording->source_count - 1];
	struct kwhy_text held = {0};
	enum kwhy_status status;

	describe(recording, file, &held);
	status = kwhy_text_check(&held, error);
	if (!status)
		status = kwhy_fail(error, KWHY_E_INPUT, "%s (%s, %llu %s) %s device work%s: %s; %s",
			file->path, formats[source->format], (unsigned long long)source->events,
			kwhy_plural(source->events, "event", "events"),
			file->is_incomplete ? "is incomplete, and what is whole of it holds no" : "holds no",
			source->format == KWHY_FORMAT_KWHY ? " and no power readings" : "", held.data,
			file->is_incomplete ? "copy, export or record it again" : KWHY_TRACE_CURE);
	kwhy_text_done(&held);
	return status;
}

/*
 * Refuses a trace without any activity of a device, because a report would say that the devices did nothing,
 * although the trace does not show that. Three kinds of traces are accepted if they are complete, because
 * they would show any work of a device: traces with API calls, traces that state their coverage, and
 * recordings of kwhy. A recording of kwhy with power readings is always accepted.
 */
static enum kwhy_status check_work(
	const struct kwhy_recording *recording, const struct file *file, struct kwhy_error *error)
{
	const struct kwhy_row_counts now = kwhy_row_counts_of(recording), *before = &file->before;
	const bool is_own = recording->sources[recording->source_count - 1].format == KWHY_FORMAT_KWHY;

	if (now.activities > before->activities || (is_own && now.power > before->power))
		return KWHY_OK;
	if (!file->is_incomplete && (is_own || now.calls > before->calls || now.coverage > before->coverage))
		return KWHY_OK;
	return refuse_idle(recording, file, error);
}

/* Reads a trace and sets file->is_incomplete. */
static enum kwhy_status read_whole(struct kwhy_recording *recording, struct file *file,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	const struct kwhy_lost earlier = recording->lost;
	enum kwhy_status status;

	file->skipped_before = earlier.skipped_events;
	recording->lost.truncated = recording->lost.has_holes = false;
	status = read_trace(recording, file->path, options, error);
	file->is_incomplete = recording->lost.truncated || recording->lost.has_holes ||
		(options->partial && recording->lost.skipped_events > earlier.skipped_events);
	recording->lost.truncated |= earlier.truncated;
	recording->lost.has_holes |= earlier.has_holes;
	return status;
}

static enum kwhy_status import_file(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	struct file file = {.path = path, .before = kwhy_row_counts_of(recording)};
	enum kwhy_status status = kwhy_one_run_check_file(recording, path, error);

	if (!status)
		status = read_whole(recording, &file, options, error);
	if (!status && recording->source_count == file.before.sources)
		return KWHY_OK; /* no source was added, because this file is one of several files of a trace
				   that an earlier call read as a whole */
	if (!status && !options->host_alone)
		status = check_work(recording, &file, error);
	if (!status)
		status = kwhy_identity_check_trace(recording, file.before.activities, path, error);
	return status ? status : kwhy_one_run_check_window(recording, &file.before, path, error);
}

bool kwhy_import_is_trace(const char *path)
{
	unsigned char head[KWHY_TRACE_HEAD_BYTES];
	const struct kwhy_trace_reader *reader;
	struct kwhy_error error;
	size_t length;

	if (kwhy_bundle_is_folder(path) || kwhy_nsys_parquet_is(path))
		return true;
	if (kwhy_trace_head_read(path, head, &length, &error) != KWHY_OK)
		return false;
	reader = reader_of(path, head, length);
	if (reader == &kwhy_reader_kineto)
		return kwhy_kineto_is_trace(path, head, length);
	return reader || is_recording(path);
}

/* Whether a file holds power readings. JSON results of kwhy, which look similar, do not count as readings. */
static bool is_power_log(const char *path)
{
	unsigned char head[KWHY_TRACE_HEAD_BYTES];
	struct kwhy_error unused;
	size_t length;

	return !kwhy_trace_head_read(path, head, &length, &unused) &&
		!kwhy_own_result_refuse_head(path, head, length, "power readings", &unused) &&
		kwhy_import_is_power(head, length);
}

static bool is_given_as_power(const struct kwhy_import_options *options, const char *path)
{
	for (size_t i = 0; i < options->power_path_count; i++)
		if (kwhy_file_is_same(options->power_paths[i], path))
			return true;
	return false;
}

/*
 * Files of a folder that are neither traces nor given in options->power_paths. Those of them that hold power
 * readings are called logs.
 */
struct other_files {
	const char *first, *power_log; /* first: the first file that is neither a trace nor a log; power_log:
					  the first log; NULL: there is none */
	size_t count, power_count; /* count: number of files that are neither traces nor logs; power_count:
				      number of logs */
};

static enum kwhy_status note_others(struct kwhy_recording *recording, const struct kwhy_folder *folder,
	const char *path, const struct other_files *others, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	if (others->power_log)
		status = kwhy_recording_add_note(recording, KWHY_NOTE_COMPLETENESS, "power-not-used", error,
			"%s holds power readings, which are not used: add --power %s%s.", others->power_log,
			others->power_log,
			kwhy_plural(others->power_count, "", ", and so for the other logs"));
	if (status || !others->first)
		return status;
	return kwhy_recording_add_note(recording, KWHY_NOTE_COMPLETENESS, "other-files", error,
		"%s: %zu of %zu files %s left out, %s%s.", path, others->count, folder->count,
		kwhy_plural(others->count, "is not a trace and was", "are not traces and were"),
		others->first, kwhy_plural(others->count, "", " the first of them"));
}

/* Counts a file that is not a trace. A file in options->power_paths is not counted, because it is read. */
static void see_other(struct other_files *others, const char *path, const struct kwhy_import_options *options)
{
	if (is_given_as_power(options, path))
		return;
	if (is_power_log(path)) {
		others->power_log = others->power_log ? others->power_log : path;
		others->power_count++;
		return;
	}
	others->first = others->first ? others->first : path;
	others->count++;
}

static enum kwhy_status import_files(struct kwhy_recording *recording, const struct kwhy_folder *folder,
	const char *path, const struct kwhy_import_options *options, struct kwhy_error *error)
{
	struct other_files others = {0};
	enum kwhy_status status = KWHY_OK;
	size_t traces = 0;

	for (size_t i = 0; !status && i < folder->count; i++) {
		if (!kwhy_import_is_trace(folder->paths[i])) {
			see_other(&others, folder->paths[i], options);
			continue;
		}
		status = import_file(recording, folder->paths[i], options, error);
		traces++;
	}
	if (status)
		return status;
	if (traces == 0)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is a folder that holds no trace%s%s; name the folder of a run's traces, or a "
			"trace",
			path, folder->count ? ", but " : "", folder->count ? folder->paths[0] : "");
	return note_others(recording, folder, path, &others, error);
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
