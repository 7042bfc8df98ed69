/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "replay/latencies.h"

static const struct kwhy_replay_latencies latencies = {
	.kernel_ns = 9000, .copy_ns = {[KWHY_REPLAY_H2D] = {5000, 8000}, [KWHY_REPLAY_D2H] = {12000, 10000}}};
/* empty kernels start 2.2 us apart; 1.2 us of it is the gap between two kernels, so a kernel lasts 1 us */
static const struct kwhy_proxies proxies = {.one_period_ns = 2200};
static const struct kwhy_replay_pattern pattern = {.queued_ns = 1200, .issue_ns = 6000, .return_ns = 2000};

static void a_kernels_own_beginning_and_end_are_no_part_of_its_round_trip(void **state)
{
	const struct kwhy_replay_work work = {.kind = KWHY_REPLAY_KERNEL, .length_ns = 1000};
	struct kwhy_replay_overhead beside = kwhy_replay_overhead_of(&latencies, &proxies, &pattern, &work);

	(void)state;
	assert_float_equal(beside.issue_ns, 6000, 1e-6);
	assert_float_equal(beside.return_ns, 2000, 1e-6);
}

static void a_small_copy_has_the_round_trip_of_its_way_and_memory(void **state)
{
	const struct kwhy_replay_work work = {.kind = KWHY_REPLAY_COPY,
		.way = KWHY_REPLAY_D2H,
		.host = KWHY_GPU_HOST_PINNED,
		.bytes = 1000,
		.length_ns = 2000};
	struct kwhy_replay_overhead beside = kwhy_replay_overhead_of(&latencies, &proxies, &pattern, &work);

	(void)state;
	assert_float_equal(beside.issue_ns + beside.return_ns, 8000, 1e-6);
	assert_float_equal(beside.issue_ns, 6000, 1e-6);
}

static void a_large_copy_has_that_of_a_kernel(void **state)
{
	const struct kwhy_replay_work work = {
		.kind = KWHY_REPLAY_COPY, .way = KWHY_REPLAY_H2D, .bytes = 1 << 20, .length_ns = 20000};
	struct kwhy_replay_overhead beside = kwhy_replay_overhead_of(&latencies, &proxies, &pattern, &work);

	(void)state;
	assert_float_equal(beside.issue_ns + beside.return_ns, 8000, 1e-6);
}

static void a_recording_that_does_not_tell_has_even_parts(void **state)
{
	const struct kwhy_replay_pattern silent = {.queued_ns = 1200, .issue_ns = -1, .return_ns = -1};
	const struct kwhy_replay_work work = {.kind = KWHY_REPLAY_KERNEL};
	struct kwhy_replay_overhead beside = kwhy_replay_overhead_of(&latencies, &proxies, &silent, &work);

	(void)state;
	assert_float_equal(beside.issue_ns, 4000, 1e-6);
	assert_float_equal(beside.return_ns, 4000, 1e-6);
}

static void a_recorder_lengthens_each_piece_of_a_call(void **state)
{
	static const struct kwhy_replay_latencies seen = {
		.calls = {[KWHY_REPLAY_CALL_LAUNCH] = {100, 5600, 4400},
			[KWHY_REPLAY_CALL_COPY] = {3, 3000, 3500}}};
	struct kwhy_replay_latencies graphs = seen;

	(void)state;
	assert_float_equal(kwhy_replay_added_ns(&seen, KWHY_REPLAY_CALL_LAUNCH, 1), 1200, 1e-9);
	assert_float_equal(kwhy_replay_added_ns(&seen, KWHY_REPLAY_CALL_COPY, 1), -500, 1e-9);
	assert_float_equal(kwhy_replay_added_ns(&seen, KWHY_REPLAY_CALL_LAUNCH, 3), 3600, 1e-9);
	/*
	 * a graph launch: nothing is added if none was recorded; else it counts as one call, whatever the
	 * size of the graph
	 */
	assert_float_equal(kwhy_replay_added_ns(&seen, KWHY_REPLAY_CALL_GRAPH, 420), 0, 0);
	graphs.calls[KWHY_REPLAY_CALL_GRAPH] = (struct kwhy_replay_call_times){10, 50000, 20000};
	assert_float_equal(kwhy_replay_added_ns(&graphs, KWHY_REPLAY_CALL_GRAPH, 420), 30000, 1e-9);
	assert_float_equal(kwhy_replay_added_ns(&latencies, KWHY_REPLAY_CALL_LAUNCH, 1), 0, 0);
}

static void waits_are_late_by_no_more_than_a_round_trip(void **state)
{
	struct kwhy_replay_latencies late = latencies;

	(void)state;
	late.late_ns = 3000;
	assert_float_equal(kwhy_replay_late_of_waits_ns(&late), 3000, 0);
	late.late_ns = -1.4e6;
	assert_float_equal(kwhy_replay_late_of_waits_ns(&late), -9000, 0);
	late.late_ns = 72000;
	assert_float_equal(kwhy_replay_late_of_waits_ns(&late), 9000, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernels_own_beginning_and_end_are_no_part_of_its_round_trip),
		cmocka_unit_test(a_small_copy_has_the_round_trip_of_its_way_and_memory),
		cmocka_unit_test(a_large_copy_has_that_of_a_kernel),
		cmocka_unit_test(a_recorder_lengthens_each_piece_of_a_call),
		cmocka_unit_test(waits_are_late_by_no_more_than_a_round_trip),
		cmocka_unit_test(a_recording_that_does_not_tell_has_even_parts),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
