/* SPDX-License-Identifier: Apache-2.0 */
#include "base/column.h"
#include "import/perfetto/file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *text;
	enum kwhy_perfetto_role role;
} categories[] = {
	{"kernel", KWHY_PERFETTO_KERNEL},
	{"collective", KWHY_PERFETTO_COLLECTIVE},
	{"graph", KWHY_PERFETTO_GRAPH},
	{"copy", KWHY_PERFETTO_COPY},
	{"memset", KWHY_PERFETTO_MEMSET},
	{"api", KWHY_PERFETTO_CALL},
	{"range", KWHY_PERFETTO_RANGE},
	{"kwhy.row", KWHY_PERFETTO_ROW},
	{"operator", KWHY_PERFETTO_OPERATOR},
	{"system", KWHY_PERFETTO_OPERATOR},
	{"frame", KWHY_PERFETTO_OPERATOR},
	/* categories of Kineto */
	{"gpu_memcpy", KWHY_PERFETTO_COPY},
	{"gpu_memset", KWHY_PERFETTO_MEMSET},
	{"cuda_runtime", KWHY_PERFETTO_CALL},
	{"cuda_driver", KWHY_PERFETTO_CALL},
	{"user_annotation", KWHY_PERFETTO_RANGE},
	{"cpu_op", KWHY_PERFETTO_OPERATOR},
	{"gpu_user_annotation", KWHY_PERFETTO_OTHER},
	/* categories of rocprofv3 and rocprof-sys */
	{"kernel_dispatch", KWHY_PERFETTO_KERNEL},
	{"rocm_kernel_dispatch", KWHY_PERFETTO_KERNEL},
	{"memory_copy", KWHY_PERFETTO_COPY},
	{"rocm_memory_copy", KWHY_PERFETTO_COPY},
	{"rocm_hip_stream", KWHY_PERFETTO_STREAM},
	{"hip_api", KWHY_PERFETTO_CALL},
	{"rocm_hip_api", KWHY_PERFETTO_CALL},
	{"marker_api", KWHY_PERFETTO_RANGE},
	{"rocm_marker_api", KWHY_PERFETTO_RANGE},
	{"user", KWHY_PERFETTO_RANGE},
	{"host", KWHY_PERFETTO_OPERATOR},
	{"python", KWHY_PERFETTO_OPERATOR},
	{"hsa_api", KWHY_PERFETTO_OPERATOR},
	{"rocm_hsa_api", KWHY_PERFETTO_OPERATOR},
	{"rccl_api", KWHY_PERFETTO_OPERATOR},
	{"rocm_rccl_api", KWHY_PERFETTO_OPERATOR},
	{"mpi", KWHY_PERFETTO_OPERATOR},
	{"kokkos", KWHY_PERFETTO_OPERATOR},
	{"ompt", KWHY_PERFETTO_OPERATOR},
	{"pthread", KWHY_PERFETTO_OPERATOR},
	{"memory_allocation", KWHY_PERFETTO_OTHER},
	{"scratch_memory", KWHY_PERFETTO_OTHER},
	{"rocm_scratch_memory", KWHY_PERFETTO_OTHER},
	{"timer_sampling", KWHY_PERFETTO_OTHER},
	{"overflow_sampling", KWHY_PERFETTO_OTHER},
};

static const struct {
	const char *text;
	enum kwhy_perfetto_key key;
} keys[] = {
	{"device", KWHY_KEY_DEVICE},
	{"stream", KWHY_KEY_STREAM},
	{"stream_ID", KWHY_KEY_STREAM},
	{"stream_id", KWHY_KEY_STREAM},
	{"device_row", KWHY_KEY_DEVICE_ROW},
	{"stream_row", KWHY_KEY_STREAM_ROW},
	{"process_row", KWHY_KEY_PROCESS_ROW},
	{"thread_row", KWHY_KEY_THREAD_ROW},
	{"context", KWHY_KEY_CONTEXT},
	{"pid", KWHY_KEY_PID},
	{"tid", KWHY_KEY_TID},
	{"rank", KWHY_KEY_RANK},
	{"world_size", KWHY_KEY_WORLD_SIZE},
	{"sms", KWHY_KEY_SMS},
	{"threads_per_sm", KWHY_KEY_THREADS_PER_SM},
	{"registers_per_sm", KWHY_KEY_REGISTERS_PER_SM},
	{"shared_bytes_per_sm", KWHY_KEY_SHARED_PER_SM},
	{"compute_capability", KWHY_KEY_COMPUTE},
	{"uuid", KWHY_KEY_UUID},
	{"pci", KWHY_KEY_PCI},
	{"host", KWHY_KEY_HOST},
	{"correlation", KWHY_KEY_CORRELATION},
	{"corr_id", KWHY_KEY_CORRELATION},
	{"bytes", KWHY_KEY_BYTES},
	{"copy_bytes", KWHY_KEY_BYTES},
	{"blocks", KWHY_KEY_BLOCKS},
	{"threads_per_block", KWHY_KEY_THREADS},
	{"workgroup_size", KWHY_KEY_THREADS},
	{"grid_size", KWHY_KEY_WORK_ITEMS},
	{"registers", KWHY_KEY_REGISTERS},
	{"shared_bytes", KWHY_KEY_SHARED},
	{"LDS_Block_Size", KWHY_KEY_SHARED},
	{"graph_node", KWHY_KEY_NODE},
	{"copy_kind", KWHY_KEY_COPY_KIND},
	{"src_memory", KWHY_KEY_SOURCE},
	{"dst_memory", KWHY_KEY_TARGET},
	{"peer", KWHY_KEY_PEER},
	{"agent", KWHY_KEY_AGENT},
	{"dst_agent", KWHY_KEY_TARGET_AGENT},
	{"name", KWHY_KEY_NAME},
	{"kind", KWHY_KEY_KIND},
	{"file", KWHY_KEY_FILE},
	{"line", KWHY_KEY_LINE},
	{"inputs", KWHY_KEY_INPUTS},
};

/* Enlarges `roles` or `keys` to have an entry for `name`. New entries are 0. */
static enum kwhy_status reach(uint8_t **table, size_t *capacity, uint32_t name, struct kwhy_error *error)
{
	size_t known = *capacity;
	enum kwhy_status status = KWHY_OK;

	if (name >= known)
		status = kwhy_column_reserve(
			(void **)table, capacity, (size_t)name + 1, 1, "the names of a trace", error);
	if (!status && *capacity > known)
		memset(*table + known, 0, *capacity - known);
	return status;
}

enum kwhy_status kwhy_perfetto_role_of(struct kwhy_perfetto_file *file, uint32_t category,
	enum kwhy_perfetto_role *out, struct kwhy_error *error)
{
	enum kwhy_status status = reach(&file->roles, &file->role_capacity, category, error);
	const char *text = kwhy_names_get(&file->recording->names, category);

	if (status)
		return status;
	if (!file->roles[category]) {
		file->roles[category] = KWHY_PERFETTO_UNKNOWN + 1;
		for (size_t i = 0; i < sizeof(categories) / sizeof(categories[0]); i++)
			if (!strcmp(text, categories[i].text))
				file->roles[category] = (uint8_t)(categories[i].role + 1);
	}
	*out = (enum kwhy_perfetto_role)(file->roles[category] - 1);
	return KWHY_OK;
}

enum kwhy_status kwhy_perfetto_key_of(
	struct kwhy_perfetto_file *file, uint32_t name, enum kwhy_perfetto_key *out, struct kwhy_error *error)
{
	enum kwhy_status status = reach(&file->keys, &file->key_capacity, name, error);
	const char *text = kwhy_names_get(&file->recording->names, name);

	if (status)
		return status;
	if (!file->keys[name]) {
		file->keys[name] = KWHY_KEY_COUNT + 1;
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			if (!strcmp(text, keys[i].text))
				file->keys[name] = (uint8_t)(keys[i].key + 1);
	}
	*out = (enum kwhy_perfetto_key)(file->keys[name] - 1);
	return KWHY_OK;
}

static bool has(const struct kwhy_perfetto_slice *slice, enum kwhy_perfetto_key key)
{
	return slice->seen >> key & 1;
}

static bool is_text(const struct kwhy_perfetto_slice *slice, enum kwhy_perfetto_key key)
{
	return slice->texts >> key & 1;
}

/*
 * Reads an annotation that is a number below `limit`; the result is `otherwise` if it is missing, a text or
 * not below `limit`.
 */
static uint64_t number(const struct kwhy_perfetto_slice *slice, enum kwhy_perfetto_key key, uint64_t limit,
	uint64_t otherwise)
{
	return has(slice, key) && !is_text(slice, key) && slice->value[key] < limit ? slice->value[key]
										    : otherwise;
}

/* The text of an annotation; "": it is missing, or a number. */
static const char *text_of(const struct kwhy_perfetto_file *file, const struct kwhy_perfetto_slice *slice,
	enum kwhy_perfetto_key key)
{
	if (!has(slice, key) || !is_text(slice, key))
		return "";
	return kwhy_names_get(&file->recording->names, (uint32_t)slice->value[key]);
}

/*
 * The number in pair number `skip` of the brackets in a text, counted from 0: with 1 the 0 in "COMPUTE Agent
 * [4] QUEUE [0] GPU". -1: there is no such pair, or no number in it.
 */
static int64_t bracketed(const char *text, int skip)
{
	for (const char *at = strchr(text, '['); at; at = strchr(at + 1, '[')) {
		if (skip-- > 0)
			continue;
		at++;
		at += strspn(at, "\" ");
		return isdigit((unsigned char)*at) && strspn(at, "0123456789") < 10 ? strtol(at, NULL, 10)
										    : -1;
	}
	return -1;
}

static const char *track_name(struct kwhy_perfetto_file *file, uint64_t uuid)
{
	const struct kwhy_perfetto_track *track = kwhy_perfetto_track_find(file, uuid);

	return track && track->name != KWHY_NONE ? kwhy_names_get(&file->recording->names, track->name) : "";
}

/* The number at the end of an agent's name, "Agent-4" or "4"; -1: it has no number. */
static int64_t agent_of(const char *text)
{
	size_t length = strlen(text), first = length;

	while (first > 0 && isdigit((unsigned char)text[first - 1]))
		first--;
	return length > first && length - first < 10 ? strtol(text + first, NULL, 10) : -1;
}

static int64_t device_number(
	struct kwhy_perfetto_file *file, const struct kwhy_perfetto_slice *slice, uint64_t track)
{
	int64_t device = (int64_t)number(slice, KWHY_KEY_DEVICE, INT32_MAX, UINT64_MAX);

	if (device < 0)
		device = (int64_t)number(slice, KWHY_KEY_AGENT, INT32_MAX, UINT64_MAX);
	if (device < 0)
		device = agent_of(text_of(file, slice, KWHY_KEY_AGENT));
	if (device < 0)
		device = bracketed(track_name(file, track), 0);
	if (device < 0)
		device = agent_of(text_of(file, slice, KWHY_KEY_TARGET_AGENT));
	return device < 0 ? 0 : device;
}

static enum kwhy_status find_device(
	struct kwhy_perfetto_file *file, int64_t index, uint32_t *out, struct kwhy_error *error)
{
	struct kwhy_device device = kwhy_device_unknown((int32_t)index, KWHY_NONE);
	struct kwhy_track_key key = {.a = index};
	enum kwhy_status status;

	if (kwhy_track_map_find(&file->devices, key, out))
		return KWHY_OK;
	if (file->devices.map.count >= KWHY_TRACKS_MAX)
		return kwhy_fail(error, KWHY_E_INPUT, "%s names more than %d devices: it is damaged",
			file->path, KWHY_TRACKS_MAX);
	status = kwhy_recording_add_device(file->recording, &device, out, error);
	return status ? status : kwhy_track_map_put(&file->devices, key, *out, error);
}

/* Tables of a recording whose rows kwhy export writes as instant events of category "kwhy.row". */
enum table { TABLE_DEVICE = 1, TABLE_PROCESS, TABLE_THREAD, TABLE_STREAM };

static bool find_row(struct kwhy_perfetto_file *file, enum table table, uint64_t row, uint32_t *out)
{
	return kwhy_track_map_find(&file->by_row, (struct kwhy_track_key){table, (int64_t)row, 0}, out);
}

static enum kwhy_status find_stream(struct kwhy_perfetto_file *file, const struct kwhy_perfetto_slice *slice,
	uint64_t track, uint32_t *out, struct kwhy_error *error)
{
	struct kwhy_stream stream = {.process = file->process, .context = -1};
	enum kwhy_status status;

	if (has(slice, KWHY_KEY_STREAM_ROW) &&
		find_row(file, TABLE_STREAM, slice->value[KWHY_KEY_STREAM_ROW], out))
		return KWHY_OK;
	status = find_device(file, device_number(file, slice, track), &stream.device, error);
	stream.id = (int64_t)number(slice, KWHY_KEY_STREAM, INT64_MAX, UINT64_MAX);
	if (stream.id < 0)
		stream.id = bracketed(track_name(file, track), 1);
	if (stream.id < 0)
		stream.id = (int64_t)(track & INT64_MAX);
	return status ? status : kwhy_tracks_stream(&file->tracks, &stream, out, error);
}

static uint8_t copy_kind_of(const char *text)
{
	for (unsigned i = 0; i < KWHY_COPY_KIND_COUNT; i++)
		if (!strcmp(text, kwhy_copy_kind_name((enum kwhy_copy_kind)i)))
			return (uint8_t)i;
	return KWHY_COPY_UNKNOWN;
}

static uint8_t memory_kind_of(const char *text)
{
	for (unsigned i = 0; i < KWHY_MEMORY_KIND_COUNT; i++)
		if (!strcmp(text, kwhy_memory_kind_name((enum kwhy_memory_kind)i)))
			return (uint8_t)i;
	return KWHY_MEMORY_UNKNOWN;
}

/* Direction of a copy by ROCm's name for it: "MEMORY_COPY_HOST_TO_DEVICE", "CopyHostToDevice". */
static uint8_t copy_kind_of_name(const char *name)
{
	static const struct {
		const char *text;
		enum kwhy_copy_kind kind;
	} ways[] = {
		{"HOST_TO_DEVICE", KWHY_COPY_H2D},
		{"DEVICE_TO_HOST", KWHY_COPY_D2H},
		{"DEVICE_TO_DEVICE", KWHY_COPY_D2D},
		{"HOST_TO_HOST", KWHY_COPY_H2H},
		{"HostToDevice", KWHY_COPY_H2D},
		{"DeviceToHost", KWHY_COPY_D2H},
		{"DeviceToDevice", KWHY_COPY_D2D},
		{"HtoD", KWHY_COPY_H2D},
		{"DtoH", KWHY_COPY_D2H},
		{"DtoD", KWHY_COPY_D2D},
		{"PtoP", KWHY_COPY_P2P},
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strstr(name, ways[i].text))
			return ways[i].kind;
	return KWHY_COPY_UNKNOWN;
}

static void read_transfer(
	struct kwhy_perfetto_file *file, const struct kwhy_perfetto_slice *slice, struct kwhy_activity *row)
{
	row->bytes = number(slice, KWHY_KEY_BYTES, INT64_MAX, KWHY_UNKNOWN_BYTES);
	row->copy_kind = copy_kind_of(text_of(file, slice, KWHY_KEY_COPY_KIND));
	row->src_memory = memory_kind_of(text_of(file, slice, KWHY_KEY_SOURCE));
	row->dst_memory = memory_kind_of(text_of(file, slice, KWHY_KEY_TARGET));
	row->peer = (uint16_t)number(slice, KWHY_KEY_PEER, KWHY_UNKNOWN_U16, KWHY_UNKNOWN_U16);
	if (row->kind == KWHY_ACTIVITY_COPY && !has(slice, KWHY_KEY_COPY_KIND))
		row->copy_kind = copy_kind_of_name(kwhy_names_get(&file->recording->names, row->name));
	file->recording->lost.unknown_bytes += row->bytes == KWHY_UNKNOWN_BYTES;
}

static void read_shape(const struct kwhy_perfetto_slice *slice, struct kwhy_activity *row)
{
	uint64_t items = number(slice, KWHY_KEY_WORK_ITEMS, INT64_MAX, 0);

	row->threads_per_block = (uint16_t)number(
		slice, KWHY_KEY_THREADS, KWHY_UNKNOWN_U16, KWHY_UNKNOWN_U16);
	row->blocks = (uint32_t)number(slice, KWHY_KEY_BLOCKS, KWHY_UNKNOWN_BLOCKS, KWHY_UNKNOWN_BLOCKS);
	row->registers = (uint16_t)number(slice, KWHY_KEY_REGISTERS, KWHY_UNKNOWN_U16, KWHY_UNKNOWN_U16);
	row->shared_bytes = (uint32_t)number(slice, KWHY_KEY_SHARED, KWHY_NONE, KWHY_NONE);
	row->graph_node = (uint32_t)number(slice, KWHY_KEY_NODE, KWHY_NONE, KWHY_NONE);
	if (items && row->threads_per_block && row->threads_per_block != KWHY_UNKNOWN_U16 &&
		items / row->threads_per_block < KWHY_UNKNOWN_BLOCKS)
		row->blocks = (uint32_t)((items + row->threads_per_block - 1) / row->threads_per_block);
}

static enum kwhy_status add_activity(struct kwhy_perfetto_file *file, const struct kwhy_perfetto_slice *slice,
	uint64_t track, int64_t end_ns, enum kwhy_activity_kind kind, struct kwhy_error *error)
{
	struct kwhy_activity row = kwhy_activity_unknown();
	enum kwhy_status status;

	row.start_ns = slice->start_ns;
	row.end_ns = end_ns;
	row.name = slice->name;
	row.kind = kind;
	row.call = (uint32_t)number(slice, KWHY_KEY_CORRELATION, KWHY_NONE, KWHY_NONE);
	read_shape(slice, &row);
	if (kind == KWHY_ACTIVITY_COPY || kind == KWHY_ACTIVITY_MEMSET)
		read_transfer(file, slice, &row);
	if (kind == KWHY_ACTIVITY_KERNEL && !has(slice, KWHY_KEY_STREAM_ROW) &&
		kwhy_collectives_match(
			file->collectives, kwhy_names_get(&file->recording->names, slice->name)))
		row.kind = KWHY_ACTIVITY_COLLECTIVE;
	status = find_stream(file, slice, track, &row.stream, error);
	return status ? status : kwhy_recording_add_activity(file->recording, &row, error);
}

static enum kwhy_status find_thread(struct kwhy_perfetto_file *file, const struct kwhy_perfetto_slice *slice,
	uint64_t uuid, uint32_t *out, struct kwhy_error *error)
{
	const struct kwhy_perfetto_track *track = kwhy_perfetto_track_find(file, uuid);
	struct kwhy_thread thread = {.process = file->process, .tid = -1};

	if (has(slice, KWHY_KEY_THREAD_ROW) &&
		find_row(file, TABLE_THREAD, slice->value[KWHY_KEY_THREAD_ROW], out))
		return KWHY_OK;
	thread.tid = (int64_t)number(
		slice, KWHY_KEY_TID, INT64_MAX, track ? (uint64_t)track->tid : UINT64_MAX);
	if (thread.tid < 0)
		thread.tid = (int64_t)(uuid & INT64_MAX);
	return kwhy_tracks_thread(&file->tracks, &thread, out, error);
}

/* The id of the name that an annotation states; 0, the empty name: it is missing, or a number. */
static uint32_t name_in(const struct kwhy_perfetto_slice *slice, enum kwhy_perfetto_key key)
{
	return has(slice, key) && is_text(slice, key) ? (uint32_t)slice->value[key] : 0;
}

/* Sets the kind, source location and inputs of an operator if kwhy export wrote the slice. */
static void describe_operator(const struct kwhy_perfetto_file *file, const struct kwhy_perfetto_slice *slice,
	struct kwhy_host_range *operator)
{
	const char *category = kwhy_names_get(&file->recording->names, slice->category);

	if (!has(slice, KWHY_KEY_THREAD_ROW))
		return;
	for (int kind = KWHY_HOST_OPERATOR; kind < KWHY_HOST_KIND_COUNT; kind++)
		if (!strcmp(category, kwhy_host_kind_name((enum kwhy_host_kind)kind)))
			operator->kind =(uint8_t) kind;
	operator->file = name_in(slice, KWHY_KEY_FILE);
	operator->line =(uint32_t) number(slice, KWHY_KEY_LINE, UINT32_MAX, 0);
	operator->shape = name_in(slice, KWHY_KEY_INPUTS);
}

/* Whether an export of kwhy states that the range is one of NVTX. */
static bool is_nvtx(const struct kwhy_perfetto_file *file, const struct kwhy_perfetto_slice *slice)
{
	return has(slice, KWHY_KEY_THREAD_ROW) && !strcmp(text_of(file, slice, KWHY_KEY_KIND), "nvtx");
}

static enum kwhy_status add_host(struct kwhy_perfetto_file *file, const struct kwhy_perfetto_slice *slice,
	uint64_t track, int64_t end_ns, enum kwhy_perfetto_role role, struct kwhy_error *error)
{
	const char *name = kwhy_names_get(&file->recording->names, slice->name);
	struct kwhy_host_range operator= {.start_ns = slice->start_ns,
		.end_ns = end_ns,
		.name = slice->name,
		.kind = KWHY_HOST_OPERATOR};
	struct kwhy_range range = {.start_ns = slice->start_ns,
		.end_ns = end_ns,
		.name = slice->name,
		.thread = KWHY_NONE,
		.kind = kwhy_range_kind_of(name, is_nvtx(file, slice) ? KWHY_RANGE_NVTX : KWHY_RANGE_USER)};
	enum kwhy_status status = KWHY_OK;
	uint32_t thread = KWHY_NONE;

	if (role != KWHY_PERFETTO_RANGE || !has(slice, KWHY_KEY_THREAD_ROW) ||
		slice->value[KWHY_KEY_THREAD_ROW] != KWHY_NONE)
		status = find_thread(file, slice, track, &thread, error);
	if (status)
		return status;
	range.thread = operator.thread = thread;
	if (role == KWHY_PERFETTO_RANGE)
		return kwhy_recording_add_range(file->recording, &range, error);
	if (role == KWHY_PERFETTO_OPERATOR)
		describe_operator(file, slice, &operator);
	if (role == KWHY_PERFETTO_OPERATOR)
		return kwhy_recording_add_host_range(file->recording, &operator, error);
	return kwhy_recording_add_call(file->recording, slice->start_ns, end_ns, slice->name, thread,
		(uint32_t)number(slice, KWHY_KEY_CORRELATION, KWHY_NONE, KWHY_NONE), error);
}

static enum kwhy_status add_unknown(struct kwhy_perfetto_file *file, const struct kwhy_perfetto_slice *slice)
{
	file->counts.unknown++;
	file->unknown_category = slice->category;
	return KWHY_OK;
}

enum kwhy_status kwhy_perfetto_slice_add(struct kwhy_perfetto_file *file, struct kwhy_perfetto_slice *slice,
	uint64_t track, int64_t end_ns, struct kwhy_error *error)
{
	static const enum kwhy_activity_kind kinds[] = {
		[KWHY_PERFETTO_KERNEL] = KWHY_ACTIVITY_KERNEL,
		[KWHY_PERFETTO_COLLECTIVE] = KWHY_ACTIVITY_COLLECTIVE,
		[KWHY_PERFETTO_GRAPH] = KWHY_ACTIVITY_GRAPH,
		[KWHY_PERFETTO_COPY] = KWHY_ACTIVITY_COPY,
		[KWHY_PERFETTO_MEMSET] = KWHY_ACTIVITY_MEMSET,
	};
	enum kwhy_perfetto_role role = track ? KWHY_PERFETTO_UNKNOWN : KWHY_PERFETTO_KERNEL;
	enum kwhy_status status = KWHY_OK;

	if (slice->category != KWHY_NONE)
		status = kwhy_perfetto_role_of(file, slice->category, &role, error);
	if (!status && slice->name == KWHY_NONE)
		status = kwhy_names_intern(&file->recording->names, "", 0, &slice->name, error);
	if (status || role == KWHY_PERFETTO_OTHER || role == KWHY_PERFETTO_ROW)
		return status;
	if (end_ns < slice->start_ns) {
		file->counts.unpaired++;
		return KWHY_OK;
	}
	if (role == KWHY_PERFETTO_STREAM)
		role = has(slice, KWHY_KEY_TARGET_AGENT) ? KWHY_PERFETTO_COPY : KWHY_PERFETTO_KERNEL;
	if (role >= KWHY_PERFETTO_KERNEL && role <= KWHY_PERFETTO_MEMSET)
		return add_activity(file, slice, track, end_ns, kinds[role], error);
	if (role == KWHY_PERFETTO_UNKNOWN)
		return add_unknown(file, slice);
	return add_host(file, slice, track, end_ns, role, error);
}

static enum kwhy_status put_row(struct kwhy_perfetto_file *file, enum table table, uint64_t row,
	uint32_t value, struct kwhy_error *error)
{
	return kwhy_track_map_put(
		&file->by_row, (struct kwhy_track_key){table, (int64_t)row, 0}, value, error);
}

/* The text of an annotation, copied so that it lives as long as the recording; NULL: missing or empty. */
static const char *kept_text(
	struct kwhy_perfetto_file *file, const struct kwhy_perfetto_slice *row, enum kwhy_perfetto_key key)
{
	const char *text = text_of(file, row, key);

	return *text ? kwhy_tracks_text(&file->tracks, text, strlen(text)) : NULL;
}

static enum kwhy_status add_device(
	struct kwhy_perfetto_file *file, const struct kwhy_perfetto_slice *row, struct kwhy_error *error)
{
	uint32_t compute = (uint32_t)number(row, KWHY_KEY_COMPUTE, 100000, 0), added;
	struct kwhy_device device = kwhy_device_unknown(
		(int32_t)number(row, KWHY_KEY_DEVICE, INT32_MAX, 0), KWHY_NONE);
	enum kwhy_status status;

	device.rank = (uint32_t)number(row, KWHY_KEY_RANK, KWHY_NONE, KWHY_NONE);
	device.name = kept_text(file, row, KWHY_KEY_NAME);
	device.uuid = kept_text(file, row, KWHY_KEY_UUID);
	device.pci = kept_text(file, row, KWHY_KEY_PCI);
	device.sm_count = (uint32_t)number(row, KWHY_KEY_SMS, UINT32_MAX, 0);
	device.threads_per_sm = (uint32_t)number(row, KWHY_KEY_THREADS_PER_SM, UINT32_MAX, 0);
	device.registers_per_sm = (uint32_t)number(row, KWHY_KEY_REGISTERS_PER_SM, UINT32_MAX, 0);
	device.shared_bytes_per_sm = (uint32_t)number(row, KWHY_KEY_SHARED_PER_SM, UINT32_MAX, 0);
	device.compute_major = compute / 100;
	device.compute_minor = compute % 100;
	status = kwhy_recording_add_device(file->recording, &device, &added, error);
	return status ? status : put_row(file, TABLE_DEVICE, row->value[KWHY_KEY_DEVICE_ROW], added, error);
}

static enum kwhy_status add_process(
	struct kwhy_perfetto_file *file, const struct kwhy_perfetto_slice *row, struct kwhy_error *error)
{
	uint32_t added = file->process;
	struct kwhy_process process = {.pid = (int64_t)number(row, KWHY_KEY_PID, INT64_MAX, UINT64_MAX),
		.rank = (uint32_t)number(row, KWHY_KEY_RANK, KWHY_NONE, KWHY_NONE),
		.world_size = (uint32_t)number(row, KWHY_KEY_WORLD_SIZE, UINT32_MAX, 0),
		.machine = KWHY_NONE,
		.host = kept_text(file, row, KWHY_KEY_HOST),
		.source = file->tracks.source};
	enum kwhy_status status = KWHY_OK;

	if (row->value[KWHY_KEY_PROCESS_ROW] ==
		0) /* replaces the process that was added when the file was opened */
		file->recording->processes[file->process] = process;
	else
		status = kwhy_recording_add_process(file->recording, &process, &added, error);
	return status ? status : put_row(file, TABLE_PROCESS, row->value[KWHY_KEY_PROCESS_ROW], added, error);
}

static enum kwhy_status add_thread(
	struct kwhy_perfetto_file *file, const struct kwhy_perfetto_slice *row, struct kwhy_error *error)
{
	struct kwhy_thread thread = {
		.process = file->process, .tid = (int64_t)number(row, KWHY_KEY_TID, UINT64_MAX, UINT64_MAX)};
	enum kwhy_status status;
	uint32_t added;

	find_row(file, TABLE_PROCESS, number(row, KWHY_KEY_PROCESS_ROW, UINT32_MAX, 0), &thread.process);
	status = kwhy_recording_add_thread(file->recording, &thread, &added, error);
	return status ? status : put_row(file, TABLE_THREAD, row->value[KWHY_KEY_THREAD_ROW], added, error);
}

static enum kwhy_status add_stream(
	struct kwhy_perfetto_file *file, const struct kwhy_perfetto_slice *row, struct kwhy_error *error)
{
	struct kwhy_stream stream = {.process = file->process,
		.context = (int64_t)number(row, KWHY_KEY_CONTEXT, INT64_MAX, UINT64_MAX),
		.id = (int64_t)number(row, KWHY_KEY_STREAM, INT64_MAX, UINT64_MAX)};
	enum kwhy_status status;
	uint32_t added;

	if (!find_row(file, TABLE_DEVICE, number(row, KWHY_KEY_DEVICE_ROW, UINT32_MAX, 0), &stream.device))
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s: a stream is of a device that the file does not describe; export it again",
			file->path);
	find_row(file, TABLE_PROCESS, number(row, KWHY_KEY_PROCESS_ROW, UINT32_MAX, 0), &stream.process);
	status = kwhy_recording_add_stream(file->recording, &stream, &added, error);
	return status ? status : put_row(file, TABLE_STREAM, row->value[KWHY_KEY_STREAM_ROW], added, error);
}

enum kwhy_status kwhy_perfetto_row_add(
	struct kwhy_perfetto_file *file, const struct kwhy_perfetto_slice *row, struct kwhy_error *error)
{
	enum kwhy_perfetto_role role = KWHY_PERFETTO_UNKNOWN;
	enum kwhy_status status = KWHY_OK;

	if (row->category != KWHY_NONE)
		status = kwhy_perfetto_role_of(file, row->category, &role, error);
	if (status || role != KWHY_PERFETTO_ROW)
		return status;
	if (file->by_row.map.count >= 4 * KWHY_TRACKS_MAX)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s describes too many streams and threads: it is damaged", file->path);
	if (has(row, KWHY_KEY_STREAM_ROW))
		return add_stream(file, row, error);
	if (has(row, KWHY_KEY_THREAD_ROW))
		return add_thread(file, row, error);
	if (has(row, KWHY_KEY_PROCESS_ROW))
		return add_process(file, row, error);
	return has(row, KWHY_KEY_DEVICE_ROW) ? add_device(file, row, error) : KWHY_OK;
}
