/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/sweep.h"
#include "cmocka_all.h"
#include "launch/stop.h"

#include <signal.h>
#include <string.h>

static struct kwhy_error error;

/* Simulates a user who interrupts a benchmark when it reports the step `presses_at`. */
struct user {
	const char *presses_at;
	unsigned left; /* number of progress reports of a sweep that are still to come before the interrupt */
};

static void reported_share(void *context, const char *what, double share)
{
	struct user *user = context;

	(void)what;
	(void)share;
	if (--user->left == 0)
		raise(SIGINT);
}

static size_t count_measured(const struct kwhy_transfers *transfers)
{
	size_t count = 0;

	for (size_t i = 0; i < transfers->point_count; i++)
		count += transfers->points[i].sample_count > 0;
	return count;
}

static void an_interrupt_ends_a_sweep_with_its_samples(void **state)
{
	struct user user = {.left = 5};
	const struct kwhy_bench_request request = {.backend = KWHY_GPU_HOST,
		.seed = 7,
		.least_bytes = 16,
		.most_bytes = 4096,
		.quick = true,
		.time_s = 3600,
		.progress = reported_share,
		.context = &user};
	struct kwhy_transfers *transfers;

	(void)state;
	kwhy_stop_watch(true);
	assert_int_equal(kwhy_transfers_measure(&request, &transfers, &error), KWHY_OK);
	assert_true(kwhy_stop_asked());
	assert_true(transfers->is_lost);
	assert_string_equal(transfers->ended_early, "it was interrupted");
	assert_int_equal(count_measured(transfers), 4);
	kwhy_transfers_free(transfers);
}

static void a_second_interrupt_has_its_usual_effect(void **state)
{
	struct sigaction action;

	(void)state;
	kwhy_stop_watch(true);
	assert_false(kwhy_stop_asked());
	raise(SIGTERM);
	assert_true(kwhy_stop_asked());
	assert_int_equal(sigaction(SIGTERM, NULL, &action), 0);
	assert_true(action.sa_handler == SIG_DFL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interrupt_ends_a_sweep_with_its_samples),
		cmocka_unit_test(a_second_interrupt_has_its_usual_effect),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
