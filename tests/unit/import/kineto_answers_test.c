/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "import/reader.h"
#include "ok.h"
#include "traces.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/*
 * Compares what kwhy reads from recorded traces with figures that other tools computed from the same files
 * (kineto-*.json in ../shared/data/traces/answers): all figures that follow from the recording alone.
 */

static struct kwhy_error error;

struct sum {
	int64_t count, time_ns, bytes, without_bytes;
};

static struct kwhy_recording *recording_of(const char *path)
{
	struct kwhy_import_options options = {0};
	struct kwhy_recording *recording;

	OK(kwhy_recording_new(&recording, &error));
	OK(kwhy_reader_kineto.read(recording, path, &options, &error));
	OK(kwhy_recording_finish(recording, &error));
	return recording;
}

static void add(struct sum *sum, const struct kwhy_activities *rows, size_t i)
{
	sum->count++;
	sum->time_ns += rows->end_ns[i] - rows->start_ns[i];
	if (rows->bytes[i] == KWHY_UNKNOWN_BYTES)
		sum->without_bytes++;
	else
		sum->bytes += (int64_t)rows->bytes[i];
}

/*
 * Returns sums over the activities of a device, of one kind (KWHY_ACTIVITY_KIND_COUNT: of all) and with one
 * name (NULL: with any).
 */
static struct sum sum_of(
	const struct kwhy_recording *recording, size_t device, enum kwhy_activity_kind kind, const char *name)
{
	const struct kwhy_activities *rows = &recording->activities;
	struct sum sum = {0};

	for (size_t i = rows->first[device]; i < rows->first[device + 1]; i++)
		if ((kind == KWHY_ACTIVITY_KIND_COUNT || rows->kind[i] == kind) &&
			(!name || !strcmp(kwhy_names_get(&recording->names, rows->name[i]), name)))
			add(&sum, rows, i);
	return sum;
}

static int64_t number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

static void check_kernels(const struct kwhy_recording *recording, size_t device, const json_t *answer)
{
	struct sum plain = sum_of(recording, device, KWHY_ACTIVITY_KERNEL, NULL);
	struct sum collective = sum_of(recording, device, KWHY_ACTIVITY_COLLECTIVE, NULL);
	const json_t *kernel;
	size_t i;

	assert_int_equal(plain.count + collective.count, number(answer, "kernel_count"));
	assert_int_equal(plain.time_ns + collective.time_ns, number(answer, "kernel_sum_ns"));
	assert_int_equal(collective.count, number(answer, "comm_kernels"));
	assert_int_equal(collective.time_ns, number(answer, "comm_sum_ns"));
	assert_int_equal(json_array_size(json_object_get(answer, "top5_kernels")), 5);
	json_array_foreach(json_object_get(answer, "top5_kernels"), i, kernel)
	{
		struct sum sum = sum_of(recording, device, KWHY_ACTIVITY_KIND_COUNT,
			json_string_value(json_object_get(kernel, "name")));

		assert_int_equal(sum.count, number(kernel, "count"));
		assert_int_equal(sum.time_ns, number(kernel, "sum_ns"));
	}
}

static void check_copies(const struct kwhy_recording *recording, size_t device, const json_t *answer)
{
	struct sum copies = sum_of(recording, device, KWHY_ACTIVITY_COPY, NULL);
	struct sum memsets = sum_of(recording, device, KWHY_ACTIVITY_MEMSET, NULL);
	const char *name;
	json_t *kind;

	assert_int_equal(copies.count, number(answer, "memcpy_count"));
	assert_int_equal(copies.time_ns, number(answer, "memcpy_sum_ns"));
	assert_int_equal(copies.without_bytes, number(answer, "memcpy_without_bytes"));
	assert_int_equal(memsets.count, number(answer, "memset_count"));
	assert_int_equal(memsets.time_ns, number(answer, "memset_sum_ns"));
	assert_int_equal(memsets.bytes, number(answer, "memset_bytes"));
	json_object_foreach(json_object_get(answer, "memcpy_kinds"), name, kind)
	{
		struct sum sum = sum_of(recording, device, KWHY_ACTIVITY_COPY, name);

		assert_int_equal(sum.count, number(kind, "count"));
		assert_int_equal(sum.time_ns, number(kind, "sum_ns"));
		assert_int_equal(sum.bytes, number(kind, "bytes"));
	}
}

static int64_t small_h2d(const struct kwhy_recording *recording, size_t device)
{
	const struct kwhy_activities *rows = &recording->activities;
	int64_t count = 0;

	for (size_t i = rows->first[device]; i < rows->first[device + 1]; i++)
		count += rows->copy_kind[i] == KWHY_COPY_H2D && rows->bytes[i] < 4096;
	return count;
}

static int64_t streams_of(const struct kwhy_recording *recording, size_t device)
{
	int64_t count = 0;

	for (size_t i = 0; i < recording->stream_count; i++)
		count += recording->streams[i].device == device;
	return count;
}

static void check_device(
	const struct kwhy_recording *recording, size_t device, const json_t *answer, int64_t zero_ns)
{
	const struct kwhy_activities *rows = &recording->activities;
	size_t first = rows->first[device], end = rows->first[device + 1];
	int64_t last_ns = INT64_MIN;

	for (size_t i = first; i < end; i++)
		last_ns = rows->end_ns[i] > last_ns ? rows->end_ns[i] : last_ns;
	assert_int_equal(end - first, number(answer, "gpu_events"));
	assert_int_equal(rows->start_ns[first] + zero_ns, number(answer, "first_ns"));
	assert_int_equal(last_ns + zero_ns, number(answer, "last_ns"));
	assert_int_equal(streams_of(recording, device), number(answer, "streams"));
	assert_int_equal(small_h2d(recording, device), number(answer, "h2d_lt_4KiB"));
	check_kernels(recording, device, answer);
	check_copies(recording, device, answer);
}

static void check_devices(const struct kwhy_recording *recording, const json_t *answers)
{
	const json_t *base = json_object_get(json_object_get(answers, "top_level"), "baseTimeNanoseconds");
	json_t *devices = json_object_get(answers, "devices");

	assert_int_equal(recording->device_count, json_object_size(devices));
	assert_true(recording->unix_clock);
	if (base)
		assert_int_equal(recording->origin_unix_ns, json_integer_value(base));
	for (size_t i = 0; i < recording->device_count; i++) {
		char index[16];

		snprintf(index, sizeof(index), "%d", recording->devices[i].index);
		assert_non_null(json_object_get(devices, index));
		check_device(
			recording, i, json_object_get(devices, index), base ? 0 : recording->origin_unix_ns);
	}
}

static struct sum calls_of(const struct kwhy_recording *recording, const char *name)
{
	const struct kwhy_calls *rows = &recording->calls;
	struct sum sum = {0};

	for (size_t i = 0; i < rows->count; i++)
		if (!name || !strcmp(kwhy_names_get(&recording->names, rows->name[i]), name)) {
			sum.count++;
			sum.time_ns += rows->end_ns[i] - rows->start_ns[i];
		}
	return sum;
}

static int64_t call_names(const struct kwhy_recording *recording)
{
	int64_t count = 0;

	for (size_t name = 0; name < recording->names.count; name++) {
		size_t i = 0;

		while (i < recording->calls.count && recording->calls.name[i] != name)
			i++;
		count += i < recording->calls.count;
	}
	return count;
}

static void check_calls(const struct kwhy_recording *recording, const json_t *answers)
{
	const json_t *total = json_object_get(answers, "api_total");
	struct sum all = calls_of(recording, NULL);
	const char *name;
	json_t *answer;

	assert_int_equal(all.count, number(total, "count"));
	assert_int_equal(all.time_ns, number(total, "sum_ns"));
	assert_int_equal(call_names(recording), number(total, "names"));
	json_object_foreach(json_object_get(answers, "api"), name, answer)
	{
		struct sum sum = calls_of(recording, name);

		assert_int_equal(sum.count, number(answer, "count"));
		assert_int_equal(sum.time_ns, number(answer, "sum_ns"));
	}
}

static void check(const char *name)
{
	char path[4096];
	json_t *answers;
	struct kwhy_recording *recording;

	snprintf(path, sizeof(path), TRACES "answers/%s.json", name);
	need_traces();
	answers = json_load_file(path, 0, NULL);
	assert_non_null(answers);
	snprintf(path, sizeof(path), TRACES "%s.json.gz", name);
	recording = recording_of(path);
	assert_int_equal(recording->sources[0].events, number(answers, "events"));
	check_devices(recording, answers);
	check_calls(recording, answers);
	kwhy_recording_free(recording);
	json_decref(answers);
}

static void nanosecond_stamps_with_nccl_arguments_give_the_answers(void **state)
{
	(void)state;
	check("kineto-a100-nccl");
}

static void rocm_traces_give_the_answers(void **state)
{
	(void)state;
	check("kineto-mi300-resnet");
}

static void categories_of_2021_give_the_answers(void **state)
{
	(void)state;
	check("kineto-v100-2021-format");
}

static void integer_microseconds_of_one_rank_of_two_give_the_answers(void **state)
{
	(void)state;
	check("kineto-v100-df_index");
}

/* The expected numbers were counted in the same file with another JSON parser, in another language. */
static void a_bare_list_gives_its_activities_calls_and_steps(void **state)
{
	struct kwhy_recording *recording;

	(void)state;
	need_traces();
	recording = recording_of(TRACES "kineto-bare-list.json.gz");
	assert_int_equal(recording->sources[0].events, 82276);
	assert_int_equal(sum_of(recording, 0, KWHY_ACTIVITY_KERNEL, NULL).count, 9538);
	assert_int_equal(sum_of(recording, 0, KWHY_ACTIVITY_COPY, NULL).count, 12);
	assert_int_equal(sum_of(recording, 0, KWHY_ACTIVITY_MEMSET, NULL).count, 377);
	assert_int_equal(recording->calls.count, 10800);
	assert_int_equal(recording->range_count, 6);
	assert_int_equal(recording->ranges[0].kind, KWHY_RANGE_STEP);
	kwhy_recording_free(recording);
}

/* The expected numbers were counted in the same file with another JSON parser, in another language. */
static void the_h200_decode_measurement_is_read_whole(void **state)
{
	struct kwhy_recording *recording = recording_of(EXAMPLES "h200-decode/trace.json.zst");

	(void)state;
	assert_int_equal(recording->sources[0].events, 268686);
	assert_int_equal(sum_of(recording, 0, KWHY_ACTIVITY_KERNEL, NULL).count, 123496);
	assert_int_equal(sum_of(recording, 0, KWHY_ACTIVITY_COPY, NULL).count, 3712);
	assert_int_equal(sum_of(recording, 0, KWHY_ACTIVITY_MEMSET, NULL).count, 96);
	assert_int_equal(recording->calls.count, 97784 + 43520);
	assert_int_equal(recording->origin_unix_ns, INT64_C(1790857026000000000));
	assert_string_equal(recording->devices[0].name, "NVIDIA H200");
	assert_int_equal(recording->devices[0].sm_count, 132);
	kwhy_recording_free(recording);
}

static void the_h200_train_measurement_is_read_whole(void **state)
{
	struct kwhy_recording *recording = recording_of(EXAMPLES "h200-train/trace.json.zst");

	(void)state;
	assert_int_equal(recording->sources[0].events, 152070);
	assert_int_equal(sum_of(recording, 0, KWHY_ACTIVITY_KERNEL, NULL).count, 62016);
	assert_int_equal(sum_of(recording, 0, KWHY_ACTIVITY_COPY, NULL).count, 7296);
	assert_int_equal(sum_of(recording, 0, KWHY_ACTIVITY_MEMSET, NULL).count, 2432);
	assert_int_equal(recording->calls.count, 74178 + 6080);
	kwhy_recording_free(recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nanosecond_stamps_with_nccl_arguments_give_the_answers),
		cmocka_unit_test(rocm_traces_give_the_answers),
		cmocka_unit_test(categories_of_2021_give_the_answers),
		cmocka_unit_test(integer_microseconds_of_one_rank_of_two_give_the_answers),
		cmocka_unit_test(a_bare_list_gives_its_activities_calls_and_steps),
		cmocka_unit_test(the_h200_decode_measurement_is_read_whole),
		cmocka_unit_test(the_h200_train_measurement_is_read_whole),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
