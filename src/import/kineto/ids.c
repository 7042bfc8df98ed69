/* SPDX-License-Identifier: Apache-2.0 */
#include "import/kineto/file.h"
#include "import/kineto/number.h"

#include <string.h>

/*
 * This file finds the devices, streams and threads that events of a file name by numbers, and adds them to
 * the recording.
 */

/* FIELD(PID) is the constant KWHY_KINETO_FIELD_PID of enum kwhy_kineto_field, and so on. */
#define FIELD(name) KWHY_KINETO_FIELD_##name

enum { DEVICES_MAX = 1024 };

/*
 * Reads the stream from the field "tid": "stream 7" in traces of 2021, otherwise 7 or "7". False: the field
 * has no number.
 */
static bool stream_of_tid(const struct kwhy_kineto_event *event, int64_t *out)
{
	struct kwhy_kineto_span tid = kwhy_kineto_event_text(event, FIELD(TID));
	static const char word[] = "stream ";
	size_t skip = sizeof(word) - 1;

	if (tid.length <= skip || memcmp(event->text + tid.at, word, skip) != 0)
		skip = 0;
	return tid.length && kwhy_kineto_number_integer(event->text + tid.at + skip, tid.length - skip, out);
}

static enum kwhy_status add_device(
	struct kwhy_kineto_file *file, int64_t index, uint32_t *out, struct kwhy_error *error)
{
	struct kwhy_device device = kwhy_device_unknown((int32_t)index, KWHY_NONE);

	if (file->devices.map.count >= DEVICES_MAX * (file->groups.count ? file->groups.count : 1))
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s names a %dth device of one rank: its \"device\" or \"pid\" are mixed up or "
			"damaged; export it again",
			file->path, DEVICES_MAX + 1);
	return kwhy_recording_add_device(file->recording, &device, out, error);
}

enum kwhy_status kwhy_kineto_device(struct kwhy_kineto_file *file, struct kwhy_track_key key, int64_t index,
	uint32_t *out, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (kwhy_track_map_find(&file->devices, key, out))
		return KWHY_OK;
	status = add_device(file, index, out, error);
	return status ? status : kwhy_track_map_put(&file->devices, key, *out, error);
}

/*
 * Whether the event states no device number at all: Proton writes no "pid", and the "pid" of ONNX Runtime's
 * events, which have "grid_x" or the process number -1 beside a "stream", is not a device number. Such work
 * counts as work of device 0.
 */
static bool has_no_device(const struct kwhy_kineto_event *event, const struct kwhy_kineto_place *place)
{
	return !kwhy_kineto_event_has(event, FIELD(PID)) || kwhy_kineto_event_has(event, FIELD(GRID_X)) ||
		(place->numbered && place->number == -1 && kwhy_kineto_event_has(event, FIELD(STREAM)));
}

static enum kwhy_status find_device(struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event,
	const struct kwhy_kineto_place *place, uint32_t *out, struct kwhy_error *error)
{
	struct kwhy_track_key key = {.b = place->group};

	if (event->kind == KWHY_KINETO_GPU_OP) {
		key = (struct kwhy_track_key){place->number, place->group, KWHY_KINETO_DEVICE_BY_PROCESS};
		return kwhy_kineto_device(file, key, (int64_t)file->devices.map.count, out, error);
	}
	if (!kwhy_kineto_event_integer(event, FIELD(DEVICE), &key.a)) {
		key.a = place->number;
		if (has_no_device(event, place)) {
			file->counts.unnumbered_devices++;
			key.a = 0;
		} else if (!place->numbered) {
			return kwhy_kineto_unusable(file, event, FIELD(DEVICE), "is missing", error);
		}
	}
	if (key.a < 0 || key.a > INT32_MAX)
		return kwhy_kineto_unusable(file, event, FIELD(DEVICE), "is not a device number", error);
	return kwhy_kineto_device(file, key, key.a, out, error);
}

/*
 * The process whose number `field` of the event states, if the metadata of the file list that process;
 * otherwise the process of the group in *place.
 */
static uint32_t process_of(struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event,
	enum kwhy_kineto_field field, const struct kwhy_kineto_place *place)
{
	struct kwhy_track_key key = {0};
	uint32_t process;

	if (file->processes.map.count && kwhy_kineto_event_integer(event, field, &key.a) &&
		kwhy_track_map_find(&file->processes, key, &process))
		return process;
	return kwhy_kineto_group_process(file, place->group);
}

enum kwhy_status kwhy_kineto_stream(struct kwhy_kineto_file *file, const struct kwhy_stream *stream,
	uint32_t *out, struct kwhy_error *error)
{
	struct kwhy_track_key key = {
		.a = (int64_t)stream->process << 32 | stream->device, .b = stream->context, .c = stream->id};
	enum kwhy_status status;

	if (kwhy_track_map_find(&file->streams, key, out))
		return KWHY_OK;
	status = kwhy_recording_add_stream(file->recording, stream, out, error);
	return status ? status : kwhy_track_map_put(&file->streams, key, *out, error);
}

enum kwhy_status kwhy_kineto_find_stream(struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event,
	uint32_t *out, struct kwhy_error *error)
{
	struct kwhy_stream stream = {.context = -1, .id = -1};
	struct kwhy_kineto_place place;
	enum kwhy_status status;

	if (!kwhy_kineto_event_integer(event, FIELD(CONTEXT), &stream.context) || stream.context < 0)
		stream.context = -1;
	if (!event->streamless && !kwhy_kineto_event_integer(event, FIELD(STREAM), &stream.id) &&
		!stream_of_tid(event, &stream.id))
		return kwhy_kineto_unusable(file, event, FIELD(STREAM), "is missing", error);
	status = kwhy_kineto_place_read(file, event, FIELD(PID), &place, error);
	if (!status)
		status = find_device(file, event, &place, &stream.device, error);
	if (status)
		return status;
	stream.unordered = event->streamless || event->kind == KWHY_KINETO_GPU_OP;
	stream.process = process_of(file, event, FIELD(PROCESS), &place);
	return kwhy_kineto_stream(file, &stream, out, error);
}

/*
 * Sets the number of a process from its first API call, because other events, such as kernels, may state
 * another number as "pid". TraceFuse changes the numbers of processes; "pid_raw" is the original.
 */
static void take_pid(struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, uint32_t process,
	const struct kwhy_kineto_place *place)
{
	int64_t *pid = &file->recording->processes[process].pid, raw;

	if (*pid >= 0 || event->kind != KWHY_KINETO_CALL)
		return;
	*pid = place->number;
	if (kwhy_kineto_event_integer(event, FIELD(PID_RAW), &raw) && raw >= 0)
		*pid = raw;
}

/*
 * Sets *out to the thread of an event. All threads of a process whose "tid" is not a number count as one
 * thread, -1.
 */
enum kwhy_status kwhy_kineto_find_thread(struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event,
	uint32_t *out, struct kwhy_error *error)
{
	struct kwhy_thread thread = {.tid = -1};
	struct kwhy_kineto_place place;
	enum kwhy_status status = kwhy_kineto_place_read(file, event, FIELD(PID), &place, error);
	struct kwhy_track_key key = {.a = place.number, .c = place.group};

	if (status)
		return status;
	kwhy_kineto_event_integer(event, FIELD(TID), &thread.tid);
	key.b = thread.tid;
	if (kwhy_track_map_find(&file->threads, key, out)) {
		take_pid(file, event, file->recording->threads[*out].process, &place);
		return KWHY_OK;
	}
	thread.process = process_of(file, event, FIELD(PID), &place);
	take_pid(file, event, thread.process, &place);
	status = kwhy_recording_add_thread(file->recording, &thread, out, error);
	return status ? status : kwhy_track_map_put(&file->threads, key, *out, error);
}
