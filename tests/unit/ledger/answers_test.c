/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import.h"
#include "traces.h"
#include "unit/ledger/build.h"

#include <dirent.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * Compares ledgers of recorded traces with figures that other tools computed from the same files,
 * to the nanosecond. Every figure in those tools' results is compared. Skipped where the traces are
 * missing.
 */

/*
 * Counts of compared and of wrong figures of one file. Each wrong figure is printed; the test fails at the
 * end.
 */
struct verdict {
	const char *file;
	size_t compared, wrong;
};

static void expect(
	struct verdict *verdict, const char *where, const char *field, const json_t *answer, int64_t figure)
{
	if (!answer)
		return;
	verdict->compared++;
	if (json_integer_value(answer) == figure)
		return;
	verdict->wrong++;
	print_error("%s: %.60s %s is %" PRId64 ", not %" PRId64 "\n", verdict->file, where, field, figure,
		(int64_t)json_integer_value(answer));
}

static void compare_time(
	struct verdict *verdict, const char *key, const json_t *answer, const struct kwhy_device_time *time)
{
	const struct {
		const char *field;
		int64_t figure;
	} figures[] = {
		{"span_ns", time->span_ns},
		{"busy_union_ns", time->busy_ns},
		{"idle_ns", time->idle_ns},
		{"idle_gaps", (int64_t)time->idle_gaps},
		{"streams", time->stream_count},
		{"gpu_events", (int64_t)(time->kernel_count + time->copy_count + time->memset_count)},
		{"kernel_count", (int64_t)time->kernel_count},
		{"kernel_sum_ns", time->kernel_total_ns},
		{"kernel_union_ns", time->kernel_union_ns},
		{"memcpy_count", (int64_t)time->copy_count},
		{"memcpy_sum_ns", time->copy_total_ns},
		{"memcpy_union_ns", time->copy_union_ns},
		{"memset_count", (int64_t)time->memset_count},
		{"memset_sum_ns", time->memset_total_ns},
		{"memset_union_ns", time->memset_union_ns},
		{"memset_bytes", (int64_t)time->memset_bytes},
		{"h2d_lt_4KiB", (int64_t)time->small_h2d_count},
		{"comm_kernels", (int64_t)time->collective_count},
		{"comm_sum_ns", time->collective_total_ns},
		{"comm_union_ns", time->collective_union_ns},
		{"compute_union_ns", time->kernel_union_ns - time->collective_exposed_ns},
		{"overlap_ns", time->collective_overlap_ns},
		{"exposed_comm_ns", time->collective_exposed_ns},
		{"graph_count", (int64_t)time->graph_count},
	};

	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		expect(verdict, key, figures[i].field, json_object_get(answer, figures[i].field),
			figures[i].figure);
}

/*
 * Returns whether the name of a kind of copies, "Memcpy HtoD (Pageable -> Device)" with or without the
 * first word, is that of `copy`.
 */
static bool is_kind(const char *name, const struct kwhy_copy_sum *copy)
{
	static const char *const kinds[KWHY_COPY_KIND_COUNT] = {
		[KWHY_COPY_UNKNOWN] = "?",
		[KWHY_COPY_H2D] = "HtoD",
		[KWHY_COPY_D2H] = "DtoH",
		[KWHY_COPY_D2D] = "DtoD",
		[KWHY_COPY_P2P] = "PtoP",
		[KWHY_COPY_H2H] = "HtoH",
	};
	char expected[96];

	snprintf(expected, sizeof(expected), "%s (%s -> %s)", kinds[copy->kind],
		kwhy_memory_kind_name(copy->src_memory), kwhy_memory_kind_name(copy->dst_memory));
	return !strcasecmp(strncmp(name, "Memcpy ", 7) ? name : name + 7, expected);
}

static void compare_copies(struct verdict *verdict, const json_t *answer, const struct kwhy_device_time *time)
{
	uint64_t without_bytes = 0;
	const char *name;
	json_t *item;

	for (size_t i = 0; i < time->copy_sum_count; i++)
		without_bytes += time->copies[i].unknown_bytes;
	expect(verdict, "copies", "memcpy_without_bytes", json_object_get(answer, "memcpy_without_bytes"),
		(int64_t)without_bytes);
	json_object_foreach(json_object_get(answer, "memcpy_kinds"), name, item)
	{
		struct kwhy_copy_sum sum = {0};

		for (size_t i = 0; i < time->copy_sum_count; i++)
			if (is_kind(name, &time->copies[i]))
				sum = time->copies[i];
		expect(verdict, name, "count", json_object_get(item, "count"), (int64_t)sum.count);
		expect(verdict, name, "bytes", json_object_get(item, "bytes"), (int64_t)sum.bytes);
		expect(verdict, name, "sum_ns", json_object_get(item, "sum_ns"), sum.total_ns);
	}
}

static void compare_kernels(
	struct verdict *verdict, const json_t *answer, const struct kwhy_ledger *ledger, uint32_t device)
{
	size_t index;
	json_t *item;

	json_array_foreach(json_object_get(answer, "top5_kernels"), index, item)
	{
		const char *name = json_string_value(json_object_get(item, "name"));
		const struct kwhy_account *account = build_account(ledger, device, name);

		expect(verdict, name, "count", json_object_get(item, "count"),
			account ? (int64_t)account->count : 0);
		expect(verdict, name, "sum_ns", json_object_get(item, "sum_ns"),
			account ? account->time_ns : 0);
	}
}

static void compare_api(struct verdict *verdict, const json_t *answer, const struct kwhy_recording *recording,
	const struct kwhy_ledger *ledger)
{
	const json_t *total = json_object_get(answer, "api_total");
	uint64_t count = 0;
	int64_t total_ns = 0;
	const char *name;
	json_t *item;

	for (size_t i = 0; i < ledger->api_count; i++) {
		count += ledger->api[i].count;
		total_ns += ledger->api[i].total_ns;
	}
	expect(verdict, "api_total", "count", json_object_get(total, "count"), (int64_t)count);
	expect(verdict, "api_total", "sum_ns", json_object_get(total, "sum_ns"), total_ns);
	expect(verdict, "api_total", "names", json_object_get(total, "names"), (int64_t)ledger->api_count);
	json_object_foreach(json_object_get(answer, "api"), name, item)
	{
		struct kwhy_api_sum sum = {0};

		for (size_t i = 0; i < ledger->api_count; i++)
			if (!strcmp(kwhy_names_get(&recording->names, ledger->api[i].name), name))
				sum = ledger->api[i];
		expect(verdict, name, "count", json_object_get(item, "count"), (int64_t)sum.count);
		expect(verdict, name, "sum_ns", json_object_get(item, "sum_ns"), sum.total_ns);
	}
}

static uint32_t device_of(const struct kwhy_recording *recording, const char *key)
{
	for (uint32_t device = 0; device < recording->device_count; device++) {
		char text[16];

		snprintf(text, sizeof(text), "%d", recording->devices[device].index);
		if (!strcmp(text, key))
			return device;
	}
	fail_msg("no device %s", key);
	return 0;
}

static void compare(struct verdict *verdict, const json_t *answer)
{
	struct kwhy_import_options options = {0};
	struct kwhy_recording *recording;
	struct kwhy_ledger *ledger;
	char path[512];
	const char *key;
	json_t *device;

	snprintf(path, sizeof(path), TRACES "%s", verdict->file);
	OK(kwhy_recording_new(&recording, &error));
	if (kwhy_import_trace(recording, path, &options, &error))
		fail_msg("%s", error.text);
	ledger = build_ledger(recording);
	json_object_foreach(json_object_get(answer, "devices"), key, device)
	{
		uint32_t number = device_of(recording, key);

		compare_time(verdict, key, device, &ledger->devices[number].time);
		compare_copies(verdict, device, &ledger->devices[number].time);
		compare_kernels(verdict, device, ledger, number);
	}
	compare_api(verdict, answer, recording, ledger);
	build_free(recording, ledger);
}

static int is_json(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 5 && !strcmp(entry->d_name + length - 5, ".json");
}

static void every_figure_of_every_answer_is_met_exactly(void **state)
{
	struct dirent **entries;
	size_t wrong = 0;
	int count;

	(void)state;
	need_traces();
	count = scandir(TRACES "answers", &entries, is_json, alphasort);
	assert_true(count > 0);
	for (int i = 0; i < count; i++) {
		struct verdict verdict = {0};
		char path[512];
		json_t *answer;

		snprintf(path, sizeof(path), TRACES "answers/%s", entries[i]->d_name);
		answer = json_load_file(path, 0, NULL);
		assert_non_null(answer);
		verdict.file = json_string_value(json_object_get(answer, "file"));
		assert_non_null(verdict.file);
		compare(&verdict, answer);
		print_message("%s: %zu figures compared\n", verdict.file, verdict.compared);
		assert_true(verdict.compared > 40);
		wrong += verdict.wrong;
		json_decref(answer);
		free(entries[i]);
	}
	free(entries);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_figure_of_every_answer_is_met_exactly),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
