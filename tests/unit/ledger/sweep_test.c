/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/sweep.h"
#include "unit/ledger/build.h"

#include <stdio.h>
#include <string.h>

/*
 * Returns the intervals of a sweep over the activities, each with the number that run in it, as text: "0-10:1
 * 10-15:0 ...". Valid until the next call.
 */
static const char *walk(const struct kwhy_recording *recording, int64_t start_ns, int64_t end_ns,
	const int64_t *cuts, size_t cut_count)
{
	static char text[512];
	struct kwhy_sweep_interval stretch;
	struct kwhy_sweep sweep;
	size_t length = 0;
	int ended;

	text[0] = '\0';
	kwhy_sweep_init(&sweep, recording, 0, start_ns, end_ns, cuts, cut_count);
	while ((ended = kwhy_sweep_next(&sweep, &stretch, &error)) == 0)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%lld-%lld:%zu",
			length ? " " : "", (long long)stretch.start_ns, (long long)stretch.end_ns,
			stretch.row_count);
	assert_true(ended > 0);
	kwhy_sweep_done(&sweep);
	return text;
}

static const char *walk_all(const struct kwhy_recording *recording)
{
	return walk(recording, KWHY_UNKNOWN_TIME, KWHY_UNKNOWN_TIME, NULL, 0);
}

static void stretches_tile_the_span_and_split_at_every_change(void **state)
{
	struct kwhy_recording *recording = build_one();

	(void)state;
	build_kernel(recording, 0, 0, 10, "a");
	build_kernel(recording, 0, 5, 30, "b");
	build_kernel(recording, 0, 30, 40, "c");
	build_kernel(recording, 0, 50, 60, "d");
	OK(kwhy_recording_finish(recording, &error));
	assert_string_equal(walk_all(recording), "0-5:1 5-10:2 10-30:1 30-40:1 40-50:0 50-60:1");
	kwhy_recording_free(recording);
}

static void activities_of_no_length_run_in_no_stretch_but_split_it(void **state)
{
	struct kwhy_recording *recording = build_one();

	(void)state;
	build_kernel(recording, 0, 0, 10, "a");
	build_kernel(recording, 0, 20, 20, "b");
	build_kernel(recording, 0, 30, 30, "c");
	OK(kwhy_recording_finish(recording, &error));
	assert_string_equal(walk_all(recording), "0-10:1 10-20:0 20-30:0");
	kwhy_recording_free(recording);
}

static void a_window_and_cuts_bound_and_split_the_walk(void **state)
{
	static const int64_t cuts[] = {-50, -10, 7, 7, 15, 200};
	struct kwhy_recording *recording = build_one();

	(void)state;
	build_kernel(recording, 0, 0, 10, "a");
	build_kernel(recording, 0, 12, 20, "b");
	OK(kwhy_recording_finish(recording, &error));
	assert_string_equal(
		walk(recording, -20, 18, cuts, 6), "-20--10:0 -10-0:0 0-7:1 7-10:1 10-12:0 12-15:1 15-18:1");
	assert_string_equal(walk(recording, 5, 5, cuts, 6), "");
	kwhy_recording_free(recording);
}

/*
 * A sweep states, for each interval, which activities start and end and which run. Those that run must be the
 * ones computed from starts and ends.
 */
static void what_started_and_ended_adds_up_to_what_runs(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_sweep_interval stretch;
	struct kwhy_sweep sweep;
	uint8_t running[200] = {0};
	uint32_t seed = 12345;

	(void)state;
	for (int i = 0; i < 200; i++) {
		int64_t start_ns = (seed = seed * 1664525 + 1013904223) >> 22;
		int64_t length_ns = (seed = seed * 1664525 + 1013904223) >> 25;

		build_kernel(recording, 0, start_ns, start_ns + length_ns, "k");
	}
	OK(kwhy_recording_finish(recording, &error));
	kwhy_sweep_init(&sweep, recording, 0, KWHY_UNKNOWN_TIME, KWHY_UNKNOWN_TIME, NULL, 0);
	while (kwhy_sweep_next(&sweep, &stretch, &error) == 0) {
		size_t count = 0;

		for (size_t i = 0; i < stretch.ended_count; i++)
			assert_int_equal(running[stretch.ended[i]]--, 1);
		for (size_t i = 0; i < stretch.started_count; i++)
			assert_int_equal(running[stretch.started[i]]++, 0);
		for (size_t i = 0; i < stretch.row_count; i++)
			assert_int_equal(running[stretch.rows[i]], 1);
		for (size_t i = 0; i < 200; i++)
			count += running[i];
		assert_int_equal(count, stretch.row_count);
	}
	kwhy_sweep_done(&sweep);
	kwhy_recording_free(recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stretches_tile_the_span_and_split_at_every_change),
		cmocka_unit_test(activities_of_no_length_run_in_no_stretch_but_split_it),
		cmocka_unit_test(a_window_and_cuts_bound_and_split_the_walk),
		cmocka_unit_test(what_started_and_ended_adds_up_to_what_runs),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
