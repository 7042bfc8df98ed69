/* SPDX-License-Identifier: Apache-2.0 */
/* `kwhy model power` of real recordings with counters. */
#include "spawned_checks.h"

#define COUNTERS KWHY_SOURCE_DIR "/examples/h200-counters/"

static void the_power_of_a_second_recording_is_foretold_within_five_percent(void **state)
{
	json_t *answer = json_of(
		SPAWN("model", "power", "--json", "--fit", COUNTERS "mixed-1.kwhy", COUNTERS "mixed-2.kwhy"));

	(void)state;
	assert_int_equal(number_at(answer, "fitted_windows"), 53);
	assert_int_equal(number_at(answer, "split_windows"), 52);
	assert_true(number_at(answer, "lag_s") < -0.02 && number_at(answer, "lag_s") > -0.15);
	assert_true(number_at(answer, "held_out_ratio") < 0.035);
	assert_true(number_at(answer, "split_error_ratio") < 0.035);
	json_decref(answer);
	answer = json_of(SPAWN("model", "power", "--json", "--window", "1", "--fit", COUNTERS "mixed-1.kwhy",
		COUNTERS "mixed-2.kwhy"));
	assert_int_equal(number_at(answer, "fitted_windows"), 106);
	assert_true(number_at(answer, "held_out_ratio") < 0.05);
	assert_true(number_at(answer, "split_error_ratio") < 0.05);
	json_decref(answer);
	assert_fails(
		SPAWN("model", "power", "--window", "5", COUNTERS "mixed-1.kwhy"), 1, "shorter --window");
	assert_says(SPAWN("model", "power", "--fit", COUNTERS "mixed-2.kwhy", COUNTERS "mixed-1.kwhy"),
		"11 of them lie outside of what was fitted, most by gpm_tensor_active_permille");
	assert_says(SPAWN("model", "power", "--fit", COUNTERS "mixed-2.kwhy", COUNTERS "mixed-1.kwhy"),
		"585 mW  567 mW to 604 mW");
}

/* Every kind of work is in every block, and the clock is known five times a second. */
static void blocks_of_balanced_work_and_the_other_recording_are_foretold_within_five_percent(void **state)
{
	static const char *const paths[] = {KWHY_SOURCE_DIR "/examples/h100-counters/mixed-1.kwhy",
		KWHY_SOURCE_DIR "/examples/h100-counters/mixed-2.kwhy"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		json_t *answer = json_of(SPAWN("model", "power", "--json", "--fit", paths[i], paths[1 - i]));

		assert_true(number_at(answer, "held_out_ratio") < 0.05);
		assert_true(number_at(answer, "split_error_ratio") < 0.05);
		assert_true(
			number_at(answer, "joules.base.high") < 0.45 * number_at(answer, "joules.measured"));
		assert_true(
			number_at(answer, "joules.base.low") > 0.33 * number_at(answer, "joules.measured"));
		json_decref(answer);
	}
}

#define KINDS KWHY_SOURCE_DIR "/examples/h200-power/"

/* Without the counter of integer units the blocks held out would give 9 %. */
static void a_decoder_s_power_is_foretold_for_other_numbers_of_sequences(void **state)
{
	json_t *answer = json_of(
		SPAWN("model", "power", "--json", "--fit", KINDS "decode-1.kwhy", KINDS "decode-2.kwhy"));

	(void)state;
	assert_true(number_at(answer, "held_out_ratio") < 0.055);
	assert_true(number_at(answer, "split_error_ratio") < 0.05);
	json_decref(answer);
}

/* Attention, convolutions, sorting and training, by a fit to none of them; and what the memory draws of its
 * traffic is at least what its own meter says. */
static void kinds_of_work_that_were_not_fitted_are_foretold_by_many_that_were(void **state)
{
	json_t *answer = json_of(
		SPAWN("model", "power", "--json", "--fit", KINDS "mixed-1.kwhy", KINDS "other.kwhy"));
	const json_t *gauges = json_object_get(answer, "gauges");
	size_t i, metered = 0;
	json_t *gauge;

	(void)state;
	assert_true(number_at(answer, "split_error_ratio") < 0.045);
	json_array_foreach(gauges, i, gauge)
	{
		double by_meter = number_at(gauge, "metered_per_unit.value");

		metered += isfinite(by_meter);
		if (isfinite(by_meter))
			assert_true(by_meter > 0.1 && by_meter <= number_at(gauge, "watts_per_unit.value"));
	}
	assert_int_equal(metered, 1);
	json_decref(answer);
	assert_says(SPAWN("model", "power", "--fit", COUNTERS "mixed-1.kwhy", KINDS "other.kwhy"),
		"without what only one of the two has: 3 counters");
	assert_says(SPAWN("model", "power", KINDS "mixed-1.kwhy"),
		"133 mW of gpm_dram_active_permille by the memory's own meter");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_power_of_a_second_recording_is_foretold_within_five_percent),
		cmocka_unit_test(
			blocks_of_balanced_work_and_the_other_recording_are_foretold_within_five_percent),
		cmocka_unit_test(a_decoder_s_power_is_foretold_for_other_numbers_of_sequences),
		cmocka_unit_test(kinds_of_work_that_were_not_fitted_are_foretold_by_many_that_were),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
