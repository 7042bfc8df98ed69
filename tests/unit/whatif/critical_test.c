/* SPDX-License-Identifier: Apache-2.0 */
#include "planned.h"
#include "whatif/critical.h"
#include "whatif/steps.h"

#include <math.h>

static struct kwhy_error error;

enum { ROUNDS = 20 };

/*
 * Returns the host-limited time, ns, of the unchanged recording: the part of the run in which the device
 * waited for the host. Finishes and frees the recording.
 */
static int64_t host_limited_ns(struct build *build)
{
	struct kwhy_whatif *whatif;
	int64_t host_ns;

	build_finish(build, false);
	assert_int_equal(kwhy_whatif_new(build->recording, NULL, NULL, &whatif, &error), KWHY_OK);
	assert_int_equal(kwhy_whatif_play(whatif->graph, &error), KWHY_OK);
	host_ns = kwhy_whatif_host_limited_ns(whatif->graph);
	kwhy_whatif_free(whatif);
	build_free(build);
	return host_ns;
}

/*
 * Returns ROUNDS kernels of 1 us, one every 20 us. Each begins 5 us after the begin of its launch, which
 * takes 2 us, so the device waits for the launches.
 */
static struct build slow_host(void)
{
	struct build build = build_new(1);

	for (int64_t at = 0; at < ROUNDS * 20; at += 20)
		launch(&build, at, at + 5, at + 6);
	return build;
}

/*
 * Returns ROUNDS kernels of 50 us with gaps of 2 us. The host launches one every 2 us and so runs ever
 * further ahead: the device never waits for it.
 */
static struct build fast_host(void)
{
	struct build build = build_new(1);

	for (int64_t i = 0; i < ROUNDS; i++)
		launch(&build, 2 * i, 5 + 52 * i, 55 + 52 * i);
	return build;
}

/*
 * The host limits the run from the begin of the first kernel (5 us) to the end of the last launch.
 * The time from there to the end of the last kernel is the device's.
 */
static void a_run_that_waits_for_launches_is_the_hosts(void **state)
{
	struct build build = slow_host();

	(void)state;
	assert_int_equal(host_limited_ns(&build), (20 * (ROUNDS - 1) - 5 + 2) * US);
}

static void a_run_of_queued_work_is_the_devices(void **state)
{
	struct build build = fast_host();

	(void)state;
	assert_int_equal(host_limited_ns(&build), 0);
}

/*
 * Each round of 70 us has a launch of 2 us, a kernel of 50 us for which the host waits, and a pause of the
 * host of 8 us.
 */
static void waiting_for_the_device_is_not_the_hosts(void **state)
{
	struct build build = build_new(1);

	(void)state;
	for (int64_t i = 0; i < ROUNDS; i++) {
		launch(&build, 70 * i, 70 * i + 7, 70 * i + 57);
		build_call(&build, 0, "cudaDeviceSynchronize", 70 * i + 3, 70 * i + 62);
	}
	/*
	 * 8 us of pause and 2 us of launch in each round but the first, whose launch was before the first
	 * kernel; up to 6 us more where the wait's return counts
	 */
	assert_in_range(host_limited_ns(&build), 10 * (ROUNDS - 1) * US, 16 * (ROUNDS - 1) * US);
}

/*
 * host-speed at 100 % does not change the expected time. The interval must have the scatter of the host's
 * speed between runs, which applies to the host-limited time.
 */
static void the_interval_has_the_scatter_of_the_host(void **state)
{
	const double host_ns = (20 * (ROUNDS - 1) - 5 + 2) * US;
	const double slower = exp(KWHY_SCATTER_QUANTILE * KWHY_HOST_LOG_RATIO_SD) - 1;
	const double faster = 1 - exp(-KWHY_SCATTER_QUANTILE * KWHY_HOST_LOG_RATIO_SD);
	struct build build = slow_host();
	struct kwhy_plan *plan = made(&build, "host-speed", 100, NULL);
	const struct kwhy_projection *after = &plan->changes[0].after;

	(void)state;
	assert_int_equal(after->time_ns, plan->before.time_ns);
	assert_true((double)(after->time_high_ns - after->time_ns) >= slower * host_ns - 1);
	assert_true((double)(after->time_high_ns - after->time_ns) < 1.1 * slower * host_ns);
	assert_true((double)(after->time_ns - after->time_low_ns) >= faster * host_ns - 1);
	assert_true((double)(after->time_ns - after->time_low_ns) < 1.1 * faster * host_ns);
	kwhy_plan_free(plan);
}

static void the_interval_of_a_run_of_the_device_has_none_of_it(void **state)
{
	struct build build = fast_host();
	struct kwhy_plan *plan = made(&build, "host-speed", 100, NULL);
	const struct kwhy_projection *after = &plan->changes[0].after;

	(void)state;
	assert_true((double)(after->time_high_ns - after->time_low_ns) < 0.01 * (double)after->time_ns);
	kwhy_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_that_waits_for_launches_is_the_hosts),
		cmocka_unit_test(a_run_of_queued_work_is_the_devices),
		cmocka_unit_test(waiting_for_the_device_is_not_the_hosts),
		cmocka_unit_test(the_interval_has_the_scatter_of_the_host),
		cmocka_unit_test(the_interval_of_a_run_of_the_device_has_none_of_it),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
