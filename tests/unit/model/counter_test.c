/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "model/counter.h"
#include "model/recording.h"

#include <math.h>

static void a_step_is_a_rise_a_wrap_that_is_undone_or_a_reset(void **state)
{
	static const struct {
		const char *title;
		struct kwhy_counter_span span;
		enum kwhy_counter_step step;
		int64_t counts;
	} cases[] = {
		{"rises", {10, 25, 0, 1e9, 1000}, KWHY_COUNTER_ROSE, 15},
		{"stands still", {10, 10, 0, 1e9, 1000}, KWHY_COUNTER_ROSE, 0},
		{"wraps where told", {262143328000, 850, 262143328850, 1e9, 1000}, KWHY_COUNTER_WRAPPED,
			1701},
		{"wraps at 32 bits", {4294967290, 4, 0, 1e9, 1000}, KWHY_COUNTER_WRAPPED, 10},
		{"reset: more than anything draws", {1000, 0, 0, 1e9, 1000000}, KWHY_COUNTER_FELL, -1},
		{"reset: above where it wraps", {2000, 5, 1000, 1e9, 1000}, KWHY_COUNTER_FELL, -1},
		{"reset: no time passed", {4294967290, 4, 0, 0, 1000}, KWHY_COUNTER_FELL, -1},
		{"reset: negative", {5, -5, 0, 1e9, 1000}, KWHY_COUNTER_FELL, -1},
		{"no rise in 64 bits", {INT64_MIN, INT64_MAX, 0, 1e9, 1000}, KWHY_COUNTER_FELL, -1},
		{"wraps at the largest", {INT64_MAX, 0, INT64_MAX, 1e9, 1000}, KWHY_COUNTER_WRAPPED, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t counts = -1;

		if (kwhy_counter_rise(&cases[i].span, &counts) != cases[i].step || counts != cases[i].counts)
			fail_msg("%s: %lld", cases[i].title, (long long)counts);
	}
}

static void the_power_of_a_tick_is_its_rise_over_its_length(void **state)
{
	int64_t times_ns[] = {0, 1000000000, 2000000000, 2000000001},
		values_uj[] = {262143000000, 262143328850, 671148, 5};
	const struct kwhy_power_series series = {.meter = KWHY_METER_RAPL_PACKAGE,
		.device = KWHY_NONE,
		.wrap = 262143328850,
		.count = 4,
		.time_ns = times_ns,
		.value = values_uj};
	double power_w = -1;

	(void)state;
	assert_true(kwhy_counter_power_w(&series, 1, &power_w));
	assert_true(fabs(power_w - 0.32885) < 1e-9);
	assert_true(kwhy_counter_power_w(&series, 2, &power_w));
	assert_true(fabs(power_w - 0.671149) < 1e-9);
	assert_false(kwhy_counter_power_w(&series, 3, &power_w));
	assert_true(fabs(power_w - 0.671149) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_is_a_rise_a_wrap_that_is_undone_or_a_reset),
		cmocka_unit_test(the_power_of_a_tick_is_its_rise_over_its_length),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
