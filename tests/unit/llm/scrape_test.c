/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "llm/scrape.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct kwhy_llm_scrape scrape_of(const char *text)
{
	struct kwhy_llm_scrape scrape;
	struct kwhy_error error;

	assert_int_equal(kwhy_llm_scrape_read(text, &scrape, &error), KWHY_OK);
	return scrape;
}

static void energies_and_the_age_of_their_readings_are_found_by_device(void **state)
{
	struct kwhy_llm_scrape scrape = scrape_of(
		"# TYPE kwhy_build info\n"
		"kwhy_build_info{version=\"0.1.0\"} 1\n"
		"# HELP kwhy_device_energy_joules kwhy_device_energy_joules_total{device=\"9\"} 1\n"
		"kwhy_device_energy_joules_total{device=\"0\",uuid=\"GPU-1\",name=\"a } b\"} 894.5\n"
		"kwhy_device_energy_joules_total{uuid=\"GPU-2\",name=\"b\",device=\"1\"} 1e3 1795292136.5\n"
		"kwhy_device_idle_energy_joules_total{device=\"2\"} 5\n"
		"kwhy_device_lost{device=\"0\"} 0\n"
		"kwhy_device_lost{device=\"1\"} 1\n"
		"kwhy_source_age_seconds{source=\"nvml.energy_mj\",device=\"0\"} 0.007\n"
		"kwhy_source_age_seconds{source=\"nvml.sample_mw\",device=\"0\"} 0.021\n"
		"kwhy_source_age_seconds{source=\"nvml.memory_average_mw\",device=\"0\"} 0.004\n"
		"kwhy_source_age_seconds{source=\"power_limit_mw\",device=\"0\"} 0.001\n"
		"kwhy_source_age_seconds{source=\"nvml.energy_mj\",device=\"1\"} 0.06\n"
		"process_start_time_seconds 1795292136.54087\n"
		"# EOF\n");

	(void)state;
	assert_true(scrape.is_kwhy);
	assert_true(scrape.started_unix_s == 1795292136.54087);
	assert_int_equal(scrape.device_count, 2);
	assert_true(kwhy_llm_scrape_find(&scrape, "0")->joules == 894.5);
	/*
	 * The lag is the age of nvml.sample_mw and not of the newer nvml.energy_mj, because energy is known
	 * up to the last power sample.
	 */
	assert_true(kwhy_llm_scrape_find(&scrape, "0")->lag_s == 0.021);
	assert_true(kwhy_llm_scrape_find(&scrape, "0")->least_lag_s == 0.007);
	assert_true(kwhy_llm_scrape_find(&scrape, "1")->joules == 1000);
	assert_true(kwhy_llm_scrape_find(&scrape, "1")->lag_s == 0.06);
	assert_false(kwhy_llm_scrape_find(&scrape, "0")->lost);
	assert_true(kwhy_llm_scrape_find(&scrape, "1")->lost);
	assert_null(kwhy_llm_scrape_find(&scrape, "2"));
}

static void escaped_quotes_and_braces_end_no_label(void **state)
{
	struct kwhy_llm_scrape scrape = scrape_of(
		"kwhy_device_energy_joules_total{name=\"a\\\"} 7,device=\\\"5\",device=\"3\"} 12\r\n");

	(void)state;
	assert_int_equal(scrape.device_count, 1);
	assert_true(kwhy_llm_scrape_find(&scrape, "3")->joules == 12);
}

static void lines_that_are_no_samples_are_passed_over(void **state)
{
	static const char *const texts[] = {"", "<html>", "kwhy_device_energy_joules_total{device=\"0\"}",
		"kwhy_device_energy_joules_total{device=\"0\"} \n17\n",
		"kwhy_device_energy_joules_total{device=\"0} 1\n\"} 2\n",
		"kwhy_device_energy_joules_total{device=0} 1\n", "kwhy_device_energy_joules_total 1\n",
		"kwhy_device_energy_joules_total{device=\"0\"} 1x\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct kwhy_llm_scrape scrape = scrape_of(texts[i]);

		if (scrape.device_count || scrape.is_kwhy || !isnan(scrape.started_unix_s))
			fail_msg("case %zu has %zu devices", i, scrape.device_count);
	}
}

static void more_devices_than_there_is_room_for_are_refused(void **state)
{
	static char text[KWHY_LLM_SCRAPE_DEVICES * 64 + 64];
	struct kwhy_llm_scrape scrape;
	struct kwhy_error error;
	int length = 0;

	(void)state;
	for (int i = 0; i <= KWHY_LLM_SCRAPE_DEVICES; i++)
		length += snprintf(text + length, sizeof(text) - (size_t)length,
			"kwhy_device_energy_joules_total{device=\"%d\"} 1\n", i);
	assert_int_equal(kwhy_llm_scrape_read(text, &scrape, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "more than 64 devices"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(energies_and_the_age_of_their_readings_are_found_by_device),
		cmocka_unit_test(escaped_quotes_and_braces_end_no_label),
		cmocka_unit_test(lines_that_are_no_samples_are_passed_over),
		cmocka_unit_test(more_devices_than_there_is_room_for_are_refused),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
