/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "import/import.h"
#include "ledger/ledger_new.h"
#include "ok.h"
#include "report/export/export.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Tests exports of a run on several machines that use the same numbers: GPU 0, one process, one thread.
 * Machines have the given names; without names there are two ranks of unknown machines. Device d runs a
 * kernel of 1 ms at d ms.
 */

enum { COUNT = 2, PID = 1, TID = 77, CORRELATION = 5 };

static const int64_t ms_ns = 1000000;
static struct kwhy_error error;

static uint32_t intern(struct kwhy_recording *recording, const char *text)
{
	uint32_t name;

	OK(kwhy_names_intern(&recording->names, text, strlen(text), &name, &error));
	return name;
}

static void add_tracks(struct kwhy_recording *recording, uint32_t rank, uint32_t machine, int64_t pid)
{
	const struct kwhy_device device = {.rank = rank,
		.machine = machine,
		.name = "H200",
		.limit_mw = -1,
		.context_idle_mw = -1,
		.clean_idle_mw = -1};
	const struct kwhy_process process = {.pid = pid, .rank = rank, .machine = machine};
	struct kwhy_thread thread = {.tid = TID};
	struct kwhy_stream stream = {.context = -1, .id = 7};

	OK(kwhy_recording_add_device(recording, &device, &stream.device, &error));
	OK(kwhy_recording_add_process(recording, &process, &thread.process, &error));
	stream.process = thread.process;
	OK(kwhy_recording_add_thread(recording, &thread, NULL, &error));
	OK(kwhy_recording_add_stream(recording, &stream, NULL, &error));
}

static void add_row_at(
	struct kwhy_recording *recording, uint32_t track, int64_t start_ns, uint32_t correlation)
{
	struct kwhy_activity activity = kwhy_activity_unknown();

	activity.start_ns = start_ns;
	activity.end_ns = start_ns + ms_ns;
	activity.name = intern(recording, "gemm");
	activity.stream = track;
	activity.call = correlation;
	OK(kwhy_recording_add_activity(recording, &activity, &error));
	OK(kwhy_recording_add_call(recording, start_ns, start_ns + ms_ns,
		intern(recording, "cudaLaunchKernel"), track, correlation, &error));
}

static void add_rows(struct kwhy_recording *recording, uint32_t track)
{
	const struct kwhy_range range = {.start_ns = 0,
		.end_ns = COUNT * ms_ns,
		.name = intern(recording, "step 1"),
		.thread = track,
		.kind = KWHY_RANGE_STEP};

	add_row_at(recording, track, track * ms_ns, CORRELATION);
	OK(kwhy_recording_add_range(recording, &range, &error));
}

static void add_meters(struct kwhy_recording *recording, uint32_t machine)
{
	const struct kwhy_power_source board = {
		.meter = KWHY_METER_HWMON_POWER, .device = KWHY_NONE, .machine = machine};

	for (int64_t i = 0; i < 3; i++)
		OK(kwhy_recording_add_power(recording, &board, i * ms_ns, 1000 + machine, &error));
}

static struct kwhy_recording *make(size_t machine_count, const char *const names[])
{
	struct kwhy_recording *recording;

	OK(kwhy_recording_new(&recording, &error));
	recording->unix_clock = true;
	recording->origin_unix_ns = INT64_C(1795262400000000000);
	for (uint32_t i = 0; i < COUNT; i++) {
		struct kwhy_machine row = {.width_ns = -1};
		uint32_t machine = KWHY_NONE;

		if (i < machine_count) {
			row.host = intern(recording, names[i]);
			OK(kwhy_recording_add_machine(recording, &row, &machine, &error));
			add_meters(recording, machine);
		}
		add_tracks(
			recording, i, machine_count == 1 ? 0 : machine, PID + (machine_count == 1 ? i : 0));
		add_rows(recording, i);
	}
	OK(kwhy_recording_finish(recording, &error));
	return recording;
}

/* Exports the recording in this form to a new file, which the caller removes. */
static void write_as(const char *form, const struct kwhy_recording *recording, char path[32])
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_findings findings = {0};
	struct kwhy_report report = {.recording = recording, .findings = &findings};
	struct kwhy_ledger *ledger;
	int fd;

	strcpy(path, "/tmp/kwhy-export-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	OK(kwhy_ledger_new(recording, &options, &ledger, &error));
	report.ledger = ledger;
	OK(kwhy_exporter_find(form)->write(&report, path, false, &error));
	kwhy_ledger_free(ledger);
}

static struct kwhy_text contents(const char *form, const struct kwhy_recording *recording)
{
	struct kwhy_text text = {0};
	char path[32], piece[4096];
	size_t length;
	FILE *file;

	write_as(form, recording, path);
	file = fopen(path, "rb");
	assert_non_null(file);
	while ((length = fread(piece, 1, sizeof(piece), file)) > 0)
		kwhy_text_add_bytes(&text, piece, length);
	fclose(file);
	unlink(path);
	return text;
}

static size_t count_of(const struct kwhy_text *text, const char *wanted)
{
	size_t count = 0, length = strlen(wanted);

	for (size_t i = 0; i + length <= text->length; i++)
		count += !memcmp(text->data + i, wanted, length);
	return count;
}

static void expect(struct kwhy_text text, size_t count, const char *const wanted[])
{
	for (size_t i = 0; i < count; i++)
		if (count_of(&text, wanted[i]) != 1)
			fail_msg("%zu times: %s", count_of(&text, wanted[i]), wanted[i]);
	kwhy_text_done(&text);
}

#define EXPECT(form, recording, ...)                                                         \
	do {                                                                                 \
		const char *const wanted[] = {__VA_ARGS__};                                  \
		expect(contents(form, recording), sizeof(wanted) / sizeof(*wanted), wanted); \
	} while (0)

static struct kwhy_recording *read_back(const char *form, const struct kwhy_recording *recording)
{
	const struct kwhy_import_options options = {0};
	struct kwhy_recording *back;
	char path[32];

	write_as(form, recording, path);
	OK(kwhy_recording_new(&back, &error));
	OK(kwhy_import_trace(back, path, &options, &error));
	OK(kwhy_recording_finish(back, &error));
	unlink(path);
	return back;
}

static const char *const nodes[] = {"node-a", "node \"b\""};

static void perfettos_tracks_name_their_machine(void **state)
{
	struct kwhy_recording *recording = make(2, nodes);

	(void)state;
	EXPECT("perfetto", recording, "GPU 0 H200 of rank 0 on node-a", "GPU 0 H200 of rank 1 on node \"b\"",
		"calls of thread 77 of rank 0 on node-a", "calls of thread 77 of rank 1 on node \"b\"",
		"ranges of rank 0 on node-a", "ranges of rank 1 on node \"b\"", "hwmon.power-0_mw on node-a",
		"hwmon.power-0_mw on node \"b\"");
	kwhy_recording_free(recording);
}

/* GPU 0 of the second machine becomes 2, as 1 is the number of a process. Its process 1 becomes 3. */
static void chromes_numbers_are_of_one_device_or_process_and_named(void **state)
{
	struct kwhy_recording *recording = make(2, nodes);

	(void)state;
	EXPECT("chrome", recording,
		"\"pid\":0,\"tid\":0,\"args\":{\"name\":\"GPU 0 H200 of rank 0 on node-a\"}",
		"\"pid\":2,\"tid\":0,\"args\":{\"name\":\"GPU 0 H200 of rank 1 on node \\\"b\\\"\"}",
		"\"pid\":1,\"tid\":0,\"args\":{\"name\":\"process 1 of rank 0 on node-a\"}",
		"\"pid\":3,\"tid\":0,\"args\":{\"name\":\"process 1 of rank 1 on node \\\"b\\\"\"}",
		"\"pid\":0,\"tid\":7,\"args\":{\"device\":0,", "\"pid\":2,\"tid\":7,\"args\":{\"device\":2,",
		"\"pid\":1,\"tid\":77,\"args\"", "\"pid\":3,\"tid\":77,\"args\"", "\"pid\":1,\"tid\":77}",
		"\"pid\":3,\"tid\":77}", "{\"id\":0,", "{\"id\":2,");
	kwhy_recording_free(recording);
}

/* Unknown processes have numbers below -1, as -1 belongs to the host's meters. */
static void chromes_unknown_processes_do_not_take_the_hosts_number(void **state)
{
	struct kwhy_recording *recording = make(2, nodes);
	struct kwhy_text text;

	(void)state;
	for (size_t i = 0; i < COUNT; i++)
		recording->processes[i].pid = -1;
	EXPECT("chrome", recording,
		"\"pid\":-2,\"tid\":0,\"args\":{\"name\":\"process of rank 0 on node-a\"}",
		"\"pid\":-3,\"tid\":0,\"args\":{\"name\":\"process of rank 1 on node \\\"b\\\"\"}",
		"\"pid\":-2,\"tid\":77,\"args\"", "\"pid\":-3,\"tid\":77,\"args\"",
		"{\"ph\":\"C\",\"name\":\"hwmon.power-0_mw on node-a\",\"pid\":-1,\"ts\":0.000");
	text = contents("chrome", recording);
	assert_int_equal(count_of(&text, "\"pid\":-1,\"tid\""), 0);
	kwhy_text_done(&text);
	kwhy_recording_free(recording);
}

static void a_process_that_was_unknown_is_so_when_read_back(void **state)
{
	struct kwhy_recording *recording = make(1, nodes), *back;

	(void)state;
	for (size_t i = 0; i < COUNT; i++)
		recording->processes[i].pid = -1;
	back = read_back("chrome", recording);
	for (size_t i = 0; i < back->process_count; i++)
		assert_true(back->processes[i].pid < 0);
	kwhy_recording_free(back);
	kwhy_recording_free(recording);
}

static void a_device_without_a_name_has_none_when_read_back(void **state)
{
	static const char *const forms[] = {"chrome", "csv"};
	struct kwhy_recording *recording = make(1, nodes);

	(void)state;
	for (size_t d = 0; d < COUNT; d++)
		recording->devices[d].name = NULL;
	for (size_t i = 0; i < 2; i++) {
		struct kwhy_recording *back = read_back(forms[i], recording);

		for (uint32_t d = 0; d < back->device_count; d++)
			assert_null(back->devices[d].name);
		kwhy_recording_free(back);
	}
	EXPECT("chrome", recording, "\"deviceProperties\":[{\"id\":0,\"rank\":0},{\"id\":3,\"rank\":1}],");
	kwhy_recording_free(recording);
}

static void what_is_read_back_has_as_many_devices(void **state)
{
	static const char *const forms[] = {"chrome", "csv"};
	struct kwhy_recording *recording = make(2, nodes);

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct kwhy_recording *back = read_back(forms[i], recording);

		assert_int_equal(back->device_count, COUNT);
		assert_int_equal(back->activities.count, COUNT);
		for (uint32_t d = 0; d < COUNT; d++)
			assert_string_equal(back->devices[d].name, "H200");
		if (i == 0)
			assert_int_equal(back->thread_count, COUNT);
		kwhy_recording_free(back);
	}
	kwhy_recording_free(recording);
}

/* Number and total time of rows by kind of activity; calls are last. */
struct sums {
	int64_t count[KWHY_ACTIVITY_KIND_COUNT + 1], time_ns[KWHY_ACTIVITY_KIND_COUNT + 1];
	uint64_t bytes;
	int64_t first_unix_ns;
};

static struct sums sums_of(const struct kwhy_recording *recording)
{
	struct sums sums = {.first_unix_ns = recording->origin_unix_ns + recording->start_ns};

	for (size_t i = 0; i < recording->activities.count; i++) {
		const uint8_t kind = recording->activities.kind[i];

		sums.count[kind]++;
		sums.time_ns[kind] += recording->activities.end_ns[i] - recording->activities.start_ns[i];
		sums.bytes += kind == KWHY_ACTIVITY_COPY || kind == KWHY_ACTIVITY_MEMSET
			? recording->activities.bytes[i]
			: 0;
	}
	for (size_t i = 0; i < recording->calls.count; i++) {
		sums.count[KWHY_ACTIVITY_KIND_COUNT]++;
		sums.time_ns[KWHY_ACTIVITY_KIND_COUNT] += recording->calls.end_ns[i] -
			recording->calls.start_ns[i];
	}
	return sums;
}

/* Makes a recording of odd durations, which an export that rounds would change. */
static struct kwhy_recording *make_odd(void)
{
	static const struct {
		enum kwhy_activity_kind kind;
		const char *name;
	} kinds[] = {{KWHY_ACTIVITY_KERNEL, "gemm"}, {KWHY_ACTIVITY_COPY, "h2d"},
		{KWHY_ACTIVITY_MEMSET, "set"},
		{KWHY_ACTIVITY_COLLECTIVE, "ncclDevKernel_AllReduce_Sum_f16_RING_LL"}};
	struct kwhy_recording *recording;
	int64_t at_ns = 1;

	OK(kwhy_recording_new(&recording, &error));
	recording->unix_clock = true;
	recording->origin_unix_ns = INT64_C(1795262400123456789);
	add_tracks(recording, 0, KWHY_NONE, PID);
	for (size_t i = 0; i < 400; i++) {
		struct kwhy_activity row = kwhy_activity_unknown();

		row.kind = (uint8_t)kinds[i % 4].kind;
		row.name = intern(recording, kinds[i % 4].name);
		row.start_ns = at_ns;
		row.end_ns = at_ns + 1 + (int64_t)(i * i * 7919 % 100003);
		row.call = (uint32_t)i + 1;
		if (row.kind == KWHY_ACTIVITY_COPY || row.kind == KWHY_ACTIVITY_MEMSET)
			row.bytes = 4096 + i;
		if (row.kind == KWHY_ACTIVITY_COPY)
			row.copy_kind = KWHY_COPY_H2D;
		OK(kwhy_recording_add_activity(recording, &row, &error));
		OK(kwhy_recording_add_call(recording, at_ns - 1, at_ns + 3 + (int64_t)i,
			intern(recording, "cudaLaunchKernel"), 0, row.call, &error));
		at_ns = row.end_ns + 17;
	}
	OK(kwhy_recording_finish(recording, &error));
	return recording;
}

static void every_format_has_the_same_sums_to_the_nanosecond(void **state)
{
	static const char *const forms[] = {"chrome", "perfetto", "sqlite", "csv"};
	struct kwhy_recording *recording = make_odd();
	const struct sums wanted = sums_of(recording);

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct kwhy_recording *back = read_back(forms[i], recording);
		const struct sums sums = sums_of(back);

		for (size_t kind = 0; kind <= KWHY_ACTIVITY_KIND_COUNT; kind++)
			if (sums.count[kind] != wanted.count[kind] ||
				sums.time_ns[kind] != wanted.time_ns[kind])
				fail_msg("%s, kind %zu: %lld rows of %lld ns, not %lld of %lld", forms[i],
					kind, (long long)sums.count[kind], (long long)sums.time_ns[kind],
					(long long)wanted.count[kind], (long long)wanted.time_ns[kind]);
		assert_int_equal(sums.bytes, wanted.bytes);
		assert_int_equal(sums.first_unix_ns, wanted.first_unix_ns);
		kwhy_recording_free(back);
	}
	kwhy_recording_free(recording);
}

static void what_is_read_back_of_chrome_has_the_ranks_of_devices_and_processes(void **state)
{
	(void)state;
	for (size_t machines = 0; machines <= COUNT; machines++) {
		struct kwhy_recording *recording = make(machines, nodes), *back;

		recording->processes[1].world_size = COUNT;
		back = read_back("chrome", recording);
		assert_int_equal(back->process_count, COUNT);
		assert_int_equal(back->stream_count, COUNT);
		for (uint32_t i = 0; i < COUNT; i++) {
			const struct kwhy_stream *stream = &back->streams[back->activities.stream[i]];

			assert_int_equal(back->devices[stream->device].rank, i);
			assert_int_equal(back->processes[stream->process].rank, i);
			assert_int_equal(back->threads[back->calls.thread[i]].process, stream->process);
			assert_int_equal(back->activities.call[i], i);
		}
		assert_int_equal(back->processes[1].world_size, COUNT);
		kwhy_recording_free(back);
		kwhy_recording_free(recording);
	}
}

/* Both ranks run on device 0. */
static void ranks_that_share_a_device_stay_apart_in_chrome(void **state)
{
	struct kwhy_recording *recording = make(0, NULL), *back;

	(void)state;
	recording->streams[1].device = 0;
	back = read_back("chrome", recording);
	assert_int_equal(back->device_count, 1);
	assert_int_equal(back->stream_count, COUNT);
	for (uint32_t i = 0; i < COUNT; i++) {
		const struct kwhy_stream *stream = &back->streams[back->activities.stream[i]];

		assert_int_equal(back->processes[stream->process].rank, i);
		assert_int_equal(back->activities.call[i], i);
	}
	kwhy_recording_free(back);
	kwhy_recording_free(recording);
}

static void csvs_rows_say_their_machine(void **state)
{
	struct kwhy_recording *recording = make(2, nodes);

	(void)state;
	EXPECT("csv", recording, "# GPU 0 H200 of rank 1 on node \"b\": device 2\n",
		",src_memory,dst_memory,machine\n",
		"kernel,gemm,0,7,1795262400000000000,1795262400001000000,,,,,,1,,0,,,node-a\n",
		"kernel,gemm,2,7,1795262400001000000,1795262400002000000,,,,,,3,,1,,,\"node \"\"b\"\"\"\n");
	kwhy_recording_free(recording);
}

/* Returns the integer that a query gives. */
static int64_t answer(const char *path, const char *query)
{
	sqlite3_stmt *statement;
	int64_t value;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_prepare_v2(db, query, -1, &statement, NULL) != SQLITE_OK)
		fail_msg("%s: %s", query, sqlite3_errmsg(db));
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	value = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return value;
}

static void every_row_of_the_database_leads_to_its_machine(void **state)
{
	static const char *const queries[] = {
		"SELECT count(*) FROM device d JOIN machine m ON m.id = d.machine_id WHERE m.name = 'node-a'",
		"SELECT count(*) FROM stream JOIN process p ON p.id = process_id WHERE p.machine_id = 1",
		"SELECT count(*) FROM call JOIN process p ON p.id = process_id WHERE p.machine_id = 1",
		"SELECT count(*) FROM range JOIN process p ON p.id = process_id WHERE p.machine_id = 1",
		"SELECT count(DISTINCT machine_id) - 1 FROM power",
		"SELECT max(count) FROM step_kernel_energy",
		"SELECT count(*) - 1 FROM step_kernel_energy",
	};
	struct kwhy_recording *recording = make(2, nodes);
	char path[32];

	(void)state;
	write_as("sqlite", recording, path);
	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
		if (answer(path, queries[i]) != 1)
			fail_msg("%d: %s", (int)answer(path, queries[i]), queries[i]);
	unlink(path);
	kwhy_recording_free(recording);
}

/*
 * The steps of both ranks cover the same time, so that each contains the kernels of the other rank as well.
 */
static void a_step_counts_the_kernels_of_its_own_rank(void **state)
{
	(void)state;
	for (size_t machines = 0; machines < 2; machines++) {
		struct kwhy_recording *recording = make(machines, nodes);
		char path[32];

		write_as("sqlite", recording, path);
		assert_int_equal(answer(path, "SELECT count(*) FROM step_kernel_energy"), COUNT);
		assert_int_equal(answer(path, "SELECT sum(count) FROM step_kernel_energy"), COUNT);
		assert_int_equal(answer(path, "SELECT sum(time_ns) FROM step_kernel_energy"), COUNT * ms_ns);
		unlink(path);
		kwhy_recording_free(recording);
	}
}

/* One kernel starts at 0 and another at 2 ms; between them the thread reads a value back. */
static void what_held_the_host_is_a_table(void **state)
{
	struct kwhy_host_range range = {.start_ns = ms_ns, .end_ns = 2 * ms_ns, .kind = KWHY_HOST_OPERATOR};
	struct kwhy_recording *recording;
	char path[32];

	(void)state;
	OK(kwhy_recording_new(&recording, &error));
	add_tracks(recording, KWHY_NONE, KWHY_NONE, PID);
	for (uint32_t i = 0; i < 2; i++)
		add_row_at(recording, 0, 2 * i * ms_ns, CORRELATION + i);
	range.name = intern(recording, "aten::item");
	OK(kwhy_recording_add_host_range(recording, &range, &error));
	OK(kwhy_recording_finish(recording, &error));
	write_as("sqlite", recording, path);
	assert_int_equal(answer(path, "SELECT sum(time_ns) FROM host_wait WHERE name = 'aten::item'"), ms_ns);
	assert_int_equal(answer(path, "SELECT count(*) FROM host_wait WHERE kind = 'operator'"), 1);
	unlink(path);
	kwhy_recording_free(recording);
}

/* The steps of both ranks have the same name. */
static void steps_of_one_name_are_told_apart_by_their_range(void **state)
{
	struct kwhy_recording *recording = make(2, nodes);
	char path[32];

	(void)state;
	write_as("sqlite", recording, path);
	assert_int_equal(answer(path, "SELECT count(DISTINCT range_id) FROM step_kernel_energy"), COUNT);
	assert_int_equal(answer(path,
				 "SELECT count(*) FROM step_kernel_energy JOIN range r ON r.id = range_id "
				 "WHERE r.kind = 'step'"),
		COUNT);
	unlink(path);
	kwhy_recording_free(recording);
}

static void copies_and_memsets_are_no_kernels(void **state)
{
	static const struct {
		uint8_t kind;
		int count;
	} cases[] = {{KWHY_ACTIVITY_COPY, 1}, {KWHY_ACTIVITY_MEMSET, 1}, {KWHY_ACTIVITY_COLLECTIVE, 2},
		{KWHY_ACTIVITY_GRAPH, 2}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_recording *recording = make(2, nodes);
		char path[32];

		recording->activities.kind[1] = cases[i].kind;
		write_as("sqlite", recording, path);
		assert_int_equal(answer(path, "SELECT sum(count) FROM kernel_energy"), cases[i].count);
		assert_int_equal(answer(path, "SELECT sum(count) FROM step_kernel_energy"), cases[i].count);
		unlink(path);
		kwhy_recording_free(recording);
	}
}

/* If the rank of a step or of the kernels is unknown, the step counts the kernels. */
static void a_step_of_an_unknown_rank_counts_the_kernels_of_all(void **state)
{
	struct kwhy_recording *recording = make(1, nodes);
	char path[32];

	(void)state;
	recording->processes[0].rank = KWHY_NONE;
	write_as("sqlite", recording, path);
	assert_int_equal(answer(path, "SELECT max(count) FROM step_kernel_energy"), COUNT);
	unlink(path);
	kwhy_recording_free(recording);
}

/* A recorder that named neither its host nor its boot may be on any machine. */
static void a_machine_of_which_nothing_was_told_is_none_in_the_database(void **state)
{
	const struct kwhy_machine nameless = {.width_ns = -1};
	struct kwhy_recording *recording = make(1, nodes);
	uint32_t machine;
	char path[32];

	(void)state;
	OK(kwhy_recording_add_machine(recording, &nameless, &machine, &error));
	recording->processes[0].machine = machine;
	write_as("sqlite", recording, path);
	assert_int_equal(answer(path, "SELECT count(*) FROM machine"), 1);
	assert_int_equal(answer(path, "SELECT count(*) FROM process WHERE machine_id IS NULL"), 1);
	assert_int_equal(answer(path, "SELECT sum(count) FROM step_kernel_energy"), COUNT);
	unlink(path);
	kwhy_recording_free(recording);
}

static void a_process_that_is_unknown_is_null_in_the_database(void **state)
{
	struct kwhy_recording *recording = make(0, NULL);
	char path[32];

	(void)state;
	recording->processes[0].pid = -1;
	write_as("sqlite", recording, path);
	assert_int_equal(answer(path, "SELECT count(*) FROM call WHERE pid IS NULL"), 1);
	unlink(path);
	kwhy_recording_free(recording);
}

/* Looking at all rows for each step would take hours instead of minutes. */
static void kernels_of_a_step_are_found_by_their_start(void **state)
{
	struct kwhy_recording *recording = make(0, NULL);
	sqlite3_stmt *plan;
	bool is_found = false;
	char path[32];
	sqlite3 *db;

	(void)state;
	write_as("sqlite", recording, path);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(
				 db, "EXPLAIN QUERY PLAN SELECT * FROM step_kernel_energy", -1, &plan, NULL),
		SQLITE_OK);
	while (sqlite3_step(plan) == SQLITE_ROW)
		is_found |= strstr((const char *)sqlite3_column_text(plan, 3),
				    "USING INDEX activity_start (start_ns>? AND start_ns<?)") != NULL;
	assert_true(is_found);
	sqlite3_finalize(plan);
	sqlite3_close(db);
	unlink(path);
	kwhy_recording_free(recording);
}

static void ranks_that_share_a_number_are_told_apart_without_a_machine(void **state)
{
	struct kwhy_recording *recording = make(0, NULL);

	(void)state;
	EXPECT("perfetto", recording, "GPU 0 H200 of rank 0", "GPU 0 H200 of rank 1",
		"calls of thread 77 of rank 0", "calls of thread 77 of rank 1");
	EXPECT("chrome", recording, "\"pid\":0,\"tid\":7,", "\"pid\":2,\"tid\":7,", "\"pid\":1,\"tid\":77,",
		"\"pid\":3,\"tid\":77,");
	kwhy_recording_free(recording);
}

static void numbers_of_one_machine_stay_as_they_are(void **state)
{
	static const char *const forms[] = {"perfetto", "chrome", "csv"};
	const struct kwhy_machine nameless = {.width_ns = -1}; /* as for a recorder that named nothing */
	uint32_t machine;
	struct kwhy_recording *recording = make(1, nodes);

	(void)state;
	OK(kwhy_recording_add_machine(recording, &nameless, &machine, &error));
	recording->devices[1].index = PID; /* a device may have the number of a process */
	for (size_t i = 0; i < 3; i++) {
		struct kwhy_text text = contents(forms[i], recording);

		assert_int_equal(count_of(&text, "on node-a"), 0);
		assert_int_equal(count_of(&text, "of rank"), 0);
		assert_int_equal(count_of(&text, "process_name"), 0);
		assert_int_equal(count_of(&text, "machine"), 0);
		kwhy_text_done(&text);
	}
	EXPECT("chrome", recording, "\"pid\":0,\"tid\":7,", "\"pid\":1,\"tid\":7,", "\"pid\":1,\"tid\":77,",
		"\"pid\":2,\"tid\":77,");
	kwhy_recording_free(recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perfettos_tracks_name_their_machine),
		cmocka_unit_test(chromes_numbers_are_of_one_device_or_process_and_named),
		cmocka_unit_test(chromes_unknown_processes_do_not_take_the_hosts_number),
		cmocka_unit_test(a_process_that_was_unknown_is_so_when_read_back),
		cmocka_unit_test(a_device_without_a_name_has_none_when_read_back),
		cmocka_unit_test(what_is_read_back_has_as_many_devices),
		cmocka_unit_test(every_format_has_the_same_sums_to_the_nanosecond),
		cmocka_unit_test(what_is_read_back_of_chrome_has_the_ranks_of_devices_and_processes),
		cmocka_unit_test(ranks_that_share_a_device_stay_apart_in_chrome),
		cmocka_unit_test(csvs_rows_say_their_machine),
		cmocka_unit_test(every_row_of_the_database_leads_to_its_machine),
		cmocka_unit_test(a_step_counts_the_kernels_of_its_own_rank),
		cmocka_unit_test(steps_of_one_name_are_told_apart_by_their_range),
		cmocka_unit_test(copies_and_memsets_are_no_kernels),
		cmocka_unit_test(a_step_of_an_unknown_rank_counts_the_kernels_of_all),
		cmocka_unit_test(a_machine_of_which_nothing_was_told_is_none_in_the_database),
		cmocka_unit_test(a_process_that_is_unknown_is_null_in_the_database),
		cmocka_unit_test(kernels_of_a_step_are_found_by_their_start),
		cmocka_unit_test(ranks_that_share_a_number_are_told_apart_without_a_machine),
		cmocka_unit_test(what_held_the_host_is_a_table),
		cmocka_unit_test(numbers_of_one_machine_stay_as_they_are),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
