/* SPDX-License-Identifier: Apache-2.0 */
#include "import/kineto/file.h"
#include "import/kineto/number.h"
#include "model/operator_work.h"

#include <inttypes.h>
#include <string.h>

/* FIELD(PID) is the constant KWHY_KINETO_FIELD_PID of enum kwhy_kineto_field, and so on. */
#define FIELD(name) KWHY_KINETO_FIELD_##name

enum kwhy_status kwhy_kineto_unusable(const struct kwhy_kineto_file *file,
	const struct kwhy_kineto_event *event, enum kwhy_kineto_field field, const char *why,
	struct kwhy_error *error)
{
	struct kwhy_kineto_span name = kwhy_kineto_event_text(event, FIELD(NAME));
	uint32_t at = kwhy_kineto_event_has(event, field) ? event->field[field].at : event->at;

	return kwhy_fail(error, KWHY_E_INPUT,
		"%s: \"%s\" of the event \"%.*s\" %s at byte %" PRIu64
		"; correct it, or leave such events out with --partial",
		file->path, kwhy_kineto_field_text(field), name.length < 60 ? (int)name.length : 60,
		event->text + name.at, why, event->text_offset + at);
}

static enum kwhy_status read_time(struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event,
	enum kwhy_kineto_field field, int64_t *out_ns, struct kwhy_error *error)
{
	static const char *const why[] = {
		[KWHY_KINETO_NUMBER_NONE] = "is not a number",
		[KWHY_KINETO_NUMBER_LARGE] = "is too large for a time",
	};
	struct kwhy_kineto_span span = event->field[field];
	enum kwhy_kineto_number result;

	if (!kwhy_kineto_event_has(event, field))
		return kwhy_kineto_unusable(file, event, field, "is missing", error);
	result = kwhy_kineto_number_time(event->text + span.at, span.length, out_ns);
	if (result)
		return kwhy_kineto_unusable(file, event, field, why[result], error);
	if (!file->counts.fractional)
		file->counts.fractional = memchr(event->text + span.at, '.', span.length) != NULL;
	return KWHY_OK;
}

enum kwhy_status kwhy_kineto_read_times(struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event,
	int64_t *start_ns, int64_t *end_ns, struct kwhy_error *error)
{
	int64_t length_ns;
	enum kwhy_status status = read_time(file, event, FIELD(TS), start_ns, error);

	if (!status)
		status = read_time(file, event, FIELD(DUR), &length_ns, error);
	if (status)
		return status;
	if (length_ns < 0)
		return kwhy_kineto_unusable(file, event, FIELD(DUR), "is negative", error);
	*end_ns = *start_ns + length_ns;
	if (*end_ns > KWHY_KINETO_TIME_MAX_NS)
		return kwhy_kineto_unusable(file, event, FIELD(DUR), "ends too late for a time", error);
	return KWHY_OK;
}

/* Reads a whole number from 0 to `limit` - 1; the result is `otherwise` if the field is anything else. */
static int64_t number_below(
	const struct kwhy_kineto_event *event, enum kwhy_kineto_field field, int64_t limit, int64_t otherwise)
{
	int64_t value;

	if (!kwhy_kineto_event_integer(event, field, &value) || value < 0 || value >= limit)
		return otherwise;
	return value;
}

/* The correlation id of an event; KWHY_NONE: unknown. Ids start at 1, so 0 means unknown, too. */
static uint32_t correlation_of(const struct kwhy_kineto_event *event)
{
	int64_t id = number_below(event, FIELD(CORRELATION), KWHY_NONE, 0);

	return id ? (uint32_t)id : KWHY_NONE;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Product of the numbers in a field such as "grid": [600, 2, 1]. The result is `otherwise` if the field is
 * missing, is no array, is empty or has a 0, or if the product is not below `limit`.
 */
static int64_t product_below(
	const struct kwhy_kineto_event *event, enum kwhy_kineto_field field, int64_t limit, int64_t otherwise)
{
	const char *at = event->text + event->field[field].at;
	const char *end = at + event->field[field].length;
	int64_t product = 1;

	if (!kwhy_kineto_event_has(event, field) || *at != '[' || event->field[field].length == 2)
		return otherwise;
	while (++at < end) {
		const char *first = at;
		int64_t value;

		while (at < end && is_digit(*at))
			at++;
		if (at == first)
			continue;
		if (!kwhy_kineto_number_integer(first, (size_t)(at - first), &value))
			return otherwise;
		if (value == 0 || product > (limit - 1) / value)
			return otherwise;
		product *= value;
	}
	return product;
}

/*
 * Whether a record has no times: the profiler then writes start 0 and duration 0. Such a record is counted
 * here; the caller leaves it out.
 */
static bool is_untimed(struct kwhy_kineto_file *file, int64_t start_ns, int64_t end_ns)
{
	bool untimed = start_ns == 0 && end_ns == 0;

	file->counts.untimed += untimed;
	return untimed;
}

static enum kwhy_status read_name(struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event,
	enum kwhy_kineto_field field, uint32_t *out, struct kwhy_error *error)
{
	struct kwhy_kineto_span name = kwhy_kineto_event_text(event, field);

	return kwhy_kineto_name(file, event->text + name.at, name.length, out, error);
}

enum kwhy_status kwhy_kineto_read_name(struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event,
	uint32_t *out, struct kwhy_error *error)
{
	return read_name(file, event, FIELD(NAME), out, error);
}

/* Reads what the events of all activities state: times, name, stream, correlation id and graph node. */
static enum kwhy_status read_activity(struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event,
	struct kwhy_activity *activity, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_kineto_read_times(
		file, event, &activity->start_ns, &activity->end_ns, error);
	int64_t node = number_below(event, FIELD(GRAPH_NODE), KWHY_NONE, 0);

	if (!status)
		status = kwhy_kineto_find_stream(file, event, &activity->stream, error);
	if (!status)
		status = read_name(file, event, FIELD(NAME), &activity->name, error);
	activity->call = correlation_of(event);
	activity->graph_node = node ? (uint32_t)node : KWHY_NONE;
	return status;
}

static enum kwhy_status add_collective(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error)
{
	struct kwhy_collective row = {.activity = (uint32_t)file->recording->activities.count - 1};
	enum kwhy_status status = read_name(file, event, FIELD(COLLECTIVE), &row.operation, error);

	if (!status)
		status = read_name(file, event, FIELD(COLLECTIVE_TYPE), &row.type, error);
	if (!status)
		status = read_name(file, event, FIELD(GROUP_NAME), &row.group, error);
	if (!status)
		status = read_name(file, event, FIELD(GROUP_MEMBERS), &row.members, error);
	if (status)
		return status;
	row.group_size = (uint32_t)number_below(event, FIELD(GROUP_SIZE), UINT32_MAX, 0);
	row.in_elements = (uint64_t)number_below(event, FIELD(IN_ELEMENTS), INT64_MAX, -1);
	row.out_elements = (uint64_t)number_below(event, FIELD(OUT_ELEMENTS), INT64_MAX, -1);
	row.sequence = number_below(event, FIELD(SEQUENCE), INT64_MAX, -1);
	return kwhy_recording_add_collective(file->recording, &row, error);
}

enum kwhy_status kwhy_kineto_add_activity(
	struct kwhy_kineto_file *file, const struct kwhy_activity *row, struct kwhy_error *error)
{
	bool copy = row->kind == KWHY_ACTIVITY_COPY;
	bool unsized = row->bytes == KWHY_UNKNOWN_BYTES && (copy || row->kind == KWHY_ACTIVITY_MEMSET);

	if (is_untimed(file, row->start_ns, row->end_ns))
		return KWHY_OK;
	file->recording->lost.unknown_bytes += unsized;
	file->counts.copies_without_bytes += unsized && copy;
	file->counts.graph_kernels += row->graph_node != KWHY_NONE;
	return kwhy_recording_add_activity(file->recording, row, error);
}

/*
 * Product of three successive fields such as "grid_x", "grid_y" and "grid_z". The result is `otherwise` if
 * one of them is missing, 0 or not a number, or if the product is not below `limit`.
 */
static int64_t product_of_three(
	const struct kwhy_kineto_event *event, enum kwhy_kineto_field first, int64_t limit, int64_t otherwise)
{
	int64_t product = 1;

	for (unsigned i = 0; i < 3; i++) {
		int64_t factor = number_below(event, first + i, limit, 0);

		if (factor == 0 || product > (limit - 1) / factor)
			return otherwise;
		product *= factor;
	}
	return product;
}

static void read_launch_shape(const struct kwhy_kineto_event *event, struct kwhy_activity *row)
{
	row->blocks = (uint32_t)product_below(event, FIELD(GRID), KWHY_UNKNOWN_BLOCKS, KWHY_UNKNOWN_BLOCKS);
	row->threads_per_block = (uint16_t)product_below(
		event, FIELD(BLOCK), KWHY_UNKNOWN_U16, KWHY_UNKNOWN_U16);
	if (kwhy_kineto_event_has(event, FIELD(GRID_X))) {
		row->blocks = (uint32_t)product_of_three(
			event, FIELD(GRID_X), KWHY_UNKNOWN_BLOCKS, KWHY_UNKNOWN_BLOCKS);
		row->threads_per_block = (uint16_t)product_of_three(
			event, FIELD(BLOCK_X), KWHY_UNKNOWN_U16, KWHY_UNKNOWN_U16);
	}
	row->registers = (uint16_t)number_below(event, FIELD(REGISTERS), KWHY_UNKNOWN_U16, KWHY_UNKNOWN_U16);
	row->shared_bytes = (uint32_t)number_below(event, FIELD(SHARED), KWHY_NONE, KWHY_NONE);
}

/* The device number of the other device in a copy between devices; KWHY_UNKNOWN_U16: unknown. */
static uint16_t peer_of(const struct kwhy_kineto_event *event)
{
	int64_t own = number_below(event, FIELD(DEVICE), INT32_MAX, -1);
	int64_t from = number_below(event, FIELD(FROM_DEVICE), KWHY_UNKNOWN_U16, KWHY_UNKNOWN_U16);
	int64_t to = number_below(event, FIELD(TO_DEVICE), KWHY_UNKNOWN_U16, KWHY_UNKNOWN_U16);

	return (uint16_t)(from == own ? to : from);
}

/*
 * Sets direction and memory kinds of a copy or memset by its name; if the name states no direction, by the
 * field "kind". The result for the name is kept for the next copy, which often has the same name.
 */
static void read_copy(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_activity *row)
{
	struct kwhy_kineto_span kind = kwhy_kineto_event_text(event, FIELD(COPY_KIND));
	char text[64];

	if (file->copy_name != row->name || file->copy.kind != row->kind) {
		file->copy_name = row->name;
		file->copy = *row;
		kwhy_kineto_copy_read(kwhy_names_get(&file->recording->names, row->name), &file->copy);
	}
	row->copy_kind = file->copy.copy_kind;
	row->src_memory = file->copy.src_memory;
	row->dst_memory = file->copy.dst_memory;
	if (row->kind == KWHY_ACTIVITY_COPY && !row->copy_kind && kind.length && kind.length < sizeof(text)) {
		memcpy(text, event->text + kind.at, kind.length);
		text[kind.length] = '\0';
		kwhy_kineto_copy_read(text, row);
	}
	if (row->copy_kind == KWHY_COPY_P2P)
		row->peer = peer_of(event);
}

/*
 * Whether an event of category "kernel" is a copy: ONNX Runtime, recognised by "grid_x", writes copies as
 * kernels named "MemcpyHostToDevice" and the like.
 */
static bool is_ort_copy(const struct kwhy_kineto_event *event)
{
	struct kwhy_kineto_span name = kwhy_kineto_event_text(event, FIELD(NAME));

	return kwhy_kineto_event_has(event, FIELD(GRID_X)) && name.length >= 6 &&
		!memcmp(event->text + name.at, "Memcpy", 6);
}

static enum kwhy_status add_kernel(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error)
{
	struct kwhy_activity row = kwhy_activity_unknown();
	size_t before = file->recording->activities.count;
	enum kwhy_status status = read_activity(file, event, &row, error);
	bool collective = false;

	if (!status)
		status = kwhy_kineto_is_collective(file, row.name, &collective, error);
	if (status)
		return status;
	row.kind = collective ? KWHY_ACTIVITY_COLLECTIVE : KWHY_ACTIVITY_KERNEL;
	read_launch_shape(event, &row);
	if (is_ort_copy(event)) {
		row.kind = KWHY_ACTIVITY_COPY;
		read_copy(file, event, &row);
	}
	status = kwhy_kineto_add_activity(file, &row, error);
	if (!status && file->recording->activities.count > before && collective &&
		kwhy_kineto_event_has(event, FIELD(COLLECTIVE)))
		status = add_collective(file, event, error);
	return status;
}

static enum kwhy_status add_transfer(struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event,
	enum kwhy_activity_kind kind, struct kwhy_error *error)
{
	struct kwhy_activity row = kwhy_activity_unknown();
	enum kwhy_status status = read_activity(file, event, &row, error);

	if (status)
		return status;
	row.kind = kind;
	row.bytes = (uint64_t)number_below(event, FIELD(BYTES), INT64_MAX, -1);
	read_copy(file, event, &row);
	return kwhy_kineto_add_activity(file, &row, error);
}

static enum kwhy_status add_copy(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error)
{
	return add_transfer(file, event, KWHY_ACTIVITY_COPY, error);
}

static enum kwhy_status add_memset(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error)
{
	return add_transfer(file, event, KWHY_ACTIVITY_MEMSET, error);
}

static enum kwhy_status add_call(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error)
{
	struct kwhy_kineto_span text = kwhy_kineto_event_text(event, FIELD(NAME));
	int64_t start_ns, end_ns;
	uint32_t name, thread;
	enum kwhy_status status = kwhy_kineto_read_times(file, event, &start_ns, &end_ns, error);

	if (!status)
		status = kwhy_kineto_find_thread(file, event, &thread, error);
	if (!status)
		status = kwhy_kineto_call_name(file, event->text + text.at, text.length, &name, error);
	if (status || is_untimed(file, start_ns, end_ns))
		return status;
	return kwhy_recording_add_call(
		file->recording, start_ns, end_ns, name, thread, correlation_of(event), error);
}

/* Whether an export of kwhy states that the range is one of NVTX. */
static bool is_nvtx(const struct kwhy_kineto_event *event)
{
	struct kwhy_kineto_span kind = kwhy_kineto_event_text(event, FIELD(COPY_KIND));

	return kind.length == 4 && !memcmp(event->text + kind.at, "nvtx", 4);
}

static enum kwhy_status add_range(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error)
{
	struct kwhy_range row;
	enum kwhy_status status = kwhy_kineto_read_times(file, event, &row.start_ns, &row.end_ns, error);

	if (!status)
		status = kwhy_kineto_find_thread(file, event, &row.thread, error);
	if (!status)
		status = read_name(file, event, FIELD(NAME), &row.name, error);
	if (status)
		return status;
	row.kind = kwhy_range_kind_of(kwhy_names_get(&file->recording->names, row.name),
		is_nvtx(event) ? KWHY_RANGE_NVTX : KWHY_RANGE_USER);
	return kwhy_recording_add_range(file->recording, &row, error);
}

/*
 * Reads times and thread of a host range (an operator, function, system call or frame). A range without
 * usable times is no error, because the activities of devices are complete without it: it is counted,
 * *out_usable becomes false, and the caller leaves it out.
 */
static enum kwhy_status read_host_range(struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event,
	struct kwhy_host_range *row, bool *out_usable, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_kineto_read_times(file, event, &row->start_ns, &row->end_ns, error);

	*out_usable = status == KWHY_OK;
	if (status == KWHY_E_INPUT) {
		file->counts.untimed_host_ranges++;
		return KWHY_OK;
	}
	return status ? status : kwhy_kineto_find_thread(file, event, &row->thread, error);
}

/* Whether an operator is a call of Level Zero or OpenCL; unitrace writes them as operators. */
static bool is_intel_call(const struct kwhy_kineto_event *event)
{
	struct kwhy_kineto_span name = kwhy_kineto_event_text(event, FIELD(NAME));
	const char *text = event->text + name.at;

	return name.length > 2 && (!memcmp(text, "ze", 2) || !memcmp(text, "cl", 2)) && text[2] >= 'A' &&
		text[2] <= 'Z';
}

/*
 * Sets *out_shape to a name of three parts, the dimensions, types and values of an operator's inputs, from
 * which kwhy can compute the operator's work (model/operator_work.h). 0: the operator is not one of those
 * that kwhy knows, or its inputs are unknown or too long for a name.
 */
static enum kwhy_status read_shape(struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event,
	uint32_t operator, uint32_t * out_shape, struct kwhy_error *error)
{
	enum kwhy_kineto_field fields[] = {
		kwhy_kineto_event_has(event, FIELD(INPUT_DIMS)) ? FIELD(INPUT_DIMS) : FIELD(INPUT_DIMS_2020),
		FIELD(INPUT_TYPES), FIELD(CONCRETE_INPUTS)};
	char text[KWHY_NAME_MAX_BYTES];
	size_t length = 0;

	*out_shape = 0;
	if (!kwhy_kineto_event_has(event, fields[0]) ||
		!kwhy_operator_is_known(kwhy_names_get(&file->recording->names, operator)))
		return KWHY_OK;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		struct kwhy_kineto_span span = event->field[fields[i]];

		if (!kwhy_kineto_event_has(event, fields[i]))
			span.length = 0;
		if (span.length + 1 > sizeof(text) - length)
			return KWHY_OK;
		memcpy(text + length, event->text + span.at, span.length);
		length += span.length;
		text[length++] = ';';
	}
	return kwhy_names_intern(&file->recording->names, text, length, out_shape, error);
}

static enum kwhy_status add_operator(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error)
{
	struct kwhy_kineto_span stack = kwhy_kineto_event_text(event, FIELD(CALL_STACK));
	struct kwhy_host_range row = {.kind = KWHY_HOST_OPERATOR};
	struct kwhy_kineto_source source = {0};
	enum kwhy_status status;
	bool usable;

	if (is_intel_call(event))
		return add_call(file, event, error);
	status = read_host_range(file, event, &row, &usable, error);
	if (status || !usable)
		return status;
	status = read_name(file, event, FIELD(NAME), &row.name, error);
	if (!status)
		status = read_shape(file, event, row.name, &row.shape, error);
	if (!status && stack.length)
		status = kwhy_kineto_source_of_stack(
			file, event->text + stack.at, stack.length, &source, error);
	row.file = source.file;
	row.line = source.line;
	return status ? status : kwhy_recording_add_host_range(file->recording, &row, error);
}

/*
 * Adds a host range whose name states its place in the source, "train.py(54): step", as file, line and name.
 */
static enum kwhy_status add_function(struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event,
	enum kwhy_host_kind kind, struct kwhy_error *error)
{
	struct kwhy_kineto_span name = kwhy_kineto_event_text(event, FIELD(NAME));
	struct kwhy_host_range row = {.kind = (uint8_t)kind};
	struct kwhy_kineto_source source = {0};
	bool usable;
	enum kwhy_status status = read_host_range(file, event, &row, &usable, error);

	if (status || !usable)
		return status;
	status = kwhy_kineto_source_read(file, event->text + name.at, name.length, &source, error);
	row.name = source.name;
	row.file = source.file;
	row.line = source.line;
	return status ? status : kwhy_recording_add_host_range(file->recording, &row, error);
}

static enum kwhy_status add_python(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error)
{
	return add_function(file, event, KWHY_HOST_PYTHON, error);
}

static enum kwhy_status add_system(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error)
{
	return add_function(file, event, KWHY_HOST_SYSTEM, error);
}

static enum kwhy_status add_frame(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error)
{
	return add_function(file, event, KWHY_HOST_FRAME, error);
}

/* Whether PyTorch's number of a device type (c10/core/DeviceType.h) is a GPU's: CUDA 1, HIP 6, XPU 12. */
static bool is_gpu(int64_t device_type)
{
	return device_type == 1 || device_type == 6 || device_type == 12;
}

static enum kwhy_status add_memory(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error)
{
	struct kwhy_memory_point row = {.process = file->process};
	int64_t device = number_below(event, FIELD(DEVICE_ID), INT32_MAX, -1);
	struct kwhy_kineto_place place;
	enum kwhy_status status;

	if (device < 0 || !is_gpu(number_below(event, FIELD(DEVICE_TYPE), INT32_MAX, -1)))
		return KWHY_OK;
	status = kwhy_kineto_place_read(file, event, FIELD(PID), &place, error);
	if (!status)
		status = read_time(file, event, FIELD(TS), &row.time_ns, error);
	row.process = kwhy_kineto_group_process(file, place.group);
	row.device = (uint32_t)device;
	row.allocated_bytes = (uint64_t)number_below(event, FIELD(TOTAL_ALLOCATED), INT64_MAX, -1);
	row.reserved_bytes = (uint64_t)number_below(event, FIELD(TOTAL_RESERVED), INT64_MAX, -1);
	if (status)
		return status;
	if (row.allocated_bytes == KWHY_UNKNOWN_BYTES && row.reserved_bytes == KWHY_UNKNOWN_BYTES) {
		file->counts.memory_without_totals++;
		return KWHY_OK;
	}
	return kwhy_recording_add_memory(file->recording, &row, error);
}

static enum kwhy_status add_overhead(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error)
{
	int64_t start_ns, end_ns;
	enum kwhy_status status = kwhy_kineto_read_times(file, event, &start_ns, &end_ns, error);

	if (status)
		return status;
	file->counts.overhead_events++;
	if (file->counts.overhead_ns < KWHY_KINETO_TIME_MAX_NS)
		file->counts.overhead_ns += end_ns - start_ns;
	return KWHY_OK;
}

enum kwhy_status kwhy_kineto_row_add(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error)
{
	static enum kwhy_status (*const add[KWHY_KINETO_KIND_COUNT])(
		struct kwhy_kineto_file *, const struct kwhy_kineto_event *, struct kwhy_error *) = {
		[KWHY_KINETO_KERNEL] = add_kernel,
		[KWHY_KINETO_COPY] = add_copy,
		[KWHY_KINETO_MEMSET] = add_memset,
		[KWHY_KINETO_CALL] = add_call,
		[KWHY_KINETO_RANGE] = add_range,
		[KWHY_KINETO_OPERATOR] = add_operator,
		[KWHY_KINETO_OPERATOR_2021] = add_operator,
		[KWHY_KINETO_PYTHON] = add_python,
		[KWHY_KINETO_SYSTEM] = add_system,
		[KWHY_KINETO_FRAME] = add_frame,
		[KWHY_KINETO_MEMORY] = add_memory,
		[KWHY_KINETO_OVERHEAD] = add_overhead,
		[KWHY_KINETO_GPU_OP] = kwhy_kineto_unitrace_add,
		[KWHY_KINETO_METADATA] = kwhy_kineto_label_add,
		[KWHY_KINETO_BY_TRACK] = kwhy_kineto_by_track_add,
	};

	if (!add[event->kind])
		return KWHY_OK;
	file->counts.used++;
	return add[event->kind](file, event, error);
}
