/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"
#include "whatif/whatif.h"

/* Tests steps that no range marks, and that kwhy finds as a sequence of launches that repeats. */

static struct kwhy_error error;

/*
 * Returns the number of steps found in a recording of six pairs of kernels. Each pair begins 100 us
 * after the one before, but the fifth begins fourth_us after the fourth.
 */
static uint32_t steps_with(int64_t fourth_us)
{
	struct build build = build_new(1);
	struct kwhy_whatif *whatif;
	int64_t start_us = 0;
	uint32_t count;

	for (int step = 0; step < 6; step++) {
		build_kernel(&build, 0, "first", start_us, start_us + 10);
		build_kernel(&build, 0, "second", start_us + 20, start_us + 30);
		start_us += step == 3 ? fourth_us : 100;
	}
	build_finish(&build, false);
	assert_int_equal(kwhy_whatif_new(build.recording, NULL, NULL, &whatif, &error), KWHY_OK);
	count = whatif->step_count;
	kwhy_whatif_free(whatif);
	build_free(&build);
	return count;
}

static void a_sequence_of_more_than_four_times_the_usual_time_is_no_step(void **state)
{
	(void)state;
	assert_int_equal(steps_with(100), 6);
	assert_int_equal(steps_with(400), 6);
	assert_int_equal(steps_with(401), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sequence_of_more_than_four_times_the_usual_time_is_no_step)};

	return kwhy_test_main(tests, NULL, NULL);
}
