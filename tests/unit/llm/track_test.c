/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "llm/track.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS INT64_C(1000000000)
#define MS_NS INT64_C(1000000)

/*
 * Returns a scrape: the energies of GPU 0, GPU 1 and a MIG instance of GPU 0, which is "0:1". All readings
 * are lag_s old.
 */
static struct kwhy_llm_scrape scrape_of(double first_j, double second_j, double lag_s)
{
	return (struct kwhy_llm_scrape){.is_kwhy = true,
		.started_unix_s = 1000,
		.devices = {{"0", first_j, false, lag_s, lag_s, true},
			{"1", second_j, false, lag_s, lag_s, true}, {"0:1", 7, false, lag_s, lag_s, true}},
		.device_count = 3};
}

static struct kwhy_llm_track begun(const char *devices)
{
	struct kwhy_llm_scrape scrape = scrape_of(0, 0, 0);
	struct kwhy_llm_track track;
	struct kwhy_error error;

	if (kwhy_llm_track_begin(&track, &scrape, devices, &error))
		fail_msg("%s", error.text);
	return track;
}

static enum kwhy_status add(struct kwhy_llm_track *track, struct kwhy_llm_scrape scrape, int64_t sent_ns,
	struct kwhy_error *error)
{
	return kwhy_llm_track_add(track, &scrape, sent_ns, sent_ns + 10 * MS_NS, error);
}

static void devices_are_those_named_or_all_without_instances(void **state)
{
	static const struct {
		const char *list, *says;
	} wrong[] = {{"7", "no energy"}, {"0,0", "twice"}, {"0,", "numbers"}, {"", "numbers"}};
	struct kwhy_llm_scrape scrape = scrape_of(1, 2, 0);
	struct kwhy_llm_track track = begun(NULL);
	struct kwhy_error error;

	(void)state;
	assert_int_equal(track.device_count, 2);
	track = begun("1");
	assert_int_equal(track.device_count, 1);
	track = begun("0:1,1");
	assert_string_equal(track.devices[0].name, "0:1");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(kwhy_llm_track_begin(&track, &scrape, wrong[i].list, &error), KWHY_E_USAGE);
		assert_non_null(strstr(error.text, wrong[i].says));
	}
	scrape.device_count = 0;
	assert_int_equal(kwhy_llm_track_begin(&track, &scrape, NULL, &error), KWHY_E_INPUT);
}

/*
 * The GPUs draw 300 W and 200 W, and kwhy's metrics are read four times per second. From 3 s to 7 s they use
 * 2000 J. lag_s: age of the readings as the metrics state it; NAN: not stated, in truth 0.3 s.
 */
static void a_window_holds_its_joules_however_late_readings_are(void **state)
{
	static const double lag_s[] = {0, 0.02, 0.4, NAN};

	(void)state;
	for (size_t k = 0; k < sizeof(lag_s) / sizeof(lag_s[0]); k++) {
		double late_s = isnan(lag_s[k]) ? 0.3 : lag_s[k];
		struct kwhy_llm_track track = begun(NULL);
		struct kwhy_llm_track_energy energy;
		struct kwhy_error error;

		for (int i = 0; i < 40; i++) {
			double at_s = 1 + i * 0.25 - late_s;

			assert_int_equal(add(&track, scrape_of(300 * at_s, 200 * at_s, lag_s[k]),
						 (int64_t)((1 + i * 0.25) * 1e9), &error),
				KWHY_OK);
		}
		assert_true(kwhy_llm_track_window(&track, 3 * SECOND_NS, 7 * SECOND_NS, &energy));
		if (!(energy.low_j <= 2000 && 2000 <= energy.high_j && energy.low_j <= energy.joules &&
			    energy.joules <= energy.high_j && fabs(energy.joules - 2000) < 100 &&
			    energy.high_j - energy.low_j < (isnan(lag_s[k]) ? 2600 : 1100)))
			fail_msg("%g s late: %g (%g to %g)", lag_s[k], energy.joules, energy.low_j,
				energy.high_j);
		kwhy_llm_track_done(&track);
	}
}

/*
 * A driver may stamp a reading up to 8 ms late, so that it seems 8 ms younger. The GPU draws 500 W;
 * the window is from 1 s to 2 s. The second scrape is sent at 2.201 s. Its response may have been
 * made 0.1 s earlier, and states that the reading is 0.1 s old: the reading seems to be of 2.001 s
 * or later, after the window. In fact it was made at 1.993 s, for which the interval of the energy
 * must allow.
 */
static void late_time_stamps_are_allowed_for(void **state)
{
	static const struct {
		int64_t sent_ms;
		double read_s, lag_s;
	} scrapes[] = {{990, 1, 0}, {2201, 1.993, 0.1}, {3000, 2.9, 0}};
	struct kwhy_llm_track track = begun("0");
	struct kwhy_llm_track_energy energy;
	struct kwhy_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(scrapes) / sizeof(scrapes[0]); i++)
		assert_int_equal(add(&track, scrape_of(500 * scrapes[i].read_s, 0, scrapes[i].lag_s),
					 scrapes[i].sent_ms * MS_NS, &error),
			KWHY_OK);
	assert_true(kwhy_llm_track_window(&track, SECOND_NS, 2 * SECOND_NS, &energy));
	assert_true(energy.low_j <= 500 && 500 <= energy.high_j);
	kwhy_llm_track_done(&track);
}

/* Whatever the power and the times of scrapes are, the interval must contain the true energy. */
static void intervals_hold_whatever_power_does_between_scrapes(void **state)
{
	unsigned seed = 1;

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct kwhy_llm_track track = begun("0");
		struct kwhy_llm_track_energy energy;
		struct kwhy_error error;
		double joules[1200]; /* [i] energy up to i x 10 ms */

		joules[0] = 0;
		for (int i = 1; i < 1200; i++)
			joules[i] = joules[i - 1] + (rand_r(&seed) % 4 ? 0 : rand_r(&seed) % 20);
		for (int at = 60, shown = 0; at < 1190; at += 10 + rand_r(&seed) % 60) {
			int took = rand_r(&seed) % 5, reported = at + took / 2,
			    newest = reported - rand_r(&seed) % 50;
			struct kwhy_llm_scrape scrape;

			shown = newest > shown ? newest : shown;
			/* a late time stamp makes the reading seem 8 ms younger */
			scrape = scrape_of(
				joules[shown], 0, fmax((reported - shown) * 0.01 - (at % 4 ? 0 : 0.008), 0));
			assert_int_equal(kwhy_llm_track_add(&track, &scrape, at * 10 * MS_NS,
						 (at + took) * 10 * MS_NS, &error),
				KWHY_OK);
		}
		assert_true(kwhy_llm_track_window(&track, 4 * SECOND_NS, 8 * SECOND_NS, &energy));
		if (!(energy.low_j <= joules[800] - joules[400] &&
			    joules[800] - joules[400] <= energy.high_j))
			fail_msg("round %d: %g is not in %g to %g", round, joules[800] - joules[400],
				energy.low_j, energy.high_j);
		kwhy_llm_track_done(&track);
	}
}

static void a_window_that_no_scrape_encloses_is_not_known(void **state)
{
	struct kwhy_llm_track track = begun(NULL);
	struct kwhy_llm_track_energy energy;
	struct kwhy_error error;

	(void)state;
	assert_false(kwhy_llm_track_reaches(&track, 0));
	for (int i = 2; i < 10; i++)
		assert_int_equal(add(&track, scrape_of(i, i, 0), i * SECOND_NS, &error), KWHY_OK);
	assert_true(kwhy_llm_track_reaches(&track, 8 * SECOND_NS));
	assert_false(kwhy_llm_track_reaches(&track, 9 * SECOND_NS));
	assert_true(kwhy_llm_track_window(&track, 3 * SECOND_NS, 8 * SECOND_NS, &energy));
	assert_false(kwhy_llm_track_window(&track, SECOND_NS, 8 * SECOND_NS, &energy));
	assert_false(kwhy_llm_track_window(&track, 3 * SECOND_NS, 9 * SECOND_NS, &energy));
	kwhy_llm_track_done(&track);
}

static void what_a_later_window_needs_is_kept(void **state)
{
	struct kwhy_llm_track track = begun(NULL);
	struct kwhy_llm_track_energy whole, kept;
	struct kwhy_error error;

	(void)state;
	kwhy_llm_track_forget(&track, SECOND_NS);
	for (int i = 2; i < 1000; i++)
		assert_int_equal(add(&track, scrape_of(i, i, 0), i * SECOND_NS, &error), KWHY_OK);
	assert_true(kwhy_llm_track_window(&track, 600 * SECOND_NS, 700 * SECOND_NS, &whole));
	kwhy_llm_track_forget(&track, 600 * SECOND_NS);
	assert_true(track.count < 402);
	assert_true(kwhy_llm_track_window(&track, 600 * SECOND_NS, 700 * SECOND_NS, &kept));
	assert_memory_equal(&whole, &kept, sizeof(whole));
	kwhy_llm_track_done(&track);
}

static void counters_that_go_back_or_begin_anew_are_told_and_nothing_spans_them(void **state)
{
	struct kwhy_llm_track track = begun(NULL);
	struct kwhy_llm_scrape anew = scrape_of(50, 50, 0);
	struct kwhy_llm_track_energy energy;
	struct kwhy_error error;

	(void)state;
	for (int i = 2; i < 6; i++)
		assert_int_equal(add(&track, scrape_of(i, i, 0), i * SECOND_NS, &error), KWHY_OK);
	assert_int_equal(add(&track, scrape_of(9, 1, 0), 6 * SECOND_NS, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "GPU 1 went back"));
	assert_int_equal(add(&track, scrape_of(9, 2, 0), 7 * SECOND_NS, &error), KWHY_OK);
	assert_false(kwhy_llm_track_window(&track, 4 * SECOND_NS, 6 * SECOND_NS, &energy));
	anew.started_unix_s = 2000;
	assert_int_equal(add(&track, anew, 8 * SECOND_NS, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "started anew"));
	assert_int_equal(track.count, 1);
	kwhy_llm_track_done(&track);
}

static void a_device_that_is_gone_is_a_gap_until_it_is_back(void **state)
{
	struct kwhy_llm_track track = begun(NULL);
	struct kwhy_llm_scrape without = scrape_of(5, NAN, 0);
	struct kwhy_llm_track_energy energy;
	struct kwhy_error error;

	(void)state;
	for (int i = 2; i < 4; i++)
		assert_int_equal(add(&track, scrape_of(i, i, 0), i * SECOND_NS, &error), KWHY_OK);
	assert_int_equal(add(&track, without, 4 * SECOND_NS, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "GPU 1 is gone"));
	without = scrape_of(5, 5, 0);
	without.devices[0].lost = true;
	assert_int_equal(add(&track, without, 5 * SECOND_NS, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "GPU 0 answers no more"));
	assert_int_equal(add(&track, scrape_of(6, 6, 0), 6 * SECOND_NS, &error), KWHY_OK);
	assert_true(kwhy_llm_track_window(&track, 3 * SECOND_NS, 4 * SECOND_NS, &energy));
	assert_true(energy.low_j == 0 && energy.high_j == 8);
	kwhy_llm_track_done(&track);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_are_those_named_or_all_without_instances),
		cmocka_unit_test(a_window_holds_its_joules_however_late_readings_are),
		cmocka_unit_test(late_time_stamps_are_allowed_for),
		cmocka_unit_test(intervals_hold_whatever_power_does_between_scrapes),
		cmocka_unit_test(a_window_that_no_scrape_encloses_is_not_known),
		cmocka_unit_test(what_a_later_window_needs_is_kept),
		cmocka_unit_test(counters_that_go_back_or_begin_anew_are_told_and_nothing_spans_them),
		cmocka_unit_test(a_device_that_is_gone_is_a_gap_until_it_is_back),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
