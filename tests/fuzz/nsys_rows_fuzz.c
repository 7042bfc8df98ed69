/* SPDX-License-Identifier: Apache-2.0 */
#include "nsys_database.h"
#include "sqlite_rows.h"

/*
 * Fuzzes the contents of valid nsys databases. The input selects the tables, their columns and the columns'
 * declared types, and gives rows of any type and value.
 */

static const struct {
	const char *name;
	const char *columns[20];
} tables[] = {
	{"StringIds", {"id", "value"}},
	{"TARGET_INFO_SESSION_START_TIME", {"utcEpochNs", "utcTime"}},
	{"META_DATA_EXPORT", {"name", "value"}},
	{"META_DATA_CAPTURE", {"name", "value"}},
	{"TARGET_INFO_GPU",
		{"id", "name", "uuid", "totalMemory", "memoryBandwidth", "smCount", "maxWarpsPerSm",
			"threadsPerWarp", "maxRegistersPerSm", "maxShmemPerSm"}},
	{"TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId", "pid", "uuid", "numMultiprocessors"}},
	{"CUPTI_ACTIVITY_KIND_RUNTIME",
		{"start", "end", "eventClass", "globalTid", "correlationId", "nameId"}},
	{"CUPTI_ACTIVITY_KIND_KERNEL",
		{"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
			"demangledName", "shortName", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ",
			"registersPerThread", "staticSharedMemory", "dynamicSharedMemory", "graphNodeId"}},
	{"CUPTI_ACTIVITY_KIND_MEMCPY",
		{"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "bytes",
			"copyKind", "srcKind", "dstKind", "srcDeviceId", "dstDeviceId", "graphNodeId"}},
	{"CUPTI_ACTIVITY_KIND_MEMSET",
		{"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "bytes",
			"memKind", "graphNodeId"}},
	{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
		{"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "graphId",
			"graphExecId"}},
	{"NVTX_EVENTS", {"start", "end", "eventType", "globalTid", "text", "textId"}},
	{"CUDA_GPU_MEMORY_USAGE_EVENTS",
		{"start", "globalPid", "deviceId", "bytes", "memKind", "memoryOperationType"}},
	{"PROFILER_OVERHEAD", {"start", "end"}},
	{"DIAGNOSTIC_EVENT", {"text"}},
};

enum { TABLE_COUNT = sizeof(tables) / sizeof(tables[0]), COLUMN_MAX = 20 };

/*
 * Creates a table, or sometimes a view. Any one column may be left out. Returns the number of columns; 0 if
 * SQLite refused.
 */
static size_t make_table(sqlite3 *database, size_t table, struct taker *taker)
{
	static const char *const types[] = {" INTEGER", " TEXT", "", " INTEGER PRIMARY KEY"};
	unsigned left_out = take(taker), style = take(taker);
	char sql[2048] = "";
	size_t count = 0;

	append(sql, sizeof(sql), style % 16 == 15 ? "CREATE VIEW \"" : "CREATE TABLE \"");
	append(sql, sizeof(sql), tables[table].name);
	append(sql, sizeof(sql), style % 16 == 15 ? "\" AS SELECT 1 AS start" : "\"(");
	for (size_t i = 0; style % 16 != 15 && i < COLUMN_MAX && tables[table].columns[i]; i++) {
		if (left_out == i + 1)
			continue;
		append(sql, sizeof(sql), count ? ",\"" : "\"");
		append(sql, sizeof(sql), tables[table].columns[i]);
		append(sql, sizeof(sql), "\"");
		append(sql, sizeof(sql), count == 0 && table == 0 ? types[3] : types[style / 16 % 3]);
		count++;
	}
	append(sql, sizeof(sql), style % 16 == 15 ? "" : ")");
	return sqlite3_exec(database, sql, NULL, NULL, NULL) ? 0 : count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct taker taker = {.data = data, .length = length};
	sqlite3_int64 size = 0;
	unsigned char *bytes;
	sqlite3 *database;

	if (sqlite3_open(":memory:", &database))
		abort();
	sqlite3_exec(
		database, take(&taker) % 8 ? "BEGIN" : "PRAGMA encoding='UTF-16'; BEGIN", NULL, NULL, NULL);
	while (taker.at < taker.length) {
		size_t table = take(&taker) % TABLE_COUNT;
		size_t columns = make_table(database, table, &taker);

		if (columns)
			insert_rows(database, tables[table].name, columns, &taker);
	}
	sqlite3_exec(database, "COMMIT", NULL, NULL, NULL);
	bytes = sqlite3_serialize(database, "main", &size, 0);
	if (bytes)
		database_read(&kwhy_reader_nsys, bytes, (size_t)size);
	sqlite3_free(bytes);
	sqlite3_close(database);
	return 0;
}
