/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "lab/twin/bench.h"
#include "launch/stop.h"

#include <signal.h>
#include <string.h>

static struct kwhy_error error;

/* Presses keys when a benchmark tells that it begins with this. */
struct user {
	const char *presses_at;
	unsigned left; /* calls until then, of a sweep */
};

static void told(void *context, const char *what)
{
	const struct user *user = context;

	if (!strcmp(what, user->presses_at))
		raise(SIGINT);
}

static void an_interrupt_ends_a_workload_with_the_rows_before(void **state)
{
	struct user user = {.presses_at = "v3"};
	const struct kwhy_bench_twin_request request = {.backend = KWHY_GPU_HOST,
		.devices = "0",
		.variants = "v2,v3,v4",
		.shape = {4, 1, false, 1},
		.repeat = 2,
		.runs_only = true,
		.progress = told,
		.context = &user};
	struct kwhy_bench_twin *bench;

	(void)state;
	kwhy_stop_watch(true);
	assert_int_equal(kwhy_bench_twin(&request, &bench, &error), KWHY_OK);
	assert_int_equal(bench->row_count, 1);
	assert_string_equal(bench->rows[0].id, "v2");
	assert_int_equal(bench->rows[0].run_s.count, 2);
	assert_string_equal(bench->ended, "it was interrupted");
	kwhy_bench_twin_free(bench);
}

static void an_interrupt_before_the_first_row_is_the_end(void **state)
{
	struct user user = {.presses_at = "v2"};
	const struct kwhy_bench_twin_request request = {.backend = KWHY_GPU_HOST,
		.devices = "0",
		.variants = "v2,v3",
		.shape = {4, 1, false, 1},
		.repeat = 1,
		.runs_only = true,
		.progress = told,
		.context = &user};
	struct kwhy_bench_twin *bench;

	(void)state;
	kwhy_stop_watch(true);
	assert_int_equal(kwhy_bench_twin(&request, &bench, &error), KWHY_E_LOST);
	assert_string_equal(error.text, "it was interrupted");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interrupt_ends_a_workload_with_the_rows_before),
		cmocka_unit_test(an_interrupt_before_the_first_row_is_the_end),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
