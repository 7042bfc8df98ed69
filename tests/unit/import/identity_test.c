/* SPDX-License-Identifier: Apache-2.0 */
#include "nsys_fixture.h"

#include <zlib.h>
#include <zstd.h>

/*
 * Tests that a file is refused if it has the same content as one that was read before, in whatever format,
 * and that files which only resemble one another are accepted.
 */

#define CSV_ROWS \
	"kernel,a,0,7," T0 "000000000," T0 "001000000,,,\nkernel,b,0,8," T0 "002000000," T0 "003000000,,,\n"
#define KINETO(rank, name)                                                                               \
	"{\"baseTimeNanoseconds\": " T0 "000000000, " rank "\"traceEvents\": [{\"ph\": \"X\", "          \
	"\"cat\": \"kernel\", \"name\": \"" name "\", \"pid\": 0, \"tid\": 7, \"ts\": 1.5, \"dur\": 2, " \
	"\"args\": {\"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": 5}}]}"
#define RANK(number) "\"distributedInfo\": {\"rank\": " number "}, "
#define SQL STRINGS START KERNELS KERNEL("300", "400", "0", "5", PID, "1")
#define READINGS                                                                                   \
	POWER T0 "000000000,0,nvml.energy_mj,100000\n" T0 "002000000,0,nvml.energy_mj,200000\n" T0 \
		 "003000000,"                                                                      \
		 ",rapl.package-0_uj,7\n"

enum { FILES_MAX = 4, PACKED_BYTES = 4096 };

/* Paths of the files that a test reads, in this order. The files exist until forget(). */
static char paths[FILES_MAX][32];
static size_t path_count;

static void hold(const void *bytes, size_t length)
{
	assert_true(path_count < FILES_MAX);
	write_file(paths[path_count++], bytes, length);
}

static void hold_text(const char *text)
{
	hold(text, strlen(text));
}

static void hold_gzip(const char *text)
{
	unsigned char packed[PACKED_BYTES];
	z_stream stream = {.next_in = (unsigned char *)text,
		.avail_in = (uInt)strlen(text),
		.next_out = packed,
		.avail_out = PACKED_BYTES};

	assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	hold(packed, PACKED_BYTES - stream.avail_out);
}

static void hold_zstd(const char *text)
{
	unsigned char packed[PACKED_BYTES];

	hold(packed, ZSTD_compress(packed, sizeof(packed), text, strlen(text), 3));
}

static void forget(void)
{
	while (path_count)
		unlink(paths[--path_count]);
}

static int tear_down(void **state)
{
	(void)state;
	forget();
	return 0;
}

/*
 * Reads all files in paths[] as traces, in order. Returns the status of the last one; the others must be
 * accepted.
 */
static enum kwhy_status read_traces(void)
{
	const struct kwhy_import_options options = {0};
	struct kwhy_recording *recording = empty_recording();
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; i < path_count; i++) {
		assert_int_equal(status, KWHY_OK);
		status = kwhy_import_trace(recording, paths[i], &options, &error);
	}
	kwhy_recording_free(recording);
	return status;
}

/*
 * Reads the first file in paths[] as a trace and the others as power logs for it. Returns the status of the
 * last one; the others must be accepted.
 */
static enum kwhy_status read_power(void)
{
	const struct kwhy_import_options options = {0};
	struct kwhy_recording *recording = empty_recording();
	enum kwhy_status status = kwhy_import_trace(recording, paths[0], &options, &error);

	for (size_t i = 1; i < path_count; i++) {
		assert_int_equal(status, KWHY_OK);
		status = kwhy_import_power(recording, paths[i], &options, &error);
	}
	kwhy_recording_free(recording);
	return status;
}

/* Checks that the last file was refused as a copy of file number `earlier`, and removes all files. */
static void refused_as_copy_of(enum kwhy_status status, size_t earlier, const char *what)
{
	char words[160];

	snprintf(words, sizeof(words), "%s holds the same %s as %s", paths[path_count - 1], what,
		paths[earlier]);
	refused(status, words);
	forget();
}

static void taken(enum kwhy_status status)
{
	OK(status);
	forget();
}

static void a_copy_of_a_trace_under_another_name_is_refused(void **state)
{
	(void)state;
	hold_text(HEADER CSV_ROWS);
	hold_text(HEADER CSV_ROWS);
	refused_as_copy_of(read_traces(), 0, "work");
	hold_text(KINETO("", "k"));
	hold_text(KINETO("", "k"));
	refused_as_copy_of(read_traces(), 0, "work");
	make_database(paths[path_count++], SQL);
	make_database(paths[path_count++], SQL);
	refused_as_copy_of(read_traces(), 0, "work");
}

static void a_trace_that_was_compressed_anew_is_the_same_trace(void **state)
{
	(void)state;
	hold_text(KINETO("", "k"));
	hold_gzip(KINETO("", "k"));
	refused_as_copy_of(read_traces(), 0, "work");
	hold_gzip(KINETO(RANK("3"), "k"));
	hold_zstd(KINETO(RANK("3"), "k"));
	refused_as_copy_of(read_traces(), 0, "work");
}

static void rows_in_another_order_make_no_other_trace(void **state)
{
	(void)state;
	hold_text(HEADER "kernel,a,0,7,1000,2000,,,\nkernel,b,1,7,3000,4000,,,\n");
	hold_text(HEADER "kernel,b,1,7,3000,4000,,,\nkernel,a,0,7,1000,2000,,,\n");
	refused_as_copy_of(read_traces(), 0, "work");
}

static void a_copy_is_found_behind_other_ranks(void **state)
{
	(void)state;
	hold_text(KINETO("", "first"));
	hold_text(KINETO("", "second"));
	hold_text(KINETO("", "third"));
	hold_text(KINETO("", "second"));
	refused_as_copy_of(read_traces(), 1, "work");
	make_database(paths[path_count++], SQL);
	hold_text(KINETO("", "k"));
	make_database(paths[path_count++], SQL);
	refused_as_copy_of(read_traces(), 0, "work");
}

/*
 * Two ranks from a simulator may have the same activities at the same times, which look like one file given
 * twice. The message must say what to do if that is so.
 */
static void who_gives_ranks_that_did_the_same_is_told_to_state_them(void **state)
{
	(void)state;
	hold_text(HEADER CSV_ROWS);
	hold_text(HEADER CSV_ROWS);
	refused(read_traces(),
		"if they are two ranks, state each one's rank (# device 0 rank=1, distributedInfo)");
}

static void ranks_with_as_many_rows_are_told_apart_by_any_of_them(void **state)
{
	static const char *const others[] = {
		"kernel,a,0,7,1000,2000,,,\nkernel,b,0,7,3000,4001,,,\n",
		"kernel,a,0,7,1000,2000,,,\nkernel,b,0,7,2999,4000,,,\n",
		"kernel,a,0,7,1000,2000,,,\nkernel,c,0,7,3000,4000,,,\n",
		"kernel,a,0,7,1000,2000,,,\nkernel,b,0,8,3000,4000,,,\n",
		"kernel,a,0,7,1000,2000,,,\nkernel,b,1,7,3000,4000,,,\n",
		"kernel,a,0,7,1000,2000,,,\ncollective,b,0,7,3000,4000,,,\n",
		"kernel,b,0,7,1000,2000,,,\nkernel,a,0,7,3000,4000,,,\n",
		"kernel,a,0,7,1000,4000,,,\nkernel,b,0,7,3000,2000000,,,\n",
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		hold_text(HEADER "kernel,a,0,7,1000,2000,,,\nkernel,b,0,7,3000,4000,,,\n");
		snprintf(text, sizeof(text), HEADER "%s", others[i]);
		hold_text(text);
		taken(read_traces());
	}
}

/*
 * Traces with the same activities at the same times must be accepted if they state different ranks, as those
 * of a simulator may.
 */
static void ranks_that_say_which_they_are_are_no_copies(void **state)
{
	(void)state;
	hold_text(KINETO(RANK("0"), "k"));
	hold_text(KINETO(RANK("1"), "k"));
	taken(read_traces());
	hold_text("# device 0 rank=0\n" HEADER CSV_ROWS);
	hold_text("# device 0 rank=1\n" HEADER CSV_ROWS);
	taken(read_traces());
}

static void traces_without_work_of_a_device_are_no_copies(void **state)
{
	(void)state;
	hold_text(HEADER "sync,cudaStreamSynchronize,,,1000,2000,,,\n");
	hold_text(HEADER "sync,cudaStreamSynchronize,,,1000,2000,,,\n");
	taken(read_traces());
}

static void a_power_file_given_twice_is_refused_under_any_name(void **state)
{
	(void)state;
	hold_text(HEADER CSV_ROWS);
	hold_text(READINGS);
	hold_zstd(READINGS);
	refused_as_copy_of(read_power(), 1, "readings");
	hold_text(HEADER CSV_ROWS);
	hold_text(READINGS);
	strcpy(paths[path_count++], paths[1]);
	refused(read_power(), "is given twice");
	forget();
}

static void power_files_of_one_meter_with_different_readings_are_taken_together(void **state)
{
	(void)state;
	hold_text(HEADER CSV_ROWS);
	hold_text(READINGS);
	hold_text(READINGS T0 "003500000,0,nvml.energy_mj,300000\n");
	hold_text(POWER T0 "000000000,0,nvml.energy_mj,100000\n" T0 "002000000,0,nvml.energy_mj,200000\n" T0
			   "003000000,,rapl.package-1_uj,7\n");
	taken(read_power());
}

/*
 * Readings of a device that the trace lacks are ignored. Power logs that differ only in such
 * readings must still count as different files.
 */
static void a_power_file_that_holds_more_is_another_one(void **state)
{
	(void)state;
	hold_text(HEADER CSV_ROWS);
	hold_text(READINGS);
	hold_text(READINGS T0 "003000000,5,nvml.energy_mj,9\n");
	hold_text(READINGS T0 "003000000,5,nvml.energy_mj,10\n");
	taken(read_power());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_copy_of_a_trace_under_another_name_is_refused, tear_down),
		cmocka_unit_test_teardown(a_trace_that_was_compressed_anew_is_the_same_trace, tear_down),
		cmocka_unit_test_teardown(rows_in_another_order_make_no_other_trace, tear_down),
		cmocka_unit_test_teardown(a_copy_is_found_behind_other_ranks, tear_down),
		cmocka_unit_test_teardown(who_gives_ranks_that_did_the_same_is_told_to_state_them, tear_down),
		cmocka_unit_test_teardown(ranks_with_as_many_rows_are_told_apart_by_any_of_them, tear_down),
		cmocka_unit_test_teardown(ranks_that_say_which_they_are_are_no_copies, tear_down),
		cmocka_unit_test_teardown(traces_without_work_of_a_device_are_no_copies, tear_down),
		cmocka_unit_test_teardown(a_power_file_given_twice_is_refused_under_any_name, tear_down),
		cmocka_unit_test_teardown(
			power_files_of_one_meter_with_different_readings_are_taken_together, tear_down),
		cmocka_unit_test_teardown(a_power_file_that_holds_more_is_another_one, tear_down),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
