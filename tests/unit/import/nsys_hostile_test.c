/* SPDX-License-Identifier: Apache-2.0 */
#include "nsys_fixture.h"

/* Tests with exports of Nsight Systems that are damaged or unusual, and with files that are not exports. */

static void rows_that_are_damaged_are_refused_and_skipped_with_partial(void **state)
{
	static const struct {
		const char *values, *words;
	} cases[] = {
		{"('x',2,0,1,7,1," PID ",1,1", "row 2: its start or end is not a time"},
		{"(x'0011',2,0,1,7,1," PID ",1,1", "not a time"},
		{"(NULL,2,0,1,7,1," PID ",1,1", "not a time"},
		{"(1.5,2,0,1,7,1," PID ",1,1", "not a time"},
		{"(9,2,0,1,7,1," PID ",1,1", "it ends before it starts"},
		{"(1,9223372036854775807,0,1,7,1," PID ",1,1", "more than a year"},
		{"(-9223372036854775808,2,0,1,7,1," PID ",1,1", "more than a year"},
		{"(1,2,'gpu',1,7,1," PID ",1,1", "it names no device"},
		{"(1,2,4294967296,1,7,1," PID ",1,1", "its device is not between"},
		{"(1,2,-1,1,7,1," PID ",1,1", "its device is not between"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_recording *recording = empty_recording();
		char sql[4096];

		snprintf(sql, sizeof(sql),
			STRINGS START KERNELS KERNEL(
				"1", "2", "0", "1", PID, "1") "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
							      "%s,32,10,2,3,128,2,1,1000,24,NULL);",
			cases[i].values);
		refuses(sql, cases[i].words);
		OK(import_sql(recording, sql, true));
		assert_int_equal(recording->activities.count, 1);
		assert_int_equal(recording->lost.skipped_events, 1);
		kwhy_recording_free(recording);
	}
}

static void odd_values_in_other_columns_are_unknown(void **state)
{
	struct kwhy_recording *recording = finished(
		STRINGS START KERNELS "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL "
				      "VALUES(1.0,2,0,'c',x'00',-1,'p','n',9999,-5,0,1,1,4294967296,"
				      "4294967296,4294967296,-1,5,'g');");
	const struct kwhy_activities *rows = &recording->activities;

	(void)state;
	assert_int_equal(rows->start_ns[0], 1);
	assert_int_equal(rows->call[0], KWHY_NONE);
	assert_int_equal(rows->blocks[0], KWHY_UNKNOWN_BLOCKS);
	assert_int_equal(rows->threads_per_block[0], KWHY_UNKNOWN_U16);
	assert_int_equal(rows->registers[0], KWHY_UNKNOWN_U16);
	assert_int_equal(rows->shared_bytes[0], KWHY_NONE);
	assert_int_equal(rows->graph_node[0], KWHY_NONE);
	assert_string_equal(name_of(recording, rows->name[0]), "unnamed kernel");
	kwhy_recording_free(recording);
}

static void names_are_found_without_a_key_in_other_encodings_and_in_bad_utf_8(void **state)
{
	struct kwhy_recording *recording = finished(
		"PRAGMA encoding='UTF-16le';"
		"CREATE TABLE StringIds(id INTEGER,value TEXT);"
		"INSERT INTO StringIds VALUES(7,'seven'),(1,'one \xC3\xA9'),(8,x'00ff');" START KERNELS
			KERNEL("1", "2", "0", "1", PID, "1") KERNEL("3", "4", "0", "1", PID, "7")
				KERNEL("5", "6", "0", "1", PID, "8"));

	(void)state;
	assert_string_equal(name_of(recording, recording->activities.name[0]), "one \xC3\xA9");
	assert_string_equal(name_of(recording, recording->activities.name[1]), "seven");
	assert_string_equal(name_of(recording, recording->activities.name[2]), "one \xC3\xA9");
	kwhy_recording_free(recording);

	recording = finished("CREATE TABLE StringIds(id INTEGER PRIMARY KEY,value TEXT);"
			     "INSERT INTO StringIds VALUES(1,CAST(x'61ff62' AS TEXT));" START KERNELS KERNEL(
				     "1", "2", "0", "1", PID, "1"));
	assert_string_equal(name_of(recording, recording->activities.name[0]),
		"a\xEF\xBF\xBD"
		"b");
	kwhy_recording_free(recording);
}

static void what_is_no_plain_table_is_refused(void **state)
{
	(void)state;
	refuses(STRINGS START "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE c(start) AS "
			      "(SELECT 1 UNION ALL SELECT start+1 FROM c) SELECT start, start+1 AS end, 0 AS "
			      "deviceId FROM c;",
		"CUPTI_ACTIVITY_KIND_KERNEL is a view or a virtual table");
	refuses("CREATE VIRTUAL TABLE StringIds USING fts5(id,value);",
		"StringIds is a view or a virtual table");
	refuses("CREATE TABLE mine(x);", "no export of Nsight Systems");
	refuses(STRINGS, "shows no CUDA work");
}

static void generated_columns_are_not_computed(void **state)
{
	struct kwhy_recording *recording = empty_recording();

	(void)state;
	refused(import_sql(recording,
			STRINGS START "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER,end INTEGER AS "
				      "(start+1),deviceId INTEGER);"
				      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start,deviceId) VALUES(1,0);",
			false),
		"its start or end is not a time");
	kwhy_recording_free(recording);
}

/* The bytes of a valid export. Tests cut it at each byte or change each byte, and read it. */
struct file_bytes {
	unsigned char bytes[1 << 18];
	size_t size;
};

static struct file_bytes whole_export(void)
{
	static struct file_bytes whole;
	char path[32];
	FILE *file;

	make_database(path,
		STRINGS START CALLS KERNELS CALL("1", "2", "0", TID, "1", "2")
			KERNEL("1", "2", "0", "1", PID, "1"));
	file = fopen(path, "rb");
	assert_non_null(file);
	whole.size = fread(whole.bytes, 1, sizeof(whole.bytes), file);
	fclose(file);
	unlink(path);
	return whole;
}

static void read_damaged(const struct file_bytes *damaged, bool partial)
{
	struct kwhy_import_options options = {.partial = partial};
	struct kwhy_recording *recording = empty_recording();
	char path[32];

	write_file(path, damaged->bytes, damaged->size);
	if (kwhy_reader_nsys.read(recording, path, &options, &error) == KWHY_OK)
		assert_true(recording->source_count == 1);
	else
		assert_non_null(strstr(error.text, path));
	unlink(path);
	kwhy_recording_free(recording);
}

static void a_damaged_database_gives_a_sentence_or_what_is_whole(void **state)
{
	static struct file_bytes damaged;
	struct file_bytes *whole = malloc(sizeof(*whole));

	(void)state;
	assert_non_null(whole);
	*whole = whole_export();
	for (size_t size = 16; size < whole->size; size += 1511) {
		damaged = *whole;
		damaged.size = size;
		read_damaged(&damaged, false);
		read_damaged(&damaged, true);
	}
	for (size_t at = 16; at < whole->size; at += 487) {
		damaged = *whole;
		damaged.bytes[at] = 0xFF;
		read_damaged(&damaged, false);
		damaged.bytes[at] = 0;
		read_damaged(&damaged, true);
	}
	free(whole);
}

static void files_that_are_no_database_of_their_own_are_refused_with_the_cure(void **state)
{
	struct kwhy_recording *recording = empty_recording();
	struct kwhy_import_options options = {0};
	char path[32], sibling[48];
	FILE *file;

	(void)state;
	write_file(path, "\x1f\x8b", 2);
	refused(kwhy_reader_nsys.read(recording, path, &options, &error), "unpack it first");
	unlink(path);
	write_file(path,
		"SQLite format 3\0 and then something encrypted that goes on and on and on until byte one "
		"hundred is reached",
		104);
	refused(kwhy_reader_nsys.read(recording, path, &options, &error), "encrypted");
	unlink(path);
	make_database(path, STRINGS START KERNELS KERNEL("1", "2", "0", "1", PID, "1"));
	snprintf(sibling, sizeof(sibling), "%s-wal", path);
	file = fopen(sibling, "wb");
	fputs("frames", file);
	fclose(file);
	refused(kwhy_reader_nsys.read(recording, path, &options, &error), "rows are still in");
	unlink(sibling);
	unlink(path);
	assert_int_equal(kwhy_reader_nsys.read(recording, path, &options, &error), KWHY_E_IO);
	kwhy_recording_free(recording);
}

static void a_database_in_wal_mode_and_an_odd_path_are_read_without_writing(void **state)
{
	static const char sql[] = "PRAGMA journal_mode=WAL;" STRINGS START KERNELS KERNEL(
		"1", "2", "0", "1", PID, "1");
	struct kwhy_recording *recording = empty_recording();
	struct kwhy_import_options options = {0};
	char path[32], odd[64];

	(void)state;
	make_database(path, sql);
	snprintf(odd, sizeof(odd), "%s 100%%?a#b&mode=rwc", path);
	assert_int_equal(rename(path, odd), 0);
	assert_int_equal(chmod(odd, 0444), 0);
	OK(kwhy_reader_nsys.read(recording, odd, &options, &error));
	assert_int_equal(recording->activities.count, 1);
	unlink(odd);
	kwhy_recording_free(recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_that_are_damaged_are_refused_and_skipped_with_partial),
		cmocka_unit_test(odd_values_in_other_columns_are_unknown),
		cmocka_unit_test(names_are_found_without_a_key_in_other_encodings_and_in_bad_utf_8),
		cmocka_unit_test(what_is_no_plain_table_is_refused),
		cmocka_unit_test(generated_columns_are_not_computed),
		cmocka_unit_test(a_damaged_database_gives_a_sentence_or_what_is_whole),
		cmocka_unit_test(files_that_are_no_database_of_their_own_are_refused_with_the_cure),
		cmocka_unit_test(a_database_in_wal_mode_and_an_odd_path_are_read_without_writing),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
