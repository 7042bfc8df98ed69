/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/calibration/updates.h"

#include "bench/calibration/energies.h"
#include "cmocka_all.h"

#include <math.h>

#define MS INT64_C(1000000)
#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

enum { COUNT = 100 };

static struct kwhy_updates updates_of(const struct kwhy_reading *readings, size_t count, bool stamped)
{
	struct kwhy_updates updates;
	struct kwhy_error error;

	assert_int_equal(kwhy_updates_find(readings, count, stamped, &updates, &error), KWHY_OK);
	return updates;
}

static void stamps_that_come_late_are_counted_and_do_not_move_the_period(void **state)
{
	struct kwhy_reading readings[COUNT];
	struct kwhy_updates updates;

	(void)state;
	for (int i = 0; i < COUNT; i++)
		readings[i] = (struct kwhy_reading){i * 20 * MS + (i % 4 == 1 ? 9 * MS : 0), 100};
	updates = updates_of(readings, COUNT, true);
	assert_near(updates.period_s.value, 0.02, 1e-9);
	assert_near(updates.late_share, 0.25, 0.01);
	assert_near(updates.late_s.value, 0.009, 1e-9);
	assert_false(kwhy_update_is_late(readings, COUNT, 0, 0.02));
	assert_true(kwhy_update_is_late(readings, COUNT, 1, 0.02));
	assert_false(kwhy_update_is_late(readings, COUNT, 2, 0.02));
}

static void a_polled_meter_updates_where_its_value_changes(void **state)
{
	struct kwhy_reading readings[COUNT];
	struct kwhy_updates updates;

	(void)state;
	for (int i = 0; i < COUNT; i++)
		readings[i] = (struct kwhy_reading){i * 20 * MS, i / 5};
	updates = updates_of(readings, COUNT, false);
	assert_near(updates.period_s.value, 0.1, 1e-9);
	assert_true(isnan(updates.late_share));
}

static void a_pause_of_equal_values_is_no_update_period(void **state)
{
	struct kwhy_reading readings[COUNT];

	(void)state;
	for (int i = 0; i < COUNT; i++)
		readings[i] = (struct kwhy_reading){i * 20 * MS, i < 40 || i > 60 ? i / 5 : 8};
	assert_near(updates_of(readings, COUNT, false).period_s.value, 0.1, 0.01);
}

static void too_few_updates_are_no_period(void **state)
{
	struct kwhy_reading readings[3] = {{0, 1}, {20 * MS, 2}, {40 * MS, 3}};

	(void)state;
	assert_true(isnan(updates_of(readings, 3, true).period_s.value));
	assert_true(isnan(updates_of(readings, 0, true).period_s.value));
}

static void powers_are_integrated_along_straight_lines(void **state)
{
	struct kwhy_reading readings[] = {{0, 100000}, {1000 * MS, 200000}, {3000 * MS, 200000}};
	struct kwhy_meter_series series = {readings, 3};

	(void)state;
	assert_near(kwhy_series_joules(&series, 0, 1000 * MS), 150, 1e-9);
	assert_near(kwhy_series_joules(&series, 500 * MS, 2000 * MS), 87.5 + 200, 1e-9);
	assert_true(isnan(kwhy_series_joules(&series, 0, 4000 * MS)));
	assert_near(kwhy_series_watts(&series, 0, 3000 * MS).value, 500.0 / 3, 1e-9);
	assert_true(isnan(kwhy_series_watts(&series, 0, 1000 * MS).value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stamps_that_come_late_are_counted_and_do_not_move_the_period),
		cmocka_unit_test(a_polled_meter_updates_where_its_value_changes),
		cmocka_unit_test(a_pause_of_equal_values_is_no_update_period),
		cmocka_unit_test(too_few_updates_are_no_period),
		cmocka_unit_test(powers_are_integrated_along_straight_lines),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
