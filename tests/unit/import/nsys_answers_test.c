/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "import/reader.h"
#include "ok.h"
#include "traces.h"

#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Compares what kwhy reads from exports of Nsight Systems with figures that other tools computed from the
 * same files, to the nanosecond.
 */

static struct kwhy_error error;

static int64_t number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_integer(value))
		fail_msg("the answers have no number \"%s\"", key);
	return json_integer_value(value);
}

static void is_number(const json_t *object, const char *key, int64_t got)
{
	if (number(object, key) != got)
		fail_msg("%s is %lld, not %lld", key, (long long)got, (long long)number(object, key));
}

/*
 * The activities from which a figure is computed: rows first to end - 1, of these kinds and, unless NULL,
 * with this name.
 */
struct selection {
	const struct kwhy_recording *recording;
	size_t first, end;
	unsigned kinds; /* bit mask by activity kind */
	const char *name;
};

enum {
	KERNELS = 1u << KWHY_ACTIVITY_KERNEL | 1u << KWHY_ACTIVITY_COLLECTIVE,
	GRAPHS = 1u << KWHY_ACTIVITY_GRAPH,
	COPIES = 1u << KWHY_ACTIVITY_COPY,
	MEMSETS = 1u << KWHY_ACTIVITY_MEMSET,
	ALL = KERNELS | GRAPHS | COPIES | MEMSETS
};

struct sum {
	int64_t count, total_ns, union_ns, gaps, bytes, first_ns, last_ns;
};

static bool is_in(const struct selection *selection, size_t row)
{
	const struct kwhy_activities *rows = &selection->recording->activities;

	if (!(selection->kinds >> rows->kind[row] & 1))
		return false;
	return !selection->name ||
		!strcmp(selection->name, kwhy_names_get(&selection->recording->names, rows->name[row]));
}

static struct sum sum_of(const struct selection *selection)
{
	const struct kwhy_activities *rows = &selection->recording->activities;
	struct sum sum = {0};

	for (size_t row = selection->first; row < selection->end; row++) {
		int64_t start_ns = rows->start_ns[row], end_ns = rows->end_ns[row];

		if (!is_in(selection, row))
			continue;
		if (sum.count == 0)
			sum.first_ns = sum.last_ns = start_ns;
		sum.gaps += start_ns > sum.last_ns;
		if (start_ns < sum.last_ns)
			start_ns = sum.last_ns;
		if (end_ns > start_ns)
			sum.union_ns += end_ns - start_ns;
		if (end_ns > sum.last_ns)
			sum.last_ns = end_ns;
		sum.total_ns += end_ns - rows->start_ns[row];
		sum.bytes += rows->bytes[row] == KWHY_UNKNOWN_BYTES ? 0 : (int64_t)rows->bytes[row];
		sum.count++;
	}
	return sum;
}

static struct sum device_sum(struct selection selection, unsigned kinds, const char *name)
{
	selection.kinds = kinds;
	selection.name = name;
	return sum_of(&selection);
}

static void check_kind(const struct selection *device, const json_t *answer, const char *word, unsigned kinds)
{
	struct sum sum = device_sum(*device, kinds, NULL);
	char key[64];

	snprintf(key, sizeof(key), "%s_count", word);
	is_number(answer, key, sum.count);
	snprintf(key, sizeof(key), "%s_sum_ns", word);
	is_number(answer, key, sum.total_ns);
	snprintf(key, sizeof(key), "%s_union_ns", word);
	is_number(answer, key, sum.union_ns);
}

static void check_span(const struct selection *device, const json_t *answer)
{
	struct sum sum = device_sum(*device, ALL, NULL);

	is_number(answer, "gpu_events", sum.count);
	is_number(answer, "first_ns", sum.first_ns);
	is_number(answer, "last_ns", sum.last_ns);
	is_number(answer, "span_ns", sum.last_ns - sum.first_ns);
	is_number(answer, "busy_union_ns", sum.union_ns);
	is_number(answer, "idle_ns", sum.last_ns - sum.first_ns - sum.union_ns);
	is_number(answer, "idle_gaps", sum.gaps);
}

static void check_copies(const struct selection *device, const json_t *answer)
{
	const struct kwhy_activities *rows = &device->recording->activities;
	const char *kind;
	json_t *copies;
	int64_t small = 0;

	json_object_foreach(json_object_get(answer, "memcpy_kinds"), kind, copies)
	{
		char name[128];
		struct sum sum;

		snprintf(name, sizeof(name), "Memcpy %s", kind);
		sum = device_sum(*device, COPIES, name);
		is_number(copies, "count", sum.count);
		is_number(copies, "bytes", sum.bytes);
		is_number(copies, "sum_ns", sum.total_ns);
	}
	for (size_t row = device->first; row < device->end; row++)
		small += rows->copy_kind[row] == KWHY_COPY_H2D && rows->bytes[row] < 4096;
	is_number(answer, "h2d_lt_4KiB", small);
	is_number(answer, "memset_bytes", device_sum(*device, MEMSETS, NULL).bytes);
}

static void check_kernels(const struct selection *device, const json_t *answer)
{
	struct sum collectives = device_sum(*device, 1u << KWHY_ACTIVITY_COLLECTIVE, NULL);
	const json_t *top = json_object_get(answer, "top5_kernels");

	for (size_t i = 0; i < json_array_size(top); i++) {
		const json_t *kernel = json_array_get(top, i);
		struct sum sum = device_sum(
			*device, KERNELS, json_string_value(json_object_get(kernel, "name")));

		is_number(kernel, "count", sum.count);
		is_number(kernel, "sum_ns", sum.total_ns);
	}
	is_number(answer, "comm_kernels", collectives.count);
	is_number(answer, "comm_union_ns", collectives.union_ns);
	is_number(answer, "compute_union_ns", device_sum(*device, 1u << KWHY_ACTIVITY_KERNEL, NULL).union_ns);
}

static void check_owners(const struct kwhy_recording *recording, uint32_t device, const json_t *answer)
{
	const json_t *pids = json_object_get(answer, "pids");
	int64_t streams = 0;

	for (size_t i = 0; i < recording->stream_count; i++) {
		const struct kwhy_stream *stream = &recording->streams[i];
		bool known = false;

		if (stream->device != device)
			continue;
		streams++;
		for (size_t p = 0; p < json_array_size(pids); p++)
			known |= json_integer_value(json_array_get(pids, p)) ==
				recording->processes[stream->process].pid;
		assert_true(known);
	}
	is_number(answer, "streams", streams);
}

static void check_device(const struct kwhy_recording *recording, const char *index, const json_t *answer)
{
	uint32_t device = kwhy_recording_find_device(recording, atoi(index), KWHY_NONE);
	struct selection selection = {.recording = recording};

	assert_int_not_equal(device, KWHY_NONE);
	selection.first = recording->activities.first[device];
	selection.end = recording->activities.first[device + 1];
	check_span(&selection, answer);
	check_kind(&selection, answer, "kernel", KERNELS);
	check_kind(&selection, answer, "memcpy", COPIES);
	check_kind(&selection, answer, "memset", MEMSETS);
	check_kind(&selection, answer, "graph", GRAPHS);
	check_copies(&selection, answer);
	check_kernels(&selection, answer);
	check_owners(recording, device, answer);
}

static void check_calls(const struct kwhy_recording *recording, const json_t *answer)
{
	const struct kwhy_calls *rows = &recording->calls;
	size_t expected = 0;
	const char *name;
	json_t *sums;

	json_object_foreach(json_object_get(answer, "api"), name, sums)
	{
		int64_t count = 0, total_ns = 0;

		for (size_t i = 0; i < rows->count; i++) {
			if (strcmp(kwhy_names_get(&recording->names, rows->name[i]), name) != 0)
				continue;
			count++;
			total_ns += rows->end_ns[i] - rows->start_ns[i];
		}
		is_number(sums, "count", count);
		is_number(sums, "sum_ns", total_ns);
		expected += (size_t)count;
	}
	assert_true(expected <= rows->count);
}

static void check_joins(const struct kwhy_recording *recording, const json_t *answer)
{
	const struct kwhy_activities *rows = &recording->activities;
	int64_t kernels = 0, copies = 0;

	for (size_t row = 0; row < rows->count; row++) {
		kernels += rows->call[row] != KWHY_NONE && KERNELS >> rows->kind[row] & 1;
		copies += rows->call[row] != KWHY_NONE && rows->kind[row] == KWHY_ACTIVITY_COPY;
	}
	is_number(answer, "kernel_join_corr_and_pid", kernels);
	is_number(answer, "memcpy_join_corr_and_pid", copies);
}

static void check_answers(const char *path)
{
	struct kwhy_import_options options = {0};
	struct kwhy_recording *recording;
	const char *index;
	json_t *answer = json_load_file(path, 0, NULL), *device;
	char trace[4096];

	assert_non_null(answer);
	snprintf(trace, sizeof(trace), TRACES "%s", json_string_value(json_object_get(answer, "file")));
	OK(kwhy_recording_new(&recording, &error));
	OK(kwhy_reader_nsys.read(recording, trace, &options, &error));
	assert_string_equal(recording->sources[0].version,
		json_string_value(
			json_object_get(json_object_get(answer, "export"), "EXPORT_SCHEMA_VERSION")));
	assert_int_equal(recording->device_count, json_object_size(json_object_get(answer, "devices")));
	assert_true(recording->unix_clock);
	OK(kwhy_recording_finish(recording, &error));
	json_object_foreach(json_object_get(answer, "devices"), index, device)
		check_device(recording, index, device);
	check_calls(recording, answer);
	check_joins(recording, answer);
	kwhy_recording_free(recording);
	json_decref(answer);
}

static void every_figure_of_the_reference_answers_is_met(void **state)
{
	glob_t found;

	(void)state;
	need_traces();
	assert_int_equal(glob(TRACES "answers/nsys-*.json", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		check_answers(found.gl_pathv[i]);
	globfree(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_figure_of_the_reference_answers_is_met),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
