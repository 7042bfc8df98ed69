/* SPDX-License-Identifier: Apache-2.0 */
#include "host_meters.h"

static void write_all(struct host *host, const char *const pairs[][2], size_t count)
{
	char path[128];

	for (size_t i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "hwmon/%s", pairs[i][0]);
		temporary_write(&host->folder, path, "w", pairs[i][1]);
	}
}

#define WRITE(host, pairs) write_all((host), (pairs), sizeof(pairs) / sizeof((pairs)[0]))

static void the_power_meters_of_a_grace_module_have_the_names_of_its_firmware(void **state)
{
	static const char *const grace[][2] = {
		{"hwmon1/name", "power_meter\n"},
		{"hwmon1/device/power1_average", "251300000\n"},
		{"hwmon1/device/power1_average_interval", "50\n"},
		{"hwmon1/device/power1_oem_info", "Module Power Socket 0\n"},
		{"hwmon2/name", "power_meter\n"},
		{"hwmon2/device/power1_average", "61000999\n"},
		{"hwmon2/device/power1_oem_info", "CPU Power Socket 0\n"},
	};
	struct host *host = *state;

	WRITE(host, grace);
	host_open(host);
	assert_int_equal(host->sensors->source_count, 2);
	assert_string_equal(host_source(host, KWHY_METER_HWMON_POWER, 0)->label, "Module Power Socket 0");
	assert_int_equal(host_source(host, KWHY_METER_HWMON_POWER, 0)->period_ns, 50000000);
	assert_string_equal(host_source(host, KWHY_METER_HWMON_POWER, 1)->label, "CPU Power Socket 0");
	host_read(host, 7);
	assert_int_equal(host_last(host, KWHY_METER_HWMON_POWER, 0), 251300);
	assert_int_equal(host_last(host, KWHY_METER_HWMON_POWER, 1), 61000);
	assert_null(host_absence(host, "hwmon"));
}

static void an_energy_and_a_power_of_one_sensor_share_their_number_and_the_instant_goes_first(void **state)
{
	static const char *const board[][2] = {
		{"hwmon10/name", "board\n"},
		{"hwmon10/power2_input", "1000000\n"},
		{"hwmon10/power2_average", "2000000\n"},
		{"hwmon10/energy2_input", "777\n"},
		{"hwmon10/power3_average", "3000000\n"},
		{"hwmon10/power3_label", "fans\n"},
		{"hwmon9/name", "supply\n"},
		{"hwmon9/power1_input", "5000000\n"},
	};
	struct host *host = *state;

	WRITE(host, board);
	host_open(host);
	assert_int_equal(host->sensors->source_count, 4);
	host_read(host, 7);
	assert_string_equal(host_source(host, KWHY_METER_HWMON_POWER, 0)->label, "supply power1");
	assert_int_equal(host_last(host, KWHY_METER_HWMON_POWER, 0), 5000);
	assert_int_equal(host_last(host, KWHY_METER_HWMON_ENERGY, 1), 777);
	assert_int_equal(host_last(host, KWHY_METER_HWMON_POWER, 1), 1000);
	assert_int_equal(host_last(host, KWHY_METER_HWMON_POWER, 2), 3000);
	assert_string_equal(host_source(host, KWHY_METER_HWMON_POWER, 2)->label, "board fans");
}

static void gpus_without_another_meter_are_shown_by_their_driver(void **state)
{
	static const char *const cards[][2] = {
		{"hwmon0/name", "xe\n"},
		{"hwmon0/energy1_input", "35\n"},
		{"hwmon0/energy1_label", "pkg\n"},
		{"hwmon1/name", "nvme\n"},
		{"hwmon1/temp1_input", "35000\n"},
		{"hwmon2/name", "amdgpu\n"},
		{"hwmon2/power1_average", "35000000\n"},
		{"hwmon2/power1_label", "PPT\n"},
	};
	struct host *host = *state;

	WRITE(host, cards);
	host_open(host);
	assert_int_equal(host->sensors->source_count, 2);
	assert_string_equal(host_source(host, KWHY_METER_HWMON_ENERGY, 0)->label, "xe pkg");
	assert_string_equal(host_source(host, KWHY_METER_HWMON_POWER, 1)->label, "amdgpu PPT");
}

static void without_a_sensor_that_is_said_with_where_it_was_looked_for(void **state)
{
	struct host *host = *state;

	host_open(host);
	assert_int_equal(host->sensors->source_count, 0);
	assert_non_null(strstr(host_absence(host, "hwmon"), "no power sensor of the board"));
	assert_non_null(strstr(host_absence(host, "hwmon"), host->hwmon));
}

static void a_sensor_that_answers_no_number_is_not_available_and_the_others_are_read(void **state)
{
	static const char *const board[][2] = {
		{"hwmon0/name", "board\n"},
		{"hwmon0/power1_input", "error\n"},
		{"hwmon0/power2_input", "6000000\n"},
	};
	struct host *host = *state;

	WRITE(host, board);
	host_open(host);
	assert_int_equal(host->sensors->source_count, 1);
	assert_non_null(strstr(host_absence(host, "hwmon"), "power1_input cannot be read"));
	host_read(host, 7);
	assert_int_equal(host_last(host, KWHY_METER_HWMON_POWER, 0), 6000);
	temporary_write(&host->folder, "hwmon/hwmon0/power2_input", "w", "");
	host_read(host, 8);
	assert_int_equal(host_source(host, KWHY_METER_HWMON_POWER, 0)->failures, 1);
	assert_int_equal(host_last(host, KWHY_METER_HWMON_POWER, 0), 6000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, host_setup, host_teardown)
		TEST(the_power_meters_of_a_grace_module_have_the_names_of_its_firmware),
		TEST(an_energy_and_a_power_of_one_sensor_share_their_number_and_the_instant_goes_first),
		TEST(gpus_without_another_meter_are_shown_by_their_driver),
		TEST(without_a_sensor_that_is_said_with_where_it_was_looked_for),
		TEST(a_sensor_that_answers_no_number_is_not_available_and_the_others_are_read),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
