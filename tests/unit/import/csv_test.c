/* SPDX-License-Identifier: Apache-2.0 */
#include "csv_file.h"

#include <zlib.h>

static const char *name_of(const struct kwhy_recording *recording, size_t row)
{
	return kwhy_names_get(&recording->names, recording->activities.name[row]);
}

static void columns_are_found_by_name_in_any_order_and_further_ones_are_ignored(void **state)
{
	struct kwhy_recording *recording = recording_of(
		"# made by hand\r\n"
		"# device 3 name=NVIDIA-H200 sms=132 limit_w=700 context_idle_w=121.5 clean_idle_w= "
		"threads_per_sm=2048\r\n"
		"\r\n"
		"end_ns, color ,start_ns,kind,device,name\r\n" T0 "500000200,red," T0
		"500000100,kernel,3,\"f<int, 4>(\"\"a\"\")\"\r\n" T0 "500000300,," T0
		"500000250,kernel,3,plain\r\n");
	const struct kwhy_device *device = &recording->devices[0];

	(void)state;
	assert_int_equal(recording->activities.count, 2);
	assert_int_equal(recording->origin_unix_ns, INT64_C(1795245124000000000));
	assert_true(recording->unix_clock);
	assert_int_equal(recording->activities.start_ns[0], 500000100);
	assert_int_equal(recording->activities.end_ns[0], 500000200);
	assert_string_equal(name_of(recording, 0), "f<int, 4>(\"a\")");
	assert_string_equal(name_of(recording, 1), "plain");
	assert_int_equal(recording->device_count, 1);
	assert_int_equal(device->index, 3);
	assert_string_equal(device->name, "NVIDIA-H200");
	assert_int_equal(device->sm_count, 132);
	assert_int_equal(device->threads_per_sm, 2048);
	assert_int_equal(device->limit_mw, 700000);
	assert_int_equal(device->context_idle_mw, 121500);
	assert_int_equal(device->clean_idle_mw, -1);
	assert_int_equal(device->rank, KWHY_NONE);
	assert_int_equal(recording->sources[0].events, 2);
	kwhy_recording_free(recording);
}

static void each_kind_becomes_its_noun(void **state)
{
	struct kwhy_recording *recording = recording_of(HEADER "kernel,k,0,7,1000,2000,0,1056,256\n"
							       "collective,my_ring,0,8,1000,2000,,,\n"
							       "copy_h2d,h2d_100MB,0,7,2000,3000,100,,\n"
							       "copy_d2h,,0,7,3000,4000,,,\n"
							       "copy_d2d,,0,7,4000,5000,7.000,0,0\n"
							       "copy_p2p,,0,7,5000,6000,8,,\n"
							       "memset,,0,7,6000,7000,9,,\n"
							       "sync,waiting for it,,,2000,6000,,,\n"
							       "alloc,,,,100,200,,,\n"
							       "free,,,,300,400,,,\n"
							       "range,train,,,100,6000,,,\n"
							       "range,step 3,,,100,200,,,\n");
	const struct kwhy_activities *rows = &recording->activities;

	(void)state;
	OK(kwhy_recording_finish(recording, &error));
	assert_int_equal(rows->count, 7);
	assert_int_equal(rows->kind[0], KWHY_ACTIVITY_KERNEL);
	assert_int_equal(rows->blocks[0], 1056);
	assert_int_equal(rows->threads_per_block[0], 256);
	assert_true(rows->bytes[0] == KWHY_UNKNOWN_BYTES);
	assert_int_equal(rows->kind[1], KWHY_ACTIVITY_COLLECTIVE);
	assert_int_equal(rows->blocks[1], KWHY_UNKNOWN_BLOCKS);
	assert_string_equal(name_of(recording, 2), "h2d_100MB");
	assert_int_equal(rows->copy_kind[2], KWHY_COPY_H2D);
	assert_int_equal(rows->dst_memory[2], KWHY_MEMORY_DEVICE);
	assert_int_equal(rows->bytes[2], 100);
	assert_int_equal(rows->copy_kind[3], KWHY_COPY_D2H);
	assert_true(rows->bytes[3] == KWHY_UNKNOWN_BYTES);
	assert_string_equal(name_of(recording, 3), "");
	assert_int_equal(rows->copy_kind[4], KWHY_COPY_D2D);
	assert_int_equal(rows->bytes[4], 7);
	assert_int_equal(rows->copy_kind[5], KWHY_COPY_P2P);
	assert_int_equal(rows->kind[6], KWHY_ACTIVITY_MEMSET);
	assert_int_equal(rows->bytes[6], 9);
	assert_int_equal(recording->lost.unknown_bytes, 1);
	assert_int_equal(recording->calls.count, 3);
	assert_int_equal(recording->calls.class[0], KWHY_CALL_ALLOC);
	assert_int_equal(recording->calls.class[1], KWHY_CALL_FREE);
	assert_int_equal(recording->calls.class[2], KWHY_CALL_SYNC);
	assert_string_equal(kwhy_names_get(&recording->names, recording->calls.name[2]), "waiting for it");
	assert_true(recording->has_calls);
	assert_null(note_of(recording, "no-api-rows"));
	assert_int_equal(recording->range_count, 2);
	assert_int_equal(recording->ranges[0].kind, KWHY_RANGE_USER);
	assert_int_equal(recording->ranges[1].kind, KWHY_RANGE_STEP);
	assert_int_equal(recording->stream_count, 2);
	kwhy_recording_free(recording);
}

static void a_kernel_with_the_name_of_a_collective_stays_what_its_kind_says(void **state)
{
	struct kwhy_recording *recording = recording_of(HEADER "kernel,ncclDevKernel_AllReduce,0,7,1,2,,,\n");

	(void)state;
	assert_int_equal(recording->activities.kind[0], KWHY_ACTIVITY_KERNEL);
	assert_non_null(note_of(recording, "no-api-rows"));
	kwhy_recording_free(recording);
}

static void a_row_without_a_device_is_of_the_only_one(void **state)
{
	static const char several[] = HEADER "kernel,a,0,7,1,2,,,\nkernel,b,1,7,1,2,,,\nkernel,c,,7,1,2,,,\n";
	struct kwhy_recording *recording = recording_of(
		"# device 5 sms=1\nkind,start_ns,end_ns\nkernel,1,2\nkernel,3,4\n");

	(void)state;
	assert_int_equal(recording->device_count, 1);
	assert_int_equal(recording->devices[0].index, 5);
	assert_int_equal(recording->streams[0].id, -1);
	assert_string_equal(name_of(recording, 0), "unnamed kernel");
	assert_null(note_of(recording, "no-device-column"));
	kwhy_recording_free(recording);

	recording = recording_of("kind,start_ns,end_ns\nkernel,1,2\n");
	assert_int_equal(recording->devices[0].index, 0);
	assert_non_null(note_of(recording, "no-device-column"));
	kwhy_recording_free(recording);

	recording = empty_recording();
	refused(import_bytes(recording, several, strlen(several), false), "rows that name none");
	kwhy_recording_free(recording);
}

static void coverage_is_stated_for_each_device_of_the_file(void **state)
{
	struct kwhy_recording *recording = recording_of("# coverage " T0 "100000000 " T0 "900000000\n" HEADER
							"kernel,a,0,7," T0 "200000000," T0 "300000000,,,\n"
							"kernel,b,1,7," T0 "200000000," T0 "300000000,,,\n");

	(void)state;
	assert_int_equal(recording->coverage_count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(recording->coverage[i].device, i);
		assert_int_equal(recording->coverage[i].start_ns, 100000000);
		assert_int_equal(recording->coverage[i].end_ns, 900000000);
	}
	kwhy_recording_free(recording);
}

static void a_selection_says_where_windows_could_lie_and_why_there_are_windows(void **state)
{
	struct kwhy_recording *recording = recording_of(
		"# coverage " T0 "100000000 " T0 "900000000\n# selection " T0 "000000000 " T0
		"990000000 duty\n" HEADER);

	(void)state;
	assert_int_equal(recording->selection_count, 1);
	assert_int_equal(recording->selections[0].choice, KWHY_CHOICE_DUTY);
	assert_int_equal(recording->selections[0].device, KWHY_NONE);
	assert_int_equal(recording->selections[0].start_ns, 0);
	assert_int_equal(recording->selections[0].end_ns, 990000000);
	kwhy_recording_free(recording);
}

static void a_second_file_is_a_second_rank_on_the_clock_of_the_first(void **state)
{
	static const char first[] = "# device 0 rank=0 name=A\n" HEADER "kernel,a,0,7," T0 "200000000," T0
				    "300000000,,,\n";
	static const char second[] = "# device 0 rank=1 name=\"B C\"\n" HEADER
				     "kernel,a,0,7,1795245123900000000," T0 "300000000,,,\n";
	struct kwhy_recording *recording = recording_of(first);

	(void)state;
	OK(import_bytes(recording, second, strlen(second), false));
	assert_int_equal(recording->device_count, 2);
	assert_int_equal(recording->devices[0].rank, 0);
	assert_int_equal(recording->devices[1].rank, 1);
	assert_string_equal(recording->devices[1].name, "B C");
	assert_int_equal(recording->processes[1].rank, 1);
	assert_int_equal(recording->activities.start_ns[1], -100000000);
	assert_int_equal(recording->names.count, 2);
	kwhy_recording_free(recording);
}

static void a_rank_that_follows_the_rows_holds_for_them(void **state)
{
	struct kwhy_recording *recording = recording_of(
		HEADER "kernel,a,0,7,1,2,,,\n# device 0 rank=4\nkernel,a,0,7,3,4,,,\n");

	(void)state;
	assert_int_equal(recording->device_count, 1);
	assert_int_equal(recording->devices[0].rank, 4);
	assert_int_equal(recording->processes[0].rank, 4);
	kwhy_recording_free(recording);
}

static void files_on_different_clocks_are_not_mixed(void **state)
{
	static const char monotonic[] = "# clock other monotonic\n" HEADER "kernel,a,0,7,1700000000000000,"
					"1700000000000001,,,\n";
	static const char unix_time[] = HEADER "kernel,a,0,7," T0 "200000000," T0 "300000000,,,\n";
	struct kwhy_recording *recording = recording_of(monotonic);

	(void)state;
	assert_false(recording->unix_clock);
	assert_string_equal(recording->clock_name, "monotonic");
	assert_int_equal(recording->activities.start_ns[0], 0);
	OK(import_bytes(recording, monotonic, strlen(monotonic), false));
	refused(import_bytes(recording, unix_time, strlen(unix_time), false), "another clock");
	kwhy_recording_free(recording);
	recording = recording_of(unix_time);
	refused(import_bytes(recording, monotonic, strlen(monotonic), false), "another clock");
	kwhy_recording_free(recording);
}

static void what_is_wrong_is_refused_with_its_line_its_column_and_a_cure(void **state)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{"", "is empty"},
		{"# only a comment\n", "no row that names its columns"},
		{"kind,name,start_ns\n", "line 1: no column is named \"end_ns\""},
		{"kind,start_ns,end_ns,kind\n", "two columns are named \"kind\""},
		{HEADER "kernel,a,0,7,1,2,,\n", "line 2: 8 fields under 9 columns; quote names"},
		{HEADER "kernel,a,0,7,1,2,,", "the file ends inside this line"},
		{HEADER "kernel,\"a,0,7,1,2,,,\n", "line 2: a quoted field does not end"},
		{HEADER "kernel,\"a\"b,0,7,1,2,,,\n", "a quoted field does not end"},
		{HEADER "kernle,a,0,7,1,2,,,\n",
			"line 2, column kind: \"kernle\" is not a kind; write kernel"},
		{HEADER "kernel,a,0,7,,2,,,\n", "line 2, column start_ns: \"\" is not a time"},
		{HEADER "kernel,a,0,7,12x,2,,,\n", "\"12x\" is not a whole number"},
		{HEADER "kernel,a,0,7,1e9,2,,,\n", "\"1e9\" is not a whole number"},
		{HEADER "kernel,a,0,7,1.5,2,,,\n", "\"1.5\" is not whole"},
		{HEADER "kernel,a,0,7," T0 ".25," T0 ".5,,,\n", "looks like Unix time in seconds"},
		{HEADER "kernel,a,0,7," T0 "000000," T0 "000001,,,\n",
			"looks like Unix time in microseconds"},
		{HEADER "kernel,a,0,7," T0 "000000000," T0 ",,,\n", "looks like Unix time in seconds"},
		{HEADER "kernel,a,0,7,5,4,,,\n", "column end_ns: \"4\" is before start_ns"},
		{HEADER "kernel,a,0,7,99999999999999999999,4,,,\n", "is not between"},
		{HEADER "kernel,a,0,7,-9223372036854775808,4,,,\n", "is not between"},
		{HEADER "kernel,a,0,7,1,100000000000000000,,,\n", "more than a year"},
		{HEADER "kernel,a,-1,7,1,2,,,\n", "column device: \"-1\" is not between 0 and 1023"},
		{HEADER "kernel,a,0,7,1,2,,4294967295,\n", "column blocks"},
		{HEADER "kernel,a,0,7,1,2,,,65535\n", "column threads_per_block"},
		{HEADER "copy_h2d,a,0,7,1,2,-1,,\n", "column bytes"},
		{"# device x\n" HEADER, "line 1, # device: \"x\" is not a whole number"},
		{"# device 0 sms\n" HEADER, "KEY=VALUE"},
		{"# device 0 sms=0\n" HEADER, "sms: \"0\" is not between"},
		{"# device 0 limit_w=0\n" HEADER, "a power in watts"},
		{"# device 0 limit_w=1.2345\n" HEADER, "a power in watts"},
		{"# device 0 limit_w=100001\n" HEADER, "a power in watts"},
		{"# coverage 1\n" HEADER, "# coverage START_NS END_NS"},
		{"# coverage 2 1\n" HEADER, "ends before it begins"},
		{"# selection 1 2\n" HEADER, "a selection is by time, range or duty"},
		{"# selection 2 1 duty\n" HEADER, "ends before it begins"},
		{"# clock sundial\n" HEADER, "# clock other NAME"},
		{HEADER "kernel,a,0,7,1,2,,,\n# clock unix\n", "move it to the top"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_recording *recording = empty_recording();

		refused(import_bytes(recording, cases[i].text, strlen(cases[i].text), false), cases[i].words);
		kwhy_recording_free(recording);
	}
}

static void a_line_without_end_is_refused_without_reading_the_file_into_memory(void **state)
{
	struct kwhy_recording *recording = empty_recording();
	size_t length = 4 << 20;
	char *text = malloc(length);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', length);
	refused(import_bytes(recording, text, length, false), "longer than 64 KiB");
	memset(text, ',', 1000);
	text[1000] = '\n';
	refused(import_bytes(recording, text, 1001, false), "more than 512 columns");
	kwhy_recording_free(recording);
	free(text);
}

/* Wherever the file is cut into reads, a line of 64 KiB is read and one more byte is refused. */
static void a_line_longer_than_64_kib_is_refused_though_it_ends(void **state)
{
	enum { LINE_BYTES = 64 << 10 };
	static const char begin[] = HEADER "kernel,", end[] = ",0,7,1,2,,,\n";
	const size_t room = LINE_BYTES - (sizeof("kernel,") - 1) - (sizeof(end) - 2);
	char *text = malloc(sizeof(begin) + sizeof(end) + room);

	(void)state;
	assert_non_null(text);
	for (size_t more = 0; more < 2; more++) {
		struct kwhy_recording *recording = empty_recording();
		size_t length = sizeof(begin) - 1;
		enum kwhy_status status;

		memcpy(text, begin, length);
		memset(text + length, 'x', room + more);
		length += room + more;
		memcpy(text + length, end, sizeof(end) - 1);
		status = import_bytes(recording, text, length + sizeof(end) - 1, false);
		if (more)
			refused(status, "longer than 64 KiB");
		else
			OK(status);
		kwhy_recording_free(recording);
	}
	free(text);
}

static void more_streams_than_any_program_has_are_refused(void **state)
{
	struct kwhy_recording *recording = empty_recording();
	size_t rows = 65537, size = rows * 40 + 200, length;
	char *text = malloc(size);

	(void)state;
	assert_non_null(text);
	length = (size_t)snprintf(text, size, HEADER);
	for (size_t i = 0; i < rows; i++)
		length += (size_t)snprintf(text + length, size - length, "kernel,k,0,%zu,1,2,,,\n", i);
	refused(import_bytes(recording, text, length, false), "more than 65536 streams");
	kwhy_recording_free(recording);
	free(text);
}

static void partial_skips_and_counts_what_cannot_be_used(void **state)
{
	static const char text[] =
		"# device 0 sms=x\n" HEADER "kernel,a,0,7,1,2,,,\nkernel,b,0,7,5,4,,,\nnothing\n"
		"kernle,c,0,7,5,6,,,\nkernel,d,0,7,x,6,,,\nkernel,e,0,7,7,8,,,\nkernel,f,0";
	struct kwhy_recording *recording = empty_recording();

	(void)state;
	OK(import_bytes(recording, text, strlen(text), true));
	assert_int_equal(recording->activities.count, 2);
	assert_int_equal(recording->lost.skipped_events, 6);
	assert_int_equal(recording->sources[0].events, 7);
	assert_true(recording->lost.truncated);
	assert_non_null(note_of(recording, "truncated"));
	kwhy_recording_free(recording);
}

/* Compresses `text` with gzip and returns the compressed length. */
static size_t packed(const char *text, size_t length, unsigned char *out, size_t size)
{
	z_stream stream = {0};

	assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	stream.next_in = (unsigned char *)(uintptr_t)text;
	stream.avail_in = (unsigned)length;
	stream.next_out = out;
	stream.avail_out = (unsigned)size;
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return stream.total_out;
}

static void rows_go_over_the_edges_of_the_window_and_a_damaged_file_keeps_its_whole_rows(void **state)
{
	size_t rows = 60000, size = rows * 48 + 200, length;
	char *text = malloc(size);
	unsigned char *zipped = malloc(size);
	struct kwhy_recording *recording = empty_recording();

	(void)state;
	assert_non_null(text);
	assert_non_null(zipped);
	length = (size_t)snprintf(text, size, HEADER);
	for (size_t i = 0; i < rows; i++)
		length += (size_t)snprintf(text + length, size - length,
			"kernel,kernel_%zu,0,%zu,%zu,%zu,,,\n", i % 3000, i % 5, i * 10, i * 10 + 9);
	OK(import_bytes(recording, text, length, false));
	assert_int_equal(recording->activities.count, rows);
	for (size_t i = 0; i < rows; i++) {
		char name[32];

		snprintf(name, sizeof(name), "kernel_%zu", i % 3000);
		assert_int_equal(recording->activities.start_ns[i], i * 10);
		assert_string_equal(name_of(recording, i), name);
	}
	kwhy_recording_free(recording);

	length = packed(text, length, zipped, size);
	recording = empty_recording();
	OK(import_bytes(recording, zipped, length, false));
	assert_int_equal(recording->activities.count, rows);
	kwhy_recording_free(recording);

	recording = empty_recording();
	refused(import_bytes(recording, zipped, length / 2, false), "ends early");
	kwhy_recording_free(recording);
	recording = empty_recording();
	OK(import_bytes(recording, zipped, length / 2, true));
	assert_true(recording->lost.truncated);
	assert_true(recording->activities.count > rows / 4);
	kwhy_recording_free(recording);
	free(zipped);
	free(text);
}

static void a_measured_recording_is_read_whole(void **state)
{
	struct kwhy_import_options options = {0};
	struct kwhy_recording *recording;
	const char *path = KWHY_SOURCE_DIR "/examples/h200-mix-burst/activities.csv";

	(void)state;
	recording = empty_recording();
	OK(kwhy_reader_csv.read(recording, path, &options, &error));
	assert_int_equal(recording->activities.count, 1955 + 1966 + 2029 + 1996 + 2036);
	assert_int_equal(recording->origin_unix_ns, INT64_C(1795245124000000000));
	assert_int_equal(recording->coverage[0].start_ns, 478730000);
	OK(kwhy_recording_finish(recording, &error));
	kwhy_recording_free(recording);
}

static void the_first_line_that_is_no_comment_tells_a_trace(void **state)
{
	static const struct {
		const char *head;
		bool is_trace;
	} cases[] = {
		{HEADER, true},
		{"\xEF\xBB\xBF# c\r\n\r\n \"start_ns\" , x,\"kind\"\r\n", true},
		{POWER, false},
		{"{\"kind\":1,\"start_ns\":2}", false},
		{"# kind,start_ns\n", false},
		{"", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(kwhy_reader_csv.probe(
					 "x", (const unsigned char *)cases[i].head, strlen(cases[i].head)),
			cases[i].is_trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_found_by_name_in_any_order_and_further_ones_are_ignored),
		cmocka_unit_test(each_kind_becomes_its_noun),
		cmocka_unit_test(a_kernel_with_the_name_of_a_collective_stays_what_its_kind_says),
		cmocka_unit_test(a_row_without_a_device_is_of_the_only_one),
		cmocka_unit_test(coverage_is_stated_for_each_device_of_the_file),
		cmocka_unit_test(a_selection_says_where_windows_could_lie_and_why_there_are_windows),
		cmocka_unit_test(a_second_file_is_a_second_rank_on_the_clock_of_the_first),
		cmocka_unit_test(a_rank_that_follows_the_rows_holds_for_them),
		cmocka_unit_test(files_on_different_clocks_are_not_mixed),
		cmocka_unit_test(what_is_wrong_is_refused_with_its_line_its_column_and_a_cure),
		cmocka_unit_test(a_line_without_end_is_refused_without_reading_the_file_into_memory),
		cmocka_unit_test(a_line_longer_than_64_kib_is_refused_though_it_ends),
		cmocka_unit_test(more_streams_than_any_program_has_are_refused),
		cmocka_unit_test(partial_skips_and_counts_what_cannot_be_used),
		cmocka_unit_test(
			rows_go_over_the_edges_of_the_window_and_a_damaged_file_keeps_its_whole_rows),
		cmocka_unit_test(a_measured_recording_is_read_whole),
		cmocka_unit_test(the_first_line_that_is_no_comment_tells_a_trace),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
