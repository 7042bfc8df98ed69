/* SPDX-License-Identifier: Apache-2.0 */
#include "base/column.h"
#include "import/kineto/file.h"
#include "import/kineto/number.h"

#include <stdio.h>
#include <string.h>

/* A valid JSON value: its text, with quotes if it is a string, and a walk positioned before it. */
struct value {
	const char *text;
	size_t length;
	struct kwhy_kineto_walk walk;
};

struct member {
	const char *key;
	size_t key_length;
	struct value value;
};

enum { ROWS_MAX = 1024 };

static bool is_key(const struct member *member, const char *key)
{
	return member->key_length == strlen(key) && !memcmp(member->key, key, member->key_length);
}

/*
 * Moves the walk past `open`, the first bracket of an object or array. False: the value has another type, or
 * is empty.
 */
static bool enter(struct kwhy_kineto_walk *walk, char open)
{
	if (kwhy_kineto_walk_peek(walk) != open)
		return false;
	walk->token++;
	return kwhy_kineto_walk_peek(walk) != '}' && kwhy_kineto_walk_peek(walk) != ']';
}

static bool next(struct kwhy_kineto_walk *walk)
{
	bool more = kwhy_kineto_walk_peek(walk) == ',';

	walk->token++;
	return more;
}

static bool read_value(struct kwhy_kineto_walk *walk, struct value *out)
{
	struct kwhy_kineto_span span;

	out->walk = *walk;
	if (!kwhy_kineto_walk_value(walk, &span))
		return false;
	out->text = walk->text + span.at;
	out->length = span.length;
	return true;
}

static bool read_member(struct kwhy_kineto_walk *walk, struct member *out)
{
	struct kwhy_kineto_span key;

	if (!kwhy_kineto_walk_key(walk, &key) || !read_value(walk, &out->value))
		return false;
	out->key = walk->text + key.at;
	out->key_length = key.length;
	return true;
}

/*
 * Sets *out to the text of a string, owned by the recording. *out is unchanged if the value is not a string
 * or is empty.
 */
static enum kwhy_status read_text(
	struct kwhy_kineto_file *file, const struct value *value, const char **out, struct kwhy_error *error)
{
	enum kwhy_status status;
	uint32_t name;

	if (value->length <= 2 || *value->text != '"')
		return KWHY_OK;
	status = kwhy_kineto_name(file, value->text + 1, value->length - 2, &name, error);
	if (!status)
		*out = kwhy_names_get(&file->recording->names, name);
	return status;
}

static enum kwhy_status read_base(
	struct kwhy_kineto_file *file, const struct value *value, struct kwhy_error *error)
{
	int64_t base_ns;

	if (!kwhy_kineto_number_integer(value->text, value->length, &base_ns) || base_ns < 0 ||
		base_ns > KWHY_KINETO_TIME_MAX_NS)
		return kwhy_fail(error, KWHY_E_INPUT, "is no Unix time in nanoseconds");
	file->meta.base_unix_ns = base_ns;
	file->meta.has_base = true;
	return KWHY_OK;
}

static enum kwhy_status read_schema(
	struct kwhy_kineto_file *file, const struct value *value, struct kwhy_error *error)
{
	int64_t version;

	if (!kwhy_kineto_number_integer(value->text, value->length, &version))
		return read_text(file, value, &file->meta.schema, error);
	file->meta.schema = kwhy_arena_printf(&file->recording->arena, "%lld", (long long)version);
	return file->meta.schema ? KWHY_OK : kwhy_fail_memory(error, "the metadata of a trace");
}

/* Reads a number from 0 to `max`. The result is `unknown` if the value is anything else. */
static uint64_t read_fact(const struct value *value, uint64_t max, uint64_t unknown)
{
	int64_t number;

	if (!kwhy_kineto_number_integer(value->text, value->length, &number) || number < 0 ||
		(uint64_t)number > max)
		return unknown;
	return (uint64_t)number;
}

/*
 * Keys that CUDA and ROCm builds of Kineto write for a device, and the members of struct kwhy_device that
 * they set.
 */
static const struct {
	const char *key;
	size_t offset;
} device_facts[] = {
	{"numSms", offsetof(struct kwhy_device, sm_count)},
	{"maxThreadsPerMultiprocessor", offsetof(struct kwhy_device, threads_per_sm)},
	{"maxThreadsPerMultiProcessor", offsetof(struct kwhy_device, threads_per_sm)},
	{"computeMajor", offsetof(struct kwhy_device, compute_major)},
	{"computeMinor", offsetof(struct kwhy_device, compute_minor)},
	{"regsPerMultiprocessor", offsetof(struct kwhy_device, registers_per_sm)},
	{"sharedMemPerMultiprocessor", offsetof(struct kwhy_device, shared_bytes_per_sm)},
	{"maxSharedMemoryPerMultiProcessor", offsetof(struct kwhy_device, shared_bytes_per_sm)},
};

static enum kwhy_status read_device_member(struct kwhy_kineto_file *file, const struct member *member,
	struct kwhy_device *device, struct kwhy_error *error)
{
	for (size_t i = 0; i < sizeof(device_facts) / sizeof(device_facts[0]); i++)
		if (is_key(member, device_facts[i].key))
			*(uint32_t *)((char *)device + device_facts[i].offset) = (uint32_t)read_fact(
				&member->value, UINT32_MAX, 0);
	if (is_key(member, "totalGlobalMem"))
		device->memory_bytes = read_fact(&member->value, INT64_MAX, 0);
	if (is_key(member, "id"))
		device->index = (int32_t)read_fact(&member->value, INT32_MAX, (uint64_t)device->index);
	if (is_key(member, "rank"))
		device->rank = (uint32_t)read_fact(&member->value, KWHY_NONE - 1, KWHY_NONE);
	if (is_key(member, "uuid"))
		return read_text(file, &member->value, &device->uuid, error);
	if (is_key(member, "pci"))
		return read_text(file, &member->value, &device->pci, error);
	return is_key(member, "name") ? read_text(file, &member->value, &device->name, error) : KWHY_OK;
}

static enum kwhy_status read_device(
	struct kwhy_kineto_file *file, struct kwhy_kineto_walk walk, struct kwhy_error *error)
{
	struct kwhy_kineto_meta *meta = &file->meta;
	struct kwhy_device device = kwhy_device_unknown((int32_t)meta->device_count, KWHY_NONE);
	enum kwhy_status status = kwhy_column_reserve((void **)&meta->devices, &meta->device_capacity,
		meta->device_count + 1, sizeof(*meta->devices), "device properties", error);
	struct member member;

	if (enter(&walk, '{'))
		do {
			if (!status && read_member(&walk, &member))
				status = read_device_member(file, &member, &device, error);
		} while (!status && next(&walk));
	if (!status)
		meta->devices[meta->device_count++] = device;
	return status;
}

static enum kwhy_status add_process(
	struct kwhy_kineto_file *file, const struct kwhy_process *process, struct kwhy_error *error)
{
	uint32_t row = file->process;
	enum kwhy_status status = KWHY_OK;

	if (file->processes.map.count)
		status = kwhy_recording_add_process(file->recording, process, &row, error);
	else
		file->recording->processes[row] =
			*process; /* replaces the process that was added when the file was opened */
	return status ? status
		      : kwhy_track_map_put(
				&file->processes, (struct kwhy_track_key){.a = process->pid}, row, error);
}

static enum kwhy_status read_process(
	struct kwhy_kineto_file *file, struct kwhy_kineto_walk walk, struct kwhy_error *error)
{
	struct kwhy_process process = {
		.pid = -1, .rank = KWHY_NONE, .machine = KWHY_NONE, .source = file->source};
	struct member member;

	if (!enter(&walk, '{'))
		return KWHY_OK;
	do {
		if (!read_member(&walk, &member))
			return KWHY_OK;
		if (is_key(&member, "id"))
			kwhy_kineto_number_integer(member.value.text, member.value.length, &process.pid);
		if (is_key(&member, "rank"))
			process.rank = (uint32_t)read_fact(&member.value, KWHY_NONE - 1, KWHY_NONE);
		if (is_key(&member, "world_size"))
			process.world_size = (uint32_t)read_fact(&member.value, UINT32_MAX - 1, 0);
	} while (next(&walk));
	return add_process(file, &process, error);
}

/* Calls `read` for each item of a list, at most ROWS_MAX items; a value that is not a list is ignored. */
static enum kwhy_status read_rows(struct kwhy_kineto_file *file, const struct value *value,
	enum kwhy_status (*read)(
		struct kwhy_kineto_file *file, struct kwhy_kineto_walk walk, struct kwhy_error *error),
	struct kwhy_error *error)
{
	struct kwhy_kineto_walk walk = value->walk;
	enum kwhy_status status = KWHY_OK;
	struct value row;
	size_t count = 0;

	if (!enter(&walk, '['))
		return KWHY_OK;
	do {
		if (read_value(&walk, &row))
			status = read(file, row.walk, error);
	} while (!status && ++count < ROWS_MAX && next(&walk));
	return status;
}

static enum kwhy_status read_devices(
	struct kwhy_kineto_file *file, const struct value *value, struct kwhy_error *error)
{
	return read_rows(file, value, read_device, error);
}

/*
 * Reads the list "processProperties", which `kwhy export` writes before the events of a recording of several
 * ranks. A second list in the file is ignored.
 */
static enum kwhy_status read_processes(
	struct kwhy_kineto_file *file, const struct value *value, struct kwhy_error *error)
{
	return file->processes.map.count ? KWHY_OK : read_rows(file, value, read_process, error);
}

static enum kwhy_status read_distributed(
	struct kwhy_kineto_file *file, const struct value *value, struct kwhy_error *error)
{
	struct kwhy_kineto_walk walk = value->walk;
	struct member member;

	(void)error;
	if (!enter(&walk, '{'))
		return KWHY_OK;
	do {
		if (!read_member(&walk, &member))
			return KWHY_OK;
		if (is_key(&member, "rank"))
			file->meta.rank = (uint32_t)read_fact(&member.value, KWHY_NONE - 1, KWHY_NONE);
		if (is_key(&member, "world_size"))
			file->meta.world_size = (uint32_t)read_fact(&member.value, UINT32_MAX - 1, 0);
	} while (next(&walk));
	return KWHY_OK;
}

/*
 * Sum of the numbers that directly follow `words` in the text of Kineto's log messages; an occurrence without
 * a number counts as 0.
 */
static uint64_t logged(const char *text, size_t length, const char *words)
{
	size_t skip = strlen(words);
	uint64_t sum = 0;

	for (;;) {
		const char *found = memmem(text, length, words, skip);
		uint64_t number = 0;

		if (!found)
			return sum;
		length -= (size_t)(found - text) + skip;
		text = found + skip;
		for (; length > 0 && *text >= '0' && *text <= '9' && number < UINT32_MAX; text++, length--)
			number = number * 10 + (uint64_t)(*text - '0');
		sum += number;
	}
}

/*
 * Reads Kineto's log messages in the file's member "INFO", "WARNING" or "ERROR". Kineto's CuptiActivityApi
 * and CuptiActivityProfiler write the lines that are read here.
 */
static enum kwhy_status read_log(
	struct kwhy_kineto_file *file, const struct value *value, struct kwhy_error *error)
{
	(void)error;
	file->meta.dropped_records += logged(value->text, value->length, "Dropped ");
	file->meta.out_of_window_records += logged(value->text, value->length, "Out-of-range = ");
	file->meta.stopped_early |= logged(value->text, value->length, "CUPTI stopped early? = ") > 0;
	return KWHY_OK;
}

static void read_version(struct kwhy_kineto_file *file, const char *what, const struct value *value)
{
	char *producer = file->meta.producer;
	size_t used = strlen(producer);
	int64_t version;

	if (kwhy_kineto_number_integer(value->text, value->length, &version))
		snprintf(producer + used, sizeof(file->meta.producer) - used, "%s%s %lld", used ? ", " : "",
			what, (long long)version);
}

static const struct {
	const char *key;
	enum kwhy_status (*read)(
		struct kwhy_kineto_file *file, const struct value *value, struct kwhy_error *error);
	const char *version_of;
} members[] = {
	{"schemaVersion", read_schema, NULL},
	{"deviceProperties", read_devices, NULL},
	{"processProperties", read_processes, NULL},
	{"distributedInfo", read_distributed, NULL},
	{"baseTimeNanoseconds", read_base, NULL},
	{"INFO", read_log, NULL},
	{"WARNING", read_log, NULL},
	{"ERROR", read_log, NULL},
	{"cuda_driver_version", NULL, "CUDA driver"},
	{"cuda_runtime_version", NULL, "CUDA runtime"},
	{"cupti_version", NULL, "CUPTI"},
	{"hip_driver_version", NULL, "HIP driver"},
	{"hip_runtime_version", NULL, "HIP runtime"},
	{"roctracer_version", NULL, "roctracer"},
};

enum kwhy_status kwhy_kineto_meta_read(struct kwhy_kineto_file *file, struct kwhy_kineto_span key,
	struct kwhy_kineto_walk walk, struct kwhy_error *error)
{
	struct member member = {.key = walk.text + key.at, .key_length = key.length};

	if (!read_value(&walk, &member.value))
		return KWHY_OK;
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (!is_key(&member, members[i].key))
			continue;
		if (members[i].read)
			return members[i].read(file, &member.value, error);
		read_version(file, members[i].version_of, &member.value);
	}
	return KWHY_OK;
}
