/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/sweep.h"

#include "cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct kwhy_transfers *measure(struct kwhy_bench_request request)
{
	struct kwhy_transfers *transfers = NULL;
	struct kwhy_error error = {0};

	request.backend = KWHY_GPU_HOST;
	request.seed = request.seed ? request.seed : 7;
	if (kwhy_transfers_measure(&request, &transfers, &error))
		fail_msg("%s", error.text);
	return transfers;
}

/*
 * Measures every transfer strategy at the smallest and the largest size on the host back end, in which memory
 * copies of threads take the place of a GPU. The bytes must arrive.
 */
static void every_strategy_moves_its_bytes(void **state)
{
	struct kwhy_transfers *transfers = measure((struct kwhy_bench_request){
		.least_bytes = 16, .most_bytes = 1 << 20, .quick = true, .time_s = 3600, .most_rounds = 1});
	const struct kwhy_bench_strategy *strategy;

	(void)state;
	for (size_t i = 0; i < transfers->point_count; i++) {
		const struct kwhy_transfer_point *point = &transfers->points[i];

		if (point->sample_count == 0)
			continue;
		assert_true(point->verified);
		assert_true(point->summary.median_s > 0);
	}
	for (size_t i = 0; (strategy = kwhy_bench_strategy_at(i)); i++) {
		size_t measured = 0, absent = strategy->only_if_asked;

		for (size_t k = 0; k < transfers->point_count; k++)
			measured += strcmp(transfers->points[k].strategy, strategy->id) == 0 &&
				transfers->points[k].sample_count > 0;
		for (size_t k = 0; k < transfers->absence_count; k++)
			absent += strcmp(transfers->absences[k].strategy, strategy->id) == 0;
		if (measured == 0 && absent == 0)
			fail_msg("%s was not measured", strategy->id);
	}
	kwhy_transfers_free(transfers);
}

/*
 * The time limit of 1 us ends the run after one sample batch. The message must count the other transfers as
 * not measured, and only the measured one as measured to a wider interval than requested.
 */
static void what_there_was_no_time_for_is_said_not_to_be_measured(void **state)
{
	const char *const strategies[] = {"pinned"};
	struct kwhy_transfers *transfers = measure((struct kwhy_bench_request){.strategies = strategies,
		.strategy_count = 1,
		.least_bytes = 64,
		.most_bytes = 64,
		.time_s = 1e-6});
	size_t all = transfers->point_count, measured = 0;
	char words[80];

	(void)state;
	for (size_t i = 0; i < all; i++)
		measured += transfers->points[i].sample_count > 0;
	assert_int_equal(measured, 1);
	assert_true(all > 1);
	snprintf(words, sizeof(words), "of %zu transfers %zu were not measured and 1 to a wider interval",
		all, all - 1);
	assert_non_null(strstr(transfers->ended_early, words));
	kwhy_transfers_free(transfers);
}

/*
 * The time of a transfer's next sample batch is expected to be that of its last one. A first batch takes
 * longer, as it allocates buffers and verifies data; it is expected to take the mean of the first batches of
 * other transfers of that size.
 */
static void a_visit_is_foreseen_by_the_last_one_or_by_first_ones_of_its_size(void **state)
{
	struct kwhy_transfer_point small = {.bytes = 64}, large = {.bytes = 1 << 30};
	struct kwhy_bench_task tasks[] = {{.point = &small, .first_s = 0.5, .last_s = 0.1},
		{.point = &large, .first_s = 8, .last_s = 1}, {.point = &large, .first_s = 4, .last_s = 2},
		{.point = &large}};
	struct kwhy_bench_plan plan = {.tasks = tasks, .count = 1};

	(void)state;
	/* the plan has task 0 only, so no first batch of this size is known */
	assert_float_equal(kwhy_bench_task_foreseen_s(&plan, &tasks[3]), 0, 0);
	plan.count = 4;
	assert_float_equal(kwhy_bench_task_foreseen_s(&plan, &tasks[3]), 6, 1e-9);
	assert_float_equal(kwhy_bench_task_foreseen_s(&plan, &tasks[2]), 2, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_strategy_moves_its_bytes),
		cmocka_unit_test(what_there_was_no_time_for_is_said_not_to_be_measured),
		cmocka_unit_test(a_visit_is_foreseen_by_the_last_one_or_by_first_ones_of_its_size),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
