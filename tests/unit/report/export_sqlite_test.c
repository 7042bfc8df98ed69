/* SPDX-License-Identifier: Apache-2.0 */
#include "exported.h"

#include <sqlite3.h>

/* Tests the tables of the SQLite export, by queries. */

/* Returns the first value of a query's first row, an integer. */
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
 * The steps of both ranks cover the same time, in which both ranks' kernels run. A step must count only the
 * kernel of its own rank.
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

/*
 * One kernel starts at 0 and another at 2 ms; in the gap from 1 to 2 ms the host is in aten::item, which
 * reads a value back. The table host_wait must attribute the gap to it.
 */
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

/* The steps of both ranks have the same name; range_id must tell them apart. */
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

/* If the rank of a step's process is unknown, the step must count the kernels of all ranks. */
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

/*
 * A recorder that stated neither its host nor its boot may be on any machine: its process must have no
 * machine_id.
 */
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

/*
 * The view step_kernel_energy must find kernels by the index on start_ns. Searching all activities for each
 * step would take hours in a large database.
 */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_of_the_database_leads_to_its_machine),
		cmocka_unit_test(a_step_counts_the_kernels_of_its_own_rank),
		cmocka_unit_test(steps_of_one_name_are_told_apart_by_their_range),
		cmocka_unit_test(copies_and_memsets_are_no_kernels),
		cmocka_unit_test(a_step_of_an_unknown_rank_counts_the_kernels_of_all),
		cmocka_unit_test(a_machine_of_which_nothing_was_told_is_none_in_the_database),
		cmocka_unit_test(a_process_that_is_unknown_is_null_in_the_database),
		cmocka_unit_test(kernels_of_a_step_are_found_by_their_start),
		cmocka_unit_test(what_held_the_host_is_a_table),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
