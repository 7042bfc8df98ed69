/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "model/recording.h"
#include "ok.h"

#include <string.h>

/* Tests how kwhy_recording_finish() detects that a trace has lost records or has impossible times. */

static struct kwhy_error error;

struct fixture {
	struct kwhy_recording *recording;
	uint32_t kernel, launch, thread, stream;
};

static struct fixture make(void)
{
	const struct kwhy_source source = {.path = "a"};
	const struct kwhy_process process = {.pid = 1, .rank = KWHY_NONE, .machine = KWHY_NONE};
	const struct kwhy_device device = {.rank = KWHY_NONE, .machine = KWHY_NONE};
	const struct kwhy_stream stream = {.context = -1, .id = 7};
	const struct kwhy_thread thread = {.tid = 1};
	struct fixture made;

	OK(kwhy_recording_new(&made.recording, &error));
	OK(kwhy_recording_add_source(made.recording, &source, NULL, &error));
	OK(kwhy_recording_add_process(made.recording, &process, NULL, &error));
	OK(kwhy_recording_add_device(made.recording, &device, NULL, &error));
	OK(kwhy_recording_add_stream(made.recording, &stream, &made.stream, &error));
	OK(kwhy_recording_add_thread(made.recording, &thread, &made.thread, &error));
	OK(kwhy_names_intern(&made.recording->names, "k", 1, &made.kernel, &error));
	OK(kwhy_names_intern(&made.recording->names, "cudaLaunchKernel", 16, &made.launch, &error));
	return made;
}

static void add_kernel(const struct fixture *made, int64_t start_ns, int64_t end_ns, uint32_t correlation)
{
	struct kwhy_activity row = kwhy_activity_unknown();

	row.start_ns = start_ns;
	row.end_ns = end_ns;
	row.name = made->kernel;
	row.stream = made->stream;
	row.call = correlation;
	OK(kwhy_recording_add_activity(made->recording, &row, &error));
}

static void add_call(const struct fixture *made, const char *name, int64_t start_ns, uint32_t correlation)
{
	uint32_t number;

	OK(kwhy_names_intern(&made->recording->names, name, strlen(name), &number, &error));
	OK(kwhy_recording_add_call(
		made->recording, start_ns, start_ns + 10, number, made->thread, correlation, &error));
}

static const char *note_of(const struct kwhy_recording *recording, const char *id)
{
	for (size_t i = 0; i < recording->note_count; i++)
		if (!strcmp(recording->notes[i].id, id))
			return recording->notes[i].text;
	return NULL;
}

static void an_activity_that_outlasts_the_next_of_its_stream_ends_at_its_start(void **state)
{
	struct fixture made = make();
	const struct kwhy_activities *rows = &made.recording->activities;

	(void)state;
	add_kernel(&made, 0, 50000, KWHY_NONE);
	/* this kernel and the next one end after the start of the following kernel of their stream */
	add_kernel(&made, 100000, 1600000000, KWHY_NONE);
	add_kernel(&made, 200000, 1700000000, KWHY_NONE);
	add_kernel(&made, 300000, 350000, KWHY_NONE);
	OK(kwhy_recording_finish(made.recording, &error));
	assert_int_equal(rows->end_ns[0], 50000);
	assert_int_equal(rows->end_ns[1], 200000);
	assert_int_equal(rows->end_ns[2], 300000);
	assert_int_equal(rows->end_ns[3], 350000);
	assert_non_null(strstr(note_of(made.recording, "impossible-durations"), "2 activities"));
	kwhy_recording_free(made.recording);
}

static void short_overlaps_stay(void **state)
{
	struct fixture made = make();

	(void)state;
	add_kernel(&made, 0, 53000, KWHY_NONE);
	add_kernel(&made, 50000, 90000, KWHY_NONE);
	OK(kwhy_recording_finish(made.recording, &error));
	assert_int_equal(made.recording->activities.end_ns[0], 53000);
	assert_null(note_of(made.recording, "impossible-durations"));
	kwhy_recording_free(made.recording);
}

static void an_activity_around_one_without_length_stays(void **state)
{
	struct fixture made = make();

	(void)state;
	add_kernel(&made, 0, 1000000, KWHY_NONE);
	add_kernel(&made, 50000, 50000, KWHY_NONE);
	OK(kwhy_recording_finish(made.recording, &error));
	assert_int_equal(made.recording->activities.end_ns[0], 1000000);
	assert_null(note_of(made.recording, "impossible-durations"));
	kwhy_recording_free(made.recording);
}

static void activities_of_an_unordered_stream_may_overlap(void **state)
{
	struct fixture made = make();

	(void)state;
	made.recording->streams[0].unordered = true;
	add_kernel(&made, 0, 1000000, KWHY_NONE);
	add_kernel(&made, 50000, 90000, KWHY_NONE);
	OK(kwhy_recording_finish(made.recording, &error));
	assert_int_equal(made.recording->activities.end_ns[0], 1000000);
	kwhy_recording_free(made.recording);
}

static void launches_without_a_kernel_are_counted(void **state)
{
	struct fixture made = make();

	(void)state;
	for (uint32_t i = 1; i <= 5; i++)
		add_call(&made, "cudaLaunchKernel", i * 1000, i);
	add_call(&made, "cuLaunchKernel", 5005, 50); /* cuLaunchKernel within the fifth runtime call */
	add_call(&made, "cudaStreamBeginCapture", 6000, 6);
	add_call(&made, "cudaLaunchKernel", 7000, 7);
	add_call(&made, "cudaStreamEndCapture", 8000, 8);
	add_kernel(&made, 1100, 1200, 1);
	add_kernel(&made, 3100, 3200, 3);
	add_kernel(&made, 4100, 4200, 4);
	add_kernel(&made, 5100, 5200, 50);
	OK(kwhy_recording_finish(made.recording, &error));
	assert_int_equal(made.recording->lost.unmatched_launches, 1);
	assert_non_null(strstr(note_of(made.recording, "launches-without-kernel"), "1 of 5 launches"));
	assert_true(kwhy_lost_work(&made.recording->lost));
	kwhy_recording_free(made.recording);
}

/*
 * Calls without a kernel count as lost, but not if the recording has a selection (only a part of the run was
 * recorded, what = 1) or a prober's burst (what = 2).
 */
static void of_windows_and_bursts_no_launch_counts_as_lost(void **state)
{
	static const struct kwhy_selection selection = {.device = 0, .end_ns = 9000};
	const struct kwhy_burst burst = {.end_ns = 10, .stream = KWHY_NONE};

	(void)state;
	for (int what = 0; what < 3; what++) {
		struct fixture made = make();

		for (uint32_t i = 1; i <= 5; i++)
			add_call(&made, "cudaLaunchKernel", i * 1000, i);
		add_kernel(&made, 1100, 1200, 1);
		if (what == 1)
			OK(kwhy_recording_add_selection(made.recording, &selection, &error));
		if (what == 2)
			OK(kwhy_recording_add_burst(made.recording, &burst, &error));
		OK(kwhy_recording_finish(made.recording, &error));
		assert_int_equal(made.recording->lost.unmatched_launches, what ? 0 : 4);
		kwhy_recording_free(made.recording);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_activity_that_outlasts_the_next_of_its_stream_ends_at_its_start),
		cmocka_unit_test(short_overlaps_stay),
		cmocka_unit_test(an_activity_around_one_without_length_stays),
		cmocka_unit_test(activities_of_an_unordered_stream_may_overlap),
		cmocka_unit_test(launches_without_a_kernel_are_counted),
		cmocka_unit_test(of_windows_and_bursts_no_launch_counts_as_lost),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
