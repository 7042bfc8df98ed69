/* SPDX-License-Identifier: Apache-2.0 */
#include "import/kineto/file.h"
#include "import/xla/event.h"

#include <stdlib.h>
#include <string.h>

/*
 * This file reads events of kind KWHY_KINETO_BY_TRACK, whose category is missing or unknown. The names of the
 * event's process and thread determine what the event shows.
 */

/* FIELD(PID) is the constant KWHY_KINETO_FIELD_PID of enum kwhy_kineto_field, and so on. */
#define FIELD(name) KWHY_KINETO_FIELD_##name

static struct kwhy_kineto_span text_of(
	const struct kwhy_kineto_event *event, enum kwhy_kineto_field field, const char **out)
{
	struct kwhy_kineto_span span = kwhy_kineto_event_text(event, field);

	*out = event->text + span.at;
	return span;
}

/* The correlation id of an event of XLA's profiler; KWHY_NONE: it is missing or not positive. */
static uint32_t correlation_of(const struct kwhy_kineto_event *event)
{
	int64_t id;

	if (!kwhy_kineto_event_integer(event, FIELD(CORRELATION_ID), &id) || id <= 0 || id >= KWHY_NONE)
		return KWHY_NONE;
	return (uint32_t)id;
}

static enum kwhy_status find_xla_stream(struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event,
	int32_t gpu, int64_t id, uint32_t *out, struct kwhy_error *error)
{
	struct kwhy_stream stream = {.context = -1, .id = id};
	struct kwhy_kineto_place place;
	enum kwhy_status status = kwhy_kineto_place_read(file, event, FIELD(PID), &place, error);

	if (!status)
		status = kwhy_kineto_device(
			file, (struct kwhy_track_key){gpu, place.group, 0}, gpu, &stream.device, error);
	if (status)
		return status;
	stream.process = kwhy_kineto_group_process(file, place.group);
	return kwhy_kineto_stream(file, &stream, out, error);
}

static struct kwhy_span details_of(const struct kwhy_kineto_event *event, enum kwhy_kineto_field field)
{
	const char *text;
	struct kwhy_kineto_span span = text_of(event, field, &text);

	return (struct kwhy_span){span.length ? text : NULL, span.length};
}

static void read_details(const struct kwhy_kineto_event *event, struct kwhy_activity *row)
{
	const struct kwhy_xla_details details = {details_of(event, FIELD(KERNEL_DETAILS)),
		details_of(event, FIELD(COPY_DETAILS)), details_of(event, FIELD(SET_DETAILS))};

	kwhy_xla_details_read(&details, row);
}

/*
 * Adds the activity that an event on XLA's stream number `stream` of device number `gpu` shows. An event that
 * shows no kernel, copy or memset is only counted, in counts.derived.
 */
static enum kwhy_status add_xla_activity(struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event,
	int32_t gpu, int64_t stream, struct kwhy_error *error)
{
	struct kwhy_activity row = kwhy_activity_unknown();
	enum kwhy_status status;
	bool collective = false;

	row.call = correlation_of(event);
	status = kwhy_kineto_read_times(file, event, &row.start_ns, &row.end_ns, error);
	if (!status)
		status = kwhy_kineto_read_name(file, event, &row.name, error);
	if (!status && !kwhy_xla_activity_read(kwhy_names_get(&file->recording->names, row.name), &row)) {
		file->counts.derived++;
		return KWHY_OK;
	}
	if (!status)
		status = find_xla_stream(file, event, gpu, stream, &row.stream, error);
	if (!status && row.kind == KWHY_ACTIVITY_KERNEL)
		status = kwhy_kineto_is_collective(file, row.name, &collective, error);
	if (status)
		return status;
	row.kind = collective ? KWHY_ACTIVITY_COLLECTIVE : row.kind;
	read_details(event, &row);
	return kwhy_kineto_add_activity(file, &row, error);
}

static enum kwhy_status add_xla_python(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error)
{
	struct kwhy_host_range row = {.kind = KWHY_HOST_PYTHON};
	const char *text;
	struct kwhy_kineto_span name = text_of(event, FIELD(NAME), &text);
	struct kwhy_xla_frame frame = kwhy_xla_frame_read(text, name.length);
	enum kwhy_status status = kwhy_kineto_read_times(file, event, &row.start_ns, &row.end_ns, error);

	row.line = frame.line;
	if (!status)
		status = kwhy_kineto_find_thread(file, event, &row.thread, error);
	if (!status && frame.file_length)
		status = kwhy_kineto_name(file, frame.file, frame.file_length, &row.file, error);
	if (!status)
		status = kwhy_kineto_name(file, frame.function, frame.function_length, &row.name, error);
	return status ? status : kwhy_recording_add_host_range(file->recording, &row, error);
}

static enum kwhy_status add_xla_host(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error)
{
	struct kwhy_kineto_event known = *event;
	const char *text;
	struct kwhy_kineto_span name = text_of(event, FIELD(NAME), &text);
	enum kwhy_xla_host_kind kind = kwhy_xla_host_kind(text, name.length);

	if (kind == KWHY_XLA_PYTHON)
		return add_xla_python(file, event, error);
	known.kind = kind == KWHY_XLA_CALL ? KWHY_KINETO_CALL : KWHY_KINETO_OPERATOR;
	if (kind == KWHY_XLA_OPERATOR && kwhy_kineto_event_has(event, FIELD(STEP)))
		known.kind = KWHY_KINETO_RANGE;
	known.field[FIELD(CORRELATION)] = event->field[FIELD(CORRELATION_ID)];
	if (kwhy_kineto_event_has(event, FIELD(CORRELATION_ID)))
		known.seen |= UINT64_C(1) << FIELD(CORRELATION);
	return kwhy_kineto_row_add(file, &known, error);
}

/*
 * Whether the event comes from torch.autograd.profiler, the profiler that PyTorch had before Kineto. Its
 * traces name the process ("pid") "CPU functions" or, for devices, "CUDA functions" or similar. In a process
 * of devices "tid" is the device's number; streams are unknown.
 */
static bool is_legacy(const struct kwhy_kineto_event *event)
{
	static const char end[] = " functions";
	const char *text;
	struct kwhy_kineto_span pid = text_of(event, FIELD(PID), &text);

	return pid.length > sizeof(end) - 1 &&
		!memcmp(text + pid.length - (sizeof(end) - 1), end, sizeof(end) - 1);
}

static enum kwhy_status add_legacy(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error)
{
	struct kwhy_kineto_event known = *event;
	const char *text;

	text_of(event, FIELD(PID), &text);
	known.kind = strncmp(text, "CPU ", 4) ? KWHY_KINETO_KERNEL : KWHY_KINETO_OPERATOR;
	known.streamless = true;
	known.field[FIELD(DEVICE)] = event->field[FIELD(TID)];
	known.seen |= UINT64_C(1) << FIELD(DEVICE);
	return kwhy_kineto_row_add(file, &known, error);
}

static enum kwhy_status add_unknown(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error)
{
	const char *process = kwhy_kineto_label(file, event, false), *text;
	struct kwhy_kineto_span category = text_of(event, FIELD(CAT), &text);

	if (category.length > 0)
		return kwhy_kineto_unknown_add(file, text, category.length, error);
	if (process)
		return kwhy_kineto_unknown_add(file, process, strlen(process), error);
	return kwhy_kineto_unknown_add(file, "", 0, error);
}

enum kwhy_status kwhy_kineto_by_track_add(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error)
{
	const char *process = kwhy_kineto_label(file, event, false), *thread;
	int32_t gpu = process ? kwhy_xla_gpu(process) : -1;
	int64_t stream;

	if (is_legacy(event))
		return add_legacy(file, event, error);
	if (process && kwhy_xla_is_host(process))
		return add_xla_host(file, event, error);
	if (gpu < 0)
		return add_unknown(file, event, error);
	file->is_xla = true;
	thread = kwhy_kineto_label(file, event, true);
	stream = thread ? kwhy_xla_stream(thread) : -1;
	if (stream >= 0)
		return add_xla_activity(file, event, gpu, stream, error);
	file->counts.derived++;
	return KWHY_OK;
}
