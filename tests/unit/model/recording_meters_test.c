/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "model/recording.h"

#include <string.h>

/*
 * Tests which readings kwhy_recording_finish() removes because a working meter cannot give them, and which
 * notes it adds.
 */

static struct kwhy_error error;

#define OK(call) assert_int_equal(call, KWHY_OK)
#define MS INT64_C(1000000)

/* Returns a recording of a device that works from 0 s to 3 s. limit_mw: its power limit; -1: unknown. */
static struct kwhy_recording *build(int64_t limit_mw)
{
	const struct kwhy_device device = {
		.rank = KWHY_NONE, .limit_mw = limit_mw, .context_idle_mw = -1, .clean_idle_mw = -1};
	const struct kwhy_process process = {.pid = 1, .rank = KWHY_NONE};
	const struct kwhy_stream stream = {.context = 1, .id = 7};
	struct kwhy_recording *recording;

	OK(kwhy_recording_new(&recording, &error));
	OK(kwhy_recording_add_device(recording, &device, NULL, &error));
	OK(kwhy_recording_add_process(recording, &process, NULL, &error));
	OK(kwhy_recording_add_stream(recording, &stream, NULL, &error));
	for (int64_t i = 0; i < 60; i++) {
		struct kwhy_activity row = kwhy_activity_unknown();

		row.start_ns = i * 50 * MS;
		row.end_ns = row.start_ns + 30 * MS;
		row.stream = 0;
		OK(kwhy_names_intern(&recording->names, "k", 1, &row.name, &error));
		OK(kwhy_recording_add_activity(recording, &row, &error));
	}
	return recording;
}

static void add(struct kwhy_recording *recording, enum kwhy_meter meter, int64_t ms, int64_t value)
{
	const uint32_t device = meter == KWHY_METER_RAPL_PACKAGE ? KWHY_NONE : 0;

	OK(kwhy_recording_add_reading(recording, meter, device, 0, ms * MS, value, &error));
}

/* Finishes the recording and checks that it has notes, all with this id; NULL: that it has no notes. */
static void finish(struct kwhy_recording *recording, const char *id)
{
	OK(kwhy_recording_finish(recording, &error));
	assert_int_equal(recording->note_count > 0, id != NULL);
	for (size_t i = 0; i < recording->note_count; i++)
		assert_string_equal(recording->notes[i].id, id);
}

/*
 * The device draws 200 W and its counter is read every 100 ms. From 1.0 s to 1.7 s the counter shows the same
 * value; at 1.8 s it has caught up. The seven readings that show no rise must be removed, so that the energy
 * of that time is kept.
 */
static void a_counter_that_stood_still_and_caught_up_keeps_its_energy(void **state)
{
	struct kwhy_recording *recording = build(-1);

	(void)state;
	for (int64_t i = 0; i <= 30; i++)
		add(recording, KWHY_METER_NVML_ENERGY, i * 100, 20000 * (i >= 10 && i < 18 ? 10 : i));
	finish(recording, "counter-still");
	assert_int_equal(recording->power[0].count, 31 - 7);
	assert_non_null(strstr(recording->notes[0].text, "stood still for 700 ms"));
	assert_int_equal(recording->power[0].time_ns[10], 1000 * MS);
	assert_int_equal(recording->power[0].time_ns[11], 1800 * MS);
	assert_int_equal(recording->power[0].value[11], 360000);
	kwhy_recording_free(recording);
}

static void a_counter_that_stays_still_has_no_readings_from_then_on(void **state)
{
	struct kwhy_recording *recording = build(-1);

	(void)state;
	for (int64_t i = 0; i <= 30; i++)
		add(recording, KWHY_METER_NVML_ENERGY, i * 100, 20000 * (i < 20 ? i : 20) + (i > 20 ? i : 0));
	finish(recording, "counter-still");
	assert_int_equal(recording->power[0].count, 21);
	kwhy_recording_free(recording);
}

/* The counter is read every 20 ms and updated every 100 ms. */
static void a_counter_that_is_read_more_often_than_it_is_updated_is_not_still(void **state)
{
	struct kwhy_recording *recording = build(-1);

	(void)state;
	for (int64_t i = 0; i <= 150; i++)
		add(recording, KWHY_METER_NVML_ENERGY, i * 20, 20000 * (i / 5));
	finish(recording, NULL);
	assert_int_equal(recording->power[0].count, 151);
	kwhy_recording_free(recording);
}

static void a_meter_that_never_moves_or_shows_watts_for_milliwatts_is_left_out(void **state)
{
	(void)state;
	for (int64_t step = 0; step < 2; step++) {
		struct kwhy_recording *recording = build(-1);

		for (int64_t i = 0; i <= 30; i++) {
			add(recording, KWHY_METER_RAPL_PACKAGE, i * 100, 1000 + step * i);
			add(recording, step ? KWHY_METER_NVML_SAMPLE : KWHY_METER_NVML_ENERGY, i * 100, 300);
		}
		finish(recording, "dead-meter");
		assert_int_equal(recording->note_count, 2);
		assert_int_equal(recording->power_count, 0);
		kwhy_recording_free(recording);
	}
}

/* Both meters must stay: the ledger compares them and tells which one it uses. */
static void a_still_counter_stays_if_there_is_another_meter(void **state)
{
	struct kwhy_recording *recording = build(-1);

	(void)state;
	for (int64_t i = 0; i <= 30; i++) {
		add(recording, KWHY_METER_NVML_ENERGY, i * 100, 5000);
		add(recording, KWHY_METER_NVML_AVERAGE, i * 100, 200123 + i);
	}
	finish(recording, NULL);
	assert_int_equal(recording->power_count, 2);
	kwhy_recording_free(recording);
}

static void powers_that_no_gpu_draws_are_left_out(void **state)
{
	(void)state;
	for (int64_t limited = 0; limited < 2; limited++) {
		struct kwhy_recording *recording = build(limited ? 300000 : -1);

		for (int64_t i = 0; i <= 30; i++)
			add(recording, KWHY_METER_NVML_SAMPLE, i * 20,
				i == 7		  ? 0
					: i == 20 ? 700000
						  : 200000 + i);
		finish(recording, "readings-impossible");
		assert_int_equal(recording->power[0].count, limited ? 29 : 30);
		kwhy_recording_free(recording);
	}
}

/*
 * Powers of a GPU from 2 W to twice its limit (3,000 W if the limit is unknown) must be kept, others removed.
 */
static void the_least_and_the_most_that_a_gpu_draws_are_kept(void **state)
{
	static const struct {
		int64_t limit_mw, power_mw;
		bool kept;
	} cases[] = {{300000, 600000, true}, {300000, 600001, false}, {300000, 2000, true},
		{300000, 1999, false}, {-1, 3000000, true}, {-1, 3000001, false}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_recording *recording = build(cases[i].limit_mw);

		for (int64_t k = 0; k <= 30; k++)
			add(recording, KWHY_METER_NVML_SAMPLE, k * 20,
				k == 7 ? cases[i].power_mw : 200000 + k);
		finish(recording, cases[i].kept ? NULL : "readings-impossible");
		assert_int_equal(recording->power[0].count, cases[i].kept ? 31 : 30);
		kwhy_recording_free(recording);
	}
}

/*
 * A meter all of whose readings are a few milliwatts is dead. A GPU that at times shows 1.9 W is not dead;
 * only its low readings are impossible.
 */
static void a_meter_is_dead_only_if_all_its_powers_are_too_low(void **state)
{
	(void)state;
	for (int64_t lives = 0; lives < 2; lives++) {
		struct kwhy_recording *recording = build(-1);

		for (int64_t i = 0; i <= 30; i++)
			add(recording, KWHY_METER_NVML_SAMPLE, i * 20,
				(lives && i == 3 ? 2500 : 1900) + i % 2);
		finish(recording, lives ? "readings-impossible" : "dead-meter");
		assert_int_equal(recording->power_count, lives);
		kwhy_recording_free(recording);
	}
}

/*
 * A mean over one second that is too low in up to three successive readings has a dip, which is removed, also
 * just before the last reading. Four low readings are a lasting step, which is kept and noted.
 */
static void a_dip_of_means_lasts_at_most_three_readings(void **state)
{
	(void)state;
	for (int64_t low = 1; low <= 4; low++) {
		struct kwhy_recording *recording = build(700000);

		for (int64_t i = 0; i <= 30; i++)
			add(recording, KWHY_METER_NVML_AVERAGE, i * 100,
				(i >= 30 - low && i < 30 ? 100000 : 600000) + i);
		finish(recording, "readings-impossible");
		assert_int_equal(recording->power[0].count, low <= 3 ? 31 - low : 31);
		kwhy_recording_free(recording);
	}
}

/*
 * A mean over one second of powers up to 700 W changes by at most 70 W in 100 ms. As the times of readings
 * are uncertain by 60 ms, changes of up to 112 W (0.16 s x 700 W/s) count as possible.
 */
static void a_mean_changes_as_fast_as_its_window_lets_it(void **state)
{
	(void)state;
	for (int64_t step_w = 100; step_w <= 120; step_w += 20) {
		struct kwhy_recording *recording = build(700000);

		for (int64_t i = 0; i <= 30; i++)
			add(recording, KWHY_METER_NVML_AVERAGE, i * 100,
				300000 + (i > 12 ? step_w * 1000 : 0) + i);
		finish(recording, step_w < 112 ? NULL : "readings-impossible");
		kwhy_recording_free(recording);
	}
	for (int64_t step_w = 690; step_w <= 720;
		step_w += 30) { /* readings 2 s apart: at most by 700 W, the power limit */
		struct kwhy_recording *recording = build(700000);

		for (int64_t i = 0; i <= 30; i++)
			add(recording, KWHY_METER_NVML_AVERAGE, i * 2000,
				3000 + (i > 12 ? step_w * 1000 : 0) + i);
		finish(recording, step_w < 700 ? NULL : "readings-impossible");
		kwhy_recording_free(recording);
	}
}

/*
 * A mean over one second cannot fall by 500 W within 100 ms. Two such readings are a dip and are removed; if
 * the mean stays low, all readings are kept. Both cases are noted.
 */
static void a_dip_of_means_is_left_out_and_a_lasting_step_is_noted(void **state)
{
	(void)state;
	for (int64_t lasts = 0; lasts < 2; lasts++) {
		struct kwhy_recording *recording = build(700000);

		for (int64_t i = 0; i <= 30; i++)
			add(recording, KWHY_METER_NVML_AVERAGE, i * 100,
				(i == 12 || i == 13 || (lasts && i > 13) ? 100000 : 600000) + i);
		finish(recording, "readings-impossible");
		assert_int_equal(recording->power[0].count, lasts ? 31 : 29);
		kwhy_recording_free(recording);
	}
}

static void a_value_that_repeats_while_work_begins_is_noted_and_kept(void **state)
{
	struct kwhy_recording *recording = build(-1);

	(void)state;
	for (int64_t i = 0; i <= 100; i++)
		add(recording, KWHY_METER_NVML_SAMPLE, i * 20, 200000 + (i < 40 || i > 60 ? i % 7 : 333));
	finish(recording, "readings-repeat");
	assert_int_equal(recording->power[0].count, 101);
	assert_non_null(strstr(recording->notes[0].text, "exactly 200.333 W for 400 ms"));
	kwhy_recording_free(recording);
}

/*
 * Checks whether a note on repeats is added (`noted`) for five readings that differ, then `length`
 * equal ones, then five that differ. The device begins a kernel every 50 ms for 3 s, so its power
 * is unlikely to be constant. whole: values are whole watts, which may be the meter's resolution,
 * so that more equal readings are allowed.
 */
static void assert_repeats(enum kwhy_meter meter, int64_t period_ms, int64_t length, bool whole, bool noted)
{
	const int64_t step_mw = whole ? 1000 : 333;
	struct kwhy_recording *recording = build(-1);

	for (int64_t i = 0; i < length + 10; i++)
		add(recording, meter, i * period_ms,
			200000 + step_mw * (i < 5 || i >= length + 5 ? 1 + i % 2 : 3));
	finish(recording, noted ? "readings-repeat" : NULL);
	kwhy_recording_free(recording);
}

static void a_value_repeats_too_often_from_a_number_and_a_time_on(void **state)
{
	static const struct {
		enum kwhy_meter meter;
		int64_t period_ms, length;
		bool whole, noted;
	} cases[] = {{KWHY_METER_NVML_SAMPLE, 20, 9, false, false},
		{KWHY_METER_NVML_SAMPLE, 20, 10, false, true}, {KWHY_METER_NVML_SAMPLE, 10, 15, false, false},
		{KWHY_METER_NVML_SAMPLE, 10, 16, false, true},
		{KWHY_METER_NVML_AVERAGE, 100, 11, false, false},
		{KWHY_METER_NVML_AVERAGE, 100, 12, false, true},
		{KWHY_METER_NVML_AVERAGE, 25, 20, false, false},
		{KWHY_METER_NVML_AVERAGE, 25, 21, false, true},
		{KWHY_METER_NVML_SAMPLE, 110, 29, true, false}, {KWHY_METER_NVML_SAMPLE, 110, 30, true, true},
		{KWHY_METER_NVML_SAMPLE, 50, 60, true, false}, {KWHY_METER_NVML_SAMPLE, 50, 61, true, true}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_repeats(
			cases[i].meter, cases[i].period_ms, cases[i].length, cases[i].whole, cases[i].noted);
}

/*
 * Readings 0 and 2 to 10 are equal, reading 1 is not. So the run of equal readings has nine, one too few for
 * a note.
 */
static void another_reading_ends_a_repeat_at_the_start_too(void **state)
{
	struct kwhy_recording *recording = build(-1);

	(void)state;
	for (int64_t i = 0; i < 20; i++)
		add(recording, KWHY_METER_NVML_SAMPLE, i * 20, 200000 + (i == 1 || i > 10 ? i : 333));
	finish(recording, NULL);
	kwhy_recording_free(recording);
}

/* Two values are repeated for equally long times, 200.333 W first. The note must name the first value. */
static void the_first_of_equally_long_repeats_is_told(void **state)
{
	struct kwhy_recording *recording = build(-1);

	(void)state;
	for (int64_t i = 0; i < 60; i++)
		add(recording, KWHY_METER_NVML_SAMPLE, i * 20, 200000 + (i < 20 ? 333 : i < 40 ? 444 : i));
	finish(recording, "readings-repeat");
	assert_non_null(strstr(recording->notes[0].text, "exactly 200.333 W for 380 ms"));
	kwhy_recording_free(recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_counter_that_stood_still_and_caught_up_keeps_its_energy),
		cmocka_unit_test(a_counter_that_stays_still_has_no_readings_from_then_on),
		cmocka_unit_test(a_counter_that_is_read_more_often_than_it_is_updated_is_not_still),
		cmocka_unit_test(a_meter_that_never_moves_or_shows_watts_for_milliwatts_is_left_out),
		cmocka_unit_test(a_still_counter_stays_if_there_is_another_meter),
		cmocka_unit_test(powers_that_no_gpu_draws_are_left_out),
		cmocka_unit_test(the_least_and_the_most_that_a_gpu_draws_are_kept),
		cmocka_unit_test(a_meter_is_dead_only_if_all_its_powers_are_too_low),
		cmocka_unit_test(a_dip_of_means_lasts_at_most_three_readings),
		cmocka_unit_test(a_mean_changes_as_fast_as_its_window_lets_it),
		cmocka_unit_test(a_dip_of_means_is_left_out_and_a_lasting_step_is_noted),
		cmocka_unit_test(a_value_that_repeats_while_work_begins_is_noted_and_kept),
		cmocka_unit_test(a_value_repeats_too_often_from_a_number_and_a_time_on),
		cmocka_unit_test(another_reading_ends_a_repeat_at_the_start_too),
		cmocka_unit_test(the_first_of_equally_long_repeats_is_told),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
