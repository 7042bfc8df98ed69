/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "model/recording.h"
#include "ok.h"

#include <string.h>

static struct kwhy_error error;
static struct kwhy_recording *recording;

static int begin(void **state)
{
	struct kwhy_process process = {.pid = -1, .rank = KWHY_NONE, .machine = KWHY_NONE};
	struct kwhy_thread thread = {0};

	(void)state;
	if (kwhy_recording_new(&recording, &error) ||
		kwhy_recording_add_process(recording, &process, &thread.process, &error))
		return 1;
	return kwhy_recording_add_thread(recording, &thread, NULL, &error) ||
		kwhy_recording_add_thread(recording, &thread, NULL, &error);
}

static int end(void **state)
{
	(void)state;
	kwhy_recording_free(recording);
	return 0;
}

static uint32_t name_of(const char *name)
{
	uint32_t number;

	OK(kwhy_names_intern(&recording->names, name, strlen(name), &number, &error));
	return number;
}

static void add(uint32_t thread, enum kwhy_host_kind kind, const char *name, int64_t start_ns, int64_t end_ns)
{
	struct kwhy_host_range range = {.start_ns = start_ns,
		.end_ns = end_ns,
		.name = name_of(name),
		.thread = thread,
		.kind = (uint8_t)kind};

	OK(kwhy_recording_add_host_range(recording, &range, &error));
}

static void add_call(uint32_t thread, int64_t start_ns, int64_t end_ns)
{
	OK(kwhy_recording_add_call(
		recording, start_ns, end_ns, name_of("cudaLaunchKernel"), thread, KWHY_NONE, &error));
}

static void expect(size_t row, const char *name, uint32_t parent)
{
	const struct kwhy_host_ranges *rows = &recording->host_ranges;

	assert_in_range(row, 0, rows->count - 1);
	assert_string_equal(kwhy_names_get(&recording->names, rows->name[row]), name);
	assert_int_equal(rows->parent[row], parent);
}

static void rows_come_by_thread_and_start_with_who_is_around_them(void **state)
{
	(void)state;
	add(1, KWHY_HOST_OPERATOR, "other thread", 0, 10);
	add(0, KWHY_HOST_OPERATOR, "second", 60, 80);
	add(0, KWHY_HOST_OPERATOR, "inner", 20, 30);
	add(0, KWHY_HOST_OPERATOR, "first", 20, 50);
	add(0, KWHY_HOST_OPERATOR, "whole", 10, 100);
	OK(kwhy_recording_finish(recording, &error));
	assert_int_equal(recording->host_ranges.first[0], 0);
	assert_int_equal(recording->host_ranges.first[1], 4);
	assert_int_equal(recording->host_ranges.first[2], 5);
	expect(0, "whole", KWHY_NONE);
	expect(1, "first", 0);
	expect(2, "inner", 1);
	expect(3, "second", 0);
	expect(4, "other thread", KWHY_NONE);
}

static void a_range_that_outlasts_another_is_not_in_it(void **state)
{
	(void)state;
	add(0, KWHY_HOST_NVTX, "whole", 0, 100);
	add(0, KWHY_HOST_NVTX, "early", 10, 50);
	add(0, KWHY_HOST_NVTX, "late", 40, 60);
	OK(kwhy_recording_finish(recording, &error));
	expect(2, "late", 0);
}

static void ranges_of_a_thread_stand_among_them(void **state)
{
	struct kwhy_range of_thread = {0, 50, name_of("step"), 0, KWHY_RANGE_STEP};
	struct kwhy_range of_none = {0, 50, name_of("anywhere"), KWHY_NONE, KWHY_RANGE_NVTX};

	(void)state;
	OK(kwhy_recording_add_range(recording, &of_thread, &error));
	OK(kwhy_recording_add_range(recording, &of_none, &error));
	add(0, KWHY_HOST_OPERATOR, "inside", 10, 20);
	OK(kwhy_recording_finish(recording, &error));
	assert_int_equal(recording->host_ranges.count, 2);
	expect(0, "step", KWHY_NONE);
	expect(1, "inside", 0);
	assert_int_equal(recording->host_ranges.kind[0], KWHY_HOST_STEP);
	assert_int_equal(recording->range_count, 2);
}

static void a_stack_holds_since_the_call_before_it(void **state)
{
	const struct kwhy_host_ranges *rows = &recording->host_ranges;

	(void)state;
	add_call(0, 10, 20);
	add_call(0, 70, 90);
	add(0, KWHY_HOST_FRAME, "main", KWHY_UNKNOWN_TIME, 75);
	add(0, KWHY_HOST_FRAME, "step", KWHY_UNKNOWN_TIME, 75);
	add(1, KWHY_HOST_FRAME, "no call before", KWHY_UNKNOWN_TIME, 75);
	OK(kwhy_recording_finish(recording, &error));
	expect(0, "main", KWHY_NONE);
	expect(1, "step", 0);
	assert_int_equal(rows->start_ns[0], 20);
	assert_int_equal(rows->start_ns[1], 20);
	assert_int_equal(rows->start_ns[2], 75);
	assert_int_equal(rows->end_ns[2], 75);
}

static void a_system_call_inside_of_an_api_call_is_left_out(void **state)
{
	(void)state;
	add_call(0, 10, 20);
	add(0, KWHY_HOST_SYSTEM, "ioctl", 12, 18);
	add(0, KWHY_HOST_SYSTEM, "read", 18, 40);
	add(1, KWHY_HOST_SYSTEM, "poll", 12, 18);
	OK(kwhy_recording_finish(recording, &error));
	assert_int_equal(recording->host_ranges.count, 2);
	expect(0, "read", KWHY_NONE);
	expect(1, "poll", KWHY_NONE);
}

static void impossible_times_are_refused(void **state)
{
	(void)state;
	add(0, KWHY_HOST_OPERATOR, "backwards", 20, 10);
	assert_int_equal(kwhy_recording_finish(recording, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "backwards"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			rows_come_by_thread_and_start_with_who_is_around_them, begin, end),
		cmocka_unit_test_setup_teardown(a_range_that_outlasts_another_is_not_in_it, begin, end),
		cmocka_unit_test_setup_teardown(ranges_of_a_thread_stand_among_them, begin, end),
		cmocka_unit_test_setup_teardown(a_stack_holds_since_the_call_before_it, begin, end),
		cmocka_unit_test_setup_teardown(a_system_call_inside_of_an_api_call_is_left_out, begin, end),
		cmocka_unit_test_setup_teardown(impossible_times_are_refused, begin, end),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
