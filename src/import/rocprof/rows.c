/* SPDX-License-Identifier: Apache-2.0 */
#include "import/rocprof/rocprof.h"

#include "import/demangle.h"

#include <string.h>

/* Times further than this (about a year) from the recording's origin are refused as damaged. */
#define YEAR_NS (366 * INT64_C(86400) * 1000000000)

static const int64_t second_ns = 1000000000;

static const char wrong_times[] = "its start or end is not a time; skip such rows with --partial";
static const char backwards[] = "it ends before it starts; skip such rows with --partial, or record again";
static const char far_away[] = "its times are more than a year from the first; skip such rows with --partial";

/*
 * In the first source of a recording, sets the recording's origin to the first row's start, rounded down to a
 * second.
 */
static void choose_origin(struct kwhy_rocprof *rocprof, int64_t time_ns)
{
	struct kwhy_recording *recording = rocprof->recording;

	if (rocprof->has_origin)
		return;
	recording->origin_unix_ns = time_ns - time_ns % second_ns;
	recording->unix_clock = false;
	rocprof->shift_ns = -recording->origin_unix_ns;
	rocprof->has_origin = true;
}

/*
 * Checks start and end and converts them to ns since the recording's origin. *out_timed false: one of them is
 * 0, which means that the profiler has no time; the row is counted and must be left out.
 */
static enum kwhy_status take_times(struct kwhy_rocprof *rocprof, int64_t *start_ns, int64_t *end_ns,
	bool *out_timed, struct kwhy_error *error)
{
	*out_timed = *start_ns != 0 && *end_ns != 0;
	if (!*out_timed) {
		rocprof->tally.untimed++;
		return KWHY_OK;
	}
	if (*start_ns < 0 || *end_ns < 0 || *start_ns > INT64_MAX / 4 || *end_ns > INT64_MAX / 4)
		return kwhy_rocprof_fail(rocprof, error, wrong_times);
	if (*end_ns < *start_ns)
		return kwhy_rocprof_fail(rocprof, error, backwards);
	choose_origin(rocprof, *start_ns);
	*start_ns += rocprof->shift_ns;
	*end_ns += rocprof->shift_ns;
	if (*start_ns < -YEAR_NS || *end_ns > YEAR_NS)
		return kwhy_rocprof_fail(rocprof, error, far_away);
	return KWHY_OK;
}

/* `value` if it is from 0 to `unknown` - 1; otherwise `unknown`. */
static uint32_t small(int64_t value, uint32_t unknown)
{
	return value >= 0 && value < unknown ? (uint32_t)value : unknown;
}

/*
 * Number of workgroups (blocks) of a kernel; KWHY_UNKNOWN_BLOCKS: unknown. HSA states the grid in work-items,
 * so the last workgroup of a dimension may be partly filled.
 */
static uint32_t block_count(const struct kwhy_rocprof_kernel *kernel)
{
	uint64_t count = 1;

	for (size_t i = 0; i < 3; i++) {
		int64_t grid = kernel->grid[i], workgroup = kernel->workgroup[i];

		if (grid <= 0 || workgroup <= 0 || grid > UINT32_MAX || workgroup > UINT32_MAX)
			return KWHY_UNKNOWN_BLOCKS;
		count *= ((uint64_t)grid + (uint64_t)workgroup - 1) / (uint64_t)workgroup;
		if (count >= KWHY_UNKNOWN_BLOCKS)
			return KWHY_UNKNOWN_BLOCKS;
	}
	return (uint32_t)count;
}

static uint16_t block_threads(const struct kwhy_rocprof_kernel *kernel)
{
	int64_t count = 1;

	for (size_t i = 0; i < 3; i++) {
		if (kernel->workgroup[i] <= 0 || kernel->workgroup[i] >= KWHY_UNKNOWN_U16)
			return KWHY_UNKNOWN_U16;
		count *= kernel->workgroup[i];
		if (count >= KWHY_UNKNOWN_U16)
			return KWHY_UNKNOWN_U16;
	}
	return (uint16_t)count;
}

enum kwhy_status kwhy_rocprof_name(
	struct kwhy_rocprof *rocprof, struct kwhy_span name, uint32_t *out_name, struct kwhy_error *error)
{
	static const char tail[] = ".kd"; /* ending of the name of a kernel descriptor, the symbol of a kernel
					     in a code object */
	size_t length = name.length;

	if (length > sizeof(tail) && !memcmp(name.bytes + length - 3, tail, 3))
		length -= 3;
	return kwhy_demangle_intern(
		&rocprof->recording->names, &rocprof->mangled, name.bytes, length, out_name, error);
}

/*
 * Sets *out_kind to KWHY_ACTIVITY_COLLECTIVE or KWHY_ACTIVITY_KERNEL by the kernel's name; each distinct name
 * is matched once.
 */
static enum kwhy_status find_kind(
	struct kwhy_rocprof *rocprof, uint32_t name, uint8_t *out_kind, struct kwhy_error *error)
{
	const struct kwhy_track_key key = {.a = name};
	const char *text = kwhy_names_get(&rocprof->recording->names, name);
	uint32_t kind;

	if (kwhy_track_map_find(&rocprof->kinds, key, &kind)) {
		*out_kind = (uint8_t)kind;
		return KWHY_OK;
	}
	*out_kind = kwhy_collectives_match(rocprof->collectives, text) ? KWHY_ACTIVITY_COLLECTIVE
								       : KWHY_ACTIVITY_KERNEL;
	return kwhy_track_map_put(&rocprof->kinds, key, *out_kind, error);
}

/*
 * Sets in *activity what kernels and copies have in common: times, correlation id, graph node and stream.
 * *out_timed false: the work has no times and must be left out.
 */
static enum kwhy_status take_work(struct kwhy_rocprof *rocprof, const struct kwhy_rocprof_work *work,
	struct kwhy_activity *activity, bool *out_timed, struct kwhy_error *error)
{
	struct kwhy_stream stream = {.process = rocprof->process, .context = -1, .id = work->stream};
	enum kwhy_status status;

	*activity = kwhy_activity_unknown();
	activity->start_ns = work->start_ns;
	activity->end_ns = work->end_ns;
	activity->call = small(work->correlation, KWHY_NONE);
	if (work->graph_node > 0)
		activity->graph_node = small(work->graph_node, KWHY_NONE);
	status = take_times(rocprof, &activity->start_ns, &activity->end_ns, out_timed, error);
	if (status || !*out_timed)
		return status;
	status = kwhy_rocprof_device(rocprof, work->agent, &stream.device, error);
	return status ? status : kwhy_tracks_stream(&rocprof->tracks, &stream, &activity->stream, error);
}

enum kwhy_status kwhy_rocprof_kernel_add(
	struct kwhy_rocprof *rocprof, const struct kwhy_rocprof_kernel *kernel, struct kwhy_error *error)
{
	struct kwhy_activity activity;
	enum kwhy_status status;
	bool timed;

	status = take_work(rocprof, &kernel->work, &activity, &timed, error);
	if (status || !timed)
		return status;
	activity.name = kernel->name;
	if (activity.name == 0) {
		rocprof->tally.unnamed++;
		status = kwhy_names_intern(
			&rocprof->recording->names, "unnamed kernel", 14, &activity.name, error);
	}
	if (!status)
		status = find_kind(rocprof, activity.name, &activity.kind, error);
	if (status)
		return status;
	activity.blocks = block_count(kernel);
	activity.threads_per_block = block_threads(kernel);
	activity.registers = (uint16_t)small(kernel->registers, KWHY_UNKNOWN_U16);
	activity.shared_bytes = small(kernel->shared_bytes, KWHY_NONE);
	rocprof->tally.kernels++;
	return kwhy_recording_add_activity(rocprof->recording, &activity, error);
}

static const struct {
	const char *word; /* a word in ROCm's name of the direction */
	const char *name; /* name of the copy, as Kineto writes it */
	uint8_t kind, source, destination;
} directions[] = {
	{"HOST_TO_DEVICE", "Memcpy HtoD", KWHY_COPY_H2D, KWHY_MEMORY_UNKNOWN, KWHY_MEMORY_DEVICE},
	{"DEVICE_TO_HOST", "Memcpy DtoH", KWHY_COPY_D2H, KWHY_MEMORY_DEVICE, KWHY_MEMORY_UNKNOWN},
	{"DEVICE_TO_DEVICE", "Memcpy DtoD", KWHY_COPY_D2D, KWHY_MEMORY_DEVICE, KWHY_MEMORY_DEVICE},
	{"HOST_TO_HOST", "Memcpy HtoH", KWHY_COPY_H2H, KWHY_MEMORY_UNKNOWN, KWHY_MEMORY_UNKNOWN},
	{"", "Memcpy", KWHY_COPY_UNKNOWN, KWHY_MEMORY_UNKNOWN, KWHY_MEMORY_UNKNOWN},
};

enum { TO_DEVICE, TO_HOST, WITHIN, BETWEEN_HOSTS, DIRECTION_COUNT };

static size_t direction_of(const struct kwhy_rocprof *rocprof, const struct kwhy_rocprof_copy *copy)
{
	const struct kwhy_rocprof_agent *source = kwhy_rocprof_agent_find(rocprof, copy->source),
					*destination = kwhy_rocprof_agent_find(rocprof, copy->destination);
	size_t i = 0;

	if (source && destination && source->is_gpu)
		return destination->is_gpu ? WITHIN : TO_HOST;
	if (source && destination)
		return destination->is_gpu ? TO_DEVICE : BETWEEN_HOSTS;
	while (i < DIRECTION_COUNT &&
		!memmem(copy->direction.bytes, copy->direction.length, directions[i].word,
			strlen(directions[i].word)))
		i++;
	return i;
}

/*
 * Called for a copy within or between GPUs. If it is between two GPUs, makes it a peer copy with the
 * destination as peer; it belongs to the GPU that it reads from.
 */
static void set_peer(const struct kwhy_rocprof *rocprof, const struct kwhy_rocprof_copy *copy,
	struct kwhy_activity *activity)
{
	const struct kwhy_rocprof_agent *other = kwhy_rocprof_agent_find(rocprof, copy->destination);

	if (!other || copy->source == copy->destination)
		return;
	activity->copy_kind = KWHY_COPY_P2P;
	activity->peer = (uint16_t)other->figures.index;
}

enum kwhy_status kwhy_rocprof_copy_add(
	struct kwhy_rocprof *rocprof, const struct kwhy_rocprof_copy *copy, struct kwhy_error *error)
{
	struct kwhy_rocprof_work work = copy->work;
	size_t direction = direction_of(rocprof, copy);
	const char *name = directions[direction].name;
	struct kwhy_activity activity;
	enum kwhy_status status;
	bool timed;

	if (direction == BETWEEN_HOSTS) {
		rocprof->tally.host_copies++;
		return KWHY_OK;
	}
	work.agent = direction == TO_DEVICE ? copy->destination : copy->source;
	status = take_work(rocprof, &work, &activity, &timed, error);
	if (status || !timed)
		return status;
	activity.kind = KWHY_ACTIVITY_COPY;
	activity.copy_kind = directions[direction].kind;
	activity.src_memory = directions[direction].source;
	activity.dst_memory = directions[direction].destination;
	if (direction == WITHIN)
		set_peer(rocprof, copy, &activity);
	if (activity.copy_kind == KWHY_COPY_P2P)
		name = "Memcpy PtoP";
	if (copy->bytes >= 0)
		activity.bytes = (uint64_t)copy->bytes;
	else
		rocprof->recording->lost.unknown_bytes++;
	status = kwhy_names_intern(&rocprof->recording->names, name, strlen(name), &activity.name, error);
	return status ? status : kwhy_recording_add_activity(rocprof->recording, &activity, error);
}

static bool begins(struct kwhy_span name, const char *text)
{
	size_t length = strlen(text);

	return name.length > length && !memcmp(name.bytes, text, length);
}

static bool is_hip(struct kwhy_span name)
{
	if (begins(name, "__hip"))
		return true;
	return begins(name, "hip") && name.bytes[3] >= 'A' && name.bytes[3] <= 'Z';
}

bool kwhy_rocprof_is_call(struct kwhy_span name)
{
	static const char *const others[] = {"hsa_", "nccl", "rocDec", "rocJpeg"};

	if (is_hip(name))
		return true;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (begins(name, others[i]))
			return true;
	return false;
}

/*
 * Sets in *range what calls and ranges have in common: times, thread and name. *out_timed false: the row has
 * no times and must be left out.
 */
static enum kwhy_status take_host(struct kwhy_rocprof *rocprof, const struct kwhy_rocprof_host *host,
	struct kwhy_range *range, bool *out_timed, struct kwhy_error *error)
{
	struct kwhy_thread thread = {.process = rocprof->process, .tid = host->thread};
	enum kwhy_status status;

	*range = (struct kwhy_range){.start_ns = host->start_ns, .end_ns = host->end_ns};
	status = take_times(rocprof, &range->start_ns, &range->end_ns, out_timed, error);
	if (status || !*out_timed)
		return status;
	status = kwhy_tracks_thread(&rocprof->tracks, &thread, &range->thread, error);
	return status ? status
		      : kwhy_names_intern(&rocprof->recording->names, host->name.bytes, host->name.length,
				&range->name, error);
}

enum kwhy_status kwhy_rocprof_call_add(
	struct kwhy_rocprof *rocprof, const struct kwhy_rocprof_host *call, struct kwhy_error *error)
{
	struct kwhy_range range;
	enum kwhy_status status;
	bool timed;

	if (!is_hip(call->name)) {
		rocprof->tally.other_calls++;
		return KWHY_OK;
	}
	status = take_host(rocprof, call, &range, &timed, error);
	if (status || !timed)
		return status;
	rocprof->tally.calls++;
	return kwhy_recording_add_call(rocprof->recording, range.start_ns, range.end_ns, range.name,
		range.thread, small(call->correlation, KWHY_NONE), error);
}

enum kwhy_status kwhy_rocprof_range_add(
	struct kwhy_rocprof *rocprof, const struct kwhy_rocprof_host *marker, struct kwhy_error *error)
{
	struct kwhy_range range;
	enum kwhy_status status;
	bool timed;

	if (marker->start_ns == marker->end_ns) /* a marker without duration is not a range */
		return KWHY_OK;
	status = take_host(rocprof, marker, &range, &timed, error);
	if (status || !timed)
		return status;
	range.kind = kwhy_range_kind_of(
		kwhy_names_get(&rocprof->recording->names, range.name), KWHY_RANGE_NVTX);
	return kwhy_recording_add_range(rocprof->recording, &range, error);
}
