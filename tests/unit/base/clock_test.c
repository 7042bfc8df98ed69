/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "base/clock.h"

static void a_relation_turns_one_clock_s_times_into_the_other_s_and_saturates(void **state)
{
	const struct kwhy_clock_relation relation = {.mono_ns = 5, .offset_ns = 1000, .width_ns = 1};
	const struct kwhy_clock_relation after = {.mono_ns = 5, .offset_ns = -1000, .width_ns = 1};

	(void)state;
	assert_int_equal(kwhy_clock_unix_of_mono(&relation, 7), 1007);
	assert_int_equal(kwhy_clock_mono_of_unix(&relation, 1007), 7);
	assert_int_equal(kwhy_clock_unix_of_mono(&relation, INT64_MAX), INT64_MAX);
	assert_int_equal(kwhy_clock_unix_of_mono(&after, INT64_MIN), INT64_MIN);
	assert_int_equal(kwhy_clock_mono_of_unix(&relation, INT64_MIN), INT64_MIN);
	assert_int_equal(kwhy_clock_mono_of_unix(&after, INT64_MAX), INT64_MAX);
}

static void the_relation_of_now_lies_between_readings_of_both_clocks(void **state)
{
	int64_t before_ns = kwhy_clock_mono_ns();
	struct kwhy_clock_relation relation = kwhy_clock_relate();

	(void)state;
	assert_in_range(relation.mono_ns, before_ns, kwhy_clock_mono_ns());
	assert_true(relation.width_ns >= 0);
	assert_true(kwhy_clock_thread_cpu_ns() > 0);
}

static void a_wake_before_the_sleep_ends_it_and_ends_only_one(void **state)
{
	struct kwhy_clock_sleeper sleeper;
	struct kwhy_clock clock = kwhy_clock_system_init(&sleeper);

	(void)state;
	clock.wake(clock.context);
	clock.wake(clock.context);
	clock.sleep_until(clock.context, INT64_MAX);
	clock.sleep_until(clock.context, clock.now_mono_ns(clock.context));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_relation_turns_one_clock_s_times_into_the_other_s_and_saturates),
		cmocka_unit_test(the_relation_of_now_lies_between_readings_of_both_clocks),
		cmocka_unit_test(a_wake_before_the_sleep_ends_it_and_ends_only_one),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
