/* SPDX-License-Identifier: Apache-2.0 */
#include "nsys_fixture.h"

static void a_kernel_is_linked_to_the_call_of_its_process(void **state)
{
	struct kwhy_recording *recording = finished(STRINGS START CALLS KERNELS CALL("100", "200", "0", TID_8,
		"5", "3") CALL("100", "150", "0", TID, "5", "2") CALL("100", "150", "67", TID, "5", "2")
			KERNEL("300", "400", "0", "5", PID, "1") KERNEL("500", "600", "0", "6", PID, "4"));
	const struct kwhy_activities *rows = &recording->activities;

	(void)state;
	assert_int_equal(recording->origin_unix_ns, INT64_C(1795245124000000123));
	assert_true(recording->unix_clock);
	assert_int_equal(recording->calls.count, 2);
	assert_non_null(note_of(recording, "backtrace-rows"));
	assert_int_equal(rows->count, 2);
	assert_string_equal(name_of(recording, recording->calls.name[rows->call[0]]), "cudaLaunchKernel");
	assert_int_equal(rows->call[1], KWHY_NONE);
	assert_int_equal(recording->lost.unlinked_activities, 1);
	assert_string_equal(name_of(recording, rows->name[0]), "my_kernel(int)");
	assert_int_equal(rows->kind[0], KWHY_ACTIVITY_KERNEL);
	assert_int_equal(rows->kind[1], KWHY_ACTIVITY_COLLECTIVE);
	assert_int_equal(rows->blocks[0], 60);
	assert_int_equal(rows->threads_per_block[0], 256);
	assert_int_equal(rows->registers[0], 32);
	assert_int_equal(rows->shared_bytes[0], 1024);
	assert_int_equal(rows->graph_node[0], KWHY_NONE);
	assert_int_equal(recording->processes[recording->streams[0].process].pid, 7);
	assert_int_equal(recording->threads[0].tid, 9);
	assert_non_null(note_of(recording, "no-device-table"));
	assert_int_equal(recording->sources[0].events, 5);
	kwhy_recording_free(recording);
}

static void only_versions_are_cut_from_the_names_of_calls(void **state)
{
	struct kwhy_recording *recording = finished(STRINGS START CALLS CALL("1", "2", "1", TID, "1", "3")
			CALL("3", "4", "0", TID, "2", "6") CALL("5", "6", "0", TID, "3", "99"));

	(void)state;
	assert_string_equal(name_of(recording, recording->calls.name[0]), "cuMemAlloc_v2");
	assert_int_equal(recording->calls.class[0], KWHY_CALL_ALLOC);
	assert_string_equal(name_of(recording, recording->calls.name[1]), "cudaFree");
	assert_string_equal(name_of(recording, recording->calls.name[2]), "unnamed call");
	assert_non_null(note_of(recording, "api-rows-only"));
	assert_non_null(note_of(recording, "unnamed"));
	kwhy_recording_free(recording);
}

static void columns_that_a_version_lacks_are_unknown(void **state)
{
	struct kwhy_recording *recording = finished(
		"CREATE TABLE StringIds(id INTEGER PRIMARY KEY,value TEXT);INSERT INTO StringIds "
		"VALUES(3,'short');"
		"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT,[end] INT,deviceId INT,shortName INT);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(-5,10,1,3),(20,30,1,77);");
	const struct kwhy_activities *rows = &recording->activities;

	(void)state;
	assert_false(recording->unix_clock);
	assert_non_null(note_of(recording, "no-start-time"));
	assert_non_null(note_of(recording, "no-api-rows"));
	assert_non_null(note_of(recording, "negative-starts"));
	assert_int_equal(rows->start_ns[0], -5);
	assert_string_equal(name_of(recording, rows->name[0]), "short");
	assert_string_equal(name_of(recording, rows->name[1]), "unnamed kernel");
	assert_int_equal(rows->blocks[0], KWHY_UNKNOWN_BLOCKS);
	assert_int_equal(rows->threads_per_block[0], KWHY_UNKNOWN_U16);
	assert_int_equal(rows->registers[0], KWHY_UNKNOWN_U16);
	assert_int_equal(rows->shared_bytes[0], KWHY_NONE);
	assert_int_equal(recording->streams[0].id, -1);
	assert_int_equal(recording->streams[0].context, -1);
	assert_int_equal(recording->processes[0].pid, -1);
	assert_int_equal(recording->devices[0].index, 1);
	assert_null(recording->sources[0].version);
	kwhy_recording_free(recording);
}

static void ordinals_of_processes_are_mapped_to_physical_devices(void **state)
{
	struct kwhy_recording *recording = finished(STRINGS START KERNELS
		"CREATE TABLE TARGET_INFO_GPU(id INTEGER,name TEXT,totalMemory INTEGER,memoryBandwidth "
		"INTEGER,"
		"smCount INTEGER,uuid TEXT,maxWarpsPerSm INTEGER,threadsPerWarp INTEGER,maxRegistersPerSm "
		"INTEGER,"
		"maxShmemPerSm INTEGER,busLocation TEXT);"
		"INSERT INTO TARGET_INFO_GPU VALUES(2,'GPU "
		"two',1000,2000,132,'u2',64,32,65536,233472,'0000:3b:00.0'),"
		"(3,'GPU three',0,0,0,NULL,NULL,'x',-1,0,NULL);"
		"CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId INTEGER,cudaId INTEGER,pid INTEGER,uuid TEXT,"
		"numMultiprocessors INTEGER);"
		"INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES(2,0,7,'u2',132),(3,0,8,'u3',108);" KERNEL(
			"1", "2", "0", "1", PID, "1") KERNEL("1", "2", "0", "1", PID_8, "1"));
	const struct kwhy_device
		*two = &recording->devices[kwhy_recording_find_device(recording, 2, KWHY_NONE)];
	const struct kwhy_device
		*three = &recording->devices[kwhy_recording_find_device(recording, 3, KWHY_NONE)];

	(void)state;
	assert_int_equal(recording->device_count, 2);
	assert_string_equal(two->name, "GPU two");
	assert_string_equal(two->uuid, "u2");
	assert_string_equal(two->pci, "0000:3b:00.0");
	assert_null(three->pci);
	assert_int_equal(two->sm_count, 132);
	assert_int_equal(two->threads_per_sm, 2048);
	assert_int_equal(two->registers_per_sm, 65536);
	assert_int_equal(two->shared_bytes_per_sm, 233472);
	assert_int_equal(two->memory_bytes, 1000);
	assert_true(two->memory_rate_bytes_per_s == 2000);
	assert_string_equal(three->name, "GPU three");
	assert_string_equal(three->uuid, "u3");
	assert_int_equal(three->sm_count, 108);
	assert_int_equal(three->threads_per_sm, 0);
	assert_int_equal(three->limit_mw, -1);
	assert_null(note_of(recording, "no-device-table"));
	kwhy_recording_free(recording);
}

static void devices_stand_in_the_order_of_their_numbers(void **state)
{
	struct kwhy_recording *recording = finished(STRINGS START KERNELS KERNEL("1", "2", "5", "1", PID, "1")
			KERNEL("3", "4", "0", "1", PID, "1") KERNEL("5", "6", "3", "1", PID, "1"));
	static const int32_t indexes[] = {0, 3, 5};
	static const int64_t starts_ns[] = {3, 5, 1};

	(void)state;
	for (uint32_t device = 0; device < 3; device++) {
		size_t row = recording->activities.first[device];

		assert_int_equal(recording->devices[device].index, indexes[device]);
		assert_int_equal(recording->activities.start_ns[row], starts_ns[device]);
	}
	kwhy_recording_free(recording);
}

static void copies_and_memsets_keep_their_kinds_sizes_and_ends(void **state)
{
	struct kwhy_recording *recording = finished(
		STRINGS START "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER,end INTEGER,deviceId "
			      "INTEGER,contextId INTEGER,"
			      "streamId INTEGER,correlationId INTEGER,globalPid INTEGER,bytes "
			      "INTEGER,copyKind INTEGER,srcKind INTEGER,"
			      "dstKind INTEGER,srcDeviceId INTEGER,dstDeviceId INTEGER,graphNodeId INTEGER);"
			      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
			      "(1,2,0,1,7,1," PID ",100,1,0,2,NULL,NULL,NULL),"
			      "(3,4,0,1,7,1," PID ",200,10,2,2,0,1,77),"
			      "(5,6,0,1,7,1," PID ",NULL,99,'x',-3,NULL,NULL,0),"
			      "(7,8,0,1,7,1," PID ",5,12,2,4,NULL,NULL,NULL);"
			      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start INTEGER,end INTEGER,deviceId "
			      "INTEGER,contextId INTEGER,"
			      "streamId INTEGER,correlationId INTEGER,globalPid INTEGER,value INTEGER,bytes "
			      "INTEGER,memKind INTEGER);"
			      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES(9,10,0,1,7,1," PID ",0,64,2);");
	const struct kwhy_activities *rows = &recording->activities;

	(void)state;
	assert_string_equal(name_of(recording, rows->name[0]), "Memcpy HtoD (Pageable -> Device)");
	assert_int_equal(rows->copy_kind[0], KWHY_COPY_H2D);
	assert_int_equal(rows->src_memory[0], KWHY_MEMORY_PAGEABLE);
	assert_int_equal(rows->dst_memory[0], KWHY_MEMORY_DEVICE);
	assert_int_equal(rows->bytes[0], 100);
	assert_int_equal(rows->copy_kind[1], KWHY_COPY_P2P);
	assert_int_equal(rows->peer[1], 1);
	assert_int_equal(rows->graph_node[1], 77);
	assert_int_equal(rows->copy_kind[2], KWHY_COPY_UNKNOWN);
	assert_int_equal(rows->src_memory[2], KWHY_MEMORY_UNKNOWN);
	assert_true(rows->bytes[2] == KWHY_UNKNOWN_BYTES);
	assert_int_equal(rows->graph_node[2], KWHY_NONE);
	assert_int_equal(rows->copy_kind[3], KWHY_COPY_D2H);
	assert_int_equal(rows->dst_memory[3], KWHY_MEMORY_MANAGED);
	assert_int_equal(rows->kind[4], KWHY_ACTIVITY_MEMSET);
	assert_string_equal(name_of(recording, rows->name[4]), "Memset (Device)");
	assert_int_equal(rows->bytes[4], 64);
	assert_int_equal(recording->lost.unknown_bytes, 1);
	assert_non_null(note_of(recording, "no-kernels"));
	kwhy_recording_free(recording);
}

static void graph_launches_are_rows_of_their_own_and_open_ones_are_left_out(void **state)
{
	struct kwhy_recording *recording = finished(STRINGS START CALLS CALL("1", "2", "0", TID, "4",
		"2") "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INTEGER,end INTEGER,deviceId "
		     "INTEGER,"
		     "contextId INTEGER,streamId INTEGER,correlationId INTEGER,globalPid INTEGER,graphId "
		     "INTEGER,"
		     "graphExecId INTEGER);"
		     "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(10,50,0,1,7,4," PID ",12,13),"
		     "(60,0,0,1,7,4," PID ",12,13),(70,NULL,0,1,7,4," PID ",12,13),(80,90,0,1,7,9," PID
		     ",NULL,NULL);");
	const struct kwhy_activities *rows = &recording->activities;

	(void)state;
	assert_int_equal(rows->count, 2);
	assert_int_equal(rows->kind[0], KWHY_ACTIVITY_GRAPH);
	assert_string_equal(name_of(recording, rows->name[0]), "CUDA graph 12");
	assert_int_equal(rows->call[0], 0);
	assert_string_equal(name_of(recording, rows->name[1]), "CUDA graph");
	assert_int_equal(recording->lost.skipped_events, 2);
	assert_non_null(note_of(recording, "graph-level"));
	assert_non_null(strstr(note_of(recording, "unfinished-graphs")->text, ": 2 CUDA graph launches"));
	kwhy_recording_free(recording);
}

static void nvtx_ranges_have_their_text_or_its_number_and_marks_are_none(void **state)
{
	struct kwhy_recording *recording = finished(STRINGS START CALLS CALL("1", "2", "0", TID, "4",
		"2") "CREATE TABLE NVTX_EVENTS(start INTEGER,end INTEGER,eventType INTEGER,text "
		     "TEXT,globalTid INTEGER,"
		     "textId INTEGER);"
		     "INSERT INTO NVTX_EVENTS VALUES(1,10,59,'forward'," TID ",NULL),(2,9,60,NULL," TID ",5),"
		     "(3,8,59,'aten::to, op_id = 990347'," TID ",NULL),(4,NULL,59,'open'," TID ",NULL),"
		     "(5,NULL,34,'a mark'," TID ",NULL),(6,NULL,75,'a domain'," TID
		     ",NULL),(7,8,59,'step 12'," TID ",NULL),"
		     "(8,9,59,NULL," TID ",NULL);"
		     "CREATE TABLE PROFILER_OVERHEAD(start INTEGER,end INTEGER,globalTid INTEGER,nameId "
		     "INTEGER);"
		     "INSERT INTO PROFILER_OVERHEAD VALUES(-100,1900,1,1),(0,1000,1,1);");

	(void)state;
	assert_int_equal(recording->range_count, 5);
	assert_string_equal(name_of(recording, recording->ranges[0].name), "forward");
	assert_int_equal(recording->ranges[0].kind, KWHY_RANGE_NVTX);
	assert_int_equal(recording->ranges[0].thread, 0);
	assert_string_equal(name_of(recording, recording->ranges[1].name), "a step");
	assert_string_equal(name_of(recording, recording->ranges[2].name), "aten::to");
	assert_int_equal(recording->ranges[3].kind, KWHY_RANGE_STEP);
	assert_string_equal(name_of(recording, recording->ranges[4].name), "unnamed range");
	assert_non_null(strstr(note_of(recording, "open-ranges")->text, ": 1 NVTX"));
	assert_non_null(strstr(note_of(recording, "profiler-overhead")->text,
		"spent 3.00 \xC2\xB5s on its own work, by its records, in 2 intervals"));
	assert_null(note_of(recording, "negative-starts"));
	kwhy_recording_free(recording);
}

static void calls_of_the_system_are_host_ranges_of_threads_that_are_known(void **state)
{
	struct kwhy_recording *recording = finished(STRINGS START CALLS CALL("100", "200", "0", TID, "4",
		"2") "CREATE TABLE OSRT_API(start INTEGER,end INTEGER,eventClass INTEGER,globalTid INTEGER,"
		     "nameId INTEGER);"
		     "INSERT INTO OSRT_API VALUES(1,90,27," TID ",5),(110,120,27," TID ",5),"
		     "(1,90,27,77,5),(9,1,27," TID ",5);");
	const struct kwhy_host_ranges *rows = &recording->host_ranges;

	(void)state;
	/*
	 * one of four rows is read as a host range; of the others one is inside a CUDA call, one has an
	 * unknown thread, and one ends before its start
	 */
	assert_int_equal(rows->count, 1);
	assert_int_equal(rows->kind[0], KWHY_HOST_SYSTEM);
	assert_int_equal(rows->end_ns[0] - rows->start_ns[0], 89);
	assert_string_equal(name_of(recording, rows->name[0]), "a step");
	assert_int_equal(recording->thread_count, 1);
	kwhy_recording_free(recording);
}

static void memory_in_use_is_the_sum_of_what_was_taken_and_given_back(void **state)
{
	struct kwhy_recording *recording = finished(STRINGS START KERNELS KERNEL(
		"1", "2", "0", "1", PID, "1") "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS(start "
					      "INTEGER,globalPid INTEGER,deviceId INTEGER,"
					      "bytes INTEGER,memKind INTEGER,memoryOperationType INTEGER);"
					      "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES(30," PID
					      ",0,100,2,1),(10," PID ",0,100,2,0),"
					      "(20," PID ",0,50,5,0),(15," PID ",0,999,1,0),(40," PID
					      ",0,500,2,1),(50," PID ",1,7,2,0),"
					      "(60," PID ",0,NULL,2,0),(70," PID ",0,-5,2,0);");
	static const uint64_t in_use[] = {100, 150, 50, 0, 7};

	(void)state;
	assert_int_equal(recording->memory_count, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(recording->memory[i].reserved_bytes, in_use[i]);
		assert_true(recording->memory[i].allocated_bytes == KWHY_UNKNOWN_BYTES);
	}
	assert_int_equal(recording->devices[recording->memory[4].device].index, 1);
	kwhy_recording_free(recording);
}

static void what_the_export_says_of_itself_is_kept(void **state)
{
	struct kwhy_recording *recording = finished(STRINGS START KERNELS KERNEL("1", "2", "0", "1", PID,
		"1") "CREATE TABLE META_DATA_EXPORT(name TEXT,value TEXT);"
		     "INSERT INTO META_DATA_EXPORT VALUES('EXPORT_PRODUCT_NAME','NVIDIA Nsight Systems'),"
		     "('EXPORT_PRODUCT_VERSION','2024.5'),('EXPORT_SCHEMA_VERSION','3.13.2');"
		     "CREATE TABLE META_DATA_CAPTURE(name TEXT,value TEXT);"
		     "INSERT INTO META_DATA_CAPTURE VALUES('PROCESS_0:ENVIRONMENT_VARIABLE','RANK=\"3\"'),"
		     "('PROCESS_0:ENVIRONMENT_VARIABLE','WORLD_SIZE=\"8\"');"
		     "CREATE TABLE DIAGNOSTIC_EVENT(text TEXT);"
		     "INSERT INTO DIAGNOSTIC_EVENT VALUES('Not all CUDA events might have been "
		     "collected.'),('fine');");

	(void)state;
	assert_string_equal(recording->sources[0].version, "3.13.2");
	assert_string_equal(recording->sources[0].producer, "NVIDIA Nsight Systems 2024.5");
	assert_int_equal(recording->devices[0].rank, 3);
	assert_int_equal(recording->processes[0].rank, 3);
	assert_int_equal(recording->processes[0].world_size, 8);
	assert_non_null(strstr(note_of(recording, "profiler-lost-events")->text, "Not all CUDA events"));
	kwhy_recording_free(recording);
}

static void a_second_export_is_another_rank_on_the_clock_of_the_first(void **state)
{
	static const char later[] = STRINGS
		"CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER);"
		"INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(1795245125000000123);" KERNELS KERNEL(
			"1", "2", "0", "1", PID, "1");
	static const char first[] = STRINGS START KERNELS KERNEL("1", "2", "0", "1", PID, "1");
	static const char timeless[] = STRINGS KERNELS KERNEL("1", "2", "0", "1", PID, "1");
	struct kwhy_recording *recording = empty_recording();

	(void)state;
	OK(import_sql(recording, first, false));
	OK(import_sql(recording, later, false));
	assert_int_equal(recording->device_count, 2);
	assert_int_equal(recording->activities.start_ns[1], 1000000001);
	refused(import_sql(recording, timeless, false), "cannot be put on one clock");
	kwhy_recording_free(recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_is_linked_to_the_call_of_its_process),
		cmocka_unit_test(only_versions_are_cut_from_the_names_of_calls),
		cmocka_unit_test(columns_that_a_version_lacks_are_unknown),
		cmocka_unit_test(ordinals_of_processes_are_mapped_to_physical_devices),
		cmocka_unit_test(devices_stand_in_the_order_of_their_numbers),
		cmocka_unit_test(copies_and_memsets_keep_their_kinds_sizes_and_ends),
		cmocka_unit_test(graph_launches_are_rows_of_their_own_and_open_ones_are_left_out),
		cmocka_unit_test(nvtx_ranges_have_their_text_or_its_number_and_marks_are_none),
		cmocka_unit_test(calls_of_the_system_are_host_ranges_of_threads_that_are_known),
		cmocka_unit_test(memory_in_use_is_the_sum_of_what_was_taken_and_given_back),
		cmocka_unit_test(what_the_export_says_of_itself_is_kept),
		cmocka_unit_test(a_second_export_is_another_rank_on_the_clock_of_the_first),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
