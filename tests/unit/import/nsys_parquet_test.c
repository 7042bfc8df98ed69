/* SPDX-License-Identifier: Apache-2.0 */
#include "nsys_fixture.h"
#include "vendor/duckdb.h"

/*
 * Tests that a folder of Parquet files is read like a database with the same tables, and refused if
 * DuckDB's library is missing.
 */

static const char *const tables[][2] = {
	{"StringIds",
		"SELECT * FROM (VALUES (1, 'my_kernel(int)'), (2, 'cudaLaunchKernel_v7000'), (3, '12345')) "
		"t(id, value)"},
	{"TARGET_INFO_SESSION_START_TIME", "SELECT 1795245124000000123 AS utcEpochNs"},
	{"CUPTI_ACTIVITY_KIND_KERNEL",
		"SELECT * FROM (VALUES (10, 20, 0, 1, 7, 5, 281474976710656+7*16777216, 1, NULL), (30, 45, "
		"0, 1, 7, "
		"6, 281474976710656+7*16777216, 3, 9)) t(\"start\", \"end\", deviceId, contextId, streamId, "
		"correlationId, globalPid, demangledName, graphNodeId)"},
	{"CUPTI_ACTIVITY_KIND_RUNTIME",
		"SELECT 1 AS \"start\", 5 AS \"end\", 0 AS eventClass, "
		"281474976710656+7*16777216+9 AS globalTid, 5 AS correlationId, 2 AS nameId"},
};

enum { TABLE_COUNT = sizeof(tables) / sizeof(tables[0]) };

static void a_folder_of_parquet_files_is_an_export(void **state)
{
	const struct kwhy_import_options options = {.partial = false};
	struct kwhy_recording *recording = empty_recording();
	char folder[] = "/tmp/kwhy-test-XXXXXX", sql[1024], path[128];
	struct kwhy_duckdb duckdb;

	(void)state;
	if (kwhy_duckdb_open(&duckdb, &error))
		kwhy_skip("DuckDB's library (libduckdb.so) is not here");
	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < TABLE_COUNT; i++) {
		snprintf(sql, sizeof(sql), "COPY (%s) TO '%s/%s.parquet' (FORMAT PARQUET)", tables[i][1],
			folder, tables[i][0]);
		OK(kwhy_duckdb_run(&duckdb, sql, "a test", NULL, &error));
	}
	kwhy_duckdb_close(&duckdb);
	OK(kwhy_import_trace(recording, folder, &options, &error));
	OK(kwhy_recording_finish(recording, &error));
	assert_int_equal(recording->source_count, 1);
	assert_int_equal(recording->activities.count, 2);
	assert_string_equal(name_of(recording, recording->activities.name[0]), "my_kernel(int)");
	assert_string_equal(name_of(recording, recording->activities.name[1]), "12345");
	assert_int_equal(recording->activities.end_ns[1] - recording->activities.start_ns[1], 15);
	assert_int_equal(recording->activities.call[0], 0);
	assert_int_equal(recording->activities.graph_node[1], 9);
	for (size_t i = 0; i < TABLE_COUNT; i++) {
		snprintf(path, sizeof(path), "%s/%s.parquet", folder, tables[i][0]);
		unlink(path);
	}
	rmdir(folder);
	kwhy_recording_free(recording);
}

static void without_the_library_the_cure_is_said(void **state)
{
	const struct kwhy_import_options options = {.partial = false};
	struct kwhy_recording *recording = empty_recording();
	char folder[] = "/tmp/kwhy-test-XXXXXX", path[64];
	struct kwhy_duckdb duckdb;
	FILE *file;

	(void)state;
	if (kwhy_duckdb_open(&duckdb, &error) == KWHY_OK) {
		kwhy_duckdb_close(&duckdb);
		kwhy_skip("DuckDB's library is here");
	}
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/StringIds.parquet", folder);
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
	assert_int_equal(kwhy_import_trace(recording, folder, &options, &error), KWHY_E_UNSUPPORTED);
	assert_non_null(strstr(error.text, "libduckdb.so"));
	assert_non_null(strstr(error.text, "nsys export --type sqlite"));
	unlink(path);
	rmdir(folder);
	kwhy_recording_free(recording);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(a_folder_of_parquet_files_is_an_export),
		cmocka_unit_test(without_the_library_the_cure_is_said),
	};

	return kwhy_test_main(cases, NULL, NULL);
}
