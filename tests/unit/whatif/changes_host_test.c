/* SPDX-License-Identifier: Apache-2.0 */
#include "planned.h"

#include <string.h>

/*
 * Tests the changes of what the host does: drop-waits, event-waits, join-waits, pool, prefetch and
 * host-speed.
 */

static void a_wait_behind_a_wait_goes(void **state)
{
	struct build build = build_new(1);

	(void)state;
	launch(&build, 0, 10, 20);
	build_call(&build, 0, "cudaStreamSynchronize", 3, 22);
	build_call(&build, 0, "cudaDeviceSynchronize", 22, 62);
	launch(&build, 62, 72, 82);
	assert_made(made(&build, "drop-waits", 0, NULL), 1, 32000);
}

/*
 * Two streams run a kernel of 10 us and one of 100 us. The first call waits for the short kernel, the second
 * for the long one. A third, of 20 us, finds all work done: only this one may be dropped.
 */
static void a_wait_for_work_that_nobody_waited_for_stays(void **state)
{
	static const struct {
		const char *waits[2];
		int long_first;
	} cases[] = {
		{{"cudaEventSynchronize", "cudaDeviceSynchronize"}, 0},
		{{"cudaEventSynchronize", "cudaDeviceSynchronize"}, 1},
		{{"cudaStreamSynchronize", "cudaStreamSynchronize"}, 0},
		{{"cudaStreamSynchronize", "cudaStreamSynchronize"}, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build build = build_new(1);
		uint32_t other = build_stream(&build, 0);
		int long_first = cases[i].long_first;

		build_issued_kernel(&build, issue("cudaLaunchKernel", 0, 2), 0, 10, long_first ? 110 : 20);
		build_issued_kernel(
			&build, issue("cudaLaunchKernel", 3, 5), other, 13, long_first ? 23 : 113);
		build_call(&build, 0, cases[i].waits[0], 6, 26);
		build_call(&build, 0, cases[i].waits[1], 26, 116);
		build_call(&build, 0, "cudaDeviceSynchronize", 116, 136);
		launch(&build, 136, 146, 156);
		assert_made(made(&build, "drop-waits", 0, NULL), 1, 126000);
	}
}

/*
 * The host sleeps between two waits, and the long kernel ends meanwhile. The second wait returns at once, but
 * without it the host could run ahead of that kernel. So no wait may be dropped.
 */
static void a_wait_for_work_that_ended_unseen_stays(void **state)
{
	struct build build = build_new(1);
	uint32_t other = build_stream(&build, 0);

	(void)state;
	launch(&build, 0, 10, 20);
	build_issued_kernel(&build, issue("cudaLaunchKernel", 3, 5), other, 13, 113);
	build_call(&build, 0, "cudaEventSynchronize", 6, 22);
	build_call(&build, 0, "cudaDeviceSynchronize", 300, 302);
	launch(&build, 303, 313, 323);
	assert_refused(made(&build, "drop-waits", 0, NULL), "every wait");
}

/*
 * The host waits for each of four kernels of 50 us; between two kernels lie 2 us until the wait returns and
 * 10 us of launch. If events replace the waits, the kernels are queued.
 */
static void waits_without_a_read_back_become_events(void **state)
{
	struct build build = build_new(1);

	(void)state;
	for (int i = 0; i < 4; i++) {
		launch(&build, 62 * i, 62 * i + 10, 62 * i + 60);
		build_call(&build, 0, "cudaDeviceSynchronize", 62 * i + 2, 62 * i + 62);
	}
	/* queued kernels follow each other after 1.2 us */
	assert_made(made(&build, "event-waits", 0, NULL), 3, 203600);
}

static void a_wait_for_a_read_back_stays(void **state)
{
	struct build build = build_new(1);

	(void)state;
	for (int i = 0; i < 4; i++)
		launch(&build, 3 * i, 10 + 3 * i, 12 + 3 * i);
	read_back(&build, 12, 24, 34);
	build_call(&build, 0, "cudaDeviceSynchronize", 14, 40);
	launch(&build, 41, 51, 53);
	build_call(&build, 0, "cudaDeviceSynchronize", 43, 60);
	assert_refused(made(&build, "event-waits", 0, NULL), "every wait");
}

/*
 * The host waits for each of three read-backs. Only the third wait comes before a launch, so only that one is
 * needed.
 */
static void waits_before_another_read_back_go(void **state)
{
	struct build build = build_new(1);

	(void)state;
	launch(&build, 0, 10, 20);
	for (int i = 0; i < 3; i++) {
		build_issued_copy(&build, issue("cudaMemcpyAsync", 30 + 20 * i, 32 + 20 * i), 0,
			copied(KWHY_COPY_D2H, KWHY_MEMORY_PINNED, 4, 40 + 20 * i, 42 + 20 * i));
		build_call(&build, 0, "cudaStreamSynchronize", 33 + 20 * i, 45 + 20 * i);
	}
	launch(&build, 90, 100, 110);
	/*
	 * each wait costs 13 us: 1 us before it and 12 us in it; without two of them the last launch comes 26
	 * us earlier
	 */
	assert_made(made(&build, "join-waits", 0, NULL), 2, 100000 - 2 * 13000);
}

static void waits_before_other_work_stay(void **state)
{
	struct build build = build_new(1);

	(void)state;
	for (int i = 0; i < 2; i++) {
		launch(&build, 40 * i, 40 * i + 10, 40 * i + 12);
		build_issued_copy(&build, issue("cudaMemcpyAsync", 40 * i + 3, 40 * i + 5), 0,
			copied(KWHY_COPY_D2H, KWHY_MEMORY_PINNED, 4, 40 * i + 14, 40 * i + 16));
		build_call(&build, 0, "cudaStreamSynchronize", 40 * i + 6, 40 * i + 20);
	}
	assert_refused(made(&build, "join-waits", 0, NULL), "before another read-back");
}

static void memory_from_a_pool_does_not_wait(void **state)
{
	struct build build = build_new(1);

	(void)state;
	for (int i = 0; i < 3; i++)
		launch(&build, 3 * i, 10 + 3 * i, 12 + 3 * i);
	build_call(&build, 0, "cudaFree", 9, 109);
	build_call(&build, 0, "cudaMalloc", 109, 209);
	build_call(&build, 0, "cudaMalloc", 209, 219);
	launch(&build, 219, 229, 239);
	/*
	 * from a pool the free and the first malloc take 2 us each, as a launch does; the second malloc keeps
	 * its 10 us, as nothing was freed since the first one
	 */
	assert_made(made(&build, "pool", 0, NULL), 2, 33000);
}

/*
 * In each of five steps a framework empties its cache of device memory: before each of four kernels there is
 * an allocation of 80 us, and after them come four frees of 60 us. With a pool, the 16 allocations after the
 * first step are saved, with up to 18 us of the host's pause before each, and 16 frees (those after the last
 * launch save nothing).
 */
static void a_cache_that_is_not_emptied_asks_for_nothing(void **state)
{
	struct build build = build_new(1);
	struct kwhy_plan *plan;
	int64_t at = 0;

	(void)state;
	for (int step = 0; step < 5; step++) {
		for (int k = 0; k < 4; k++, at += 20) {
			build_call(&build, 0, "cudaMalloc", at, at + 80);
			at += 82;
			launch(&build, at, at + 10, at + 15);
		}
		for (int k = 0; k < 4; k++, at += 60)
			build_call(&build, 0, "cudaFree", at, at + 60);
	}
	plan = made(&build, "pool", 0, NULL);
	assert_int_equal(plan->change_count, 1);
	assert_int_equal(plan->changes[0].places, 4 * 4 + 4 * 4 + 4);
	assert_non_null(strstr(plan->changes[0].assumption, "emptied again and again"));
	assert_in_range(plan->changes[0].saved_ns, 16 * 140000, 16 * (140000 + 18000));
	kwhy_plan_free(plan);
}

static void where_a_pool_is_no_faster_that_is_the_reason(void **state)
{
	struct build build = build_new(1);

	(void)state;
	for (int i = 0; i < 3; i++)
		launch(&build, 3 * i, 10 + 3 * i, 12 + 3 * i);
	build_call(&build, 0, "cudaFree", 9, 10);
	build_call(&build, 0, "cudaMalloc", 11, 12);
	assert_refused(
		made(&build, "pool", 0, NULL), "take no longer than the 2.00 \xC2\xB5s of one in a pool");
}

/*
 * The recorded stream-ordered allocations, of the runtime or the driver API, take 5 us each. So kwhy must
 * project 5 us for each free and malloc of the change pool.
 */
static void a_pool_costs_what_its_calls_took(void **state)
{
	static const char *const names[] = {"cudaMallocAsync", "cuMemAllocAsync", "cudaMallocFromPoolAsync"};
	struct build build = build_new(1);

	(void)state;
	for (int i = 0; i < 3; i++)
		launch(&build, 3 * i, 10 + 3 * i, 12 + 3 * i);
	for (int i = 0; i < 3; i++)
		build_call(&build, 0, names[i], 10 + 5 * i, 15 + 5 * i);
	build_call(&build, 0, "cudaFree", 30, 130);
	build_call(&build, 0, "cudaMalloc", 130, 230);
	launch(&build, 230, 240, 250);
	assert_made(made(&build, "pool", 0, NULL), 2, 50000);
}

static void pauses_of_the_host_become_usual_ones(void **state)
{
	struct build build = build_new(1);

	(void)state;
	for (int i = 0; i < 3; i++)
		launch(&build, 3 * i, 10 + 3 * i, 12 + 3 * i);
	launch(&build, 508, 518, 520);
	assert_made(made(&build, "prefetch", 0, NULL), 1, 11200);
}

/*
 * Ten times, the host prepares input for 1 ms and waits for a kernel of 100 us. With enough threads
 * to prepare input, the run takes the time of the kernels. At the slow end of the interval a single
 * thread prepares it, also during the 115 us of each kernel, and only this time is saved.
 */
static void at_the_slow_end_one_thread_prepares_all_input(void **state)
{
	struct build build = build_new(1);
	struct kwhy_plan *plan;

	(void)state;
	for (int64_t at = 0; at < 11150; at += 1115) {
		launch(&build, at, at + 10, at + 110);
		build_call(&build, 0, "cudaStreamSynchronize", at + 2, at + 115);
	}
	plan = made(&build, "prefetch", 0, NULL);
	assert_int_equal(plan->change_count, 1);
	assert_in_range(plan->changes[0].after.time_ns, 1000000, 1300000);
	assert_in_range(plan->changes[0].after.time_high_ns, 1000000 + 8 * 885000, 10135000);
	kwhy_plan_free(plan);
}

/*
 * Other threads can prepare input (pauses in the DataLoader), but cannot run the model's operators (pauses in
 * aten::conv2d).
 */
static void pauses_in_operators_are_not_prefetched(void **state)
{
	static const char *const names[] = {
		"enumerate(DataLoader)#_SingleProcessDataLoaderIter", "aten::conv2d"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct build build = build_new(1);

		for (int64_t at = 0; at < 11150; at += 1115) {
			launch(&build, at, at + 10, at + 110);
			build_call(&build, 0, "cudaStreamSynchronize", at + 2, at + 115);
			build_host_range(&build, KWHY_HOST_OPERATOR, names[i], NULL, at + 116, at + 1114);
		}
		if (i)
			assert_refused(made(&build, "prefetch", 0, NULL), "except where it runs the model");
		else
			assert_made(made(&build, "prefetch", 0, NULL), 9, 1135000);
	}
}

/*
 * Each kernel begins 955 us after its launch into an idle stream, so it is not the wait that delays it.
 * Without waits this delay must stay between the kernels.
 */
static void what_holds_the_device_back_stays(void **state)
{
	struct build build = build_new(1);
	struct kwhy_plan *plan;

	(void)state;
	for (int64_t at = 0; at < 20000; at += 1000) {
		launch(&build, at, at + 955, at + 985);
		build_call(&build, 0, "cudaDeviceSynchronize", at + 3, at + 990);
	}
	plan = made(&build, "event-waits", 0, NULL);
	assert_int_equal(plan->change_count, 1);
	assert_in_range(plan->changes[0].after.time_ns, 19 * 950 * US, 19 * 1000 * US);
	kwhy_plan_free(plan);
}

/*
 * Eight steps start 1 ms apart, with pauses of 0.4 ms between them, which prefetch removes. A pause of 20 ms
 * before the first step is no preparation of input and must stay.
 */
static void a_pause_before_the_steps_is_no_input(void **state)
{
	struct build build = build_new(1);
	struct kwhy_plan *plan;

	(void)state;
	build_issued_memset(&build, issue("cudaMemsetAsync", 0, 2), 0, 10, 20);
	for (int64_t i = 0; i < 8; i++) {
		int64_t at = 20000 + 1000 * i;

		launch(&build, at, at + 10, at + 400);
		build_issued_memset(&build, issue("cudaMemsetAsync", at + 2, at + 4), 0, at + 400, at + 590);
		build_call(&build, 0, "cudaStreamSynchronize", at + 4, at + 600);
	}
	plan = made(&build, "prefetch", 0, NULL);
	assert_int_equal(plan->change_count, 1);
	assert_true(plan->changes[0].after.time_ns > 24000 * US);
	kwhy_plan_free(plan);
}

/*
 * All pauses between the calls are long: 0.2, 0.3 and 0.4 ms. So none of them shows the usual time between
 * calls, and all must count as pauses.
 */
static void pauses_that_are_the_usual_ones_go(void **state)
{
	struct build build = build_new(1);

	(void)state;
	launch(&build, 0, 10, 12);
	launch(&build, 202, 212, 214);
	launch(&build, 504, 514, 516);
	launch(&build, 906, 916, 918);
	/* queued kernels follow each other after 1.2 us */
	assert_made(made(&build, "prefetch", 0, NULL), 3, 11600);
}

/*
 * Returns twelve kernels of 50 us, each of which the host waits for. Before one of the waits the host does
 * something else for 600 us.
 */
static struct build paused_waits(void)
{
	struct build build = build_new(1);

	for (int i = 0; i < 12; i++) {
		int64_t at_us = 65 * i + (i > 5 ? 600 : 0);

		launch(&build, at_us, at_us + 10, at_us + 60);
		build_call(&build, 0, "cudaDeviceSynchronize", at_us + (i == 5 ? 603 : 3),
			at_us + (i == 5 ? 662 : 62));
	}
	return build;
}

static int64_t time_after(struct build build, const char *first, const char *second, uint32_t number)
{
	const struct kwhy_whatif_request change_requests[] = {
		{kwhy_whatif_change_find(first), number}, {kwhy_whatif_change_find(second), number}};
	struct kwhy_whatif *whatif;
	struct kwhy_error error;
	struct kwhy_plan *plan;
	int64_t time_ns;

	build_finish(&build, false);
	assert_int_equal(kwhy_whatif_new(build.recording, NULL, NULL, &whatif, &error), KWHY_OK);
	assert_int_equal(kwhy_whatif_project(whatif, change_requests, 2, &plan, &error), KWHY_OK);
	if (plan->change_count != 2)
		fail_msg("refused: %s", plan->refused[0].reason);
	time_ns = plan->changes[1].after.time_ns;
	kwhy_plan_free(plan);
	kwhy_whatif_free(whatif);
	build_free(&build);
	return time_ns;
}

static void what_stays_of_a_pause_whose_call_went_is_prefetched_too(void **state)
{
	int64_t waits_first_ns = time_after(paused_waits(), "event-waits", "prefetch", 0);

	(void)state;
	assert_true(waits_first_ns < 700 * US);
	assert_int_equal(waits_first_ns, time_after(paused_waits(), "prefetch", "event-waits", 0));
}

static void what_stays_of_a_pause_whose_call_went_has_the_hosts_speed(void **state)
{
	int64_t slow_ns = time_after(paused_waits(), "event-waits", "host-speed", 10);

	(void)state;
	assert_in_range(slow_ns, 6500 * US, 6700 * US);
}

/* The change would take 73 years or more: it must be refused, as sums of such times could overflow. */
static void a_host_that_would_need_centuries_is_refused(void **state)
{
	struct build build = build_new(1);

	(void)state;
	launch(&build, 0, 5, 10);
	build_call(&build, 0, "cudaMalloc", 20, INT64_C(1000000000000000));
	assert_refused(made(&build, "host-speed", 1, NULL), "73 years");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_behind_a_wait_goes),
		cmocka_unit_test(a_wait_for_work_that_nobody_waited_for_stays),
		cmocka_unit_test(a_wait_for_work_that_ended_unseen_stays),
		cmocka_unit_test(waits_without_a_read_back_become_events),
		cmocka_unit_test(a_wait_for_a_read_back_stays),
		cmocka_unit_test(waits_before_another_read_back_go),
		cmocka_unit_test(waits_before_other_work_stay),
		cmocka_unit_test(memory_from_a_pool_does_not_wait),
		cmocka_unit_test(a_cache_that_is_not_emptied_asks_for_nothing),
		cmocka_unit_test(where_a_pool_is_no_faster_that_is_the_reason),
		cmocka_unit_test(a_pool_costs_what_its_calls_took),
		cmocka_unit_test(pauses_of_the_host_become_usual_ones),
		cmocka_unit_test(at_the_slow_end_one_thread_prepares_all_input),
		cmocka_unit_test(a_pause_before_the_steps_is_no_input),
		cmocka_unit_test(pauses_in_operators_are_not_prefetched),
		cmocka_unit_test(what_holds_the_device_back_stays),
		cmocka_unit_test(pauses_that_are_the_usual_ones_go),
		cmocka_unit_test(what_stays_of_a_pause_whose_call_went_is_prefetched_too),
		cmocka_unit_test(what_stays_of_a_pause_whose_call_went_has_the_hosts_speed),
		cmocka_unit_test(a_host_that_would_need_centuries_is_refused),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
