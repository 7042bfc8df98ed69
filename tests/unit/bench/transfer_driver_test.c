/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs all of kwhy bench transfer's measurements on the CUDA back end, with a fake driver that runs the
 * kernels as C functions.
 */
#include "bench/transfers/kernels.h"
#include "bench/transfers/sweep.h"

#include "cmocka_all.h"
#include "fakes/cuda/give_kernels.h"

#include <stdlib.h>
#include <string.h>

static enum kwhy_status measure(
	struct kwhy_bench_request request, struct kwhy_transfers **out, struct kwhy_error *error)
{
	request.backend = KWHY_GPU_CUDA;
	request.seed = 3;
	request.least_bytes = 16;
	request.most_bytes = 1 << 20;
	request.quick = true;
	request.time_s = 3600;
	request.most_rounds = 1;
	return kwhy_transfers_measure(&request, out, error);
}

static void the_driver_is_asked_for_every_strategy(void **state)
{
	struct kwhy_transfers *transfers = NULL;
	struct kwhy_error error = {0};

	(void)state;
	unsetenv("KWHY_FAKE_CUDA");
	if (measure((struct kwhy_bench_request){0}, &transfers, &error))
		fail_msg("%s", error.text);
	for (size_t i = 0; i < transfers->absence_count; i++)
		if (strncmp(transfers->absences[i].strategy, "numa", 4) != 0)
			fail_msg("%s: %s", transfers->absences[i].strategy, transfers->absences[i].reason);
	for (size_t i = 0; i < transfers->point_count; i++)
		assert_true(transfers->points[i].sample_count == 0 || transfers->points[i].verified);
	assert_false(transfers->is_lost);
	kwhy_transfers_free(transfers);
}

/*
 * The fake driver fails at the 300th copy as if the device were lost. The run must end with the samples taken
 * before and name the cause. One round makes more than 400 copies, however slow the machine is.
 */
static void a_device_that_is_lost_ends_the_run_with_what_was_measured(void **state)
{
	static const char *const strategies[] = {"pinned", "packed"};
	struct kwhy_transfers *transfers = NULL;
	struct kwhy_error error = {0};
	size_t samples = 0;

	(void)state;
	setenv("KWHY_FAKE_CUDA", "fail:cuMemcpyAsync:300:719", 1);
	if (measure((struct kwhy_bench_request){.strategies = strategies, .strategy_count = 2}, &transfers,
		    &error))
		fail_msg("%s", error.text);
	assert_true(transfers->is_lost);
	assert_non_null(strstr(transfers->ended_early, "the GPU is lost to this program"));
	for (size_t i = 0; i < transfers->point_count; i++)
		samples += transfers->points[i].sample_count;
	assert_true(samples > 10);
	kwhy_transfers_free(transfers);
	unsetenv("KWHY_FAKE_CUDA");
}

/*
 * The fake driver pins blocks of up to 1.5 MB, too small for the largest of the sizes, 1 MiB. That size must
 * be left out with a reason, and the others measured.
 */
static void a_size_for_which_memory_is_short_is_left_out_alone(void **state)
{
	static const char *const strategies[] = {"pinned"};
	struct kwhy_transfers *transfers = NULL;
	struct kwhy_error error = {0};

	(void)state;
	setenv("KWHY_FAKE_CUDA_PINNED_BYTES", "1500000", 1); /* a buffer has 1 MiB more than its transfer */
	if (measure((struct kwhy_bench_request){.strategies = strategies, .strategy_count = 1}, &transfers,
		    &error))
		fail_msg("%s", error.text);
	for (size_t i = 0; i < transfers->point_count; i++) {
		const struct kwhy_transfer_point *point = &transfers->points[i];

		assert_int_equal(point->sample_count > 0, point->bytes < 1 << 20);
		assert_true(point->sample_count == 0 || point->verified);
	}
	assert_int_equal(transfers->absence_count, 1);
	assert_string_equal(transfers->absences[0].strategy, "pinned");
	assert_non_null(strstr(transfers->absences[0].reason, "not at 1,048,576 bytes: "));
	kwhy_transfers_free(transfers);
	unsetenv("KWHY_FAKE_CUDA_PINNED_BYTES");
}

static void a_driver_without_a_gpu_is_an_error_with_its_words(void **state)
{
	struct kwhy_transfers *transfers = NULL;
	struct kwhy_error error = {0};

	(void)state;
	setenv("KWHY_FAKE_CUDA", "no-device", 1);
	assert_int_equal(measure((struct kwhy_bench_request){0}, &transfers, &error), KWHY_E_UNSUPPORTED);
	assert_null(transfers);
	assert_true(strlen(error.text) > 20);
	unsetenv("KWHY_FAKE_CUDA");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_driver_without_a_gpu_is_an_error_with_its_words),
		cmocka_unit_test(the_driver_is_asked_for_every_strategy),
		cmocka_unit_test(a_size_for_which_memory_is_short_is_left_out_alone),
		cmocka_unit_test(a_device_that_is_lost_ends_the_run_with_what_was_measured),
	};

	give_kernels_to_the_fake("libcuda.so.1", kwhy_bench_source.on_host);
	return kwhy_test_main(tests, NULL, NULL);
}
