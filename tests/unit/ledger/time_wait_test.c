/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/ledger/build.h"

/* Tests how idle time of a device is divided into categories by what the host did meanwhile. */

static void assert_parts(const struct kwhy_ledger *ledger, int64_t sync_ns, int64_t launch_ns,
	int64_t alloc_ns, int64_t host_ns)
{
	const struct kwhy_device_time *time = &ledger->devices[0].time;

	assert_int_equal(time->sync_ns, sync_ns);
	assert_int_equal(time->launch_ns, launch_ns);
	assert_int_equal(time->alloc_ns, alloc_ns);
	assert_int_equal(time->host_ns, host_ns);
	assert_int_equal(sync_ns + launch_ns + alloc_ns + host_ns, time->idle_ns);
}

static void a_gap_is_divided_moment_by_moment_by_what_the_launching_thread_was_in(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	build_kernel(recording, 0, 0, 100, "a");
	build_call(recording, 0, 50, 120, "cudaStreamSynchronize", 1);
	build_call(recording, 0, 130, 150, "cudaMalloc", 2);
	build_call(recording, 0, 150, 155, "cudaFree", 3);
	build_call(recording, 0, 160, 161, "cudaGetDevice", 4);
	build_call(recording, 0, 170, 210, "cudaLaunchKernel", 9);
	build_launched(recording, 0, 200, 220, 9);
	ledger = build_ledger(recording);
	assert_parts(ledger, 20, 30, 25, 25);
	assert_int_equal(ledger->devices[0].time.idle_gaps, 1);
	assert_int_equal(ledger->devices[0].time.sync_gaps, 1);
	assert_int_equal(ledger->devices[0].time.host_gaps, 1);
	build_free(recording, ledger);
}

static void a_copy_that_may_block_is_waiting_and_an_asynchronous_one_is_launching(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	build_kernel(recording, 0, 0, 100, "a");
	build_call(recording, 0, 110, 130, "cudaMemcpy", 1);
	build_call(recording, 0, 140, 145, "cuMemcpyHtoDAsync", 9);
	build_launched(recording, 0, 150, 160, 9);
	ledger = build_ledger(recording);
	assert_parts(ledger, 20, 5, 0, 25);
	build_free(recording, ledger);
}

static void of_nested_calls_the_outermost_decides_unless_it_says_nothing(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	build_kernel(recording, 0, 0, 100, "a");
	build_call(recording, 0, 110, 150, "cudaMalloc", 1);
	build_call(recording, 0, 120, 130, "cuCtxSynchronize", 2);
	build_call(recording, 0, 160, 200, "cudaGetDeviceProperties", 3);
	build_call(recording, 0, 165, 190, "cuMemAlloc", 4);
	build_call(recording, 0, 170, 180, "cuCtxSynchronize", 5);
	build_call(recording, 0, 195, 210, "cudaLaunchKernel", 9);
	build_launched(recording, 0, 220, 230, 9);
	ledger = build_ledger(recording);
	assert_parts(ledger, 0, 15, 65, 40);
	build_free(recording, ledger);
}

static void calls_that_overlap_on_one_thread_count_once_by_the_earlier(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	build_kernel(recording, 0, 0, 100, "a");
	build_call(recording, 0, 100, 140, "cudaMalloc", 1);
	build_call(recording, 0, 130, 160, "cudaStreamSynchronize", 2);
	build_call(recording, 0, 135, 150, "cudaLaunchKernel", 9);
	build_launched(recording, 0, 160, 170, 9);
	ledger = build_ledger(recording);
	assert_parts(ledger, 20, 0, 40, 0);
	build_free(recording, ledger);
}

static void the_thread_that_ends_the_gap_decides_and_no_other(void **state)
{
	struct kwhy_recording *recording = build_one();
	uint32_t other = build_thread(recording, 0, 2);
	struct kwhy_ledger *ledger;

	(void)state;
	build_kernel(recording, 0, 0, 100, "a");
	build_call(recording, other, 90, 400, "cudaDeviceSynchronize", 1);
	build_call(recording, 0, 140, 150, "cudaLaunchKernel", 8);
	build_launched(recording, 0, 150, 160, 8);
	build_call(recording, other, 410, 420, "cudaLaunchKernel", 9);
	build_launched(recording, 0, 430, 440, 9);
	ledger = build_ledger(recording);
	/* first idle interval: host 40 ns, launch 10 ns; second: sync 240 ns, host 20 ns, launch 10 ns */
	assert_parts(ledger, 240, 20, 0, 60);
	assert_int_equal(ledger->devices[0].time.sync_gaps, 1);
	assert_int_equal(ledger->devices[0].time.launch_gaps, 2);
	build_free(recording, ledger);
}

static void without_a_known_call_all_threads_of_the_devices_processes_are_asked(void **state)
{
	struct kwhy_recording *recording = build_one();
	uint32_t second = build_thread(recording, 0, 2), third = build_thread(recording, 0, 3);
	uint32_t stranger = build_thread(recording, build_process(recording, 101), 1);
	struct kwhy_ledger *ledger;

	(void)state;
	build_kernel(recording, 0, 0, 100, "a");
	build_kernel(recording, 0, 200, 210, "b");
	build_call(recording, 0, 90, 180, "cudaDeviceSynchronize", 1);
	build_call(recording, second, 120, 160, "cudaMalloc", 2);
	build_call(recording, third, 140, 150, "cudaLaunchKernel", 3);
	build_call(recording, stranger, 100, 200, "cudaLaunchKernel", 4);
	ledger = build_ledger(recording);
	assert_parts(ledger, 40, 10, 30, 20);
	build_free(recording, ledger);
}

static void another_device_of_the_process_does_not_change_the_parts(void **state)
{
	struct kwhy_recording *recording = build_one();
	uint32_t stream = build_stream(recording, build_device(recording, 1), 0, 7);
	struct kwhy_ledger *ledger;

	(void)state;
	build_kernel(recording, stream, 0, 500, "other");
	build_kernel(recording, 0, 0, 100, "a");
	build_call(recording, 0, 110, 130, "cudaLaunchKernel", 9);
	build_launched(recording, 0, 140, 160, 9);
	ledger = build_ledger(recording);
	assert_parts(ledger, 0, 20, 0, 20);
	assert_int_equal(ledger->devices[1].time.idle_ns, 0);
	build_free(recording, ledger);
}

static void without_api_rows_the_reasons_are_unknown_and_idle_is_one_account(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;
	const struct kwhy_device_time *time;

	(void)state;
	build_kernel(recording, 0, 0, 100, "a");
	build_kernel(recording, 0, 150, 200, "a");
	ledger = build_ledger(recording);
	time = &ledger->devices[0].time;
	assert_true(time->sync_ns == KWHY_UNKNOWN_NS && time->launch_ns == KWHY_UNKNOWN_NS);
	assert_true(time->alloc_ns == KWHY_UNKNOWN_NS && time->host_ns == KWHY_UNKNOWN_NS);
	assert_int_equal(build_account(ledger, 0, "idle")->time_ns, 50);
	assert_int_equal(build_account(ledger, 0, "idle")->category, KWHY_CATEGORY_IDLE);
	build_free(recording, ledger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gap_is_divided_moment_by_moment_by_what_the_launching_thread_was_in),
		cmocka_unit_test(a_copy_that_may_block_is_waiting_and_an_asynchronous_one_is_launching),
		cmocka_unit_test(of_nested_calls_the_outermost_decides_unless_it_says_nothing),
		cmocka_unit_test(calls_that_overlap_on_one_thread_count_once_by_the_earlier),
		cmocka_unit_test(the_thread_that_ends_the_gap_decides_and_no_other),
		cmocka_unit_test(without_a_known_call_all_threads_of_the_devices_processes_are_asked),
		cmocka_unit_test(another_device_of_the_process_does_not_change_the_parts),
		cmocka_unit_test(without_api_rows_the_reasons_are_unknown_and_idle_is_one_account),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
