/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "model/counter.h"

/*
 * Checks on random energy counters that the energy computed from readings is the energy drawn, also where the
 * counter has wrapped between two readings.
 */

enum { SEEDS = 2000, READINGS = 200 };

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static int64_t below(uint64_t *seed, int64_t limit)
{
	return (int64_t)(next(seed) % (uint64_t)limit);
}

struct counter {
	int64_t wrap, unit_nj, value;
};

/*
 * Advances the counter by a random number of counts, less than one wrap and not more than KWHY_POWER_MAX_W
 * draws in the time that passes. Returns that number, and the time in ns in *out_length_ns.
 */
static int64_t draw(struct counter *counter, uint64_t *seed, double *out_length_ns)
{
	int64_t counts = below(seed, counter->wrap), length_ns = 1 + below(seed, 100000000000);
	int64_t most = (int64_t)((double)length_ns * KWHY_POWER_MAX_W / (double)counter->unit_nj);

	if (counts > most)
		counts = most;
	*out_length_ns = (double)length_ns;
	counter->value = (int64_t)(((uint64_t)counter->value + (uint64_t)counts) %
		((uint64_t)counter->wrap + 1));
	return counts;
}

static void all_that_was_drawn_is_given_back_over_any_number_of_wraps(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint64_t random = seed * UINT64_C(0x9E3779B97F4A7C15);
		struct counter counter = {.wrap = 1 + below(&random, INT64_C(1) << (8 + below(&random, 40))),
			.unit_nj = 1 + below(&random, 1000000)};
		int64_t drawn = 0, given = 0;

		counter.value = below(&random, counter.wrap);
		for (int i = 0; i < READINGS; i++) {
			struct kwhy_counter_span span = {
				.before = counter.value, .wrap = counter.wrap, .unit_nj = counter.unit_nj};
			int64_t rise = -1;

			drawn += draw(&counter, &random, &span.length_ns);
			span.after = counter.value;
			assert_int_not_equal(kwhy_counter_rise(&span, &rise), KWHY_COUNTER_FELL);
			given += rise;
		}
		assert_int_equal(given, drawn);
	}
}

static void whatever_two_readings_are_the_rise_is_never_negative_and_no_fall_has_one(void **state)
{
	uint64_t random = 7;

	(void)state;
	for (int i = 0; i < 1000000; i++) {
		struct kwhy_counter_span span = {
			.before = (int64_t)next(&random) >> below(&random, 64),
			.after = (int64_t)next(&random) >> below(&random, 64),
			.wrap = (int64_t)next(&random) >> below(&random, 64),
			.length_ns = (double)((int64_t)next(&random) >> below(&random, 64)),
			.unit_nj = 1 + below(&random, 1000000),
		};
		int64_t rise = -1;
		enum kwhy_counter_step step = kwhy_counter_rise(&span, &rise);

		assert_true(step == KWHY_COUNTER_FELL ? rise == -1 : rise >= 0);
		if (step == KWHY_COUNTER_WRAPPED)
			assert_true((double)rise * (double)span.unit_nj <= span.length_ns * KWHY_POWER_MAX_W);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_was_drawn_is_given_back_over_any_number_of_wraps),
		cmocka_unit_test(whatever_two_readings_are_the_rise_is_never_negative_and_no_fall_has_one),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
