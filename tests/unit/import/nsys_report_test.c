/* SPDX-License-Identifier: Apache-2.0 */
#include "import/nsys/export.h"
#include "nsys_fixture.h"

#include <dirent.h>

/*
 * Tests that kwhy runs `nsys export` on a .nsys-rep file. The tests write a shell script named nsys and set
 * PATH to its folder only.
 */

static char bin[] = "/tmp/kwhy-test-XXXXXX", exports[] = "/tmp/kwhy-test-XXXXXX", database[32];
static const char report[] = "/tmp/kwhy-test-report.nsys-rep";

static int make_place(void **state)
{
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(bin));
	assert_non_null(mkdtemp(exports));
	setenv("TMPDIR", exports, 1);
	setenv("PATH", bin, 1);
	make_database(database, STRINGS START KERNELS KERNEL("10", "20", "0", "1", PID, "1"));
	file = fopen(report, "w");
	assert_non_null(file);
	fputs("a report", file);
	fclose(file);
	return 0;
}

static int remove_place(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/nsys", bin);
	unlink(path);
	rmdir(bin);
	rmdir(exports);
	unlink(database);
	unlink(report);
	return 0;
}

static void write_nsys(const char *script)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/nsys", bin);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "#!/bin/sh\nPATH=/usr/bin:/bin\n%s\n", script);
	fclose(file);
	assert_int_equal(chmod(path, 0700), 0);
}

static void nothing_is_left(void)
{
	DIR *folder = opendir(exports);
	struct dirent *entry;

	assert_non_null(folder);
	while ((entry = readdir(folder)) != NULL)
		if (entry->d_name[0] != '.')
			fail_msg("%s was left", entry->d_name);
	closedir(folder);
}

static struct kwhy_recording *read_report(enum kwhy_status wanted)
{
	const struct kwhy_import_options options = {.partial = false};
	struct kwhy_recording *recording = empty_recording();

	assert_int_equal(kwhy_import_trace(recording, report, &options, &error), wanted);
	nothing_is_left();
	return recording;
}

static void a_report_is_read_by_the_nsys_on_the_path(void **state)
{
	struct kwhy_recording *recording;
	char script[256];

	(void)state;
	snprintf(script, sizeof(script),
		"[ \"$1 $2\" = \"export --type=sqlite\" ] && [ \"$5\" = %s ] && cp %s \"${4#--output=}\"",
		report, database);
	write_nsys(script);
	recording = read_report(KWHY_OK);
	assert_int_equal(recording->activities.count, 1);
	assert_string_equal(recording->sources[0].path, report);
	kwhy_recording_free(recording);
}

static void refuses_report(enum kwhy_status status, const char *words)
{
	kwhy_recording_free(read_report(status));
	if (!strstr(error.text, words) || !strstr(error.text, report))
		fail_msg("%s", error.text);
}

static void failures_are_said_with_the_last_line_of_nsys(void **state)
{
	(void)state;
	write_nsys("echo starting; echo 'the report is of a later version' >&2; exit 3");
	refuses_report(KWHY_E_INPUT, "nsys export failed: the report is of a later version; use the nsys");
	write_nsys("exit 0");
	refuses_report(KWHY_E_INPUT, "nsys export failed; use the nsys");
	write_nsys("echo no database > \"${4#--output=}\"");
	refuses_report(KWHY_E_INPUT, "is not an SQLite database");
}

static void an_export_that_takes_too_long_is_ended(void **state)
{
	struct kwhy_nsys_export made;

	(void)state;
	write_nsys("exec sleep 100");
	assert_int_equal(kwhy_nsys_export_make(&made, report, 50, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "did not end within"));
	nothing_is_left();
}

static void without_nsys_the_cure_is_said(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/nsys", bin);
	unlink(path);
	refuses_report(KWHY_E_UNSUPPORTED, "put it on PATH, or export it with \"nsys export --type sqlite\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_report_is_read_by_the_nsys_on_the_path),
		cmocka_unit_test(failures_are_said_with_the_last_line_of_nsys),
		cmocka_unit_test(an_export_that_takes_too_long_is_ended),
		cmocka_unit_test(without_nsys_the_cure_is_said),
	};

	return kwhy_test_main(tests, make_place, remove_place);
}
