/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/calibration/self_test.h"

#include "../../golden/schema_check.h"
#include "base/file.h"
#include "bench/calibration/csv.h"
#include "cmocka_all.h"
#include "import/import.h"
#include "made_calibration.h"
#include "report/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

static struct kwhy_profile *profile_of(const struct kwhy_calibration *calibration)
{
	struct kwhy_profile *profile;
	struct kwhy_error error;

	if (kwhy_self_test_profile(calibration, &profile, &error))
		fail_msg("%s", error.text);
	return profile;
}

static struct kwhy_text json_of(const struct kwhy_profile *profile)
{
	struct kwhy_text text = {0};
	struct kwhy_error error;

	assert_int_equal(kwhy_report_profile_json(profile, &text, &error), KWHY_OK);
	return text;
}

static void the_ring_is_found_as_it_was_made(void **state)
{
	struct kwhy_calibration *made = made_calibration();
	struct kwhy_profile *profile = profile_of(made);

	(void)state;
	assert_near(profile->sensor.sample_period_s.value, 0.02002, 1e-6);
	assert_near(profile->sensor.counter_period_s.value, 0.1, 1e-9);
	assert_near(profile->sensor.late_share, 0.2, 0.01);
	assert_near(profile->sensor.late_s.value, 0.008, 1e-5);
	assert_near(profile->sensor.time_constant_s.value, 0.0145, 3e-4);
	assert_near(profile->sensor.delay_s.value, 0.0035, 3e-4);
	assert_true(profile->sensor.time_constant_s.sd < 1e-3);
	kwhy_self_test_profile_free(profile);
	kwhy_calibration_free(made);
}

static void a_mean_is_told_from_a_low_pass(void **state)
{
	struct kwhy_calibration *made = made_calibration();
	struct kwhy_profile *profile = profile_of(made);
	const struct kwhy_self_test *test = profile->self_test;

	(void)state;
	assert_near(profile->sensor.average_window_s, 1, 0.02);
	assert_int_equal(test->source_count, 4);
	assert_int_equal(test->sources[1].meter, KWHY_METER_NVML_SAMPLE);
	assert_true(isnan(test->sources[1].window_s.value));
	assert_int_equal(test->sources[2].meter, KWHY_METER_NVML_AVERAGE);
	assert_near(test->sources[2].window_s.value, 1, 0.02);
	assert_near(test->sources[2].update_s.value, 0.1, 0.002);
	kwhy_self_test_profile_free(profile);
	kwhy_calibration_free(made);
}

static void three_levels_of_idle_stand_apart(void **state)
{
	struct kwhy_calibration *made = made_calibration();
	struct kwhy_profile *profile = profile_of(made);

	(void)state;
	assert_near(profile->clean_idle_w.value, 78.5, 0.01);
	assert_near(profile->context_idle_w.value, 121.5, 0.01);
	assert_near(profile->execution_idle_w.value, 121.5, 0.1);
	assert_near(profile->limit_w, 700, 0);
	kwhy_self_test_profile_free(profile);
	kwhy_calibration_free(made);
}

static void kwhy_is_right_where_polled_averages_are_not(void **state)
{
	struct kwhy_calibration *made = made_calibration();
	struct kwhy_profile *profile = profile_of(made);
	const struct kwhy_self_test *test = profile->self_test;
	double worst_average = 0;

	(void)state;
	assert_int_equal(test->load_count, 4);
	for (size_t i = 0; i < test->load_count; i++) {
		const struct kwhy_self_test_load *load = &test->loads[i];
		double expected = load->expected_j.value;

		assert_near(load->energy_j[KWHY_SELF_TEST_WINDOW] / expected, 1, 0.01);
		assert_near(load->energy_j[KWHY_SELF_TEST_RING] / expected, 1, 0.08);
		worst_average = fmax(
			worst_average, fabs(load->energy_j[KWHY_SELF_TEST_AVERAGE] / expected - 1));
	}
	assert_true(worst_average > 0.15);
	assert_near(test->ring_to_counter_ratio, 1, 0.01);
	kwhy_self_test_profile_free(profile);
	kwhy_calibration_free(made);
}

static void a_load_is_expected_to_use_what_its_times_and_the_levels_say(void **state)
{
	struct kwhy_calibration *made = made_calibration();
	struct kwhy_profile *profile = profile_of(made);
	const struct kwhy_self_test_load *load = &profile->self_test->loads[1];

	(void)state;
	assert_string_equal(load->name, "20/80 ms");
	assert_near(load->window_s, 1.5, 1e-9);
	assert_near(load->expected_j.value, 0.3 * 358 + 1.2 * 121.5, 0.5);
	kwhy_self_test_profile_free(profile);
	kwhy_calibration_free(made);
}

static void the_json_keeps_to_its_schema(void **state)
{
	struct kwhy_calibration *made = made_calibration();
	struct kwhy_profile *profile = profile_of(made);
	struct kwhy_text text = json_of(profile);
	json_t *document = json_loadb(text.data, text.length, JSON_REJECT_DUPLICATES, NULL);

	(void)state;
	assert_keeps_to_schema("profile", document);
	json_decref(document);
	kwhy_text_done(&text);
	kwhy_self_test_profile_free(profile);
	kwhy_calibration_free(made);
}

static void the_bundled_profile_keeps_to_the_schema(void **state)
{
	json_t *document = json_load_file(KWHY_SOURCE_DIR "/profiles/nvidia-h200.json", 0, NULL);

	(void)state;
	assert_keeps_to_schema("profile", document);
	json_decref(document);
}

static void what_is_written_is_read_back(void **state)
{
	struct kwhy_calibration *made = made_calibration();
	struct kwhy_profile *profile = profile_of(made), *again;
	struct kwhy_text text = json_of(profile);
	char path[] = "/tmp/kwhy-profile-XXXXXX";
	struct kwhy_error error;

	(void)state;
	close(mkstemp(path));
	assert_int_equal(kwhy_file_write(path, text.data, text.length, &error), KWHY_OK);
	if (kwhy_import_profile(path, &again, &error))
		fail_msg("%s", error.text);
	for (size_t i = 0; i < kwhy_profile_figure_count; i++) {
		struct kwhy_measured a = kwhy_profile_figure_get(profile, &kwhy_profile_figures[i]),
				     b = kwhy_profile_figure_get(again, &kwhy_profile_figures[i]);

		assert_true((isnan(a.value) && isnan(b.value)) ||
			fabs(a.value - b.value) <= 1e-6 * fabs(a.value));
	}
	assert_string_equal(again->cuda, "13.0");
	unlink(path);
	kwhy_profile_free(again);
	kwhy_text_done(&text);
	kwhy_self_test_profile_free(profile);
	kwhy_calibration_free(made);
}

static void save(const struct kwhy_calibration *calibration, const char *folder)
{
	for (int table = 0; table < KWHY_CALIBRATION_TABLE_COUNT; table++) {
		struct kwhy_text text = {0};
		struct kwhy_error error;
		char path[256];

		snprintf(path, sizeof(path), "%s/%s", folder,
			kwhy_calibration_table_name((enum kwhy_calibration_table)table));
		kwhy_calibration_csv(calibration, (enum kwhy_calibration_table)table, &text);
		assert_int_equal(kwhy_file_write(path, text.data, text.length, &error), KWHY_OK);
		kwhy_text_done(&text);
	}
}

static void clear(const char *folder)
{
	for (int table = 0; table < KWHY_CALIBRATION_TABLE_COUNT; table++) {
		char path[256];

		snprintf(path, sizeof(path), "%s/%s", folder,
			kwhy_calibration_table_name((enum kwhy_calibration_table)table));
		unlink(path);
	}
	rmdir(folder);
}

static void what_was_saved_gives_the_same_profile(void **state)
{
	struct kwhy_calibration *made = made_calibration(), *again;
	struct kwhy_profile *profile = profile_of(made), *second;
	struct kwhy_text first_text = json_of(profile), second_text;
	char folder[] = "/tmp/kwhy-self-test-XXXXXX";
	struct kwhy_error error;

	(void)state;
	assert_non_null(mkdtemp(folder));
	save(made, folder);
	if (kwhy_calibration_read(folder, &again, &error))
		fail_msg("%s", error.text);
	second = profile_of(again);
	second_text = json_of(second);
	assert_string_equal(first_text.data, second_text.data);
	clear(folder);
	kwhy_text_done(&first_text);
	kwhy_text_done(&second_text);
	kwhy_self_test_profile_free(second);
	kwhy_self_test_profile_free(profile);
	kwhy_calibration_free(again);
	kwhy_calibration_free(made);
}

static void a_damaged_table_is_named_with_its_line(void **state)
{
	struct kwhy_calibration *made = made_calibration(), *again;
	char folder[] = "/tmp/kwhy-self-test-XXXXXX", path[256];
	struct kwhy_error error;

	(void)state;
	assert_non_null(mkdtemp(folder));
	save(made, folder);
	snprintf(path, sizeof(path), "%s/pulses.csv", folder);
	assert_int_equal(kwhy_file_write(path, "start_ns,end_ns\n1,2\nx\n", 22, &error), KWHY_OK);
	assert_int_equal(kwhy_calibration_read(folder, &again, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "pulses.csv, line 3: not start_ns,end_ns"));
	assert_int_equal(kwhy_file_write(path, "start_ns,end_ns\n1,2\n", 20, &error), KWHY_OK);
	assert_int_equal(kwhy_calibration_read(folder, &again, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "pulses that are not in pulses.csv"));
	clear(folder);
	kwhy_calibration_free(made);
}

static void without_a_ring_or_a_counter_the_rest_is_told_and_nothing_invented(void **state)
{
	struct kwhy_calibration *made = made_calibration();
	struct kwhy_profile *profile;
	struct kwhy_text text = {0};
	struct kwhy_text_style style = {.columns = 80};
	struct kwhy_error error;

	(void)state;
	made->meters[KWHY_METER_NVML_SAMPLE].count = made->meters[KWHY_METER_NVML_ENERGY].count = 0;
	profile = profile_of(made);
	assert_true(isnan(profile->sensor.time_constant_s.value));
	assert_true(isnan(profile->sensor.counter_period_s.value));
	assert_true(isnan(profile->self_test->loads[0].expected_j.value));
	assert_true(isnan(profile->self_test->loads[0].energy_j[KWHY_SELF_TEST_WINDOW]));
	assert_true(isfinite(profile->context_idle_w.value));
	assert_int_equal(kwhy_report_profile_text(profile, &style, &text, &error), KWHY_OK);
	kwhy_text_done(&text);
	kwhy_self_test_profile_free(profile);
	kwhy_calibration_free(made);
}

static void others_on_the_gpu_are_told(void **state)
{
	struct kwhy_calibration *made = made_calibration();
	struct kwhy_profile *profile;
	struct kwhy_text text = {0};
	struct kwhy_text_style style = {.columns = 80};
	struct kwhy_error error;

	(void)state;
	made->processes_before = 3;
	profile = profile_of(made);
	assert_int_equal(kwhy_report_profile_text(profile, &style, &text, &error), KWHY_OK);
	assert_non_null(strstr(text.data, "3 other processes used the GPU"));
	kwhy_text_done(&text);
	kwhy_self_test_profile_free(profile);
	kwhy_calibration_free(made);
}

static void the_summary_keeps_to_80_columns(void **state)
{
	struct kwhy_calibration *made = made_calibration();
	struct kwhy_profile *profile = profile_of(made);
	struct kwhy_text text = {0};
	struct kwhy_text_style style = {.columns = 80};
	struct kwhy_error error;
	char *rest, *line;

	(void)state;
	assert_int_equal(kwhy_report_profile_text(profile, &style, &text, &error), KWHY_OK);
	assert_non_null(strstr(text.data, "a constant error of its gain"));
	for (rest = text.data; (line = strsep(&rest, "\n"));)
		assert_true(kwhy_text_columns(line) <= 80);
	kwhy_text_done(&text);
	kwhy_self_test_profile_free(profile);
	kwhy_calibration_free(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_ring_is_found_as_it_was_made),
		cmocka_unit_test(a_mean_is_told_from_a_low_pass),
		cmocka_unit_test(three_levels_of_idle_stand_apart),
		cmocka_unit_test(kwhy_is_right_where_polled_averages_are_not),
		cmocka_unit_test(a_load_is_expected_to_use_what_its_times_and_the_levels_say),
		cmocka_unit_test(the_json_keeps_to_its_schema),
		cmocka_unit_test(the_bundled_profile_keeps_to_the_schema),
		cmocka_unit_test(what_is_written_is_read_back),
		cmocka_unit_test(what_was_saved_gives_the_same_profile),
		cmocka_unit_test(a_damaged_table_is_named_with_its_line),
		cmocka_unit_test(without_a_ring_or_a_counter_the_rest_is_told_and_nothing_invented),
		cmocka_unit_test(others_on_the_gpu_are_told),
		cmocka_unit_test(the_summary_keeps_to_80_columns),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
