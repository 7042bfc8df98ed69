/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "measure/window.h"
#include "ok.h"

#include <math.h>

static struct kwhy_error error;

enum { MAX = 2500 };
#define MS INT64_C(1000000)

/* Returns the readings of a counter of a constant power, one every 100 ms from time 0. */
static struct kwhy_readings steady_counter(struct kwhy_reading items[MAX], size_t count, int64_t watts)
{
	for (size_t i = 0; i < count; i++)
		items[i] = (struct kwhy_reading){(int64_t)i * 100 * MS, 5000 + (int64_t)i * watts * 100};
	return (struct kwhy_readings){KWHY_METER_NVML_ENERGY, items, count, 100 * MS, 0};
}

static struct kwhy_readings steady_power(struct kwhy_reading items[MAX], size_t count, int64_t watts)
{
	for (size_t i = 0; i < count; i++)
		items[i] = (struct kwhy_reading){(int64_t)i * 20 * MS, watts * 1000};
	return (struct kwhy_readings){KWHY_METER_NVML_SAMPLE, items, count, 20 * MS, 0};
}

static struct kwhy_curve *curve_of(const struct kwhy_readings *counter, const struct kwhy_readings *power)
{
	struct kwhy_response response = kwhy_response_of(power ? power->meter : counter->meter);
	struct kwhy_curve *curve;

	OK(kwhy_curve_new(counter, power, &response, &curve, &error));
	return curve;
}

static struct kwhy_energy energy_of(const struct kwhy_curve *curve, int64_t start_ns, int64_t end_ns)
{
	struct kwhy_energy energy;

	kwhy_window_energy(curve, start_ns, end_ns, KWHY_ENOUGH_RATIO, &energy);
	return energy;
}

static void steady_power_gives_power_times_time_by_any_meter(void **state)
{
	struct kwhy_reading ticks[MAX], samples[MAX];
	struct kwhy_readings counter = steady_counter(ticks, 50, 300),
			     power = steady_power(samples, 250, 300);
	const struct kwhy_readings *pairs[3][2] = {{&counter, &power}, {&counter, NULL}, {NULL, &power}};
	const enum kwhy_energy_basis bases[] = {
		KWHY_ENERGY_COUNTER_AND_POWER, KWHY_ENERGY_COUNTER, KWHY_ENERGY_POWER};

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct kwhy_curve *curve = curve_of(pairs[i][0], pairs[i][1]);
		struct kwhy_energy energy = energy_of(curve, 1033 * MS, 3077 * MS);

		assert_int_equal(energy.state, KWHY_ENERGY_MEASURED);
		assert_int_equal(energy.basis, bases[i]);
		assert_true(fabs(energy.joules - 300 * 2.044) < 1e-6);
		assert_true(fabs(energy.mean_w - 300) < 1e-6 && fabs(energy.peak_w - 300) < 1e-6);
		assert_true(energy.low_j < energy.joules && energy.joules < energy.high_j);
		assert_true(energy.enough && energy.repetitions_needed == 1);
		kwhy_curve_free(curve);
	}
}

static void a_window_whose_readings_have_not_come_is_not_yet(void **state)
{
	struct kwhy_reading ticks[MAX];
	struct kwhy_readings counter = steady_counter(ticks, 20, 300);
	struct kwhy_curve *curve = curve_of(&counter, NULL);
	struct kwhy_energy energy = energy_of(curve, 500 * MS, 1950 * MS);

	(void)state;
	assert_int_equal(energy.state, KWHY_ENERGY_NOT_YET);
	assert_true(isnan(energy.joules) && isnan(energy.low_j) && isnan(energy.peak_w));
	assert_int_equal(energy_of(curve, -300 * MS, 900 * MS).state, KWHY_ENERGY_FORGOTTEN);
	kwhy_curve_free(curve);
}

static void without_readings_nothing_is_metered(void **state)
{
	struct kwhy_reading ticks[MAX];
	struct kwhy_readings counter = steady_counter(ticks, 1, 300);
	struct kwhy_curve *none = curve_of(&counter, NULL);
	struct kwhy_energy energy = energy_of(none, 0, 1000 * MS);

	(void)state;
	assert_int_equal(energy.state, KWHY_ENERGY_NOT_METERED);
	assert_int_equal(energy.basis, KWHY_ENERGY_NONE);
	assert_true(isnan(energy.joules));
	kwhy_curve_free(none);
}

static void a_counter_that_wraps_goes_on(void **state)
{
	struct kwhy_reading ticks[MAX];
	struct kwhy_readings counter = steady_counter(ticks, 50, 300);
	struct kwhy_curve *curve;

	(void)state;
	counter.wrap = 700000;
	for (size_t i = 0; i < 50; i++)
		ticks[i].value = (ticks[i].value + 600000) % (counter.wrap + 1);
	curve = curve_of(&counter, NULL);
	assert_true(fabs(energy_of(curve, 500 * MS, 4500 * MS).joules - 1200) < 1e-6);
	assert_int_equal(kwhy_curve_faults(curve).wraps, 2);
	assert_int_equal(kwhy_curve_faults(curve).resets, 0);
	kwhy_curve_free(curve);
}

/*
 * Two single readings of the counter are wrong, one 200 J too low and one 200 J too high; neither may change
 * an energy. While the low one is the last reading, it may be a reset, so energy is known only up to the
 * reading before it.
 */
static void a_reading_beside_the_course_of_a_counter_counts_nothing(void **state)
{
	struct kwhy_reading ticks[MAX];
	struct kwhy_readings counter = steady_counter(ticks, 50, 300);
	struct kwhy_curve *curve;

	(void)state;
	ticks[20].value -= 200000;
	ticks[30].value += 200000;
	curve = curve_of(&counter, NULL);
	assert_true(fabs(energy_of(curve, 500 * MS, 4500 * MS).joules - 1200) < 1e-6);
	assert_int_equal(kwhy_curve_faults(curve).misread, 2);
	assert_int_equal(kwhy_curve_faults(curve).resets, 0);
	kwhy_curve_free(curve);
	counter.count = 21;
	curve = curve_of(&counter, NULL);
	assert_in_range(kwhy_curve_last_ns(curve), ticks[19].time_mono_ns - 20 * MS, ticks[19].time_mono_ns);
	assert_int_equal(kwhy_curve_faults(curve).misread, 0);
	kwhy_curve_free(curve);
}

static void a_reset_is_told_and_bridged(void **state)
{
	struct kwhy_reading ticks[MAX], samples[MAX];
	struct kwhy_readings counter = steady_counter(ticks, 50, 300),
			     power = steady_power(samples, 250, 300);
	const struct kwhy_readings *powers[] = {&power, NULL};
	int64_t lost = ticks[20].value - 7;

	(void)state;
	for (size_t i = 20; i < 50; i++)
		ticks[i].value -= lost;
	for (int i = 0; i < 2; i++) {
		struct kwhy_curve *curve = curve_of(&counter, powers[i]);

		assert_int_equal(kwhy_curve_faults(curve).resets, 1);
		assert_true(fabs(energy_of(curve, 500 * MS, 4500 * MS).joules - 1200) < 0.2);
		kwhy_curve_free(curve);
	}
}

static void a_counter_that_stands_still_while_power_flows_is_left_for_the_samples(void **state)
{
	struct kwhy_reading ticks[MAX], samples[MAX];
	struct kwhy_readings counter = steady_counter(ticks, 15, 300),
			     power = steady_power(samples, 2000, 300);
	struct kwhy_curve *curve = curve_of(&counter, &power);
	struct kwhy_energy energy = energy_of(curve, 2000 * MS, 4000 * MS);

	(void)state;
	assert_true(kwhy_curve_faults(curve).counter_stuck);
	assert_int_equal(energy.basis, KWHY_ENERGY_POWER);
	assert_true(fabs(energy.joules - 600) < 1e-6);
	kwhy_curve_free(curve);
}

static void a_counter_that_stood_still_within_a_short_run_is_left_for_the_samples(void **state)
{
	struct kwhy_reading ticks[MAX], samples[MAX];
	struct kwhy_readings counter = steady_counter(ticks, 15, 300),
			     power = steady_power(samples, 300, 300);
	struct kwhy_curve *curve;
	struct kwhy_energy energy;

	(void)state;
	/* from 1.3 s to 5.5 s the counter rises by 300 J, though the device draws 300 W: 1260 J */
	ticks[14] = (struct kwhy_reading){5500 * MS, ticks[13].value + 300000};
	curve = curve_of(&counter, &power);
	energy = energy_of(curve, 1000 * MS, 5400 * MS);
	assert_true(kwhy_curve_faults(curve).counter_stuck);
	assert_int_equal(energy.basis, KWHY_ENERGY_POWER);
	assert_true(fabs(energy.joules - 1320) < 1e-3);
	kwhy_curve_free(curve);
}

static void a_counter_that_says_the_same_again_has_stood_still(void **state)
{
	struct kwhy_reading ticks[MAX], samples[MAX];
	struct kwhy_readings counter = steady_counter(ticks, 15, 300),
			     power = steady_power(samples, 300, 300);
	struct kwhy_curve *curve;

	(void)state;
	ticks[14] = (struct kwhy_reading){5500 * MS, ticks[13].value};
	curve = curve_of(&counter, &power);
	assert_true(kwhy_curve_faults(curve).counter_stuck);
	assert_int_equal(energy_of(curve, 2000 * MS, 5400 * MS).basis, KWHY_ENERGY_POWER);
	kwhy_curve_free(curve);
}

static void a_counter_that_never_moves_is_told_and_left_for_the_samples(void **state)
{
	struct kwhy_reading ticks[MAX], samples[MAX];
	struct kwhy_readings counter = steady_counter(ticks, 15, 0), power = steady_power(samples, 300, 300);
	struct kwhy_curve *curve;

	(void)state;
	for (size_t i = 0; i < 15; i++)
		ticks[i].time_mono_ns = 1000 * MS + (int64_t)i * 250 * MS;
	curve = curve_of(&counter, &power);
	assert_true(kwhy_curve_faults(curve).counter_stuck);
	assert_int_equal(energy_of(curve, 2000 * MS, 5400 * MS).basis, KWHY_ENERGY_POWER);
	assert_true(fabs(energy_of(curve, 2000 * MS, 5400 * MS).joules - 1020) < 1e-3);
	kwhy_curve_free(curve);
}

static void a_first_reading_from_long_ago_is_not_believed(void **state)
{
	struct kwhy_reading ticks[MAX], samples[MAX];
	struct kwhy_readings counter = steady_counter(ticks, 50, 300),
			     power = steady_power(samples, 250, 300);
	struct kwhy_curve *curve;

	(void)state;
	ticks[4] = (struct kwhy_reading){ticks[5].time_mono_ns - 2 * MS, ticks[5].value - 82000};
	counter.items = ticks + 4;
	counter.count = 46;
	curve = curve_of(&counter, &power);
	assert_int_equal(kwhy_curve_faults(curve).mistrusted, 1);
	assert_true(fabs(energy_of(curve, 100 * MS, 4500 * MS).joules - 1320) < 1e-3);
	kwhy_curve_free(curve);
}

static void readings_that_go_back_in_time_are_left_out_and_counted(void **state)
{
	struct kwhy_reading ticks[MAX], samples[MAX];
	struct kwhy_readings counter = steady_counter(ticks, 50, 300),
			     power = steady_power(samples, 250, 300);
	struct kwhy_curve *curve;

	(void)state;
	samples[100].time_mono_ns -= 50 * MS;
	ticks[30].time_mono_ns -= 200 * MS;
	curve = curve_of(&counter, &power);
	assert_int_equal(kwhy_curve_faults(curve).unordered, 2);
	assert_true(fabs(energy_of(curve, 500 * MS, 4500 * MS).joules - 1200) < 0.5);
	kwhy_curve_free(curve);
}

static void a_gap_in_the_samples_is_filled_by_the_counter(void **state)
{
	struct kwhy_reading ticks[MAX], samples[MAX];
	struct kwhy_readings counter = steady_counter(ticks, 50, 300),
			     power = steady_power(samples, 250, 300);
	struct kwhy_curve *curve;

	(void)state;
	for (size_t i = 150; i < 250; i++)
		samples[i - 50] = samples[i];
	power.count = 200;
	curve = curve_of(&counter, &power);
	assert_true(fabs(energy_of(curve, 500 * MS, 4500 * MS).joules - 1200) < 1e-6);
	assert_true(fabs(energy_of(curve, 2250 * MS, 2750 * MS).joules - 150) < 1e-6);
	kwhy_curve_free(curve);
}

static void ticks_behind_the_samples_wait_for_them_and_not_for_long(void **state)
{
	struct kwhy_reading ticks[MAX], samples[MAX];
	struct kwhy_readings counter = steady_counter(ticks, 71, 300),
			     power = steady_power(samples, 251, 300);
	struct kwhy_curve *curve;

	(void)state;
	curve = curve_of(
		&counter, &power); /* power samples end 2 s before the counter; later ones may still come */
	assert_true(kwhy_curve_last_ns(curve) < 5001 * MS);
	kwhy_curve_free(curve);
	counter = steady_counter(ticks, 91, 300);
	curve = curve_of(&counter, &power);
	assert_true(kwhy_curve_last_ns(curve) > 8900 * MS);
	assert_true(fabs(energy_of(curve, 500 * MS, 8500 * MS).joules - 2400) < 0.1);
	kwhy_curve_free(curve);
}

static void between_rare_ticks_the_samples_give_the_shape_and_the_ticks_the_sum(void **state)
{
	struct kwhy_reading ticks[MAX], samples[MAX];
	struct kwhy_readings counter = steady_counter(ticks, 101, 300),
			     power = steady_power(samples, 600, 297);
	struct kwhy_curve *curve;
	struct kwhy_energy inside, after;

	(void)state;
	ticks[1] = ticks[100];
	counter.count = 2;
	curve = curve_of(&counter, &power);
	inside = energy_of(curve, 3000 * MS, 4000 * MS);
	after = energy_of(curve, 10500 * MS, 11500 * MS);
	assert_true(fabs(inside.joules - 300) < 0.01 && fabs(after.joules - 300) < 0.01);
	assert_true(kwhy_curve_counted_ns(curve) < 10000 * MS && kwhy_curve_last_ns(curve) > 11900 * MS);
	assert_true((inside.high_j - inside.low_j) / 2 < 0.04 * 300);
	kwhy_curve_free(curve);
}

static void many_short_windows_in_one_stretch_are_known_by_their_share_alone(void **state)
{
	struct kwhy_reading ticks[MAX], samples[MAX];
	struct kwhy_readings counter = steady_counter(ticks, 50, 300),
			     power = steady_power(samples, 250, 300);
	struct kwhy_curve *curve = curve_of(&counter, &power);
	struct kwhy_window_sum sum;
	struct kwhy_energy energy, whole = energy_of(curve, 1000 * MS, 2000 * MS);

	(void)state;
	kwhy_window_sum_init(&sum);
	sum.curve = curve;
	for (int64_t i = 0; i < 500; i++)
		kwhy_window_sum_add(&sum, (1000 + 2 * i) * MS, (1001 + 2 * i) * MS);
	kwhy_window_sum_result(&sum, KWHY_ENOUGH_RATIO, &energy);
	assert_true(fabs(energy.joules - 150) < 1e-6);
	assert_true((energy.high_j - energy.low_j) / energy.joules >
		10 * (whole.high_j - whole.low_j) / whole.joules);
	assert_false(energy.enough);
	assert_true(energy.repetitions_needed > 1);
	kwhy_curve_free(curve);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steady_power_gives_power_times_time_by_any_meter),
		cmocka_unit_test(a_window_whose_readings_have_not_come_is_not_yet),
		cmocka_unit_test(without_readings_nothing_is_metered),
		cmocka_unit_test(a_counter_that_wraps_goes_on),
		cmocka_unit_test(a_reading_beside_the_course_of_a_counter_counts_nothing),
		cmocka_unit_test(a_reset_is_told_and_bridged),
		cmocka_unit_test(a_counter_that_stands_still_while_power_flows_is_left_for_the_samples),
		cmocka_unit_test(a_counter_that_stood_still_within_a_short_run_is_left_for_the_samples),
		cmocka_unit_test(a_counter_that_says_the_same_again_has_stood_still),
		cmocka_unit_test(a_counter_that_never_moves_is_told_and_left_for_the_samples),
		cmocka_unit_test(a_first_reading_from_long_ago_is_not_believed),
		cmocka_unit_test(readings_that_go_back_in_time_are_left_out_and_counted),
		cmocka_unit_test(a_gap_in_the_samples_is_filled_by_the_counter),
		cmocka_unit_test(ticks_behind_the_samples_wait_for_them_and_not_for_long),
		cmocka_unit_test(between_rare_ticks_the_samples_give_the_shape_and_the_ticks_the_sum),
		cmocka_unit_test(many_short_windows_in_one_stretch_are_known_by_their_share_alone),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
