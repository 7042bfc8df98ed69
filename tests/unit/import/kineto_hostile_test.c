/* SPDX-License-Identifier: Apache-2.0 */
#include "kineto_fixture.h"

#include "base/text.h"

#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

/* Tests the import of Kineto traces that are truncated, damaged, compressed, large or made to do harm. */

#define SAYS(text, words)                                                  \
	do {                                                               \
		const char *refusal = (text);                              \
		if (!strstr(refusal, (words)))                             \
			fail_msg("\"%s\" lacks \"%s\"", refusal, (words)); \
	} while (0)

static size_t place_of(const char *text, const char *part)
{
	return (size_t)(strstr(text, part) - text);
}

/*
 * Checks that a trace whose second kernel has the invalid members `ts_and_dur` is refused with a message that
 * has `words` and the position of `field`; and that with --partial its first kernel is still read.
 */
static void check_unusable(const char *ts_and_dur, const char *field, const char *words)
{
	static const char frame[] = TRACE(
		KERNEL("1", "1", "") ",{\"ph\": \"X\", \"cat\": \"kernel\", "
				     "\"name\": \"bad\", \"pid\": 0, \"tid\": 7%s}");
	char text[1024], place[64];
	struct kwhy_recording *r;

	snprintf(text, sizeof(text), frame, ts_and_dur);
	snprintf(place, sizeof(place), "at byte %zu;", place_of(text, field));
	SAYS(refusal_of(text), words);
	SAYS(error.text, place);
	SAYS(error.text, "--partial");
	r = read_partial(text);
	assert_int_equal(r->activities.count, 1);
	assert_int_equal(r->lost.skipped_events, 1);
	assert_true(has_note(r, "events-skipped"));
	kwhy_recording_free(r);
}

static void impossible_times_are_refused_with_their_place(void **state)
{
	(void)state;
	check_unusable(", \"ts\": 5, \"dur\": -1", "-1", "is negative");
	check_unusable(", \"ts\": 5, \"dur\": NaN", "NaN", "is not a number");
	check_unusable(", \"ts\": 5, \"dur\": \"nan\"", "\"nan\"", "is not a number");
	check_unusable(", \"ts\": 5, \"dur\": null", "null", "is not a number");
	check_unusable(", \"ts\": 5, \"dur\": [1]", "[1]", "is not a number");
	check_unusable(", \"ts\": 5, \"dur\": 1e300", "1e300", "is too large");
	check_unusable(", \"ts\": 99999999999999999999, \"dur\": 5", "9999999999", "is too large");
	check_unusable(", \"ts\": 2305843009213693, \"dur\": 2305843009213693", "2305843009213693}",
		"ends too late");
	check_unusable(", \"ts\": 5", "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"bad\"",
		"\"dur\" of the event \"bad\" is missing");
	check_unusable(", \"dur\": 5", "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"bad\"",
		"\"ts\" of the event \"bad\" is missing");
}

static void a_kernel_on_no_device_number_is_refused(void **state)
{
	(void)state;
	SAYS(refusal_of(TRACE("{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"ts\": 1, \"dur\": 1, "
			      "\"tid\": 7, \"args\": {\"device\": -4}}")),
		"\"device\" of the event \"k\" is not a device number");
	SAYS(refusal_of(TRACE("{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"ts\": 1, \"dur\": 1, "
			      "\"args\": {\"device\": 4}}")),
		"\"stream\" of the event \"k\" is missing");
}

#define THREE KERNEL("1", "1", "") "," KERNEL("2", "1", "") "," KERNEL("3", "1", "")

static void a_file_cut_at_any_byte_is_refused_and_gives_its_whole_events(void **state)
{
	static const char text[] = TRACE(THREE);
	size_t ends[4] = {0}, whole = 0;

	(void)state;
	for (size_t i = 0, kernels = 0; text[i]; i++)
		if (!strncmp(text + i, "}}", 2) && kernels < 3)
			ends[kernels++] = i + 2;
	ends[3] = sizeof(text);
	for (size_t length = 1; length < sizeof(text) - 1; length++) {
		struct kwhy_recording *r;

		SAYS(refusal_of_bytes(text, length), "byte");
		while (length >= ends[whole])
			whole++;
		if (!strchr(text, '[') || length <= place_of(text, "["))
			continue;
		r = read_bytes(text, length, true);
		assert_int_equal(r->activities.count, whole);
		assert_true(r->lost.truncated);
		assert_true(has_note(r, "truncated"));
		kwhy_recording_free(r);
	}
}

static void a_quote_left_unescaped_is_refused_at_its_place_and_costs_one_event(void **state)
{
	static const char text[] = TRACE(
		KERNEL("1", "1", "") ",{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", "
				     "\"ts\": 1, \"dur\": 1, \"args\": {\"Concrete Inputs\": [\"\", "
				     "\"\"sum\"\", \"\"]}}," KERNEL("2", "1", ""));
	char place[64];
	struct kwhy_recording *r;

	(void)state;
	snprintf(place, sizeof(place), "at byte %zu,", place_of(text, "sum"));
	SAYS(refusal_of(text), place);
	SAYS(error.text, "unescaped");
	r = read_partial(text);
	assert_int_equal(r->activities.count, 2);
	assert_int_equal(r->lost.skipped_events, 1);
	assert_int_equal(r->origin_unix_ns, INT64_C(1700000000000000000));
	kwhy_recording_free(r);
}

/*
 * After an odd quote, the reader takes text for strings and strings for text until the next quote. With
 * --partial only the two damaged events may be lost; the kernels and what follows the list of events must be
 * read.
 */
static void an_odd_quote_costs_one_event_and_what_follows_the_events_is_read(void **state)
{
	static const char text[] = "{\"traceEvents\": [\n" KERNEL("1", "1",
		"") ",\n{\"ph\": \"X\", \"cat\": \"cpu_op\", "
		    "\"name\": \"a \" b\",\n \"ts\": 1, \"dur\": 1, \"args\": {\"x\": \"y\"}},\n" KERNEL(
			    "2", "1", "") ",\n"
					  "{\"name\": \"end\", \"p \" q\": 2}\n],\n\"baseTimeNanoseconds\": "
					  "1700000000000000000}";
	char place[64];
	struct kwhy_recording *r;

	(void)state;
	snprintf(place, sizeof(place), "at byte %zu,", place_of(text, "b\""));
	SAYS(refusal_of(text), place);
	r = read_partial(text);
	assert_int_equal(r->activities.count, 2);
	assert_int_equal(r->lost.skipped_events, 2);
	assert_int_equal(r->origin_unix_ns, INT64_C(1700000000000000000));
	kwhy_recording_free(r);
}

static void broken_grammar_is_refused_wherever_it_is(void **state)
{
	static const struct {
		const char *text, *words;
	} broken[] = {
		{"{\"traceEvents\": [{\"ph\" \"X\"}]}", "expected ':' after a key at byte 23"},
		{"{\"traceEvents\": [{\"ph\": \"M\" \"a\": 1}]}",
			"expected ',' or '}' after a value at byte 28"},
		{"{\"traceEvents\": [{\"ph\": \"M\", \"a\": [1 2]}]}", "expected ',' or ']' after a value"},
		{"{\"traceEvents\": [{\"ph\": \"M\", \"a\": nope}]}", "expected a value at byte 34"},
		{"{\"traceEvents\": [{\"ph\": \"M\", \"a\": [1}]}]}", "expected ',' or ']' after a value"},
		{"{\"traceEvents\": [{\"ph\": \"M\", a: 1}]}", "expected a key in quotes"},
		{"{\"traceEvents\": [{\"ph\": \"M\"},]}", "expected an event"},
		{"{\"traceEvents\": [{\"ph\": \"M\"} {\"ph\": \"M\"}]}",
			"expected ',' or ']' after an event"},
		{"{\"traceEvents\": [1]}", "expected an event"},
		{"{\"traceEvents\": []} {}", "more text stands after the end of the trace, at byte 20;"},
		{"{\"traceEvents\": [] \"x\": 1}", "expected ',' or '}' after a value"},
		{"[{\"ph\": \"M\", \"a\": \"line\nend\"}]", "control character inside a string at byte 23"},
		{"[{\"ph\": \"M\", \"a\": \"\xC3(\"}]",
			"broken UTF-8 or a control character inside a string at byte 19"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
		SAYS(refusal_of(broken[i].text), broken[i].words);
}

static void zero_bytes_are_no_fault_of_the_profiler(void **state)
{
	static const char after[] = "{\"traceEvents\": []}\n\0\0",
			  within[] = "[{\"ph\": \"M\",\0\0\0\"a\": 1}]";

	(void)state;
	SAYS(refusal_of_bytes(after, sizeof(after)),
		"zero bytes stand after the end of the trace, at byte 20;");
	SAYS(refusal_of_bytes(within, sizeof(within) - 1), "holds zero bytes at byte 12");
}

static void broken_text_is_mended_where_asked_to_read_what_is_whole(void **state)
{
	struct kwhy_recording *r = read_partial(
		TRACE("{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"a\xFF\tb\xC3\xA9\", \"pid\": 0, "
		      "\"tid\": 7, \"ts\": 1, "
		      "\"dur\": 1}"));

	(void)state;
	assert_string_equal(name_of(r, r->activities.name[0]), "a? b\xC3\xA9");
	assert_true(has_note(r, "text-mended"));
	kwhy_recording_free(r);
}

static void what_is_no_trace_is_refused_with_words(void **state)
{
	(void)state;
	SAYS(refusal_of("hello"), "does not begin with '{' or '['");
	SAYS(refusal_of_bytes("\x7F\x45LF\x00\x00\xFF\xFE", 8), "does not begin with '{' or '['");
	SAYS(refusal_of(""), "is empty");
	SAYS(refusal_of(" \n\t "), "ends early");
	SAYS(refusal_of("{\"schema\": \"other\"}"), "JSON, but not a trace: it has no list \"traceEvents\"");
	SAYS(refusal_of("{}"), "JSON, but not a trace: it has no list \"traceEvents\"");
	SAYS(refusal_of("{\"traceEvents\": {}}"), "JSON, but not a trace: it has no list \"traceEvents\"");
	SAYS(refusal_of("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"),
		"git lfs pull");
}

static void a_folder_and_a_missing_file_are_refused(void **state)
{
	struct kwhy_recording *r;

	(void)state;
	OK(kwhy_recording_new(&r, &error));
	strcpy(kineto_path, P_tmpdir "/kwhy-kineto-XXXXXX");
	assert_non_null(mkdtemp(kineto_path));
	assert_int_equal(kwhy_reader_kineto.read(r, kineto_path, &(struct kwhy_import_options){0}, &error),
		KWHY_E_INPUT);
	SAYS(error.text, "is a folder");
	assert_int_equal(rmdir(kineto_path), 0);
	assert_int_equal(kwhy_reader_kineto.read(r, kineto_path, &(struct kwhy_import_options){0}, &error),
		KWHY_E_INPUT);
	SAYS(error.text, "cannot be opened");
	kwhy_recording_free(r);
}

static void nesting_is_limited(void **state)
{
	struct kwhy_text text = {0};

	(void)state;
	kwhy_text_add(&text, "[{\"ph\": \"M\", \"a\": ");
	kwhy_text_repeat(&text, '[', 400);
	kwhy_text_repeat(&text, ']', 400);
	kwhy_text_add(&text, "}]");
	kwhy_recording_free(read_text(text.data));
	kwhy_text_clear(&text);
	kwhy_text_add(&text, "[{\"ph\": \"M\", \"a\": ");
	kwhy_text_repeat(&text, '[', 1000000);
	SAYS(refusal_of(text.data), "nests values more than 512 deep at byte 530");
	kwhy_text_done(&text);
}

static void many_devices_are_limited(void **state)
{
	struct kwhy_text text = {0};

	(void)state;
	kwhy_text_add(&text, "[");
	for (int i = 0; i < 1025; i++)
		kwhy_text_addf(&text,
			"%s{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": %d, \"tid\": 7, "
			"\"ts\": 1, \"dur\": 1}",
			i ? "," : "", i);
	kwhy_text_add(&text, "]");
	SAYS(refusal_of(text.data), "1025th device");
	kwhy_text_done(&text);
}

static void a_comma_too_many_is_refused_and_harmless(void **state)
{
	static const char text[] = "{\"traceEvents\": [" KERNEL(
		"1", "1", "") ",], \"baseTimeNanoseconds\": 1700000000000000000}";
	struct kwhy_recording *r;

	(void)state;
	SAYS(refusal_of(text), "expected an event");
	r = read_partial(text);
	assert_int_equal(r->activities.count, 1);
	assert_int_equal(r->origin_unix_ns, INT64_C(1700000000000000000));
	kwhy_recording_free(r);
}

/* These files are damaged before their first event, so --partial cannot read anything of them either. */
static void a_file_broken_before_its_events_is_refused_in_any_case(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
		const char *words;
	} broken[] = {
		{"\x1F\x8B\x07\x00junk", 8, "gzip data is damaged at byte"},
		{"\x28\xB5\x2F\xFDjunk", 8, "zstd data"},
		{"{\"schemaVersion\": 1, \"traceEv", 29, "before its events begin"},
		{"{\"schemaVersion\" 1, \"traceEvents\": []}", 39, "before its events begin"},
		{"hello", 5, "before its events begin"},
		{"{\"x\": 1}", 8, "JSON, but not a trace: it has no list \"traceEvents\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		struct kwhy_recording *r;

		write_bytes(broken[i].bytes, broken[i].length);
		OK(kwhy_recording_new(&r, &error));
		assert_int_equal(read_into(r, true), KWHY_E_INPUT);
		SAYS(error.text, broken[i].words);
		kwhy_recording_free(r);
	}
}

static void metadata_of_no_use_is_refused_or_passed(void **state)
{
	static const char text[] =
		"{\"deviceProperties\": [1, {}, {\"id\": \"x\", \"numSms\": -1}], "
		"\"distributedInfo\": \"none\", \"baseTimeNanoseconds\": -5, \"traceEvents\": []}";
	struct kwhy_recording *r;

	(void)state;
	SAYS(refusal_of(text), "\"baseTimeNanoseconds\" is no Unix time in nanoseconds at byte 107;");
	r = read_partial(text);
	assert_int_equal(r->lost.skipped_events, 1);
	kwhy_recording_free(r);
}

/*
 * Adds an event whose args come before its other members and contain much that looks like the end of an
 * event. Each event has another start time; every second one is a kernel.
 */
static void add_event(struct kwhy_text *text, size_t i, const char *space, size_t padding)
{
	kwhy_text_addf(text, "%s%s{%s\"ph\":%s\"X\",", i ? "," : "", space, space, space);
	kwhy_text_addf(text, "%s\"args\":%s{\"x\":\"", space, space);
	for (size_t n = 0; n < padding; n++)
		kwhy_text_add(text, n % 3 ? "},{\\\"ph\\\"" : "\\\\},{\\u0022]");
	kwhy_text_addf(text, "\",%s\"y\":%s[[{\"a\":{}},{\"b\":[1]}],{\"ph\":\"s\"}]},", space, space);
	kwhy_text_addf(text, "%s\"cat\":%s\"%s\",", space, space, i % 2 ? "kernel" : "cpu_op");
	kwhy_text_addf(text, "%s\"name\":%s\"},{\",", space, space);
	kwhy_text_addf(text, "%s\"ts\":%zu.001,%s\"dur\":1%s,", space, i, space, space);
	kwhy_text_addf(text, "\"pid\":0,\"tid\":7}%s", space);
}

static void check_windows(const char *space, size_t padding, size_t count)
{
	struct kwhy_text text = {0};
	struct kwhy_recording *r;

	kwhy_text_addf(&text, "{%s\"traceEvents\"%s:%s[%s", space, space, space, space);
	for (size_t i = 0; i < count; i++)
		add_event(&text, i, space, padding);
	kwhy_text_addf(&text, "]%s,\"baseTimeNanoseconds\"%s:%s7}%s", space, space, space, space);
	assert_true(text.length > 5u << 19); /* more than one of the reader's windows of 1 MiB */
	r = read_bytes(text.data, text.length, false);
	assert_int_equal(r->sources[0].events, count);
	assert_int_equal(r->activities.count, count / 2);
	for (size_t i = 0; i < r->activities.count; i++) {
		assert_int_equal(r->activities.start_ns[i], (2 * i + 1) * 1000 + 1);
		assert_string_equal(name_of(r, r->activities.name[i]), "},{");
	}
	assert_int_equal(r->origin_unix_ns, 7);
	kwhy_recording_free(r);
	kwhy_text_done(&text);
}

static void every_event_is_read_once_wherever_windows_are_cut(void **state)
{
	(void)state;
	check_windows("", 0, 20000);
	check_windows(" ", 3, 20000);
	check_windows("\n\t", 1, 20000);
	check_windows("\n", 500, 1000);
	check_windows("", 500, 1000);
	check_windows("", 300000, 4);
	check_windows("\n", 300000, 4);
}

static void white_space_without_end_costs_no_memory(void **state)
{
	struct kwhy_text text = {0};
	struct kwhy_recording *r;

	(void)state;
	kwhy_text_add(&text, "[");
	kwhy_text_repeat(&text, ' ', 5u << 20);
	kwhy_text_add(&text, KERNEL("1", "1", ""));
	kwhy_text_repeat(&text, '\n', 5u << 20);
	kwhy_text_add(&text, "]");
	kwhy_text_repeat(&text, ' ', 5u << 20);
	r = read_bytes(text.data, text.length, false);
	assert_int_equal(r->activities.count, 1);
	kwhy_recording_free(r);
	kwhy_text_done(&text);
}

static void a_value_over_the_limit_is_refused(void **state)
{
	struct kwhy_text text = {0};

	(void)state;
	kwhy_text_add(&text, "[{\"ph\": \"");
	kwhy_text_repeat(&text, 'x', 65u << 20);
	kwhy_text_add(&text, "\"}]");
	SAYS(refusal_of_bytes(text.data, text.length), "is larger than 64 MiB");
	kwhy_text_done(&text);
}

static void ten_thousand_broken_events_are_passed(void **state)
{
	struct kwhy_text text = {0};
	struct kwhy_recording *r;

	(void)state;
	kwhy_text_add(&text, "[\n");
	for (int i = 0; i < 5000; i++)
		kwhy_text_addf(
			&text, "{\"ph\": \"X\", \"name\": \"a \"b\" c\"},\n%s,\n", KERNEL("1", "1", ""));
	kwhy_text_add(&text, KERNEL("1", "1", "") "\n]");
	r = read_bytes(text.data, text.length, true);
	assert_int_equal(r->activities.count, 5001);
	assert_int_equal(r->lost.skipped_events, 5000);
	kwhy_recording_free(r);
	kwhy_text_done(&text);
}

/* Compresses the text with gzip and returns the compressed length. */
static size_t pack_gzip(const char *text, size_t length, unsigned char *out, size_t size)
{
	z_stream stream = {0};

	assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	stream.next_in = (unsigned char *)text;
	stream.avail_in = (uInt)length;
	stream.next_out = out;
	stream.avail_out = (uInt)size;
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return size - stream.avail_out;
}

static void gzip_is_read_in_members_and_refused_when_cut_or_damaged(void **state)
{
	static const char head[] = "{\"traceEvents\": [", tail[] = THREE "]}";
	unsigned char packed[4096];
	size_t first = pack_gzip(head, sizeof(head) - 1, packed, sizeof(packed));
	size_t length = first + pack_gzip(tail, sizeof(tail) - 1, packed + first, sizeof(packed) - first);
	struct kwhy_recording *r;

	(void)state;
	memset(packed + length, 0, 100);
	r = read_bytes(packed, length + 100, false);
	assert_int_equal(r->activities.count, 3);
	kwhy_recording_free(r);
	for (size_t cut = 2; cut < length; cut++)
		if (cut != first)
			SAYS(refusal_of_bytes(packed, cut), "gzip data ends early");
	SAYS(refusal_of_bytes(packed, first), "ends early");
	r = read_bytes(packed, length - 4, true);
	assert_int_equal(r->activities.count, 3);
	kwhy_recording_free(r);
	packed[length] = 'x';
	SAYS(refusal_of_bytes(packed, length + 1), "is followed by other bytes");
	packed[length - 6] ^= 1;
	SAYS(refusal_of_bytes(packed, length), "gzip data is damaged");
}

static void zstd_is_read_in_frames_and_refused_when_cut_or_damaged(void **state)
{
	static const char head[] = "{\"traceEvents\": [", tail[] = THREE "]}";
	unsigned char packed[4096];
	size_t first = ZSTD_compress(packed, sizeof(packed), head, sizeof(head) - 1, 3);
	size_t length = first +
		ZSTD_compress(packed + first, sizeof(packed) - first, tail, sizeof(tail) - 1, 3);
	struct kwhy_recording *r = read_bytes(packed, length, false);

	(void)state;
	assert_int_equal(r->activities.count, 3);
	kwhy_recording_free(r);
	for (size_t cut = 4; cut < length; cut++)
		if (cut != first)
			SAYS(refusal_of_bytes(packed, cut), "zstd data ends early");
	SAYS(refusal_of_bytes(packed, first), "ends early");
	packed[first] ^= 0xFF;
	SAYS(refusal_of_bytes(packed, length), "zstd data");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(impossible_times_are_refused_with_their_place),
		cmocka_unit_test(a_kernel_on_no_device_number_is_refused),
		cmocka_unit_test(a_file_cut_at_any_byte_is_refused_and_gives_its_whole_events),
		cmocka_unit_test(a_quote_left_unescaped_is_refused_at_its_place_and_costs_one_event),
		cmocka_unit_test(an_odd_quote_costs_one_event_and_what_follows_the_events_is_read),
		cmocka_unit_test(broken_grammar_is_refused_wherever_it_is),
		cmocka_unit_test(zero_bytes_are_no_fault_of_the_profiler),
		cmocka_unit_test(broken_text_is_mended_where_asked_to_read_what_is_whole),
		cmocka_unit_test(what_is_no_trace_is_refused_with_words),
		cmocka_unit_test(a_folder_and_a_missing_file_are_refused),
		cmocka_unit_test(nesting_is_limited),
		cmocka_unit_test(many_devices_are_limited),
		cmocka_unit_test(a_comma_too_many_is_refused_and_harmless),
		cmocka_unit_test(a_file_broken_before_its_events_is_refused_in_any_case),
		cmocka_unit_test(metadata_of_no_use_is_refused_or_passed),
		cmocka_unit_test(every_event_is_read_once_wherever_windows_are_cut),
		cmocka_unit_test(white_space_without_end_costs_no_memory),
		cmocka_unit_test(a_value_over_the_limit_is_refused),
		cmocka_unit_test(ten_thousand_broken_events_are_passed),
		cmocka_unit_test(gzip_is_read_in_members_and_refused_when_cut_or_damaged),
		cmocka_unit_test(zstd_is_read_in_frames_and_refused_when_cut_or_damaged),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
