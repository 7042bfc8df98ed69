/* SPDX-License-Identifier: Apache-2.0 */
/* Tests what the launcher shows of the progress rows that the probed processes append to a file. */
#include "cli/run/probe_watch.h"
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64], path[128];
static struct kwhy_probe_watch watch;

static int begin(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/kwhy-watch-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/" KWHY_PROBE_PROGRESS_FILE, folder);
	kwhy_probe_watch_open(&watch, folder);
	return 0;
}

static int end(void **state)
{
	(void)state;
	kwhy_probe_watch_close(&watch);
	unlink(path);
	return rmdir(folder);
}

static void append(const struct kwhy_probe_progress_row *row)
{
	FILE *file = fopen(path, "a");

	assert_non_null(file);
	assert_int_equal(fwrite(row, sizeof(*row), 1, file), 1);
	fclose(file);
}

static void assert_says(const char *expected)
{
	char line[100];

	kwhy_probe_watch_write(&watch, line, sizeof(line));
	assert_string_equal(line, expected);
}

static void nothing_is_said_before_any_process_has(void **state)
{
	(void)state;
	assert_says("");
}

static void the_last_row_of_each_process_counts(void **state)
{
	struct kwhy_probe_progress_row one = {.process = 1,
		.accounts = 10,
		.known = 1,
		.busy_ns = 100,
		.known_ns = 5,
		.left_ns = INT64_C(30000000000)};
	struct kwhy_probe_progress_row other = {.process = 2,
		.accounts = 6,
		.known = 3,
		.busy_ns = 100,
		.known_ns = 75,
		.left_ns = INT64_C(9900000000)};

	(void)state;
	append(&one);
	assert_says("1 of 10 kernels known, 5 % of busy; 30 s left");
	append(&other);
	one.known = 5;
	one.known_ns = 25;
	append(&one);
	assert_says("8 of 16 kernels known, 50 % of busy; 30 s left");
	one.is_over = 1;
	append(&one);
	assert_says("8 of 16 kernels known, 50 % of busy; 9 s left");
	other.is_over = 1;
	append(&other);
	assert_says("8 of 16 kernels known, 50 % of busy; no more bursts");
}

static void a_folder_that_cannot_be_written_shows_nothing(void **state)
{
	struct kwhy_probe_watch none;
	char line[100];

	(void)state;
	kwhy_probe_watch_open(&none, "/nowhere/at/all");
	kwhy_probe_watch_write(&none, line, sizeof(line));
	assert_string_equal(line, "");
	kwhy_probe_watch_close(&none);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(nothing_is_said_before_any_process_has),
		CASE(the_last_row_of_each_process_counts),
		CASE(a_folder_that_cannot_be_written_shows_nothing),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
