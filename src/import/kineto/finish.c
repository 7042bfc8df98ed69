/* SPDX-License-Identifier: Apache-2.0 */
#include "import/kineto/file.h"
#include "import/ranks.h"
#include "import/reader.h"

#include <inttypes.h>

/* 2000-01-01 in Unix time; earlier times are relative to another start than 1970 */
#define FIRST_UNIX_NS (INT64_C(946684800) * 1000000000)
#define SECOND_NS INT64_C(1000000000)

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The earliest time of this file's rows; INT64_MAX: the file has no times. */
static int64_t first_time(const struct kwhy_kineto_file *file)
{
	const struct kwhy_recording *recording = file->recording;
	int64_t first_ns = INT64_MAX;

	for (size_t i = file->first_activity; i < recording->activities.count; i++)
		first_ns = smaller(first_ns, recording->activities.start_ns[i]);
	for (size_t i = file->first_call; i < recording->calls.count; i++)
		first_ns = smaller(first_ns, recording->calls.start_ns[i]);
	for (size_t i = file->first_range; i < recording->range_count; i++)
		first_ns = smaller(first_ns, recording->ranges[i].start_ns);
	for (size_t i = file->first_memory; i < recording->memory_count; i++)
		first_ns = smaller(first_ns, recording->memory[i].time_ns);
	return first_ns;
}

static void shift_rows(struct kwhy_kineto_file *file, int64_t by_ns)
{
	struct kwhy_recording *recording = file->recording;

	for (size_t i = file->first_activity; i < recording->activities.count; i++) {
		recording->activities.start_ns[i] += by_ns;
		recording->activities.end_ns[i] += by_ns;
	}
	for (size_t i = file->first_call; i < recording->calls.count; i++) {
		recording->calls.start_ns[i] += by_ns;
		recording->calls.end_ns[i] += by_ns;
	}
	for (size_t i = file->first_range; i < recording->range_count; i++) {
		recording->ranges[i].start_ns += by_ns;
		recording->ranges[i].end_ns += by_ns;
	}
	for (size_t i = file->first_host_range; i < recording->host_ranges.count; i++) {
		recording->host_ranges.start_ns[i] += by_ns;
		recording->host_ranges.end_ns[i] += by_ns;
	}
	for (size_t i = file->first_memory; i < recording->memory_count; i++)
		recording->memory[i].time_ns += by_ns;
}

static enum kwhy_status refuse_clock(
	const struct kwhy_kineto_file *file, bool unix_clock, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s has %s: they cannot be put on one clock; give all with Unix times "
		"(\"baseTimeNanoseconds\", as PyTorch 2.4 and newer write it), or report each alone",
		file->path,
		unix_clock ? "Unix times and the traces before it have none"
			   : "no Unix times and those before it have");
}

static enum kwhy_status note_clock(const struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	return kwhy_recording_add_note(file->recording, KWHY_NOTE_WARNING, "no-unix-clock", error,
		file->chooses_clock
			? "%s: its times are no Unix times, so its times cannot be laid beside "
			  "power readings or other traces."
			: "%s: its times are no Unix times; that they count from the same time as "
			  "those of the traces before it is taken for granted.",
		file->path);
}

/*
 * Converts this file's times to the recording's clock. The first file that has times sets the clock's origin.
 */
static enum kwhy_status set_clock(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	struct kwhy_recording *recording = file->recording;
	int64_t first_ns = first_time(file), base_ns = file->meta.has_base ? file->meta.base_unix_ns : 0;
	bool unix_clock = file->meta.has_base || first_ns >= FIRST_UNIX_NS;

	if (first_ns == INT64_MAX && !file->meta.has_base)
		return KWHY_OK;
	if (file->chooses_clock) {
		recording->unix_clock = unix_clock;
		recording->clock_name = NULL;
		recording->origin_unix_ns = base_ns;
		if (unix_clock && !file->meta.has_base)
			recording->origin_unix_ns = first_ns - first_ns % SECOND_NS;
	}
	if (unix_clock != recording->unix_clock)
		return refuse_clock(file, unix_clock, error);
	if (base_ns != recording->origin_unix_ns)
		shift_rows(file, base_ns - recording->origin_unix_ns);
	if (unix_clock)
		return KWHY_OK;
	return note_clock(file, error);
}

static void take_facts(struct kwhy_kineto_file *file, struct kwhy_device *device)
{
	for (size_t i = 0; i < file->meta.device_count; i++)
		if (file->meta.devices[i].index == device->index) {
			uint32_t rank = device->rank;

			*device = file->meta.devices[i];
			device->rank = rank == KWHY_NONE ? device->rank : rank;
			break;
		}
	if (device->rank == KWHY_NONE)
		device->rank = file->meta.rank;
}

/* Sets the ranks of the file's processes and devices. Each rank has devices of its own. */
static enum kwhy_status set_ranks(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	struct kwhy_recording *recording = file->recording;
	enum kwhy_status status = kwhy_kineto_groups_finish(file, error);

	if (!file->processes.map.count && !file->groups.count) {
		recording->processes[file->process].rank = file->meta.rank;
		recording->processes[file->process].world_size = file->meta.world_size;
	}
	for (size_t i = file->first_device; i < recording->device_count; i++)
		take_facts(file, &recording->devices[i]);
	if (status || file->groups.count)
		return status;
	return kwhy_ranks_separate(recording, file->path, file->first_device, error);
}

/*
 * Replaces the file's device numbers in rows of memory by the recording's. Rows of devices without activities
 * are removed.
 */
static void settle_memory(struct kwhy_kineto_file *file)
{
	struct kwhy_recording *recording = file->recording;
	size_t kept = file->first_memory;

	for (size_t i = file->first_memory; i < recording->memory_count; i++) {
		struct kwhy_memory_point point = recording->memory[i];
		struct kwhy_track_key key = {
			.a = point.device, .b = kwhy_kineto_group_of(file, point.process)};

		if (kwhy_track_map_find(&file->devices, key, &point.device))
			recording->memory[kept++] = point;
	}
	recording->memory_count = kept;
}

static enum kwhy_status set_source(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	struct kwhy_source *source = &file->recording->sources[file->source];

	source->version = file->meta.schema;
	source->events = file->counts.events;
	if (file->is_xla)
		source->producer = "XLA's profiler (JAX, TensorFlow)";
	if (file->is_xla || file->meta.producer[0] == '\0')
		return KWHY_OK;
	source->producer = kwhy_arena_printf(
		&file->recording->arena, "PyTorch profiler (Kineto): %s", file->meta.producer);
	return source->producer ? KWHY_OK : kwhy_fail_memory(error, "the metadata of a trace");
}

/*
 * Refuses a file that has no work of a device and events that were not understood, because these may be the
 * work.
 */
static enum kwhy_status check_work(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	struct kwhy_text list = {0};
	enum kwhy_status status;

	if (file->recording->activities.count > file->first_activity || file->unknown.events == 0 ||
		file->partial)
		return KWHY_OK;
	kwhy_kineto_unknown_list(file, &list);
	status = kwhy_text_check(&list, error);
	if (!status)
		status = kwhy_fail(error, KWHY_E_INPUT,
			"%s is not readable: it is Chrome JSON without kernels or copies of a known kind, "
			"and "
			"%" PRIu64 " of its %" PRIu64 " events are of unknown kinds (%s); " KWHY_TRACE_CURE,
			file->path, file->unknown.events, file->counts.events, list.data);
	kwhy_text_done(&list);
	return status;
}

enum kwhy_status kwhy_kineto_finish(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	enum kwhy_status status;

	file->recording->lost.dropped_records += file->meta.dropped_records;
	file->recording->lost.skipped_events += file->counts.skipped;
	file->recording->lost.untimed_records += file->counts.untimed;
	file->counts.unpaired += file->halves.open;
	settle_memory(file);
	status = check_work(file, error);
	if (!status)
		status = set_clock(file, error);
	if (!status)
		status = set_ranks(file, error);
	if (!status)
		status = set_source(file, error);
	if (!status)
		status = kwhy_kineto_notes(file, error);
	return status;
}
