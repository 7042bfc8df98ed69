/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "model/host_time.h"
#include "ok.h"

#include <stdio.h>
#include <string.h>

/*
 * In the recording of each test, two threads launch a kernel each: thread 0 by a call from 10 to 12 ns,
 * thread 1 by a call from 80 to 90 ns. The kernels run from 15 to 20 ns and from 100 to 110 ns, so the device
 * is idle from 20 to 100 ns. Tests add host ranges.
 */
static struct kwhy_error error;
static struct kwhy_recording *recording;

static uint32_t name_of(const char *name)
{
	uint32_t number;

	OK(kwhy_names_intern(&recording->names, name, strlen(name), &number, &error));
	return number;
}

static void add(uint32_t thread, enum kwhy_host_kind kind, const char *file, int64_t start_ns, int64_t end_ns)
{
	struct kwhy_host_range range = {.start_ns = start_ns,
		.end_ns = end_ns,
		.name = name_of("range"),
		.file = name_of(file),
		.thread = thread,
		.kind = (uint8_t)kind};

	OK(kwhy_recording_add_host_range(recording, &range, &error));
}

static void add_kernel(uint32_t correlation, int64_t start_ns, int64_t end_ns)
{
	struct kwhy_activity kernel = kwhy_activity_unknown();

	kernel.start_ns = start_ns;
	kernel.end_ns = end_ns;
	kernel.name = name_of("kernel");
	kernel.stream = 0;
	kernel.call = correlation;
	OK(kwhy_recording_add_activity(recording, &kernel, &error));
}

static void begin_anew(void)
{
	struct kwhy_process process = {.pid = -1, .rank = KWHY_NONE, .machine = KWHY_NONE};
	struct kwhy_device device = {.machine = KWHY_NONE};
	struct kwhy_thread thread = {0};
	struct kwhy_stream stream = {0};

	OK(kwhy_recording_new(&recording, &error));
	OK(kwhy_recording_add_process(recording, &process, &thread.process, &error));
	OK(kwhy_recording_add_device(recording, &device, NULL, &error));
	OK(kwhy_recording_add_thread(recording, &thread, NULL, &error));
	OK(kwhy_recording_add_thread(recording, &thread, NULL, &error));
	OK(kwhy_recording_add_stream(recording, &stream, NULL, &error));
	OK(kwhy_recording_add_call(recording, 10, 12, name_of("cudaLaunchKernel"), 0, 1, &error));
	OK(kwhy_recording_add_call(recording, 80, 90, name_of("cudaLaunchKernel"), 1, 2, &error));
	add_kernel(1, 15, 20);
	add_kernel(2, 100, 110);
}

static int begin(void **state)
{
	(void)state;
	begin_anew();
	return 0;
}

static int end(void **state)
{
	(void)state;
	kwhy_recording_free(recording);
	return 0;
}

/* Appends "start-end:row" for a piece of the gap. In place of the row's number it writes "outside",
 * "launched" or "unlinked" if `row` is one of these special values. */
static void write_piece(void *context, int64_t start_ns, int64_t end_ns, uint32_t row)
{
	char *text = (char *)context + strlen(context);
	int used = sprintf(text, "%s%d-%d:", text == context ? "" : " ", (int)start_ns, (int)end_ns);

	if (row == KWHY_HOST_OUTSIDE || row == KWHY_HOST_LAUNCHED || row == KWHY_HOST_UNLINKED)
		sprintf(text + used, "%s",
			row == KWHY_HOST_OUTSIDE	    ? "outside"
				: row == KWHY_HOST_LAUNCHED ? "launched"
							    : "unlinked");
	else
		sprintf(text + used, "%u", row);
}

static void expect_pieces(uint32_t before, uint32_t after, const char *expected)
{
	const struct kwhy_host_span gap = {20, 100};
	struct kwhy_host_time time;
	char text[400] = "";

	OK(kwhy_host_time_init(&time, recording, &error));
	kwhy_host_time_divide(&time, &gap, before, after, write_piece, text);
	kwhy_host_time_done(&time);
	assert_string_equal(text, expected);
}

static void a_gap_is_divided_by_the_ranges_of_who_launched_what_follows(void **state)
{
	(void)state;
	add(1, KWHY_HOST_OPERATOR, "", 30, 85); /* row 0 */
	add(1, KWHY_HOST_OPERATOR, "", 40, 50); /* row 1, inside of it */
	OK(kwhy_recording_finish(recording, &error));
	expect_pieces(0, 1, "20-30:outside 30-40:0 40-50:1 50-85:0 85-90:outside 90-100:launched");
	expect_pieces(0, KWHY_NONE, "20-100:unlinked");
}

static void what_launched_before_says_more_than_the_name_of_a_part(void **state)
{
	(void)state;
	add(0, KWHY_HOST_OPERATOR, "", 10, 40); /* row 0 */
	add(0, KWHY_HOST_USER, "", 40, 60);	/* row 1: neither operator nor step, so not used */
	add(0, KWHY_HOST_OPERATOR, "", 70, 85); /* row 2 */
	add(1, KWHY_HOST_STEP, "", 30, 75);	/* row 3 */
	add(1, KWHY_HOST_OPERATOR, "", 75, 95); /* row 4 */
	OK(kwhy_recording_finish(recording, &error));
	expect_pieces(0, 1, "20-30:0 30-40:0 40-60:3 60-70:3 70-75:2 75-90:4 90-100:launched");
	expect_pieces(KWHY_NONE, 1, "20-30:outside 30-75:3 75-90:4 90-100:launched");
	expect_pieces(1, 1, "20-30:outside 30-75:3 75-90:4 90-100:launched");
}

static void the_innermost_range_at_a_time_includes_its_start_and_not_its_end(void **state)
{
	(void)state;
	add(0, KWHY_HOST_OPERATOR, "", 10, 50);
	add(0, KWHY_HOST_OPERATOR, "", 20, 30);
	add(0, KWHY_HOST_OPERATOR, "", 60, 70);
	OK(kwhy_recording_finish(recording, &error));
	static const struct {
		int64_t time_ns;
		uint32_t row;
	} cases[] = {{9, KWHY_NONE}, {10, 0}, {19, 0}, {20, 1}, {29, 1}, {30, 0}, {49, 0}, {50, KWHY_NONE},
		{60, 2}, {70, KWHY_NONE}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(kwhy_host_range_at(recording, 0, cases[i].time_ns), cases[i].row);
	assert_int_equal(kwhy_host_range_at(recording, 1, 20), KWHY_NONE);
	assert_int_equal(kwhy_host_range_of_call(recording, recording->activities.call[0]), 0);
	assert_int_equal(kwhy_host_range_of_call(recording, recording->activities.call[1]), KWHY_NONE);
	assert_int_equal(kwhy_host_range_of_call(recording, KWHY_NONE), KWHY_NONE);
}

static void a_range_over_an_interval_covers_half_of_it(void **state)
{
	(void)state;
	add(0, KWHY_HOST_OPERATOR, "", 0, 100);
	add(0, KWHY_HOST_OPERATOR, "", 20, 30);
	add(0, KWHY_HOST_OPERATOR, "", 200, 201);
	OK(kwhy_recording_finish(recording, &error));
	assert_int_equal(kwhy_host_range_over(recording, 0, 200, 202), 2); /* row 2 covers half */
	assert_int_equal(kwhy_host_range_over(recording, 0, 15, 35), 1);   /* row 1 covers half */
	assert_int_equal(kwhy_host_range_over(recording, 0, 14, 36), 0);
	assert_int_equal(kwhy_host_range_over(recording, 0, 20, 40), 1); /* row 1 covers the first half */
	assert_int_equal(kwhy_host_range_over(recording, 0, 20, 41), 0);
	assert_int_equal(kwhy_host_range_over(recording, 0, 90, 110), 0); /* row 0 covers the first half */
	assert_int_equal(kwhy_host_range_over(recording, 0, -10, 10), 0);
	assert_int_equal(kwhy_host_range_over(recording, 0, 25, 60), 0);
	assert_int_equal(kwhy_host_range_over(recording, 0, 85, 110), 0);
	assert_int_equal(kwhy_host_range_over(recording, 0, 95, 125), KWHY_NONE);
}

static void the_source_of_a_range_is_the_users_before_a_librarys(void **state)
{
	(void)state;
	add(0, KWHY_HOST_OPERATOR, "train.py", 0, 100);
	add(0, KWHY_HOST_OPERATOR, "torch/nn/linear.py", 10, 90);
	add(0, KWHY_HOST_OPERATOR, "", 20, 80);
	add(1, KWHY_HOST_OPERATOR, "torch/outer.py", 0, 100);
	add(1, KWHY_HOST_OPERATOR, "torch/inner.py", 10, 90);
	add(1, KWHY_HOST_OPERATOR, "", 200, 300);
	OK(kwhy_recording_finish(recording, &error));
	assert_int_equal(kwhy_host_range_source(recording, 2), 0);
	assert_int_equal(kwhy_host_range_source(recording, 4), 4);
	assert_int_equal(kwhy_host_range_source(recording, 5), KWHY_NONE);
}

static void a_source_is_a_librarys_by_its_path(void **state)
{
	static const char *const libraries[] = {
		"<frozen runpy>", "torch/nn.py", "re/", "os.py", "/opt/env/site-packages/x.py", "a.so"};
	static const char *const own[] = {"train.py", "my/torch/nn.py", "torch", "o", ""};

	(void)state;
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		assert_true(kwhy_source_is_library(libraries[i], strlen(libraries[i])));
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		assert_false(kwhy_source_is_library(own[i], strlen(own[i])));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_gap_is_divided_by_the_ranges_of_who_launched_what_follows, begin, end),
		cmocka_unit_test_setup_teardown(
			what_launched_before_says_more_than_the_name_of_a_part, begin, end),
		cmocka_unit_test_setup_teardown(
			the_innermost_range_at_a_time_includes_its_start_and_not_its_end, begin, end),
		cmocka_unit_test_setup_teardown(a_range_over_an_interval_covers_half_of_it, begin, end),
		cmocka_unit_test_setup_teardown(
			the_source_of_a_range_is_the_users_before_a_librarys, begin, end),
		cmocka_unit_test(a_source_is_a_librarys_by_its_path),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
