/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "model/counter.h"
#include "model/recording.h"

#include <math.h>
#include <string.h>

static void a_step_is_a_rise_a_wrap_that_is_undone_or_a_reset(void **state)
{
	static const struct {
		const char *title;
		struct kwhy_counter_span span;
		enum kwhy_counter_step step;
		int64_t counts;
	} cases[] = {
		{"rises", {10, 25, 0, 1e9, 1000, 0}, KWHY_COUNTER_ROSE, 15},
		{"stands still", {10, 10, 0, 1e9, 1000, 0}, KWHY_COUNTER_ROSE, 0},
		{"wraps where told", {262143328000, 850, 262143328850, 1e9, 1000, 0}, KWHY_COUNTER_WRAPPED,
			1701},
		{"wraps at 32 bits", {4294967290, 4, 0, 1e9, 1000, 0}, KWHY_COUNTER_WRAPPED, 10},
		{"reset: more than anything draws", {1000, 0, 0, 1e9, 1000000, 0}, KWHY_COUNTER_FELL, -1},
		{"reset: above where it wraps", {2000, 5, 1000, 1e9, 1000, 0}, KWHY_COUNTER_FELL, -1},
		{"reset: no time passed", {4294967290, 4, 0, 0, 1000, 0}, KWHY_COUNTER_FELL, -1},
		{"reset: negative", {5, -5, 0, 1e9, 1000, 0}, KWHY_COUNTER_FELL, -1},
		{"no rise in 64 bits", {INT64_MIN, INT64_MAX, 0, 1e9, 1000, 0}, KWHY_COUNTER_FELL, -1},
		{"wraps with all that its owner may draw", {100, 9, 100, 10, 1, 1}, KWHY_COUNTER_WRAPPED, 10},
		{"reset: more than its owner may draw", {100, 10, 100, 10, 1, 1}, KWHY_COUNTER_FELL, -1},
		{"wraps at the largest", {INT64_MAX, 0, INT64_MAX, 1e9, 1000, 0}, KWHY_COUNTER_WRAPPED, 1},
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

enum { READINGS_MAX = 10 };

/*
 * A counter that rises by 900 kJ in one second has jumped, because no GPU draws 900 kW. But if one time stamp
 * is wrong, the rises before and after it must count: a late one makes the power before it too low and the
 * power after it too high.
 */
static void a_rise_that_nothing_can_draw_is_a_jump_unless_a_time_was_late(void **state)
{
	int64_t times_ns[] = {0, 1000000000, 2000000000, 3000000000};
	int64_t jumps_first_mj[] = {0, 900000000, 900300000, 900600000},
		jumps_last_mj[] = {0, 300000, 600000, 900000000};
	int64_t late_ns[] = {0, 1999999000, 2000000000, 3000000000}, late_mj[] = {0, 300000, 600000, 900000};
	struct kwhy_power_series series = {
		.meter = KWHY_METER_NVML_ENERGY, .count = 4, .time_ns = times_ns, .value = jumps_first_mj};
	int64_t counts = -1;

	(void)state;
	assert_int_equal(kwhy_counter_step(&series, 1, &counts), KWHY_COUNTER_JUMPED);
	assert_int_equal(kwhy_counter_step(&series, 3, &counts), KWHY_COUNTER_ROSE);
	series.value = jumps_last_mj;
	assert_int_equal(kwhy_counter_step(&series, 1, &counts), KWHY_COUNTER_ROSE);
	assert_int_equal(kwhy_counter_step(&series, 3, &counts), KWHY_COUNTER_JUMPED);
	series.time_ns = late_ns;
	series.value = late_mj;
	assert_int_equal(kwhy_counter_step(&series, 2, &counts), KWHY_COUNTER_ROSE);
	assert_int_equal(counts, 300000);
	late_ns[1] = 1000; /* this time stamp is too early */
	series.count = 3;
	assert_int_equal(kwhy_counter_step(&series, 1, &counts), KWHY_COUNTER_ROSE);
}

static void a_reading_beside_the_course_is_wrong_and_a_fall_that_stays_is_a_reset(void **state)
{
	static const struct {
		const char *title;
		int64_t wrap, value[READINGS_MAX];
		size_t count;
		const char *verdicts; /* per reading: r right, w wrong, o open (later readings decide) */
	} cases[] = {
		{"rises", 0, {0, 30, 60, 60, 90}, 5, "rrrrr"},
		{"one reading dips", 0, {1000, 1030, 860, 1090, 1120}, 5, "rrwrr"},
		{"three dip, unevenly", 0, {1000, 1030, 860, 800, 920, 1150}, 6, "rrwwwr"},
		{"four that fell are a reset", 0, {1000, 1030, 860, 890, 920, 950, 1120}, 7, "rrrrrrr"},
		{"a reset to nothing", 0, {1000, 1030, 0, 30, 60, 90}, 6, "rrrrrr"},
		{"a reset whose rise passes what was before", 0, {1000, 1900, 5, 905, 1905}, 5, "rrrrr"},
		{"one reading peaks", 0, {1000, 1030, 1260, 1090, 1120, 1150, 1180}, 7, "rrwrrrr"},
		{"a peak that the next three make up for", 0, {1000, 1030, 1160, 1090, 1120, 1150, 1180}, 7,
			"rrwrrrr"},
		{"two peak", 0, {1000, 1030, 1560, 1590, 1120, 1150, 1180, 1210}, 8, "rrwwrrrr"},
		{"a fall at the end is open", 0, {1000, 1030, 860}, 3, "rro"},
		{"and while too few follow", 0, {1000, 1030, 860, 890, 920}, 5, "rrooo"},
		{"a wrap is none of these", 1099, {1000, 1030, 1060, 1090, 20, 50}, 6, "rrrrrr"},
		{"a dip where a wrap is possible", 1099, {1000, 1030, 860, 1090}, 4, "rrwr"},
		{"none", 0, {0}, 0, ""},
	};
	static const int64_t times_ns[READINGS_MAX] = {0, 100000000, 200000000, 300000000, 400000000,
		500000000, 600000000, 700000000, 800000000, 900000000};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct kwhy_counter_readings readings = {
			times_ns, cases[i].value, cases[i].count, cases[i].wrap, 1000000000};
		uint8_t verdict[READINGS_MAX];
		char letters[READINGS_MAX + 1] = "";

		kwhy_counter_judge(&readings, verdict);
		for (size_t k = 0; k < cases[i].count; k++)
			letters[k] = "rwo"[verdict[k]];
		if (strcmp(letters, cases[i].verdicts) != 0)
			fail_msg("%s: %s", cases[i].title, letters);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_is_a_rise_a_wrap_that_is_undone_or_a_reset),
		cmocka_unit_test(the_power_of_a_tick_is_its_rise_over_its_length),
		cmocka_unit_test(a_rise_that_nothing_can_draw_is_a_jump_unless_a_time_was_late),
		cmocka_unit_test(a_reading_beside_the_course_is_wrong_and_a_fall_that_stays_is_a_reset),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
