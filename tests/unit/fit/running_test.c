/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/carbon.h"
#include "fit/running.h"
#include "fit/units.h"

#include "cmocka_all.h"

#include <math.h>
#include <string.h>

static struct kwhy_error error;

static struct kwhy_running_question question(void)
{
	return (struct kwhy_running_question){.energy_j = {1832, 1813.68, 1850.32},
		.seconds = 1800,
		.unit_j = {2, 1, 5},
		.unit_s = 6,
		.runs_per_day = 1000,
		.pue = 1,
		.per_kwh = 500,
		.per_hour = NAN};
}

static void energy_times_intensity_is_grams_a_run_a_step_and_a_year(void **state)
{
	struct kwhy_running_question asked = question();
	struct kwhy_running answer;

	(void)state;
	assert_int_equal(kwhy_running_of(&asked, &answer, &error), KWHY_OK);
	assert_true(fabs(answer.kwh.value - 1832 / 3.6e6) < 1e-12);
	assert_true(fabs(answer.per_run.value - 0.254444) < 1e-6);
	assert_true(fabs(answer.per_unit.value - 2 / 3.6e6 * 500) < 1e-12);
	assert_true(fabs(answer.per_unit.high - 5 / 3.6e6 * 500) < 1e-12);
	assert_true(fabs(answer.per_year.value - 1832 / 3.6e6 * 500 * 365000) < 0.01);
	assert_true(
		fabs((answer.per_run.high - answer.per_run.low) / 2 / answer.per_run.value - 0.01) < 1e-9);
}

/*
 * kwhy model audit must use the same length of a year as kwhy model cost, or it would find errors in figures
 * that the latter computed.
 */
static void a_year_is_as_long_as_that_of_an_audit(void **state)
{
	struct kwhy_running_question asked = question();
	struct kwhy_running answer;
	struct kwhy_unit unit;

	(void)state;
	assert_true(kwhy_unit_parse("day/year", &unit));
	assert_int_equal(kwhy_running_of(&asked, &answer, &error), KWHY_OK);
	assert_true(fabs(answer.per_year.value * unit.factor / (1000 * answer.per_run.value) - 1) < 1e-12);
}

static void a_building_multiplies_the_energy_and_not_an_hourly_price(void **state)
{
	struct kwhy_running_question asked = question();
	struct kwhy_running answer;

	(void)state;
	asked.pue = 1.5;
	assert_int_equal(kwhy_running_of(&asked, &answer, &error), KWHY_OK);
	assert_true(fabs(answer.per_run.value - 0.254444 * 1.5) < 1e-6);
	asked.per_hour = 4;
	asked.per_kwh = NAN;
	assert_int_equal(kwhy_running_of(&asked, &answer, &error), KWHY_OK);
	assert_true(fabs(answer.per_run.value - 2) < 1e-12);
	assert_true(isnan(answer.per_run.low));
	assert_true(fabs(answer.per_unit.value - 4 * 6 / 3600.0) < 1e-12);
}

static void no_joule_is_paid_twice_and_nothing_unknown_is_free(void **state)
{
	struct kwhy_running_question asked = question();
	struct kwhy_running answer;

	(void)state;
	asked.per_hour = 4;
	assert_int_equal(kwhy_running_of(&asked, &answer, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "already contains the electricity"));
	asked = question();
	asked.per_kwh = NAN;
	assert_int_equal(kwhy_running_of(&asked, &answer, &error), KWHY_E_INPUT);
	asked = question();
	asked.energy_j.value = NAN;
	assert_int_equal(kwhy_running_of(&asked, &answer, &error), KWHY_E_INPUT);
	asked = question();
	asked.pue = 0.9;
	assert_int_equal(kwhy_running_of(&asked, &answer, &error), KWHY_E_INPUT);
}

static void what_was_not_asked_or_is_not_known_is_unknown(void **state)
{
	struct kwhy_running_question asked = question();
	struct kwhy_running answer;

	(void)state;
	asked.unit_j = kwhy_interval_unknown();
	asked.runs_per_day = NAN;
	assert_int_equal(kwhy_running_of(&asked, &answer, &error), KWHY_OK);
	assert_true(isnan(answer.per_unit.value) && isnan(answer.per_year.value));
}

static void a_place_is_found_by_key_or_name_with_its_year(void **state)
{
	const struct kwhy_carbon_region *place;

	(void)state;
	assert_int_equal(kwhy_carbon_find("tha", &place, &error), KWHY_OK);
	assert_string_equal(place->name, "Thailand");
	assert_int_equal(place->year, 2024);
	assert_true(place->g_per_kwh == 555.43);
	assert_int_equal(kwhy_carbon_find("gcp:us-west1", &place, &error), KWHY_OK);
	assert_true(place->g_per_kwh == 97.85);
	assert_int_equal(kwhy_carbon_find("Atlantis", &place, &error), KWHY_E_USAGE);
}

static void every_place_has_a_sane_value_and_a_key_of_its_own(void **state)
{
	size_t count;
	const struct kwhy_carbon_region *places = kwhy_carbon_regions(&count);

	(void)state;
	assert_int_equal(count, 222 + 47);
	for (size_t i = 0; i < count; i++) {
		const struct kwhy_carbon_region *found;

		assert_in_range(places[i].year, 2015, 2030);
		assert_true(places[i].g_per_kwh >= 0 && places[i].g_per_kwh < 1500);
		assert_int_equal(kwhy_carbon_find(places[i].key, &found, &error), KWHY_OK);
		assert_ptr_equal(found, &places[i]);
	}
}

static void intervals_scale_add_and_invert(void **state)
{
	struct kwhy_interval a = {10, 7, 13}, b = {20, 16, 24}, c = kwhy_interval_difference(b, a),
			     d = kwhy_interval_scaled(a, -2), e = kwhy_interval_inverse(a);

	(void)state;
	assert_true(c.value == 10 && c.low == 5 && c.high == 15);
	assert_true(d.value == -20 && d.low == -26 && d.high == -14);
	assert_true(e.value == 0.1 && e.low == 1.0 / 13 && e.high == 1.0 / 7);
	assert_true(isnan(kwhy_interval_sum(a, kwhy_interval_exact(1)).low));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(energy_times_intensity_is_grams_a_run_a_step_and_a_year),
		cmocka_unit_test(a_year_is_as_long_as_that_of_an_audit),
		cmocka_unit_test(a_building_multiplies_the_energy_and_not_an_hourly_price),
		cmocka_unit_test(no_joule_is_paid_twice_and_nothing_unknown_is_free),
		cmocka_unit_test(what_was_not_asked_or_is_not_known_is_unknown),
		cmocka_unit_test(a_place_is_found_by_key_or_name_with_its_year),
		cmocka_unit_test(every_place_has_a_sane_value_and_a_key_of_its_own),
		cmocka_unit_test(intervals_scale_add_and_invert),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
