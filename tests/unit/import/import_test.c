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

static void the_content_decides_the_format_whatever_the_name(void **state)
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
		{".parquet", "PAR1 and columns", "is a Parquet file, but no whole Parquet export of kwhy"},
		{"", POWER "1,0,nvml.sample_mw,1\n", "give it as --power together with a trace"},
		{".sqlite", "an encrypted database, or anything",
			"is not a trace of a known format; known are: a recording"},
	};
	struct kwhy_recording *recording = empty_recording();
	struct kwhy_import_options options = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refused(import_text(cases[i].suffix, cases[i].text, recording), cases[i].words);
	assert_int_equal(kwhy_import_trace(recording, "/nonexistent/t", &options, &error), KWHY_E_INPUT);
	kwhy_recording_free(recording);
}

static enum kwhy_status import_partial(const char *text, bool partial)
{
	struct kwhy_recording *recording = empty_recording();
	struct kwhy_import_options options = {.partial = partial};
	enum kwhy_status status;
	char path[32];

	write_file(path, text, strlen(text));
	status = kwhy_import_trace(recording, path, &options, &error);
	unlink(path);
	kwhy_recording_free(recording);
	return status;
}

#define CALL                                                                                           \
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaMalloc\",\"ts\":1,\"dur\":2,\"pid\":1," \
	"\"tid\":1}"
#define OPERATOR "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"mm\",\"ts\":1,\"dur\":2,\"pid\":1,\"tid\":1}"

static void a_trace_without_device_work_is_refused_with_what_it_holds(void **state)
{
	static const struct {
		const char *text;
		bool partial;
		const char *words;
	} cases[] = {
		{"{\"traceEvents\":[]}", false,
			"(Kineto JSON, 0 events) holds no device work: no kernel, copy or memset; give a "
			"trace"},
		{"{\"traceEvents\":[]}", true, "holds no device work: no kernel"},
		{"[]", false, "holds no device work: no kernel"},
		{"[" OPERATOR "]", false, "memset, but 1 operator or range of the host; give a trace"},
		{"[" OPERATOR "," OPERATOR "]", true, "memset, but 2 operators and ranges of the host; give"},
		{"[" OPERATOR "," CALL ",{\"ph\":", true,
			"(Kineto JSON, 2 events) is incomplete, and what is whole of it holds no device "
			"work: no "
			"kernel, copy or memset, but 1 operator or range of the host and 1 API call; copy, "
			"export"},
		{"[" CALL ",1," CALL "]", true, "but 1 API call, and 1 event was skipped as unusable; copy"},
		{"[{\"ph\":\"X\",\"cat\":\"tpu\",\"name\":\"a\",\"ts\":1,\"dur\":2},{\"ph\":", true,
			"holds no device work that is understood: it is Chrome JSON without kernels or "
			"copies of a "
			"known kind, and 1 of its 1 events is of an unknown kind (1 of \"tpu\"), and it ends "
			"early"},
		{HEADER, false,
			"(CSV, 0 events) holds no device work: no kernel, copy or memset; give a trace"},
		{HEADER "sync,s,,,1,2,,,\nkernel,k,0,7,5,", true,
			"is incomplete, and what is whole of it holds no device work"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refused(import_partial(cases[i].text, cases[i].partial), cases[i].words);
}

static void a_whole_trace_of_calls_is_read_as_its_devices_may_have_had_nothing_to_do(void **state)
{
	(void)state;
	OK(import_partial("[" CALL "]", false));
	OK(import_partial("[" CALL "]", true));
}

/* A complete trace must not be reported as cut because the trace that was read before it had been cut. */
static void a_whole_trace_after_a_cut_one_is_not_cut(void **state)
{
	struct kwhy_recording *recording = empty_recording();
	struct kwhy_import_options options = {.partial = true};
	static const char cut[] = "[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,\"dur\":2,"
				  "\"args\":{\"device\":0,\"stream\":7}},{\"ph\":";
	char path[32];

	(void)state;
	write_file(path, cut, strlen(cut));
	OK(kwhy_import_trace(recording, path, &options, &error));
	unlink(path);
	write_file(path, "[" CALL "]", strlen("[" CALL "]"));
	OK(kwhy_import_trace(recording, path, &options, &error));
	unlink(path);
	assert_true(recording->lost.truncated);
	kwhy_recording_free(recording);
}

static void a_result_of_kwhy_is_named_with_the_command_that_reads_it(void **state)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{"{\n\t\"schema\": \"kwhy.report/1\",\n",
			"is a report that kwhy report --json wrote, not a trace; "
			"kwhy compare"},
		{"{\"schema\":\"kwhy.powers/1\"}",
			"is a file of powers that kwhy export --to powers wrote, not a "
			"trace; --powers of kwhy report"},
		{"{\"schema\":\"kwhy.stat/1\"}",
			"is a result of kwhy stat, not a trace; kwhy compare takes two"},
		{"{\"schema\":\"kwhy.whatif/1\"}",
			"is a projection of kwhy whatif, not a trace; --projected"},
		{"{\"schema\":\"kwhy.transfers/1\"}",
			"is a result of kwhy bench transfer, not a trace; kwhy reads"},
		{"{\"schema\":\"kwhy.pairs/1\"}",
			"is a result of kwhy bench pairs, not a trace; kwhy report reads"},
		{"{\"schema\":\"kwhy.profile/1\"}",
			"is a machine profile, not a trace; --machine-profile reads it"},
		{"{\"schema\":\"kwhy.model.roofline/1\"}", "is a result of kwhy model, not a trace"},
		{"{\"schema\":\"kwhy.compare-stat/1\"}", "is a result of kwhy compare, not a trace"},
		{"{\"schema\":\"kwhy.report/2\"}", "is JSON, but not a trace"},
		{"{\"schema\":\"other\"}", "is JSON, but not a trace"},
		{"[{\"step\":1},{\"step\":2}]",
			"its list has 2 objects but no event (an object with \"ph\")"},
		{"[{\"children\":[],\"frame\":{\"name\":\"ROOT\"},\"metrics\":{\"count\":0}}]",
			"is a tree of sums that Triton Proton wrote (hatchet), without the times of kernels"},
		{"{\"schema", "ends early or is broken"},
	};
	struct kwhy_recording *recording;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refused(import_partial(cases[i].text, true), cases[i].words);
	recording = empty_recording();
	refused(import_power(recording, cases[0].text, false), "wrote, not power readings; kwhy compare");
	kwhy_recording_free(recording);
}

/*
 * The format of a trace is recognised from its first bytes. Metadata may fill these, and may have keys that
 * other formats have; the file must be recognised all the same.
 */
static void a_trace_is_one_whatever_its_metadata_are_called(void **state)
{
	enum { METADATA_BYTES = 20000 };
	static const char events[] =
		"\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,\"dur\":2,"
		"\"args\":{\"device\":0,\"stream\":7}}]}";
	static char text[METADATA_BYTES + 400];

	(void)state;
	snprintf(text, sizeof(text), "{\"power_w\":1,\"frame\":{},\"metrics\":{},\"note\":\"%*s\",%s",
		METADATA_BYTES, "", events);
	OK(import_partial(text, false));
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

static void a_folder_is_its_traces_and_what_is_not_a_trace_is_noted(void **state)
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
	write_at(folder, names[3], "a report whose export is in the same folder");
	write_at(folder, names[4], "no database");
	write_at(folder, names[5], "not looked at");
	OK(kwhy_import_trace(recording, folder, &options, &error));
	assert_int_equal(recording->source_count, 2);
	assert_int_equal(recording->device_count, 2);
	assert_non_null(strstr(recording->sources[0].path, "/a/rank1.csv"));
	assert_non_null(strstr(note_of(recording, "other-files")->text, "2 of 4 files are not traces"));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/a", folder);
	rmdir(path);
	rmdir(folder);
	kwhy_recording_free(recording);
}

static void json_of_other_kinds_in_a_folder_is_left_out_and_noted(void **state)
{
	static const char *const names[] = {"config.json", "list.json", "report.json", "trace.json"};
	struct kwhy_recording *recording = empty_recording();
	struct kwhy_import_options options = {0};
	char folder[] = "/tmp/kwhy-test-XXXXXX", path[128], trace[9000];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(trace, sizeof(trace), "{\"metadata\": \"%*s\", \"traceEvents\": [" OPERATOR "," CALL "]}",
		8000, "");
	write_at(folder, names[0], "{\"batch\": 8}");
	write_at(folder, names[1], "[1, 2, 3]");
	write_at(folder, names[2], "{\"schema\": \"kwhy.report/1\"}");
	refused(kwhy_import_trace(recording, folder, &options, &error),
		"is a folder that holds no trace, but /tmp");
	write_at(folder, names[3], trace);
	OK(kwhy_import_trace(recording, folder, &options, &error));
	assert_int_equal(recording->source_count, 1);
	assert_int_equal(recording->calls.count, 1);
	snprintf(path, sizeof(path),
		"3 of 4 files are not traces and were left out, %s/config.json the first", folder);
	assert_non_null(strstr(note_of(recording, "other-files")->text, path));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
	kwhy_recording_free(recording);
}

/*
 * If a folder of traces has a power log that is not given by --power, a note names it. kwhy's own results
 * (stat.json) are no power logs.
 */
static void a_power_log_in_a_folder_of_traces_is_named(void **state)
{
	static const char *const names[] = {"power.csv", "stat.json", "trace.csv"};
	char folder[] = "/tmp/kwhy-test-XXXXXX", path[128];
	const char *power_paths[] = {path};

	(void)state;
	assert_non_null(mkdtemp(folder));
	write_at(folder, names[0], "time_ns,device,source,value\n1,0,nvml.energy_mj,1\n");
	write_at(folder, names[1], "{\"schema\": \"kwhy.stat/1\", \"power_w\": 3}");
	write_at(folder, names[2], HEADER "kernel,k,0,7," T0 "000000000," T0 "000000100,,,\n");
	for (size_t given = 0; given < 2; given++) {
		struct kwhy_recording *recording = empty_recording();
		struct kwhy_import_options options = {.power_paths = power_paths, .power_path_count = given};
		const struct kwhy_note *note;

		snprintf(path, sizeof(path), "%s/power.csv", folder);
		OK(kwhy_import_trace(recording, folder, &options, &error));
		note = note_of(recording, "power-not-used");
		assert_int_equal(note != NULL, !given);
		if (note) {
			assert_non_null(strstr(note->text, path));
			assert_non_null(strstr(
				note->text, "holds power readings, which are not used: add --power /"));
		}
		assert_non_null(
			strstr(note_of(recording, "other-files")->text, "1 of 3 files is not a trace"));
		kwhy_recording_free(recording);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
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
		cmocka_unit_test(the_content_decides_the_format_whatever_the_name),
		cmocka_unit_test(what_is_no_trace_is_refused_with_what_would_be_one),
		cmocka_unit_test(a_folder_is_its_traces_and_what_is_not_a_trace_is_noted),
		cmocka_unit_test(a_trace_without_device_work_is_refused_with_what_it_holds),
		cmocka_unit_test(a_whole_trace_of_calls_is_read_as_its_devices_may_have_had_nothing_to_do),
		cmocka_unit_test(a_whole_trace_after_a_cut_one_is_not_cut),
		cmocka_unit_test(a_result_of_kwhy_is_named_with_the_command_that_reads_it),
		cmocka_unit_test(a_trace_is_one_whatever_its_metadata_are_called),
		cmocka_unit_test(a_power_log_in_a_folder_of_traces_is_named),
		cmocka_unit_test(json_of_other_kinds_in_a_folder_is_left_out_and_noted),
		cmocka_unit_test(a_table_of_collectives_that_is_not_there_is_refused_whatever_the_trace),
		cmocka_unit_test(what_is_no_file_with_anything_in_it_is_refused_in_words_for_any_file),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
