/* SPDX-License-Identifier: Apache-2.0 */
#include "exported.h"
#include "vendor/duckdb.h"

#include <fcntl.h>
#include <sys/stat.h>

/*
 * Tests that a Parquet export can be imported again, and that other, changed or damaged Parquet files are
 * refused with a message that names the fault.
 */

/* Opens DuckDB's library, which the caller closes; skips the test if it is missing. */
static struct kwhy_duckdb duckdb_or_skip(void)
{
	struct kwhy_duckdb duckdb;

	if (kwhy_duckdb_open(&duckdb, &error))
		kwhy_skip("DuckDB's library (libduckdb.so) is not here");
	return duckdb;
}

static void what_is_written_is_read_back(void **state)
{
	struct kwhy_duckdb duckdb = duckdb_or_skip();
	struct kwhy_recording *recording = make(2, nodes), *back;

	(void)state;
	recording->processes[1].host = nodes[1];
	recording->devices[1].uuid = "GPU-1b2f";
	back = read_back("parquet", recording);
	assert_null(back->processes[0].host);
	assert_string_equal(back->processes[1].host, nodes[1]);
	assert_string_equal(back->devices[1].uuid, "GPU-1b2f");
	assert_int_equal(back->sources[0].format, KWHY_FORMAT_PARQUET);
	assert_int_equal(back->origin_unix_ns, recording->origin_unix_ns);
	assert_int_equal(back->activities.count, COUNT);
	assert_int_equal(back->calls.count, COUNT);
	assert_int_equal(back->range_count, COUNT);
	assert_int_equal(back->power_count, recording->power_count);
	assert_string_equal(kwhy_recording_machine_name(back, 1), nodes[1]);
	for (uint32_t i = 0; i < COUNT; i++) {
		assert_int_equal(back->activities.start_ns[i], i * ms_ns);
		assert_int_equal(back->activities.call[i], i);
		assert_int_equal(back->devices[i].rank, i);
		assert_string_equal(kwhy_names_get(&back->names, back->activities.name[i]), "gemm");
	}
	kwhy_recording_free(back);
	kwhy_recording_free(recording);
	kwhy_duckdb_close(&duckdb);
}

/*
 * Imports the file and discards the result. Returns the status; if it is not KWHY_OK, `error` has the
 * message.
 */
static enum kwhy_status read_status(const char *path)
{
	const struct kwhy_import_options options = {0};
	struct kwhy_recording *back;
	enum kwhy_status status;

	OK(kwhy_recording_new(&back, &error));
	status = kwhy_import_trace(back, path, &options, &error);
	kwhy_recording_free(back);
	return status;
}

/*
 * Changes of a good export that make it wrong. DuckDB writes the changed file by "SELECT columns"; its import
 * must fail with a message that contains words.
 */
static const struct {
	const char *columns; /* of the SELECT */
	const char *words;
} changes[] = {
	{"* EXCLUDE (\"table\")", "\"table\" not found"},
	{"* EXCLUDE (start_ns)",
		"table activity, row 1: its start and end are not times in order; export it again"},
	{"* EXCLUDE (stream_id)", "table activity, row 1: its name or stream is missing; export it again"},
	{"* REPLACE (name_id::DOUBLE + 0.5 AS name_id)",
		"table activity, row 1: its name or stream is missing"},
	{"* REPLACE ('noon' AS start_ns)", "table activity, row 1: its start and end are not times in order"},
	{"* REPLACE ([start_ns] AS start_ns)",
		"table activity, row 1: its start and end are not times in order"},
	{"* REPLACE (CASE WHEN source IS NULL THEN NULL ELSE 'none_mw' END AS source)",
		"table power, row 1: it names no meter known here"},
};

static void a_changed_file_is_refused_with_the_place(void **state)
{
	struct kwhy_duckdb duckdb = duckdb_or_skip();
	struct kwhy_recording *recording = make(2, nodes);
	char good[32], bad[48], sql[512];

	(void)state;
	write_as("parquet", recording, good);
	snprintf(bad, sizeof(bad), "%s.bad", good);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		snprintf(sql, sizeof(sql),
			"COPY (SELECT %s FROM read_parquet('%s')) TO '%s' (FORMAT PARQUET, KV_METADATA "
			"{schema: 'kwhy.parquet/1', origin_unix_ns: '1795262400000000000'})",
			changes[i].columns, good, bad);
		OK(kwhy_duckdb_run(&duckdb, sql, "a test", NULL, &error));
		assert_int_equal(read_status(bad), KWHY_E_INPUT);
		if (!strstr(error.text, changes[i].words) || !strstr(error.text, bad))
			fail_msg("%s: %s", changes[i].columns, error.text);
		unlink(bad);
	}
	kwhy_duckdb_close(&duckdb);
	unlink(good);
	kwhy_recording_free(recording);
}

/*
 * The path of an export contains "rank=5" and "*". DuckDB by default makes a column of the first and matches
 * other files with the second; kwhy must prevent both.
 */
static void names_of_folders_are_no_columns_and_no_patterns(void **state)
{
	struct kwhy_duckdb duckdb = duckdb_or_skip();
	struct kwhy_recording *recording = make(2, nodes), *back;
	const struct kwhy_import_options options = {0};
	char path[32], folder[48], moved[64];

	(void)state;
	write_as("parquet", recording, path);
	snprintf(folder, sizeof(folder), "%s-rank=5", path);
	snprintf(moved, sizeof(moved), "%s/[a]*'.parquet", folder);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(rename(path, moved), 0);
	OK(kwhy_recording_new(&back, &error));
	OK(kwhy_import_trace(back, moved, &options, &error));
	for (uint32_t i = 0; i < COUNT; i++)
		assert_int_equal(back->devices[i].rank, i);
	unlink(moved);
	rmdir(folder);
	kwhy_recording_free(back);
	kwhy_recording_free(recording);
	kwhy_duckdb_close(&duckdb);
}

/*
 * A file that is cut, at whatever length, must be refused by kwhy or by DuckDB; a part of it must never be
 * imported.
 */
static void a_cut_file_is_refused(void **state)
{
	struct kwhy_duckdb duckdb = duckdb_or_skip(); /* kept open only because loading takes long */
	struct kwhy_recording *recording = make(2, nodes);
	struct stat about;
	char path[32];

	(void)state;
	write_as("parquet", recording, path);
	assert_int_equal(stat(path, &about), 0);
	for (off_t length = about.st_size - 1; length > 0; length -= about.st_size / 7) {
		assert_int_equal(truncate(path, length), 0);
		assert_int_equal(read_status(path), KWHY_E_INPUT);
		assert_non_null(strstr(error.text, path));
	}
	unlink(path);
	kwhy_recording_free(recording);
	kwhy_duckdb_close(&duckdb);
}

/*
 * Eight bytes within the file are overwritten. Import may succeed, if these bytes do not matter, or fail with
 * a message that names the file; it must not crash.
 */
static void a_damaged_file_is_refused_or_read(void **state)
{
	static const char damage[8] = "\xff\x00\xff\x00\xff\x00\xff";
	struct kwhy_duckdb duckdb = duckdb_or_skip();
	struct kwhy_recording *recording = make(2, nodes);
	char path[32], whole[sizeof(damage)];
	struct stat about;
	int file;

	(void)state;
	write_as("parquet", recording, path);
	file = open(path, O_RDWR);
	assert_int_equal(fstat(file, &about), 0);
	for (int part = 1; part < 8; part++) {
		const off_t at = about.st_size * part / 8;

		assert_int_equal(pread(file, whole, sizeof(whole), at), sizeof(whole));
		assert_int_equal(pwrite(file, damage, sizeof(damage), at), sizeof(damage));
		if (read_status(path) != KWHY_OK)
			assert_non_null(strstr(error.text, path));
		assert_int_equal(pwrite(file, whole, sizeof(whole), at), sizeof(whole));
	}
	close(file);
	unlink(path);
	kwhy_recording_free(recording);
	kwhy_duckdb_close(&duckdb);
}

/*
 * A Parquet file without kwhy's schema in its metadata is refused without DuckDB. One with it needs DuckDB:
 * if the library is missing, the message must say so and name a remedy.
 */
static void without_the_library_the_cure_is_said(void **state)
{
	static const char own[] = "PAR1 columns schema kwhy.parquet/1 PAR1", other[] = "PAR1 columns PAR1";
	char path[] = "/tmp/kwhy-export-XXXXXX";
	struct kwhy_duckdb duckdb;
	int file = mkstemp(path);

	(void)state;
	assert_int_equal(write(file, other, sizeof(other) - 1), sizeof(other) - 1);
	assert_int_equal(read_status(path), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "is a Parquet file, but no whole Parquet export of kwhy"));
	assert_int_equal(pwrite(file, own, sizeof(own) - 1, 0), sizeof(own) - 1);
	close(file);
	if (kwhy_duckdb_open(&duckdb, &error) == KWHY_OK) {
		kwhy_duckdb_close(&duckdb);
		assert_int_equal(read_status(path), KWHY_E_INPUT);
		assert_non_null(strstr(error.text, "the file is damaged: export it again"));
	} else {
		assert_int_equal(read_status(path), KWHY_E_UNSUPPORTED);
		assert_non_null(strstr(error.text, "libduckdb.so"));
		assert_non_null(strstr(error.text, "give the trace that it was made from"));
	}
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read_back),
		cmocka_unit_test(a_changed_file_is_refused_with_the_place),
		cmocka_unit_test(names_of_folders_are_no_columns_and_no_patterns),
		cmocka_unit_test(a_cut_file_is_refused),
		cmocka_unit_test(a_damaged_file_is_refused_or_read),
		cmocka_unit_test(without_the_library_the_cure_is_said),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
