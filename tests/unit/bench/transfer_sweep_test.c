/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/sweep.h"

#include "cmocka_all.h"

#include <math.h>
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

/* Every way there is, both ends of the range, on memory and threads alone. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_strategy_moves_its_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
