/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/cpus.h"
#include "cmocka_all.h"

static cpu_set_t allowed(void)
{
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	return set;
}

static void a_thread_goes_round_the_cpus_it_may_use_and_may_use_them_all_afterwards(void **state)
{
	cpu_set_t before = allowed(), seen, now;
	struct kwhy_bench_cpus cpus;

	(void)state;
	CPU_ZERO(&seen);
	kwhy_bench_cpus_find(&cpus, NULL, 5);
	for (int i = 0; i < CPU_COUNT(&before); i++) {
		kwhy_bench_cpus_next(&cpus);
		now = allowed();
		assert_true(CPU_EQUAL(&now, &before));
		if (cpus.count > 0)
			CPU_SET(cpus.cpus[cpus.at], &seen);
	}
	assert_true(CPU_EQUAL(&seen, &before) || CPU_COUNT(&before) == 1);
}

static void those_near_are_taken_where_there_are_any_and_one_alone_is_left_as_it_is(void **state)
{
	cpu_set_t before = allowed(), none, near, now;
	struct kwhy_bench_cpus cpus;

	(void)state;
	CPU_ZERO(&none);
	kwhy_bench_cpus_find(&cpus, &none, 0);
	assert_int_equal(cpus.count, CPU_COUNT(&before) > 1 ? CPU_COUNT(&before) : 0);
	near = none;
	for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&near) == 0; cpu++)
		if (CPU_ISSET(cpu, &before))
			CPU_SET(cpu, &near);
	kwhy_bench_cpus_find(&cpus, &near, 0);
	assert_int_equal(cpus.count, 0);
	kwhy_bench_cpus_next(&cpus);
	now = allowed();
	assert_true(CPU_EQUAL(&now, &before));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_goes_round_the_cpus_it_may_use_and_may_use_them_all_afterwards),
		cmocka_unit_test(those_near_are_taken_where_there_are_any_and_one_alone_is_left_as_it_is),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
