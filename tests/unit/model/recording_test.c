/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "model/recording.h"
#include "model/recording_reserve.h"
#include "ok.h"

#include <malloc.h>
#include <string.h>

static struct kwhy_error error;

/*
 * Returns a recording of two processes, each with one thread and one stream; the streams are on devices 0 and
 * 1.
 */
static struct kwhy_recording *two_processes(void)
{
	struct kwhy_recording *recording;

	OK(kwhy_recording_new(&recording, &error));
	for (uint32_t i = 0; i < 2; i++) {
		struct kwhy_device device = {.index = (int32_t)i, .rank = KWHY_NONE};
		struct kwhy_process process = {.pid = 100 + i, .rank = KWHY_NONE};
		struct kwhy_thread thread = {.process = i, .tid = 1};
		struct kwhy_stream stream = {.device = i, .process = i, .context = 1, .id = 7};

		OK(kwhy_recording_add_device(recording, &device, NULL, &error));
		OK(kwhy_recording_add_process(recording, &process, NULL, &error));
		OK(kwhy_recording_add_thread(recording, &thread, NULL, &error));
		OK(kwhy_recording_add_stream(recording, &stream, NULL, &error));
	}
	return recording;
}

static void add(struct kwhy_recording *recording, uint32_t stream, int64_t start_ns, int64_t end_ns,
	uint32_t correlation)
{
	struct kwhy_activity activity = kwhy_activity_unknown();

	activity.start_ns = start_ns;
	activity.end_ns = end_ns;
	activity.stream = stream;
	activity.call = correlation;
	OK(kwhy_recording_add_activity(recording, &activity, &error));
}

static void add_call(struct kwhy_recording *recording, uint32_t thread, int64_t start_ns, const char *name,
	uint32_t correlation)
{
	uint32_t id;

	OK(kwhy_names_intern(&recording->names, name, strlen(name), &id, &error));
	OK(kwhy_recording_add_call(recording, start_ns, start_ns + 5, id, thread, correlation, &error));
}

/* Checks that every column of activities, calls and host ranges has memory for `capacity` rows. */
static void check_capacities(const struct kwhy_recording *recording)
{
#define X(type, column)                                                 \
	assert_true(malloc_usable_size(recording->activities.column) >= \
		recording->activities.capacity * sizeof(type));
	KWHY_ACTIVITY_COLUMNS(X)
#undef X
#define X(type, column) \
	assert_true(malloc_usable_size(recording->calls.column) >= recording->calls.capacity * sizeof(type));
	KWHY_CALL_COLUMNS(X)
#undef X
#define X(type, column)                                                  \
	assert_true(malloc_usable_size(recording->host_ranges.column) >= \
		recording->host_ranges.capacity * sizeof(type));
	KWHY_HOST_RANGE_COLUMNS(X)
#undef X
}

/*
 * The arrays of a table's columns grow to different capacities, as steps are smaller for large items; the
 * table's capacity must be the smallest of them. The test sets only the row count: these rows are not in
 * memory.
 */
static void columns_of_many_rows_have_one_capacity(void **state)
{
	struct kwhy_recording *recording = two_processes();
	const struct kwhy_host_range range = {.start_ns = 1, .end_ns = 2};

	(void)state;
	recording->host_ranges.count = recording->host_ranges.capacity = (size_t)1 << 24;
	OK(kwhy_recording_add_host_range(recording, &range, &error));
	recording->activities.count = recording->activities.capacity = (size_t)1 << 24;
	recording->calls.count = recording->calls.capacity = (size_t)1 << 24;
	add(recording, 0, 10, 20, KWHY_NONE);
	add_call(recording, 0, 10, "cudaMalloc", KWHY_NONE);
	assert_true(recording->activities.capacity > (size_t)1 << 24);
	assert_true(recording->calls.capacity > (size_t)1 << 24);
	check_capacities(recording);
	kwhy_recording_free(recording);
}

static void reserved_rows_are_added_without_growth(void **state)
{
	const struct kwhy_recording_rows rows = {.activities = 300, .calls = 500, .ranges = 700};
	struct kwhy_recording *recording = two_processes();
	const struct kwhy_range range = {.start_ns = 1, .end_ns = 2, .thread = KWHY_NONE};
	const int64_t *activities, *calls;
	const struct kwhy_range *ranges;

	(void)state;
	add(recording, 0, 10, 20, KWHY_NONE);
	kwhy_recording_reserve(recording, &rows);
	check_capacities(recording);
	activities = recording->activities.start_ns;
	calls = recording->calls.start_ns;
	ranges = recording->ranges;
	for (int i = 0; i < 300; i++)
		add(recording, 0, 20 + i, 30 + i, KWHY_NONE);
	for (int i = 0; i < 500; i++)
		add_call(recording, 0, 10 * i, "cudaMalloc", KWHY_NONE);
	for (int i = 0; i < 700; i++)
		OK(kwhy_recording_add_range(recording, &range, &error));
	assert_ptr_equal(recording->activities.start_ns, activities);
	assert_ptr_equal(recording->calls.start_ns, calls);
	assert_ptr_equal(recording->ranges, ranges);
	assert_int_equal(recording->activities.start_ns[0], 10);
	kwhy_recording_free(recording);
}

static void more_rows_than_memory_are_not_reserved(void **state)
{
	const struct kwhy_recording_rows rows = {
		.activities = SIZE_MAX / 4, .calls = SIZE_MAX / 4, .ranges = SIZE_MAX / 4};
	struct kwhy_recording *recording = two_processes();

	(void)state;
	add(recording, 0, 10, 20, KWHY_NONE);
	kwhy_recording_reserve(recording, &rows);
	check_capacities(recording);
	add(recording, 0, 20, 30, KWHY_NONE);
	assert_int_equal(recording->activities.start_ns[0], 10);
	kwhy_recording_free(recording);
}

static void rows_are_sorted_by_device_and_time_and_indexed(void **state)
{
	struct kwhy_recording *recording = two_processes();

	(void)state;
	add(recording, 1, 50, 60, KWHY_NONE);
	add(recording, 0, 30, 40, KWHY_NONE);
	add(recording, 0, 10, 20, KWHY_NONE);
	OK(kwhy_recording_finish(recording, &error));
	assert_int_equal(recording->activities.first[0], 0);
	assert_int_equal(recording->activities.first[1], 2);
	assert_int_equal(recording->activities.first[2], 3);
	assert_int_equal(recording->activities.start_ns[0], 10);
	assert_int_equal(recording->activities.end_ns[0], 20);
	assert_int_equal(recording->start_ns, 10);
	assert_int_equal(recording->end_ns, 60);
	kwhy_recording_free(recording);
}

static void correlation_ids_are_joined_within_their_process(void **state)
{
	struct kwhy_recording *recording = two_processes();

	(void)state;
	add_call(recording, 1, 5, "cudaLaunchKernel", 9);
	add_call(recording, 0, 6, "cudaLaunchKernel", 9);
	add_call(recording, 0, 7, "cudaGetDevice", 8);
	add(recording, 1, 50, 60, 9);
	add(recording, 0, 30, 40, 9);
	add(recording, 0, 41, 42, 77);
	OK(kwhy_recording_finish(recording, &error));
	assert_int_equal(recording->calls.thread[recording->activities.call[0]], 0);
	assert_int_equal(recording->activities.call[1], KWHY_NONE);
	assert_int_equal(recording->calls.thread[recording->activities.call[2]], 1);
	assert_int_equal(recording->lost.unlinked_activities, 1);
	kwhy_recording_free(recording);
}

/*
 * A driver call within a runtime call may have the same correlation id. Of the four calls with id 9,
 * cudaLaunchKernel must be joined: it is the first that is not a mere query.
 */
static void of_calls_with_one_id_the_first_that_does_something_is_joined(void **state)
{
	static const char *const names[] = {
		"cudaGetDevice", "cudaLaunchKernel", "cuLaunchKernel", "cuCtxGetCurrent"};
	struct kwhy_recording *recording = two_processes();

	(void)state;
	for (int64_t i = 0; i < 4; i++)
		add_call(recording, 0, 10 * i, names[i], 9);
	add(recording, 0, 50, 60, 9);
	OK(kwhy_recording_finish(recording, &error));
	assert_int_equal(recording->activities.call[0], 1);
	kwhy_recording_free(recording);
}

static void an_activity_that_ends_before_it_starts_is_refused_by_name(void **state)
{
	struct kwhy_recording *recording = two_processes();

	(void)state;
	add(recording, 0, 30, 29, KWHY_NONE);
	assert_int_equal(kwhy_recording_finish(recording, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "impossible times"));
	kwhy_recording_free(recording);
}

static enum kwhy_status finished(int64_t start_ns, int64_t end_ns, bool is_call)
{
	struct kwhy_recording *recording = two_processes();
	enum kwhy_status status;
	uint32_t id;

	OK(kwhy_names_intern(&recording->names, "call", 4, &id, &error));
	if (is_call)
		OK(kwhy_recording_add_call(recording, start_ns, end_ns, id, 0, KWHY_NONE, &error));
	else
		add(recording, 0, start_ns, end_ns, KWHY_NONE);
	status = kwhy_recording_finish(recording, &error);
	kwhy_recording_free(recording);
	return status;
}

/*
 * Times from INT64_MIN/4 to INT64_MAX/4 are accepted: differences and sums of two such times cannot overflow.
 */
static void times_up_to_a_quarter_of_the_range_are_accepted(void **state)
{
	const int64_t earliest = INT64_MIN / 4, latest = INT64_MAX / 4;

	(void)state;
	for (int is_call = 0; is_call < 2; is_call++) {
		OK(finished(earliest, latest, is_call));
		OK(finished(5, 5, is_call));
		assert_int_equal(finished(earliest - 1, 0, is_call), KWHY_E_INPUT);
		assert_int_equal(finished(0, latest + 1, is_call), KWHY_E_INPUT);
	}
}

static void the_window_is_that_of_activities_and_calls(void **state)
{
	struct kwhy_recording *recording = two_processes();

	(void)state;
	add_call(recording, 0, 3, "first", KWHY_NONE);
	add(recording, 0, 10, 20, KWHY_NONE);
	add(recording, 0, 15, 40, KWHY_NONE);
	OK(kwhy_recording_finish(recording, &error));
	assert_int_equal(recording->start_ns, 3);
	assert_int_equal(recording->end_ns, 40);
	kwhy_recording_free(recording);
	recording = two_processes();
	add(recording, 0, 10, 20, KWHY_NONE);
	add_call(recording, 0, 30, "last", KWHY_NONE);
	OK(kwhy_recording_finish(recording, &error));
	assert_int_equal(recording->start_ns, 10);
	assert_int_equal(recording->end_ns, 35);
	kwhy_recording_free(recording);
}

static void ranges_coverage_and_readings_of_impossible_times_are_refused(void **state)
{
	static const struct {
		int64_t start_ns, end_ns;
	} cases[] = {{20, 10}, {INT64_MIN, 10}, {10, INT64_MAX}};

	(void)state;
	for (size_t i = 0; i < 9; i++) {
		struct kwhy_recording *recording = two_processes();
		int64_t start_ns = cases[i / 3].start_ns, end_ns = cases[i / 3].end_ns;
		struct kwhy_range range = {.start_ns = start_ns, .end_ns = end_ns};
		struct kwhy_coverage coverage = {.start_ns = start_ns, .end_ns = end_ns};
		/*
		 * the two readings are added in reverse order, which must be accepted, as readings get sorted
		 */
		bool reversed_readings = i % 3 == 2 && start_ns > end_ns;

		if (i % 3 == 0)
			OK(kwhy_recording_add_range(recording, &range, &error));
		if (i % 3 == 1)
			OK(kwhy_recording_add_coverage(recording, &coverage, &error));
		for (int k = 0; i % 3 == 2 && k < 2; k++)
			OK(kwhy_recording_add_reading(
				recording, KWHY_METER_NVML_SAMPLE, 0, 0, k ? end_ns : start_ns, 5, &error));
		assert_int_equal(
			kwhy_recording_finish(recording, &error), reversed_readings ? KWHY_OK : KWHY_E_INPUT);
		kwhy_recording_free(recording);
	}
}

static void collectives_follow_their_activity_through_the_sort(void **state)
{
	struct kwhy_recording *recording = two_processes();
	struct kwhy_collective collective = {.activity = 0, .group_size = 2};

	(void)state;
	add(recording, 0, 30, 40, KWHY_NONE);
	add(recording, 0, 10, 20, KWHY_NONE);
	OK(kwhy_recording_add_collective(recording, &collective, &error));
	OK(kwhy_recording_finish(recording, &error));
	assert_int_equal(recording->collectives[0].activity, 1);
	kwhy_recording_free(recording);
}

static void readings_are_sorted_and_a_repeated_time_counts_once(void **state)
{
	struct kwhy_recording *recording = two_processes();

	(void)state;
	OK(kwhy_recording_add_reading(recording, KWHY_METER_NVML_SAMPLE, 0, 0, 20, 5, &error));
	OK(kwhy_recording_add_reading(recording, KWHY_METER_NVML_SAMPLE, 0, 0, 10, 4, &error));
	OK(kwhy_recording_add_reading(recording, KWHY_METER_NVML_SAMPLE, 0, 0, 20, 6, &error));
	OK(kwhy_recording_add_reading(recording, KWHY_METER_NVML_ENERGY, 0, 0, 20, 6, &error));
	OK(kwhy_recording_finish(recording, &error));
	assert_int_equal(recording->power_count, 2);
	assert_int_equal(recording->power[0].count, 2);
	assert_int_equal(recording->power[0].time_ns[0], 10);
	assert_int_equal(recording->power[0].value[1], 6);
	kwhy_recording_free(recording);
}

static void rows_that_tie_are_ordered_by_the_name_itself(void **state)
{
	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		struct kwhy_recording *recording = two_processes();

		for (int i = 0; i < 2; i++) {
			struct kwhy_activity activity = kwhy_activity_unknown();

			activity.start_ns = 10;
			activity.end_ns = 20;
			activity.stream = 0;
			OK(kwhy_names_intern(
				&recording->names, i == turn ? "a" : "b", 1, &activity.name, &error));
			OK(kwhy_recording_add_activity(recording, &activity, &error));
		}
		OK(kwhy_recording_finish(recording, &error));
		assert_string_equal(kwhy_names_get(&recording->names, recording->activities.name[0]), "a");
		kwhy_recording_free(recording);
	}
}

static void an_activity_is_the_programs_unless_it_says_otherwise_also_behind_the_sort(void **state)
{
	struct kwhy_recording *recording = two_processes();
	struct kwhy_activity repeat = kwhy_activity_unknown();

	(void)state;
	assert_int_equal(repeat.origin, KWHY_ORIGIN_PROGRAM);
	repeat.start_ns = 10;
	repeat.end_ns = 20;
	repeat.stream = 0;
	repeat.origin = KWHY_ORIGIN_REPEAT;
	add(recording, 0, 30, 40, KWHY_NONE);
	OK(kwhy_recording_add_activity(recording, &repeat, &error));
	OK(kwhy_recording_finish(recording, &error));
	assert_int_equal(recording->activities.origin[0], KWHY_ORIGIN_REPEAT);
	assert_int_equal(recording->activities.origin[1], KWHY_ORIGIN_PROGRAM);
	kwhy_recording_free(recording);
}

static void bursts_are_sorted_by_their_start_and_impossible_ones_refused(void **state)
{
	struct kwhy_burst late = {.start_ns = 50, .end_ns = 60, .stream = KWHY_NONE, .repeats = 7};
	struct kwhy_burst early = {.start_ns = 5, .end_ns = 9, .stream = 1, .form = KWHY_BURST_PUT_BACK};
	const struct kwhy_unprobed unprobed = {.launches = 3, .reason = "a collective"};
	struct kwhy_recording *recording = two_processes();

	(void)state;
	OK(kwhy_recording_add_burst(recording, &late, &error));
	OK(kwhy_recording_add_burst(recording, &early, &error));
	OK(kwhy_recording_add_unprobed(recording, &unprobed, &error));
	OK(kwhy_recording_finish(recording, &error));
	assert_int_equal(recording->bursts[0].form, KWHY_BURST_PUT_BACK);
	assert_int_equal(recording->bursts[1].repeats, 7);
	assert_int_equal(recording->unprobed[0].launches, 3);
	kwhy_recording_free(recording);
	recording = two_processes();
	late.end_ns = 49;
	OK(kwhy_recording_add_burst(recording, &late, &error));
	assert_int_equal(kwhy_recording_finish(recording, &error), KWHY_E_INPUT);
	kwhy_recording_free(recording);
}

static void any_time_is_a_time(void **state)
{
	static const struct kwhy_memory_point memory = {.device = 0};
	static const struct kwhy_coverage coverage = {.device = 0, .end_ns = 9};
	static const struct kwhy_selection selection = {.device = 0, .end_ns = 9};
	static const struct kwhy_range range = {.end_ns = 5};

	(void)state;
	for (int what = 0; what < 9; what++) {
		struct kwhy_recording *recording = two_processes();

		if (what == 1)
			add(recording, 0, 0, 5, KWHY_NONE);
		if (what == 2)
			add_call(recording, 0, 0, "cudaMalloc", KWHY_NONE);
		if (what == 3)
			OK(kwhy_recording_add_range(recording, &range, &error));
		if (what == 4)
			OK(kwhy_recording_add_memory(recording, &memory, &error));
		if (what == 5)
			OK(kwhy_recording_add_reading(
				recording, KWHY_METER_NVML_SAMPLE, 0, 0, 0, 100000, &error));
		if (what == 6)
			OK(kwhy_recording_add_gauge(recording, KWHY_GAUGE_DRAM_ACTIVE, 0, 0, 5, &error));
		if (what == 7)
			OK(kwhy_recording_add_coverage(recording, &coverage, &error));
		if (what == 8)
			OK(kwhy_recording_add_selection(recording, &selection, &error));
		assert_int_equal(kwhy_recording_has_times(recording), what > 0);
		kwhy_recording_free(recording);
	}
}

static void the_last_readings_go_and_with_all_of_them_the_meter(void **state)
{
	struct kwhy_recording *recording = two_processes();

	(void)state;
	for (int64_t i = 0; i < 3; i++) {
		OK(kwhy_recording_add_reading(
			recording, KWHY_METER_NVML_SAMPLE, 0, 0, i, 100000 + i, &error));
		OK(kwhy_recording_add_reading(
			recording, KWHY_METER_NVML_SAMPLE, 1, 0, i, 200000 + i, &error));
	}
	kwhy_recording_drop_power(recording, KWHY_METER_NVML_SAMPLE, 0, 2);
	assert_int_equal(recording->power_count, 2);
	assert_int_equal(recording->power[0].count, 1);
	kwhy_recording_drop_power(recording, KWHY_METER_NVML_SAMPLE, 0, 1);
	assert_int_equal(recording->power_count, 1);
	assert_int_equal(recording->power[0].value[2], 200002);
	kwhy_recording_free(recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_of_many_rows_have_one_capacity),
		cmocka_unit_test(reserved_rows_are_added_without_growth),
		cmocka_unit_test(more_rows_than_memory_are_not_reserved),
		cmocka_unit_test(rows_are_sorted_by_device_and_time_and_indexed),
		cmocka_unit_test(rows_that_tie_are_ordered_by_the_name_itself),
		cmocka_unit_test(correlation_ids_are_joined_within_their_process),
		cmocka_unit_test(of_calls_with_one_id_the_first_that_does_something_is_joined),
		cmocka_unit_test(an_activity_that_ends_before_it_starts_is_refused_by_name),
		cmocka_unit_test(times_up_to_a_quarter_of_the_range_are_accepted),
		cmocka_unit_test(the_window_is_that_of_activities_and_calls),
		cmocka_unit_test(ranges_coverage_and_readings_of_impossible_times_are_refused),
		cmocka_unit_test(an_activity_is_the_programs_unless_it_says_otherwise_also_behind_the_sort),
		cmocka_unit_test(bursts_are_sorted_by_their_start_and_impossible_ones_refused),
		cmocka_unit_test(collectives_follow_their_activity_through_the_sort),
		cmocka_unit_test(readings_are_sorted_and_a_repeated_time_counts_once),
		cmocka_unit_test(any_time_is_a_time),
		cmocka_unit_test(the_last_readings_go_and_with_all_of_them_the_meter),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
