/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that no command replaces a file that it reads. */
#include "spawned_checks.h"

#include <dirent.h>
#include <unistd.h>

#define TINY KWHY_SOURCE_DIR "/tests/golden/tiny.csv"

static char folder[] = "kwhy-overwrite-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	DIR *list = opendir(folder);
	struct dirent *entry;

	(void)state;
	while (list && (entry = readdir(list)))
		if (entry->d_name[0] != '.')
			unlink(place_in(folder, entry->d_name));
	if (list)
		closedir(list);
	return rmdir(folder);
}

static const char *place(const char *name)
{
	return place_in(folder, name);
}

/* Copies tests/golden/tiny.csv to the file `name` in the test's folder, and its text to `out`. */
static void copy_trace(const char *name, struct kwhy_text *out)
{
	struct kwhy_error error;

	assert_int_equal(kwhy_file_read(TINY, 1 << 20, out, &error), KWHY_OK);
	assert_int_equal(kwhy_file_write(place(name), out->data, out->length, &error), KWHY_OK);
}

static void assert_holds(const char *name, const struct kwhy_text *wanted)
{
	struct kwhy_text now = {0};
	struct kwhy_error error;

	assert_int_equal(kwhy_file_read(place(name), 1 << 20, &now, &error), KWHY_OK);
	assert_int_equal(now.length, wanted->length);
	assert_memory_equal(now.data, wanted->data, now.length);
	kwhy_text_done(&now);
}

static void an_output_that_is_an_operand_is_refused(void **state)
{
	static const char says[] = "t.csv'; give another name for the output";
	struct kwhy_text trace = {0};
	const char *csv;

	(void)state;
	copy_trace("t.csv", &trace);
	csv = place("t.csv");
	assert_fails(SPAWN("export", "-o", csv, csv), 2, "--output 'kwhy-overwrite-");
	assert_fails(SPAWN("export", csv, "-o", csv), 2, says);
	assert_fails(SPAWN("report", TINY, csv, "-o", csv), 2, says);
	assert_fails(SPAWN("whatif", "--plan", "--json", "-o", csv, csv), 2, says);
	assert_fails(SPAWN("compare", TINY, csv, "--json", "-o", csv), 2, says);
	assert_fails(SPAWN("compare", csv, TINY, "--summary", csv), 2, "--summary 'kwhy-overwrite-");
	assert_fails(SPAWN("replay", csv, "--json", "-o", csv), 2, says);
	assert_fails(SPAWN("model", "cap", csv, "-o", csv), 2, says);
	assert_holds("t.csv", &trace);
	kwhy_text_done(&trace);
}

static void an_output_that_an_option_names_as_input_is_refused(void **state)
{
	static const char *const inputs[] = {
		"--power", "--powers", "--machine-profile", "--collective-names"};
	struct kwhy_text held = {0};
	const char *file;

	(void)state;
	copy_trace("in.csv", &held);
	file = place("in.csv");
	for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++)
		assert_fails(SPAWN("report", TINY, inputs[i], TINY, inputs[i], file, "-o", file), 2,
			"would replace the input");
	assert_fails(SPAWN("compare", TINY, TINY, "--projected", file, "--summary", file), 2,
		"would replace the input");
	assert_fails(
		SPAWN("compare", TINY, TINY, "--trace-b", file, "-o", file), 2, "would replace the input");
	assert_fails(SPAWN("stat", "--power-file", file, "--save-power", file, "--", "true"), 2,
		"--save-power 'kwhy-overwrite-");
	assert_fails(SPAWN("record", "--power-file", file, "-o", file, "--", "true"), 2,
		"would replace the input");
	assert_holds("in.csv", &held);
	kwhy_text_done(&held);
}

static void a_link_to_an_input_is_that_input(void **state)
{
	struct kwhy_text trace = {0};

	(void)state;
	copy_trace("real.csv", &trace);
	assert_int_equal(symlink("real.csv", place("soft.csv")), 0);
	assert_int_equal(link(place("real.csv"), place("hard.csv")), 0);
	assert_fails(SPAWN("export", "-o", place("soft.csv"), place("real.csv")), 2, "replace the input");
	assert_fails(SPAWN("export", "-o", place("real.csv"), place("soft.csv")), 2, "replace the input");
	assert_fails(SPAWN("export", "-o", place("hard.csv"), place("real.csv")), 2, "replace the input");
	assert_holds("real.csv", &trace);
	kwhy_text_done(&trace);
}

/* A report may be written into the folder of the traces, again and again, but not over one of them. */
static void a_trace_in_a_folder_that_is_read_is_an_input(void **state)
{
	char traces[] = "kwhy-overwrite-traces-XXXXXX", trace[64], report[64];
	struct kwhy_text text = {0}, now = {0};
	struct kwhy_error error;

	(void)state;
	assert_non_null(mkdtemp(traces));
	snprintf(trace, sizeof(trace), "%s/t.csv", traces);
	snprintf(report, sizeof(report), "%s/report.json", traces);
	assert_int_equal(kwhy_file_read(TINY, 1 << 20, &text, &error), KWHY_OK);
	assert_int_equal(kwhy_file_write(trace, text.data, text.length, &error), KWHY_OK);
	assert_fails(SPAWN("report", traces, "-o", trace), 2, "would replace the input");
	assert_int_equal(kwhy_file_read(trace, 1 << 20, &now, &error), KWHY_OK);
	assert_int_equal(now.length, text.length);
	for (int i = 0; i < 2; i++)
		assert_says(SPAWN("report", traces, "-o", report), "");
	assert_int_equal(unlink(report) || unlink(trace) || rmdir(traces), 0);
	kwhy_text_done(&text);
	kwhy_text_done(&now);
}

/*
 * A file that kwhy does not read may be replaced by its output, even if it is an argument of the program that
 * kwhy starts.
 */
static void other_files_are_replaced_as_before(void **state)
{
	struct kwhy_text trace = {0};
	struct spawned spawned;

	(void)state;
	copy_trace("old.csv", &trace);
	assert_says(SPAWN("report", TINY, "-o", place("old.csv")), "");
	assert_says(SPAWN("report", TINY, "-o", "/dev/null", "--json"), "");
	spawned = SPAWN("stat", "-o", place("old.csv"), "--", "test", "-f", place("old.csv"));
	assert_null(strstr(spawned.err.data, "replace the input"));
	spawned_done(&spawned);
	kwhy_text_done(&trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_output_that_is_an_operand_is_refused),
		cmocka_unit_test(an_output_that_an_option_names_as_input_is_refused),
		cmocka_unit_test(a_link_to_an_input_is_that_input),
		cmocka_unit_test(a_trace_in_a_folder_that_is_read_is_an_input),
		cmocka_unit_test(other_files_are_replaced_as_before),
	};

	return kwhy_test_main(tests, make_folder, remove_folder);
}
