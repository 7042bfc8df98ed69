/* SPDX-License-Identifier: Apache-2.0 */
#include "base/column.h"
#include "base/text.h"
#include "import/kineto_file.h"
#include "import/kineto_number.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* Larger metadata is not what Kineto writes; as a tree of objects it would be many times its text. */
enum { TREE_MAX_BYTES = 4 << 20 };

static enum kwhy_status load(const char *value, size_t length, json_t **out, struct kwhy_error *error)
{
	json_error_t problem;

	if (length > TREE_MAX_BYTES)
		return kwhy_fail(error, KWHY_E_INPUT, "is larger than %d MiB", TREE_MAX_BYTES >> 20);
	*out = json_loadb(value, length, JSON_DECODE_ANY | JSON_ALLOW_NUL, &problem);
	if (!*out)
		return kwhy_fail(error, KWHY_E_INPUT, "is not valid JSON (%.100s)", problem.text);
	return KWHY_OK;
}

static enum kwhy_status copy_text(struct kwhy_kineto_file *file, const char *text, size_t length,
	const char **out, struct kwhy_error *error)
{
	char clean[3 * 256 + 1];

	length = kwhy_text_sanitize(clean, text, length < 256 ? length : 256);
	*out = kwhy_recording_copy(file->recording, clean, length);
	return *out ? KWHY_OK : kwhy_fail_memory(error, "the metadata of a trace");
}

static enum kwhy_status read_base(
	struct kwhy_kineto_file *file, const char *value, size_t length, struct kwhy_error *error)
{
	int64_t base_ns;

	if (!kwhy_kineto_number_integer(value, length, &base_ns) || base_ns < 0 ||
		base_ns > KWHY_KINETO_TIME_MAX_NS)
		return kwhy_fail(error, KWHY_E_INPUT, "is no Unix time in nanoseconds");
	file->meta.base_unix_ns = base_ns;
	file->meta.has_base = true;
	return KWHY_OK;
}

static enum kwhy_status read_schema(
	struct kwhy_kineto_file *file, const char *value, size_t length, struct kwhy_error *error)
{
	return copy_text(file, value, length, &file->meta.schema, error);
}

/* The first of the keys that is a number from 0 to max; else 0, unknown. */
static uint64_t fact(const json_t *object, const char *const *keys, uint64_t max)
{
	for (; *keys; keys++) {
		const json_t *value = json_object_get(object, *keys);

		if (json_is_integer(value) && json_integer_value(value) >= 0 &&
			(uint64_t)json_integer_value(value) <= max)
			return (uint64_t)json_integer_value(value);
	}
	return 0;
}

/* Keys of CUDA and ROCm builds of Kineto. */
#define KEYS(...) ((const char *const[]){__VA_ARGS__, NULL})

static enum kwhy_status read_device(
	struct kwhy_kineto_file *file, const json_t *object, int32_t place, struct kwhy_error *error)
{
	struct kwhy_kineto_meta *meta = &file->meta;
	struct kwhy_device device = kwhy_device_unknown(place, KWHY_NONE);
	const json_t *id = json_object_get(object, "id"), *name = json_object_get(object, "name");
	enum kwhy_status status = KWHY_OK;

	if (json_is_integer(id) && json_integer_value(id) >= 0 && json_integer_value(id) <= INT32_MAX)
		device.index = (int32_t)json_integer_value(id);
	if (json_is_string(name))
		status = copy_text(
			file, json_string_value(name), json_string_length(name), &device.name, error);
	device.sm_count = (uint32_t)fact(object, KEYS("numSms", "multiProcessorCount"), 65535);
	device.threads_per_sm = (uint32_t)fact(
		object, KEYS("maxThreadsPerMultiprocessor", "maxThreadsPerMultiProcessor"), 65535);
	device.registers_per_sm = (uint32_t)fact(object, KEYS("regsPerMultiprocessor"), UINT32_MAX);
	device.shared_bytes_per_sm = (uint32_t)fact(
		object, KEYS("sharedMemPerMultiprocessor", "maxSharedMemoryPerMultiProcessor"), UINT32_MAX);
	device.memory_bytes = fact(object, KEYS("totalGlobalMem"), INT64_MAX);
	if (!status)
		status = kwhy_column_reserve((void **)&meta->devices, &meta->device_capacity,
			meta->device_count + 1, sizeof(*meta->devices), "device properties", error);
	if (!status)
		meta->devices[meta->device_count++] = device;
	return status;
}

static enum kwhy_status read_devices(
	struct kwhy_kineto_file *file, const char *value, size_t length, struct kwhy_error *error)
{
	json_t *tree = NULL;
	enum kwhy_status status = load(value, length, &tree, error);

	for (size_t i = 0; !status && i < json_array_size(tree) && i < 1024; i++)
		status = read_device(file, json_array_get(tree, i), (int32_t)i, error);
	file->meta.has_properties = file->meta.device_count > 0;
	json_decref(tree);
	return status;
}

static enum kwhy_status read_distributed(
	struct kwhy_kineto_file *file, const char *value, size_t length, struct kwhy_error *error)
{
	json_t *tree = NULL;
	enum kwhy_status status = load(value, length, &tree, error);
	const json_t *rank = json_object_get(tree, "rank");

	if (status)
		return status;
	if (json_is_integer(rank) && json_integer_value(rank) >= 0 && json_integer_value(rank) < KWHY_NONE)
		file->meta.rank = (uint32_t)json_integer_value(rank);
	file->meta.world_size = (uint32_t)fact(tree, KEYS("world_size"), UINT32_MAX - 1);
	json_decref(tree);
	return KWHY_OK;
}

/* The numbers after each `words` in a text: sums of what the profiler logged. */
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

/* Kineto's log, kept in the file: CuptiActivityApi and CuptiActivityProfiler write these lines. */
static enum kwhy_status read_log(
	struct kwhy_kineto_file *file, const char *value, size_t length, struct kwhy_error *error)
{
	(void)error;
	file->meta.dropped_records += logged(value, length, "Dropped ");
	file->meta.out_of_window_records += logged(value, length, "Out-of-range = ");
	file->meta.stopped_early |= logged(value, length, "CUPTI stopped early? = ") > 0;
	return KWHY_OK;
}

static void read_version(struct kwhy_kineto_file *file, const char *what, const char *value, size_t length)
{
	char *producer = file->meta.producer;
	size_t used = strlen(producer);
	int64_t version;

	if (kwhy_kineto_number_integer(value, length, &version))
		snprintf(producer + used, sizeof(file->meta.producer) - used, "%s%s %lld", used ? ", " : "",
			what, (long long)version);
}

static const struct {
	const char *key;
	enum kwhy_status (*read)(
		struct kwhy_kineto_file *file, const char *value, size_t length, struct kwhy_error *error);
	const char *version_of;
} members[] = {
	{"schemaVersion", read_schema, NULL},
	{"deviceProperties", read_devices, NULL},
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

enum kwhy_status kwhy_kineto_meta_read(struct kwhy_kineto_file *file, const char *key, size_t key_length,
	const char *value, size_t value_length, struct kwhy_error *error)
{
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (strlen(members[i].key) != key_length || memcmp(members[i].key, key, key_length))
			continue;
		if (members[i].read)
			return members[i].read(file, value, value_length, error);
		read_version(file, members[i].version_of, value, value_length);
		return KWHY_OK;
	}
	return KWHY_OK;
}
