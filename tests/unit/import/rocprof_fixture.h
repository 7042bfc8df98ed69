/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_IMPORT_ROCPROF_FIXTURE_H
#define TESTS_UNIT_IMPORT_ROCPROF_FIXTURE_H

#include "base/text.h"
#include "nsys_fixture.h"

#include <inttypes.h>

/*
 * A recorded program on a machine with two CPUs and two GPUs (agents 0 to 3), from which the tests make each
 * of the three output formats of rocprofv3. Times are ns since the machine's start, less BOOT.
 */

#define BOOT INT64_C(1550151853000000)

struct call_row {
	int64_t start, end, correlation;
	const char *name;
};

struct kernel_row {
	int64_t start, end, agent, stream, kernel, correlation;
};

struct copy_row {
	int64_t start, end, source, destination, bytes, correlation;
	const char *direction;
};

static const struct call_row calls[] = {
	{1000, 3000, 1, "hipMemcpyAsync"},
	{4000, 5000, 2, "hipLaunchKernel"},
	{5100, 6000, 3, "hipLaunchKernel"},
	{6100, 40000, 4, "hipDeviceSynchronize"},
	{40100, 45000, 5, "hipMemcpy"},
	{46000, 46500, 6, "hipLaunchKernel"},
	{500, 900, 7, "hsa_queue_create"},
};
static const struct call_row marker = {900, 39000, 8, "forward \\\"1\\\""};
static const struct kernel_row kernels[] = {
	{5200, 15200, 2, 1, 11, 2}, {15300, 39000, 2, 1, 12, 3}, {47000, 48001, 3, 2, 13, 6},
	{0, 0, 2, 1, 11, 9}, /* a kernel whose times are missing, as the profiler got none */
};
static const struct copy_row copies[] = {
	{2000, 2900, 0, 2, 4096, 1, "MEMORY_COPY_HOST_TO_DEVICE"},
	{41000, 44000, 2, 0, 8192, 5, "MEMORY_COPY_DEVICE_TO_HOST"},
	{44100, 44900, 2, 3, 64, 0, "MEMORY_COPY_DEVICE_TO_DEVICE"},
};
static const char *const symbols[] = {
	"void scale<float>(float*, int)", "ncclDevKernel_Generic_1(ncclDevKernelArgs)", "_Z3oddPf.kd"};

enum {
	CALLS_COUNT = sizeof(calls) / sizeof(calls[0]),
	KERNELS_COUNT = sizeof(kernels) / sizeof(kernels[0]),
	COPIES_COUNT = sizeof(copies) / sizeof(copies[0]),
	SYMBOL_FIRST = 11
};

static inline int64_t at(int64_t time)
{
	return time ? BOOT + time : 0;
}

static inline void agents_as_sql(struct kwhy_text *sql)
{
	for (int i = 0; i < 4; i++)
		kwhy_text_addf(sql,
			"INSERT INTO rocpd_info_agent_g VALUES(%d,'%s',%d,'gfx942','MI300X','Instinct','"
			"{\"cu_count\":304,\"max_waves_per_cu\":32,\"wave_front_size\":64,"
			"\"lds_size_in_kb\":64,\"domain\":0,\"location_id\":%d,"
			"\"hive_id\":17446744073709551615}');",
			i, i < 2 ? "CPU" : "GPU", i % 2, i < 2 ? 0 : 0x2F00 + 0x100 * i);
}

static inline void info_as_sql(struct kwhy_text *sql)
{
	kwhy_text_add(sql,
		"CREATE TABLE rocpd_info_node_g(id INTEGER PRIMARY KEY, hostname TEXT);"
		"INSERT INTO rocpd_info_node_g VALUES(5,'node7');"
		"CREATE TABLE rocpd_info_process_g(id INTEGER PRIMARY KEY, pid INTEGER, environment JSONB);"
		"INSERT INTO rocpd_info_process_g VALUES(77,77,'{\"RANK\":\"3\",\"WORLD_SIZE\":\"4\"}');"
		"CREATE TABLE rocpd_info_thread_g(id INTEGER PRIMARY KEY, tid INTEGER);"
		"INSERT INTO rocpd_info_thread_g VALUES(9,78);"
		"CREATE VIEW rocpd_info_process AS SELECT * FROM rocpd_info_process_g;"
		"CREATE TABLE rocpd_info_agent_g(id INTEGER PRIMARY KEY, type TEXT, type_index INTEGER, name "
		"TEXT, model_name TEXT, product_name TEXT, extdata JSONB);"
		"CREATE TABLE rocpd_string_g(id INTEGER PRIMARY KEY, string TEXT);"
		"CREATE TABLE rocpd_event_g(id INTEGER PRIMARY KEY, stack_id INTEGER, correlation_id "
		"INTEGER, "
		"extdata JSONB);"
		"CREATE TABLE rocpd_info_kernel_symbol_g(id INTEGER PRIMARY KEY, display_name TEXT, "
		"arch_vgpr_count INTEGER, accum_vgpr_count INTEGER);");
	agents_as_sql(sql);
	for (int i = 0; i < 3; i++)
		kwhy_text_addf(sql, "INSERT INTO rocpd_info_kernel_symbol_g VALUES(%d,'%s',24,4);",
			SYMBOL_FIRST + i, symbols[i]);
}

static inline void host_as_sql(struct kwhy_text *sql)
{
	kwhy_text_add(sql,
		"CREATE TABLE rocpd_region_g(id INTEGER PRIMARY KEY, tid INTEGER, start BIGINT, end "
		"BIGINT, name_id INTEGER, event_id INTEGER);");
	for (int i = 0; i < CALLS_COUNT; i++)
		kwhy_text_addf(sql,
			"INSERT INTO rocpd_string_g VALUES(%d,'%s');"
			"INSERT INTO rocpd_event_g VALUES(%d,%" PRId64 ",0,'{}');"
			"INSERT INTO rocpd_region_g VALUES(%d,9,%" PRId64 ",%" PRId64 ",%d,%d);",
			i + 1, calls[i].name, i + 1, calls[i].correlation, i + 1, at(calls[i].start),
			at(calls[i].end), i + 1, i + 1);
	kwhy_text_addf(sql,
		"INSERT INTO rocpd_string_g VALUES(50,'roctxThreadRangeA');"
		"INSERT INTO rocpd_event_g VALUES(50,8,0,'{\"message\":\"%s\"}');"
		"INSERT INTO rocpd_region_g VALUES(50,9,%" PRId64 ",%" PRId64 ",50,50);",
		marker.name, at(marker.start), at(marker.end));
}

static inline void device_as_sql(struct kwhy_text *sql)
{
	kwhy_text_add(sql,
		"CREATE TABLE rocpd_kernel_dispatch_g(start BIGINT,end BIGINT,agent_id INTEGER,queue_id "
		"INTEGER,stream_id INTEGER,kernel_id INTEGER,group_segment_size INTEGER,workgroup_size_x "
		"INTEGER,workgroup_size_y INTEGER,workgroup_size_z INTEGER,grid_size_x INTEGER,grid_size_y "
		"INTEGER,grid_size_z INTEGER,event_id INTEGER);"
		"CREATE TABLE rocpd_memory_copy_g(start BIGINT,end BIGINT,src_agent_id INTEGER,dst_agent_id "
		"INTEGER,size INTEGER,stream_id INTEGER,name_id INTEGER,event_id INTEGER);");
	for (int i = 0; i < KERNELS_COUNT; i++)
		kwhy_text_addf(sql,
			"INSERT INTO rocpd_event_g VALUES(%d,%" PRId64 ",0,'{}');"
			"INSERT INTO rocpd_kernel_dispatch_g VALUES(%" PRId64 ",%" PRId64 ",%" PRId64
			",5,%" PRId64 ",%" PRId64 ",1024,64,2,1,1000,4,1,%d);",
			100 + i, kernels[i].correlation, at(kernels[i].start), at(kernels[i].end),
			kernels[i].agent, kernels[i].stream, kernels[i].kernel, 100 + i);
	for (int i = 0; i < COPIES_COUNT; i++)
		kwhy_text_addf(sql,
			"INSERT INTO rocpd_string_g VALUES(%d,'%s');"
			"INSERT INTO rocpd_event_g VALUES(%d,%" PRId64 ",0,'{}');"
			"INSERT INTO rocpd_memory_copy_g VALUES(%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
			",%" PRId64 ",1,%d,%d);",
			200 + i, copies[i].direction, 200 + i, copies[i].correlation, at(copies[i].start),
			at(copies[i].end), copies[i].source, copies[i].destination, copies[i].bytes, 200 + i,
			200 + i);
}

static inline void write_rocpd(char path[32])
{
	struct kwhy_text sql = {0};

	info_as_sql(&sql);
	host_as_sql(&sql);
	device_as_sql(&sql);
	OK(kwhy_text_check(&sql, &error));
	make_database(path, sql.data);
	kwhy_text_done(&sql);
}

/* Handle of the first agent: JSON refers to agents by handles. */
enum { HANDLE = 1 << 20 };

static inline void agents_as_json(struct kwhy_text *json)
{
	kwhy_text_add(json, "\"agents\": [");
	for (int i = 0; i < 4; i++)
		kwhy_text_addf(json,
			"%s{\"id\": {\"handle\": %d}, \"type\": %d, \"cu_count\": 304, \"max_waves_per_cu\": "
			"32, \"wave_front_size\": 64, \"lds_size_in_kb\": 64, \"domain\": 0, "
			"\"location_id\": %d, \"hive_id\": 17446744073709551615, \"name\": \"gfx942\", "
			"\"product_name\": \"Instinct\", \"logical_node_type_id\": %d}",
			i ? "," : "", HANDLE + i, i < 2 ? 1 : 2, i < 2 ? 0 : 0x2F00 + 0x100 * i, i % 2);
	kwhy_text_add(json, "], \"counters\": [{\"skipped\": [1, {\"a\": {}}]}],");
}

static inline void strings_as_json(struct kwhy_text *json)
{
	kwhy_text_addf(json,
		"\"strings\": {\"callback_records\": [], \"marker_api\": [{\"key\": 8, \"value\": \"%s\"}], "
		"\"buffer_records\": [{\"kind\": \"NONE\", \"operations\": []}, {\"kind\": \"HIP\", "
		"\"operations\": [",
		marker.name);
	for (int i = 0; i < CALLS_COUNT; i++)
		kwhy_text_addf(json, "%s\"%s\"", i ? ", " : "", calls[i].name);
	kwhy_text_add(json, "]}, {\"kind\": \"MEMORY_COPY\", \"operations\": [");
	for (int i = 0; i < COPIES_COUNT; i++)
		kwhy_text_addf(json, "%s\"%s\"", i ? ", " : "", copies[i].direction);
	kwhy_text_add(json, "]}]}, \"code_objects\": [], \"kernel_symbols\": [{}");
	for (int i = 0; i < 3; i++)
		kwhy_text_addf(json,
			", {\"kernel_id\": %d, \"formatted_kernel_name\": \"%s\", \"arch_vgpr_count\": 24, "
			"\"accum_vgpr_count\": 4}",
			SYMBOL_FIRST + i, symbols[i]);
	kwhy_text_add(json, "],");
}

static inline void call_as_json(struct kwhy_text *json, const struct call_row *call, int kind, int operation)
{
	kwhy_text_addf(json,
		"{\"size\": 64, \"kind\": %d, \"operation\": %d, \"correlation_id\": {\"internal\": %" PRId64
		", \"external\": 0, \"ancestor\": 0}, \"start_timestamp\": %" PRId64
		", \"end_timestamp\": %" PRId64 ", \"thread_id\": 78}",
		kind, operation, call->correlation, at(call->start), at(call->end));
}

static inline void host_as_json(struct kwhy_text *json)
{
	kwhy_text_add(json, "\"hip_api\": [");
	for (int i = 0; i < CALLS_COUNT - 1; i++) {
		kwhy_text_add(json, i ? "," : "");
		call_as_json(json, &calls[i], 1, i);
	}
	kwhy_text_add(json, "], \"hsa_api\": [");
	call_as_json(json, &calls[CALLS_COUNT - 1], 1, CALLS_COUNT - 1);
	kwhy_text_add(json, "], \"marker_api\": [");
	call_as_json(json, &marker, 3, 0);
	kwhy_text_add(json, "]");
}

static inline void device_as_json(struct kwhy_text *json)
{
	kwhy_text_add(json, "\"kernel_dispatch\": [");
	for (int i = 0; i < KERNELS_COUNT; i++)
		kwhy_text_addf(json,
			"%s{\"kind\": 5, \"operation\": 1, \"thread_id\": 78, \"correlation_id\": "
			"{\"internal\": %" PRId64 "}, \"start_timestamp\": %" PRId64
			", \"end_timestamp\": %" PRId64
			", \"dispatch_info\": {\"size\": 1, \"agent_id\": {\"handle\": %" PRId64
			"}, \"queue_id\": {\"handle\": 5}, \"kernel_id\": %" PRId64
			", \"group_segment_size\": 1024, \"workgroup_size\": {\"x\": 64, \"y\": 2, \"z\": "
			"1}, "
			"\"grid_size\": {\"x\": 1000, \"y\": 4, \"z\": 1}}, \"stream_id\": {\"handle\": "
			"%" PRId64 "}}",
			i ? "," : "", kernels[i].correlation, at(kernels[i].start), at(kernels[i].end),
			HANDLE + kernels[i].agent, kernels[i].kernel, kernels[i].stream);
	kwhy_text_add(json, "], \"memory_copy\": [");
	for (int i = 0; i < COPIES_COUNT; i++)
		kwhy_text_addf(json,
			"%s{\"kind\": 2, \"operation\": %d, \"correlation_id\": {\"internal\": %" PRId64
			"}, \"start_timestamp\": %" PRId64 ", \"end_timestamp\": %" PRId64
			", \"dst_agent_id\": {\"handle\": %" PRId64
			"}, \"src_agent_id\": {\"handle\": %" PRId64 "}, \"bytes\": %" PRId64
			", \"stream_id\": {\"handle\": 1}}",
			i ? "," : "", i, copies[i].correlation, at(copies[i].start), at(copies[i].end),
			HANDLE + copies[i].destination, HANDLE + copies[i].source, copies[i].bytes);
	kwhy_text_add(json, "],");
}

static inline void write_json(struct kwhy_text *json)
{
	kwhy_text_add(json,
		"{\"rocprofiler-sdk-tool\": [{\"metadata\": {\"node\": {\"hash\": "
		"17446744073709551615, \"hostname\": \"node7\"}, \"pid\": 77},");
	agents_as_json(json);
	strings_as_json(json);
	kwhy_text_add(json, "\"buffer_records\": {");
	device_as_json(json);
	host_as_json(json);
	kwhy_text_add(json, "}}]}");
	OK(kwhy_text_check(json, &error));
}

static inline void write_part(const char *folder, const char *ending, const struct kwhy_text *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/77%s", folder, ending);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(text->data, 1, text->length, file), text->length);
	fclose(file);
}

static inline void calls_as_csv(const char *folder)
{
	struct kwhy_text text = {0};

	for (int hsa = 0; hsa < 2; hsa++) {
		kwhy_text_clear(&text);
		kwhy_text_add(&text,
			"\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\","
			"\"Start_Timestamp\",\"End_Timestamp\"\n");
		for (int i = hsa ? CALLS_COUNT - 1 : 0; i < CALLS_COUNT - !hsa; i++)
			kwhy_text_addf(&text, "\"X\",\"%s\",77,78,%" PRId64 ",%" PRId64 ",%" PRId64 "\n",
				calls[i].name, calls[i].correlation, at(calls[i].start), at(calls[i].end));
		write_part(folder, hsa ? "_hsa_api_trace.csv" : "_hip_api_trace.csv", &text);
	}
	kwhy_text_clear(&text);
	kwhy_text_addf(&text,
		"\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\","
		"\"End_Timestamp\"\n\"MARKER\",\"forward \"\"1\"\"\",77,78,8,%" PRId64 ",%" PRId64
		"\n\"MARKER\",\"a mark\",77,78,8,%" PRId64 ",%" PRId64 "\n",
		at(marker.start), at(marker.end), at(marker.start), at(marker.start));
	write_part(folder, "_marker_api_trace.csv", &text);
	kwhy_text_done(&text);
}

static inline void device_as_csv(const char *folder)
{
	struct kwhy_text text = {0};

	kwhy_text_add(&text,
		"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Kernel_Name\","
		"\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\"LDS_Block_Size\","
		"\"VGPR_Count\",\"Accum_VGPR_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\","
		"\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n");
	for (int i = 0; i < KERNELS_COUNT; i++)
		kwhy_text_addf(&text,
			"\"KERNEL_DISPATCH\",\"Agent %" PRId64 "\",5,%" PRId64 ",\"%s\",%" PRId64 ",%" PRId64
			",%" PRId64 ",1024,24,4,64,2,1,1000,4,1\n",
			kernels[i].agent, kernels[i].stream, symbols[kernels[i].kernel - SYMBOL_FIRST],
			kernels[i].correlation, at(kernels[i].start), at(kernels[i].end));
	write_part(folder, "_kernel_trace.csv", &text);
	kwhy_text_clear(&text);
	kwhy_text_add(&text,
		"\"Kind\",\"Direction\",\"Stream_Id\",\"Source_Agent_Id\","
		"\"Destination_Agent_Id\",\"Correlation_Id\",\"Start_Timestamp\","
		"\"End_Timestamp\"\n");
	for (int i = 0; i < COPIES_COUNT; i++)
		kwhy_text_addf(&text,
			"\"MEMORY_COPY\",\"%s\",1,\"Agent %" PRId64 "\",\"Agent %" PRId64 "\",%" PRId64
			",%" PRId64 ",%" PRId64 "\n",
			copies[i].direction, copies[i].source, copies[i].destination, copies[i].correlation,
			at(copies[i].start), at(copies[i].end));
	write_part(folder, "_memory_copy_trace.csv", &text);
	kwhy_text_done(&text);
}

static inline void agents_as_csv(const char *folder)
{
	struct kwhy_text text = {0};

	kwhy_text_add(&text,
		"\"Node_Id\",\"Logical_Node_Id\",\"Agent_Type\",\"Lds_Size_In_Kb\","
		"\"Wave_Front_Size\",\"Cu_Count\",\"Location_Id\",\"Domain\","
		"\"Max_Waves_Per_Cu\",\"Name\",\"Product_Name\"\n");
	for (int i = 0; i < 4; i++)
		kwhy_text_addf(&text, "%d,%d,\"%s\",64,64,304,%d,0,32,\"gfx942\",\"Instinct\"\n", i, i,
			i < 2 ? "CPU" : "GPU", i < 2 ? 0 : 0x2F00 + 0x100 * i);
	write_part(folder, "_agent_info.csv", &text);
	kwhy_text_done(&text);
}

static inline void write_csv_set(const char *folder)
{
	agents_as_csv(folder);
	calls_as_csv(folder);
	device_as_csv(folder);
}

#endif
