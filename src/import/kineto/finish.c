/* SPDX-License-Identifier: Apache-2.0 */
#include "base/plural.h"
#include "import/kineto/file.h"
#include "import/ranks.h"
#include "import/reader.h"
#include "import/trace_clock.h"

#include <inttypes.h>

#define SECOND_NS INT64_C(1000000000)

/*
 * Converts this file's times to nanoseconds since the recording's origin. If the recording had no times
 * before this file, this file sets the origin.
 */
static enum kwhy_status set_clock(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	struct kwhy_recording *recording = file->recording;
	int64_t first_ns = kwhy_row_counts_first_time(recording, &file->first);
	int64_t base_ns = file->meta.has_base ? file->meta.base_unix_ns : 0;
	struct kwhy_trace_clock clock = {.path = file->path,
		.is_first = file->chooses_clock,
		.is_unix = file->meta.has_base || first_ns >= KWHY_FIRST_UNIX_NS,
		.origin_unix_ns = base_ns};
	enum kwhy_status status;

	if (first_ns == INT64_MAX && !file->meta.has_base)
		return KWHY_OK;
	if (clock.is_unix && !file->meta.has_base)
		clock.origin_unix_ns = first_ns - first_ns % SECOND_NS;
	status = kwhy_trace_clock_take(recording, &clock, error);
	if (!status && base_ns != recording->origin_unix_ns)
		kwhy_row_counts_shift(recording, &file->first, base_ns - recording->origin_unix_ns);
	return status;
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

/*
 * Sets the ranks of the file's processes and devices, and copies to each device what the file's metadata
 * state about it. Devices of different ranks stay separate, even if they have the same number.
 */
static enum kwhy_status set_ranks(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	struct kwhy_recording *recording = file->recording;
	enum kwhy_status status = kwhy_kineto_groups_finish(file, error);

	if (!file->processes.map.count && !file->groups.count) {
		recording->processes[file->process].rank = file->meta.rank;
		recording->processes[file->process].world_size = file->meta.world_size;
	}
	for (size_t i = file->first.devices; i < recording->device_count; i++)
		take_facts(file, &recording->devices[i]);
	if (status || file->groups.count)
		return status;
	return kwhy_ranks_separate(recording, file->path, file->first.devices, error);
}

/*
 * In the file's rows about memory, replaces device numbers of the file by indices of the recording's devices.
 * Removes rows about devices that ran no activity, because the recording does not have these devices.
 */
static void settle_memory(struct kwhy_kineto_file *file)
{
	struct kwhy_recording *recording = file->recording;
	size_t kept = file->first.memory;

	for (size_t i = file->first.memory; i < recording->memory_count; i++) {
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
 * Refuses a file that gave no activity of a device but has events that were not understood, because these
 * events may be activities.
 */
static enum kwhy_status check_work(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	struct kwhy_text list = {0};
	enum kwhy_status status;

	if (file->recording->activities.count > file->first.activities || file->unknown.events == 0)
		return KWHY_OK;
	kwhy_kineto_unknown_list(file, &list);
	status = kwhy_text_check(&list, error);
	if (!status)
		status = kwhy_fail(error, KWHY_E_INPUT,
			"%s holds no device work that is understood: it is Chrome JSON without kernels or "
			"copies of a known kind, and %" PRIu64 " of its %" PRIu64
			" events %s (%s)%s; " KWHY_TRACE_CURE,
			file->path, file->unknown.events, file->counts.events,
			kwhy_plural(file->unknown.events, "is of an unknown kind", "are of unknown kinds"),
			list.data, file->recording->lost.truncated ? ", and it ends early" : "");
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
