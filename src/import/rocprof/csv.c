/* SPDX-License-Identifier: Apache-2.0 */
#include "import/rocprof/csv.h"

#include "base/text.h"
#include "import/reader.h"
#include "import/trace_head.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * This file reads CSV of rocprofv3, which writes one file for each kind of row, such as
 * PREFIX_kernel_trace.csv. Files with one PREFIX are a set: if one of them is given, all of them are read.
 */

/*
 * Length of the path up to the ending of its kind of file, such as "_kernel_trace.csv"; the whole length if
 * the path has none of these endings.
 */
static size_t prefix_length(const char *path)
{
	size_t length = strlen(path);

	for (size_t i = 0; i < KWHY_ROCPROF_CSV_KINDS; i++) {
		size_t tail = strlen(kwhy_rocprof_csv_kinds[i].ending);

		if (length > tail && !strcmp(path + length - tail, kwhy_rocprof_csv_kinds[i].ending))
			return length - tail;
	}
	return length;
}

/* Whether a file of the same set was given earlier, so that this file has already been read. */
static bool is_read(const struct kwhy_recording *recording, const char *path)
{
	size_t length = prefix_length(path);

	for (size_t i = 0; i < recording->source_count; i++) {
		const struct kwhy_source *source = &recording->sources[i];

		if (source->format == KWHY_FORMAT_ROCPROF_CSV && path[length] != '\0' &&
			prefix_length(source->path) == length && source->path[length] == '_' &&
			!strncmp(source->path, path, length))
			return true;
	}
	return false;
}

static enum kwhy_status read_item(void *context, enum kwhy_csv_item item, struct kwhy_error *error)
{
	struct kwhy_rocprof_csv *csv = context;
	const struct kwhy_rocprof_csv_kind *kind = csv->kind;
	enum kwhy_status status;

	if (item != KWHY_CSV_ROW)
		return KWHY_OK;
	csv->rocprof->number = kwhy_csv_line(csv->csv);
	status = kind->read(csv, error);
	return kind->is_event ? kwhy_rocprof_pass(csv->rocprof, status) : status;
}

static enum kwhy_status read_file(struct kwhy_rocprof_csv *csv, const struct kwhy_rocprof_csv_kind *kind,
	const char *path, struct kwhy_error *error)
{
	const struct kwhy_csv_options options = {.path = path,
		.columns = kind->columns,
		.column_count = kind->column_count,
		.partial = csv->rocprof->options->partial};
	struct kwhy_recording *recording = csv->rocprof->recording;
	enum kwhy_status status = kwhy_csv_open(&options, &csv->csv, error);

	csv->kind = kind;
	csv->rocprof->place = kind->ending;
	if (!status)
		status = kwhy_csv_each(csv->csv, read_item, csv, error);
	if (!status) {
		recording->lost.skipped_events += kwhy_csv_skipped(csv->csv);
		recording->lost.truncated |= kwhy_csv_ended_early(csv->csv);
	}
	kwhy_csv_close(csv->csv);
	csv->csv = NULL;
	return status;
}

/*
 * Whether the line of column names at the start of a file has the columns that a file of this kind must have.
 */
static bool has_columns(const struct kwhy_rocprof_csv_kind *kind, const unsigned char *head, size_t length)
{
	for (size_t i = 0; i < kind->column_count; i++)
		if (kind->columns[i].required && !kwhy_csv_head_names(head, length, kind->columns[i].name))
			return false;
	return true;
}

static const struct kwhy_rocprof_csv_kind *kind_of(const unsigned char *head, size_t length)
{
	for (size_t i = 0; i < KWHY_ROCPROF_CSV_KINDS; i++)
		if (has_columns(&kwhy_rocprof_csv_kinds[i], head, length))
			return &kwhy_rocprof_csv_kinds[i];
	return NULL;
}

/*
 * Reads a file whose name has none of the known endings, for example because it was renamed. Its columns show
 * its kind. The other files of its set cannot be found and are not read.
 */
static enum kwhy_status read_alone(struct kwhy_rocprof_csv *csv, const char *path, struct kwhy_error *error)
{
	unsigned char head[KWHY_TRACE_HEAD_BYTES];
	const struct kwhy_rocprof_csv_kind *kind;
	enum kwhy_status status;
	size_t length;

	status = kwhy_trace_head_read(path, head, &length, error);
	kind = status ? NULL : kind_of(head, length);
	return status || !kind ? status : read_file(csv, kind, path, error);
}

static enum kwhy_status read_set(
	struct kwhy_rocprof_csv *csv, const char *path, size_t prefix, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < KWHY_ROCPROF_CSV_KINDS; i++) {
		struct kwhy_text name = {0};

		kwhy_text_add_bytes(&name, path, prefix);
		kwhy_text_add(&name, kwhy_rocprof_csv_kinds[i].ending);
		status = kwhy_text_check(&name, error);
		if (!status && access(name.data, F_OK) == 0)
			status = read_file(csv, &kwhy_rocprof_csv_kinds[i], name.data, error);
		kwhy_text_done(&name);
	}
	return status;
}

static enum kwhy_status read_csv(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	const struct kwhy_source source = {.path = path, .format = KWHY_FORMAT_ROCPROF_CSV};
	struct kwhy_rocprof rocprof;
	struct kwhy_rocprof_csv csv = {.rocprof = &rocprof};
	size_t prefix = prefix_length(path);
	enum kwhy_status status;

	if (is_read(recording, path))
		return KWHY_OK;
	status = kwhy_rocprof_begin(&rocprof, recording, &source, options, error);
	if (!status)
		status = kwhy_rocprof_process(&rocprof, KWHY_ROCPROF_UNKNOWN, NULL, error);
	if (!status)
		status = path[prefix] ? read_set(&csv, path, prefix, error) : read_alone(&csv, path, error);
	if (!status)
		status = kwhy_rocprof_finish(&rocprof, error);
	kwhy_rocprof_release(&rocprof);
	return status;
}

static bool probe_csv(const char *path, const unsigned char *head, size_t length)
{
	(void)path;
	return kind_of(head, length) != NULL;
}

const struct kwhy_trace_reader kwhy_reader_rocprof_csv = {.probe = probe_csv, .read = read_csv};
