/* SPDX-License-Identifier: Apache-2.0 */
#include "rocprof_fixture.h"

#include "import/rocprof/rocprof.h"

static struct kwhy_recording *read_and_remove(const char *path)
{
	const struct kwhy_import_options options = {.partial = false};
	struct kwhy_recording *recording = empty_recording();

	OK(kwhy_import_trace(recording, path, &options, &error));
	unlink(path);
	OK(kwhy_recording_finish(recording, &error));
	return recording;
}

static struct kwhy_recording *of_rocpd(void)
{
	char path[32];

	write_rocpd(path);
	return read_and_remove(path);
}

static struct kwhy_recording *of_json(void)
{
	struct kwhy_text json = {0};
	char path[32];

	write_json(&json);
	write_file(path, json.data, json.length);
	kwhy_text_done(&json);
	return read_and_remove(path);
}

static void remove_folder(const char *folder)
{
	static const char *const parts[] = {"agent_info", "hip_api_trace", "hsa_api_trace",
		"marker_api_trace", "kernel_trace", "memory_copy_trace"};
	char path[128];

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		snprintf(path, sizeof(path), "%s/77_%s.csv", folder, parts[i]);
		unlink(path);
	}
	rmdir(folder);
}

/*
 * Reads a set of CSV files, and then once more by the name of another of its files, which must add nothing.
 */
static struct kwhy_recording *of_csv(void)
{
	const struct kwhy_import_options options = {.partial = false};
	struct kwhy_recording *recording = empty_recording();
	char folder[] = "/tmp/kwhy-test-XXXXXX", path[64];

	assert_non_null(mkdtemp(folder));
	write_csv_set(folder);
	snprintf(path, sizeof(path), "%s/77_kernel_trace.csv", folder);
	OK(kwhy_import_trace(recording, path, &options, &error));
	snprintf(path, sizeof(path), "%s/77_hip_api_trace.csv", folder);
	OK(kwhy_import_trace(recording, path, &options, &error));
	remove_folder(folder);
	OK(kwhy_recording_finish(recording, &error));
	return recording;
}

static void has_the_kernels(const struct kwhy_recording *recording)
{
	const struct kwhy_activities *rows = &recording->activities;

	assert_int_equal(rows->count, 6);
	assert_int_equal(recording->device_count, 2);
	assert_int_equal(recording->devices[0].index, 0);
	assert_int_equal(recording->devices[1].index, 1);
	assert_string_equal(recording->devices[0].pci, "0000:31:00.0");
	assert_string_equal(recording->devices[0].name, "Instinct");
	assert_int_equal(recording->devices[0].sm_count, 304);
	assert_int_equal(recording->devices[0].threads_per_sm, 2048);
	assert_int_equal(recording->devices[0].shared_bytes_per_sm, 65536);
	assert_int_equal(rows->kind[1], KWHY_ACTIVITY_KERNEL);
	assert_string_equal(name_of(recording, rows->name[1]), symbols[0]);
	assert_int_equal(recording->origin_unix_ns + rows->start_ns[1], BOOT + 5200);
	assert_int_equal(rows->end_ns[1] - rows->start_ns[1], 10000);
	/* rocprofv3 states a grid in threads: 1000 x 4 in blocks of 64 x 2 are 16 x 2 blocks */
	assert_int_equal(rows->blocks[1], 16 * 2);
	assert_int_equal(rows->threads_per_block[1], 128);
	assert_int_equal(rows->registers[1], 28);
	assert_int_equal(rows->shared_bytes[1], 1024);
	assert_int_equal(rows->kind[2], KWHY_ACTIVITY_COLLECTIVE);
	assert_string_equal(name_of(recording, rows->name[5]), "odd(float*)");
}

static void has_the_rest(const struct kwhy_recording *recording, bool has_bytes)
{
	const struct kwhy_activities *rows = &recording->activities;
	const struct kwhy_calls *host = &recording->calls;

	assert_int_equal(rows->copy_kind[0], KWHY_COPY_H2D);
	assert_int_equal(rows->copy_kind[3], KWHY_COPY_D2H);
	assert_int_equal(rows->copy_kind[4], KWHY_COPY_P2P);
	assert_int_equal(rows->peer[4], 1);
	assert_int_equal(rows->bytes[3], has_bytes ? 8192 : KWHY_UNKNOWN_BYTES);
	assert_int_equal(host->count, 6);
	assert_string_equal(name_of(recording, host->name[rows->call[0]]), "hipMemcpyAsync");
	assert_string_equal(name_of(recording, host->name[rows->call[5]]), "hipLaunchKernel");
	assert_int_equal(rows->call[4], KWHY_NONE);
	assert_int_equal(recording->range_count, 1);
	assert_string_equal(name_of(recording, recording->ranges[0].name), "forward \"1\"");
	assert_int_equal(recording->ranges[0].end_ns - recording->ranges[0].start_ns, 38100);
	assert_int_equal(recording->processes[0].pid, 77);
	assert_int_equal(recording->threads[0].tid, 78);
	assert_false(recording->unix_clock);
	assert_string_equal(recording->clock_name, "boottime");
}

static void has_the_notes(const struct kwhy_recording *recording)
{
	assert_non_null(strstr(note_of(recording, "untimed")->text, ": 1 row has no time"));
	assert_non_null(strstr(note_of(recording, "other-calls")->text, ": 1 call of HSA"));
}

static void reads_a_database(void **state)
{
	struct kwhy_recording *recording = of_rocpd();

	(void)state;
	has_the_kernels(recording);
	has_the_rest(recording, true);
	has_the_notes(recording);
	assert_int_equal(recording->processes[0].rank, 3);
	assert_int_equal(recording->processes[0].world_size, 4);
	assert_string_equal(recording->processes[0].host, "node7");
	kwhy_recording_free(recording);
}

static void reads_json(void **state)
{
	struct kwhy_recording *recording = of_json();

	(void)state;
	has_the_kernels(recording);
	has_the_rest(recording, true);
	has_the_notes(recording);
	assert_string_equal(recording->processes[0].host, "node7");
	kwhy_recording_free(recording);
}

static void reads_a_set_of_csv_files_once(void **state)
{
	struct kwhy_recording *recording = of_csv();

	(void)state;
	has_the_kernels(recording);
	has_the_rest(recording, false);
	has_the_notes(recording);
	kwhy_recording_free(recording);
}

/* Checks that two recordings have the same activities, to the nanosecond. */
static void same_rows(const struct kwhy_recording *a, const struct kwhy_recording *b)
{
	assert_int_equal(a->activities.count, b->activities.count);
	for (size_t i = 0; i < a->activities.count; i++) {
		assert_int_equal(a->activities.start_ns[i] + a->origin_unix_ns,
			b->activities.start_ns[i] + b->origin_unix_ns);
		assert_int_equal(a->activities.end_ns[i] + a->origin_unix_ns,
			b->activities.end_ns[i] + b->origin_unix_ns);
		assert_int_equal(a->activities.blocks[i], b->activities.blocks[i]);
		assert_int_equal(a->activities.kind[i], b->activities.kind[i]);
		assert_int_equal(a->activities.call[i], b->activities.call[i]);
		assert_string_equal(name_of(a, a->activities.name[i]), name_of(b, b->activities.name[i]));
	}
}

static void the_three_forms_are_one_trace(void **state)
{
	struct kwhy_recording *rocpd = of_rocpd(), *json = of_json(), *csv = of_csv();

	(void)state;
	same_rows(rocpd, json);
	same_rows(rocpd, csv);
	kwhy_recording_free(rocpd);
	kwhy_recording_free(json);
	kwhy_recording_free(csv);
}

static void refuses_json(const char *text, const char *words)
{
	const struct kwhy_import_options options = {.partial = false};
	struct kwhy_recording *recording = empty_recording();
	char path[32];

	write_file(path, text, strlen(text));
	refused(kwhy_import_trace(recording, path, &options, &error), words);
	unlink(path);
	kwhy_recording_free(recording);
}

static void damaged_json_is_refused(void **state)
{
	(void)state;
	refuses_json("{\"rocprofiler-sdk-tool\": [{\"agents\": [", "ends early");
	refuses_json("{\"rocprofiler-sdk-tool\": []}", "holds no kernel, copy or call");
	refuses_json("{\"rocprofiler-sdk-tool\": []} {}", "is not valid JSON at byte");
	refuses_json("{\"rocprofiler-sdk-tool\": [{\"agents\": [{\"id\" 5}]}]}", "is not valid JSON");
	refuses_json("{\"rocprofiler-sdk-tool\": [{\"buffer_records\": {\"kernel_dispatch\": "
		     "[{\"start_timestamp\": 5, \"end_timestamp\": 6}]}}]}",
		"kernel_dispatch, row 1: the trace does not describe its agent");
}

/*
 * From schema 4 of rocprofv3's database on, a row has no thread, agent and stream itself but refers to a
 * track that has them.
 */
static void reads_tracks_of_schema_4(void **state)
{
	static const char sql[] =
		"CREATE TABLE rocpd_info_process_g(id INTEGER PRIMARY KEY, pid INTEGER);"
		"CREATE TABLE rocpd_info_agent_g(id INTEGER PRIMARY KEY, type TEXT, type_index INTEGER);"
		"INSERT INTO rocpd_info_agent_g VALUES(4,'GPU',0);"
		"CREATE TABLE rocpd_track_g(id INTEGER PRIMARY KEY, tid INTEGER, agent_id INTEGER, stream_id "
		"INTEGER);"
		"INSERT INTO rocpd_track_g VALUES(1,NULL,4,6),(2,78,NULL,NULL);"
		"CREATE TABLE rocpd_string_g(id INTEGER PRIMARY KEY, string TEXT);"
		"INSERT INTO rocpd_string_g VALUES(1,'hipLaunchKernel');"
		"CREATE TABLE rocpd_region_g(start BIGINT, end BIGINT, track_id INTEGER, name_id INTEGER);"
		"INSERT INTO rocpd_region_g VALUES(10,20,2,1);"
		"CREATE TABLE rocpd_kernel_dispatch_g(start BIGINT, end BIGINT, track_id INTEGER);"
		"INSERT INTO rocpd_kernel_dispatch_g VALUES(30,70,1);";
	struct kwhy_recording *recording;
	char path[32];

	(void)state;
	make_database(path, sql);
	recording = read_and_remove(path);
	assert_int_equal(recording->activities.count, 1);
	assert_int_equal(recording->streams[0].id, 6);
	assert_int_equal(recording->devices[0].index, 0);
	assert_int_equal(recording->threads[0].tid, 78);
	assert_non_null(note_of(recording, "unnamed"));
	kwhy_recording_free(recording);
}

static void a_kernel_trace_needs_the_agents(void **state)
{
	static const char text[] = "Kernel_Name,Agent_Id,Start_Timestamp,End_Timestamp\nk,Agent 4,5,6\n";
	const struct kwhy_import_options options = {.partial = false};
	struct kwhy_recording *recording = empty_recording();
	char path[32];

	(void)state;
	write_file(path, text, strlen(text));
	refused(kwhy_import_trace(recording, path, &options, &error), "_agent_info.csv");
	unlink(path);
	kwhy_recording_free(recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_database),
		cmocka_unit_test(reads_json),
		cmocka_unit_test(reads_a_set_of_csv_files_once),
		cmocka_unit_test(the_three_forms_are_one_trace),
		cmocka_unit_test(reads_tracks_of_schema_4),
		cmocka_unit_test(damaged_json_is_refused),
		cmocka_unit_test(a_kernel_trace_needs_the_agents),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
