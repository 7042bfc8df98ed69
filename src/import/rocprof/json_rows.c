/* SPDX-License-Identifier: Apache-2.0 */
#include "import/kineto/escape.h"
#include "import/rocprof/fields.h"
#include "import/rocprof/json.h"

#include <string.h>

static enum kwhy_status put_text(struct kwhy_rocprof_json *json, struct kwhy_track_map *map,
	struct kwhy_track_key key, struct kwhy_span text, struct kwhy_error *error)
{
	char plain[KWHY_NAME_MAX_BYTES + 8];
	uint32_t name;
	enum kwhy_status status = kwhy_names_intern(&json->rocprof.recording->names, plain,
		kwhy_kineto_unescape(text.bytes, text.length, plain), &name, error);

	return status ? status : kwhy_track_map_put(map, key, name, error);
}

enum kwhy_status kwhy_rocprof_json_metadata(
	struct kwhy_rocprof_json *json, const struct kwhy_kineto_walk *walk, struct kwhy_error *error)
{
	static const struct kwhy_rocprof_field fields[] = {{"", "pid"}, {"node", "hostname"}};
	struct kwhy_rocprof_value values[2];
	const char *host = NULL;

	kwhy_rocprof_fields_walk(*walk, fields, 2, values);
	if (values[1].text.length > 0)
		host = kwhy_tracks_text(&json->rocprof.tracks, values[1].text.bytes, values[1].text.length);
	kwhy_rocprof_json_forget(json);
	json->has_process = true;
	return kwhy_rocprof_process(&json->rocprof, values[0].number, host, error);
}

void kwhy_rocprof_json_forget(struct kwhy_rocprof_json *json)
{
	struct kwhy_track_map *maps[] = {
		&json->symbol_names, &json->symbol_registers, &json->operations, &json->messages};

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		kwhy_track_map_done(maps[i]);
		*maps[i] = (struct kwhy_track_map){0};
	}
}

/*
 * If the current process of the file has no metadata, as when another tool rewrote the file, adds a process
 * without a number.
 */
static enum kwhy_status need_process(struct kwhy_rocprof_json *json, struct kwhy_error *error)
{
	if (json->has_process)
		return KWHY_OK;
	kwhy_rocprof_json_forget(json);
	json->has_process = true;
	return kwhy_rocprof_process(&json->rocprof, KWHY_ROCPROF_UNKNOWN, NULL, error);
}

static enum kwhy_status read_agent(
	struct kwhy_rocprof_json *json, const struct kwhy_kineto_walk *walk, struct kwhy_error *error)
{
	struct kwhy_rocprof_value values[KWHY_ROCPROF_AGENT_FIELDS];
	struct kwhy_rocprof_figures figures;
	enum kwhy_status status = need_process(json, error);

	if (status)
		return status;
	kwhy_rocprof_fields_walk(*walk, kwhy_rocprof_agent_fields, KWHY_ROCPROF_AGENT_FIELDS, values);
	figures = kwhy_rocprof_figures_of(values);
	return kwhy_rocprof_agent_add(&json->rocprof, &figures, error);
}

static enum kwhy_status read_marker_text(
	struct kwhy_rocprof_json *json, const struct kwhy_kineto_walk *walk, struct kwhy_error *error)
{
	static const struct kwhy_rocprof_field fields[] = {{"", "key"}, {"", "value"}};
	struct kwhy_rocprof_value values[2];
	enum kwhy_status status = need_process(json, error);

	if (status)
		return status;
	kwhy_rocprof_fields_walk(*walk, fields, 2, values);
	return put_text(
		json, &json->messages, (struct kwhy_track_key){.a = values[0].number}, values[1].text, error);
}

/*
 * Reads an element {"kind": NAME, "operations": [NAME...]} of the list of kinds. A record refers to the kind
 * by its position in the list, and to the operation by its position in "operations", both from 0.
 */
static enum kwhy_status read_kind(
	struct kwhy_rocprof_json *json, const struct kwhy_kineto_walk *walk, struct kwhy_error *error)
{
	struct kwhy_kineto_walk at = *walk;
	struct kwhy_track_key key = {.a = (int64_t)json->rocprof.number - 1};
	struct kwhy_kineto_span span;
	enum kwhy_status status = need_process(json, error);

	if (kwhy_kineto_walk_peek(&at) != '{')
		return status;
	for (at.token++; kwhy_kineto_walk_peek(&at) != '}'; at.token += kwhy_kineto_walk_peek(&at) == ',') {
		if (!kwhy_kineto_walk_key(&at, &span))
			return status;
		if (kwhy_kineto_walk_peek(&at) != '[') {
			if (!kwhy_kineto_walk_skip(&at))
				return status;
			continue;
		}
		for (at.token++; !status && kwhy_kineto_walk_peek(&at) != ']';
			at.token += kwhy_kineto_walk_peek(&at) == ',', key.b++) {
			if (!kwhy_kineto_walk_value(&at, &span))
				return status;
			if (at.text[span.at] == '"')
				status = put_text(json, &json->operations, key,
					(struct kwhy_span){at.text + span.at + 1, span.length - 2}, error);
		}
		if (status)
			return status;
		at.token++;
	}
	return status;
}

static enum kwhy_status read_symbol(
	struct kwhy_rocprof_json *json, const struct kwhy_kineto_walk *walk, struct kwhy_error *error)
{
	static const struct kwhy_rocprof_field fields[] = {{"", "kernel_id"}, {"", "arch_vgpr_count"},
		{"", "accum_vgpr_count"}, {"", "formatted_kernel_name"}, {"", "kernel_name"}};
	struct kwhy_rocprof_value values[5];
	struct kwhy_track_key key;
	char plain[KWHY_NAME_MAX_BYTES + 8];
	struct kwhy_span text;
	int64_t registers;
	uint32_t name;
	enum kwhy_status status = need_process(json, error);

	if (status)
		return status;
	kwhy_rocprof_fields_walk(*walk, fields, 5, values);
	text = values[3].text.length > 0 ? values[3].text : values[4].text;
	text = (struct kwhy_span){plain, kwhy_kineto_unescape(text.bytes, text.length, plain)};
	key = (struct kwhy_track_key){.a = values[0].number};
	registers = values[1].number + (values[2].number > 0 ? values[2].number : 0);
	status = kwhy_rocprof_name(&json->rocprof, text, &name, error);
	if (!status)
		status = kwhy_track_map_put(&json->symbol_names, key, name, error);
	if (!status && registers >= 0 && registers < KWHY_UNKNOWN_U16)
		status = kwhy_track_map_put(&json->symbol_registers, key, (uint32_t)registers, error);
	return status;
}

/* Fields of records of all kinds. */
enum record_field {
	RECORD_START,
	RECORD_END,
	RECORD_CORRELATION,
	RECORD_THREAD,
	RECORD_KIND,
	RECORD_OPERATION,
	RECORD_STREAM,
	RECORD_AGENT,
	RECORD_QUEUE,
	RECORD_FIELD_COUNT
};

#define RECORD_FIELDS                                                                               \
	[RECORD_START] = {"", "start_timestamp"}, [RECORD_END] = {"", "end_timestamp"},             \
	[RECORD_CORRELATION] = {"correlation_id", "internal"}, [RECORD_THREAD] = {"", "thread_id"}, \
	[RECORD_KIND] = {"", "kind"}, [RECORD_OPERATION] = {"", "operation"},                       \
	[RECORD_STREAM] = {"stream_id", "handle"}, [RECORD_AGENT] = {"agent_id", "handle"},         \
	[RECORD_QUEUE] = {"queue_id", "handle"}

static struct kwhy_rocprof_work work_of(const struct kwhy_rocprof_value *values)
{
	return (struct kwhy_rocprof_work){.start_ns = values[RECORD_START].number,
		.end_ns = values[RECORD_END].number,
		.agent = values[RECORD_AGENT].number,
		.stream = values[RECORD_STREAM].number != KWHY_ROCPROF_UNKNOWN ? values[RECORD_STREAM].number
									       : values[RECORD_QUEUE].number,
		.correlation = values[RECORD_CORRELATION].number,
		.graph_node = KWHY_ROCPROF_UNKNOWN};
}

/* Sets *out_name to the name of the function of a call, or of the direction of a copy; 0: unknown. */
static void find_operation(
	struct kwhy_rocprof_json *json, const struct kwhy_rocprof_value *values, uint32_t *out_name)
{
	const struct kwhy_track_key key = {
		.a = values[RECORD_KIND].number, .b = values[RECORD_OPERATION].number};

	if (!kwhy_track_map_find(&json->operations, key, out_name))
		*out_name = 0;
}

enum kernel_field {
	KERNEL_ID = RECORD_FIELD_COUNT,
	KERNEL_SHARED,
	KERNEL_GROUP_X,
	KERNEL_GROUP_Y,
	KERNEL_GROUP_Z,
	KERNEL_GRID_X,
	KERNEL_GRID_Y,
	KERNEL_GRID_Z,
	KERNEL_FIELD_COUNT
};

static enum kwhy_status read_kernel(
	struct kwhy_rocprof_json *json, const struct kwhy_kineto_walk *walk, struct kwhy_error *error)
{
	static const struct kwhy_rocprof_field fields[KERNEL_FIELD_COUNT] = {
		RECORD_FIELDS, [KERNEL_ID] = {"dispatch_info", "kernel_id"},
		[KERNEL_SHARED] = {"dispatch_info", "group_segment_size"},
		[KERNEL_GROUP_X] = {"workgroup_size", "x"}, [KERNEL_GROUP_Y] = {"workgroup_size", "y"},
		[KERNEL_GROUP_Z] = {"workgroup_size", "z"}, [KERNEL_GRID_X] = {"grid_size", "x"},
		[KERNEL_GRID_Y] = {"grid_size", "y"}, [KERNEL_GRID_Z] = {"grid_size", "z"}};
	struct kwhy_rocprof_value values[KERNEL_FIELD_COUNT];
	struct kwhy_rocprof_kernel kernel = {.registers = KWHY_ROCPROF_UNKNOWN};
	struct kwhy_track_key key;
	uint32_t registers;
	enum kwhy_status status = need_process(json, error);

	if (status)
		return status;
	kwhy_rocprof_fields_walk(*walk, fields, KERNEL_FIELD_COUNT, values);
	key = (struct kwhy_track_key){.a = values[KERNEL_ID].number};
	kernel.work = work_of(values);
	kernel.shared_bytes = values[KERNEL_SHARED].number;
	if (!kwhy_track_map_find(&json->symbol_names, key, &kernel.name))
		kernel.name = 0;
	if (kwhy_track_map_find(&json->symbol_registers, key, &registers))
		kernel.registers = registers;
	for (size_t i = 0; i < 3; i++) {
		kernel.workgroup[i] = values[KERNEL_GROUP_X + i].number;
		kernel.grid[i] = values[KERNEL_GRID_X + i].number;
	}
	return kwhy_rocprof_pass(&json->rocprof, kwhy_rocprof_kernel_add(&json->rocprof, &kernel, error));
}

enum { COPY_SOURCE = RECORD_FIELD_COUNT, COPY_DESTINATION, COPY_BYTES, COPY_FIELD_COUNT };

static enum kwhy_status read_copy(
	struct kwhy_rocprof_json *json, const struct kwhy_kineto_walk *walk, struct kwhy_error *error)
{
	static const struct kwhy_rocprof_field fields[COPY_FIELD_COUNT] = {
		RECORD_FIELDS, [COPY_SOURCE] = {"src_agent_id", "handle"},
		[COPY_DESTINATION] = {"dst_agent_id", "handle"}, [COPY_BYTES] = {"", "bytes"}};
	struct kwhy_rocprof_value values[COPY_FIELD_COUNT];
	struct kwhy_rocprof_copy copy = {0};
	const char *name;
	uint32_t operation;
	enum kwhy_status status = need_process(json, error);

	if (status)
		return status;
	kwhy_rocprof_fields_walk(*walk, fields, COPY_FIELD_COUNT, values);
	find_operation(json, values, &operation);
	name = kwhy_names_get(&json->rocprof.recording->names, operation);
	copy.work = work_of(values);
	copy.source = values[COPY_SOURCE].number;
	copy.destination = values[COPY_DESTINATION].number;
	copy.bytes = values[COPY_BYTES].number;
	copy.direction = (struct kwhy_span){name, strlen(name)};
	return kwhy_rocprof_pass(&json->rocprof, kwhy_rocprof_copy_add(&json->rocprof, &copy, error));
}

static enum kwhy_status read_host(struct kwhy_rocprof_json *json, const struct kwhy_kineto_walk *walk,
	bool is_range, struct kwhy_error *error)
{
	static const struct kwhy_rocprof_field fields[RECORD_FIELD_COUNT] = {RECORD_FIELDS};
	struct kwhy_rocprof_value values[RECORD_FIELD_COUNT];
	struct kwhy_rocprof_host host = {0};
	uint32_t name;
	enum kwhy_status status = need_process(json, error);

	if (status)
		return status;
	kwhy_rocprof_fields_walk(*walk, fields, RECORD_FIELD_COUNT, values);
	host.start_ns = values[RECORD_START].number;
	host.end_ns = values[RECORD_END].number;
	host.thread = values[RECORD_THREAD].number;
	host.correlation = values[RECORD_CORRELATION].number;
	find_operation(json, values, &name);
	if (is_range)
		kwhy_track_map_find(&json->messages, (struct kwhy_track_key){.a = host.correlation}, &name);
	host.name.bytes = kwhy_names_get(&json->rocprof.recording->names, name);
	host.name.length = strlen(host.name.bytes);
	status = is_range ? kwhy_rocprof_range_add(&json->rocprof, &host, error)
			  : kwhy_rocprof_call_add(&json->rocprof, &host, error);
	return kwhy_rocprof_pass(&json->rocprof, status);
}

static enum kwhy_status read_call(
	struct kwhy_rocprof_json *json, const struct kwhy_kineto_walk *walk, struct kwhy_error *error)
{
	return read_host(json, walk, false, error);
}

static enum kwhy_status read_range(
	struct kwhy_rocprof_json *json, const struct kwhy_kineto_walk *walk, struct kwhy_error *error)
{
	return read_host(json, walk, true, error);
}

kwhy_rocprof_json_read *const kwhy_rocprof_json_readers[KWHY_ROCPROF_LEVEL_COUNT] = {
	[KWHY_ROCPROF_AGENTS] = read_agent,
	[KWHY_ROCPROF_MARKERS] = read_marker_text,
	[KWHY_ROCPROF_KINDS] = read_kind,
	[KWHY_ROCPROF_SYMBOLS] = read_symbol,
	[KWHY_ROCPROF_KERNELS] = read_kernel,
	[KWHY_ROCPROF_COPIES] = read_copy,
	[KWHY_ROCPROF_CALLS] = read_call,
	[KWHY_ROCPROF_OTHER_CALLS] = read_call,
	[KWHY_ROCPROF_RANGES] = read_range,
};
