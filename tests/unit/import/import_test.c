/* SPDX-License-Identifier: Apache-2.0 */
#include "csv_file.h"

#include <sys/stat.h>

static enum kwhy_status import_text(const char *suffix, const char *text, struct kwhy_recording *recording)
{
	struct kwhy_import_options options = {0};
	enum kwhy_status status;
	char path[32], named[64];

	write_file(path, text, strlen(text));
	snprintf(named, sizeof(named), "%s%s", path, suffix);
	assert_int_equal(rename(path, named), 0);
	status = kwhy_import_trace(recording, named, &options, &error);
	unlink(named);
	return status;
}

static void the_format_is_told_by_the_content_whatever_the_name(void **state)
{
	struct kwhy_recording *recording = empty_recording();

	(void)state;
	OK(import_text(".json", HEADER "kernel,a,0,7,1,2,,,\n", recording));
	assert_int_equal(recording->sources[0].format, KWHY_FORMAT_CSV);
	kwhy_recording_free(recording);
	recording = empty_recording();
	OK(import_text(".csv",
		"{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,\"dur\":2,"
		"\"pid\":0,\"tid\":7,"
		"\"args\":{\"device\":0,\"stream\":7}}]}",
		recording));
	assert_int_equal(recording->sources[0].format, KWHY_FORMAT_KINETO);
	kwhy_recording_free(recording);
}

static void what_is_no_trace_is_refused_with_what_would_be_one(void **state)
{
	static const struct {
		const char *suffix, *text, *words;
	} cases[] = {
		{"", "", "is empty"},
		{"", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "Git LFS pointer"},
		{".qdstrm", "whatever", "QdstrmImporter"},
		{".kwhy", "a recording whose first bytes are gone", "is damaged at byte 0: no block begins"},
		{"", POWER "1,0,nvml.sample_mw,1\n", "give it with --power"},
		{".sqlite", "an encrypted database, or anything",
			"is no trace known here: neither a recording"},
	};
	struct kwhy_recording *recording = empty_recording();
	struct kwhy_import_options options = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refused(import_text(cases[i].suffix, cases[i].text, recording), cases[i].words);
	assert_int_equal(kwhy_import_trace(recording, "/nonexistent/t", &options, &error), KWHY_E_INPUT);
	kwhy_recording_free(recording);
}

static void write_at(const char *folder, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void a_folder_is_its_traces_and_what_is_no_trace_is_told(void **state)
{
	static const char *const names[] = {
		"b.csv", "a/rank1.csv", "notes.txt", "c.nsys-rep", "c.sqlite", ".hidden"};
	struct kwhy_recording *recording = empty_recording();
	struct kwhy_import_options options = {0};
	char folder[] = "/tmp/kwhy-test-XXXXXX", path[128];

	(void)state;
	assert_non_null(mkdtemp(folder));
	refused(kwhy_import_trace(recording, folder, &options, &error), "is a folder that holds no trace");
	snprintf(path, sizeof(path), "%s/a", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	write_at(folder, names[0],
		"# device 0 rank=0\n" HEADER "kernel,k,0,7," T0 "000000000," T0 "000000100,,,\n");
	write_at(folder, names[1],
		"# device 0 rank=1\n" HEADER "kernel,k,0,7," T0 "000000000," T0 "000000100,,,\n");
	write_at(folder, names[2], "a text");
	write_at(folder, names[3], "a report whose export stands beside it");
	write_at(folder, names[4], "no database");
	write_at(folder, names[5], "not looked at");
	OK(kwhy_import_trace(recording, folder, &options, &error));
	assert_int_equal(recording->source_count, 2);
	assert_int_equal(recording->device_count, 2);
	assert_non_null(strstr(recording->sources[0].path, "/a/rank1.csv"));
	assert_non_null(strstr(note_of(recording, "other-files")->text, "2 of 4 files are no traces"));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/a", folder);
	rmdir(path);
	rmdir(folder);
	kwhy_recording_free(recording);
}

static void a_table_of_collectives_that_is_not_there_is_refused_whatever_the_trace(void **state)
{
	struct kwhy_import_options options = {.collectives_path = "/nonexistent/table"};
	static const char *const texts[] = {HEADER "kernel,a,0,7,1,2,,,\n", "{\"traceEvents\":[]}"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct kwhy_recording *recording = empty_recording();
		char path[32];

		write_file(path, texts[i], strlen(texts[i]));
		assert_int_not_equal(kwhy_import_trace(recording, path, &options, &error), KWHY_OK);
		assert_non_null(strstr(error.text, "/nonexistent/table"));
		unlink(path);
		kwhy_recording_free(recording);
	}
}

static void what_is_no_file_with_anything_in_it_is_refused_in_words_for_any_file(void **state)
{
	struct kwhy_recording *recording = empty_recording();
	struct kwhy_import_options options = {0};

	(void)state;
	assert_int_equal(kwhy_import_power(recording, "/dev/null", &options, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "is empty; export or copy the file again"));
	assert_int_equal(kwhy_import_power(recording, "/tmp", &options, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "is a folder; name the file inside it"));
	kwhy_recording_free(recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_format_is_told_by_the_content_whatever_the_name),
		cmocka_unit_test(what_is_no_trace_is_refused_with_what_would_be_one),
		cmocka_unit_test(a_folder_is_its_traces_and_what_is_no_trace_is_told),
		cmocka_unit_test(a_table_of_collectives_that_is_not_there_is_refused_whatever_the_trace),
		cmocka_unit_test(what_is_no_file_with_anything_in_it_is_refused_in_words_for_any_file),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
