/* SPDX-License-Identifier: Apache-2.0 */
#include "host_meters.h"

/*
 * Tests AMD GPUs with a fake librocm_smi64, found by LD_LIBRARY_PATH. The environment variable
 * KWHY_FAKE_ROCM_VERSION sets its version; each scenario states the devices and their readings.
 */

#define CARD                                                                                       \
	"devices 1\n0 name Instinct\n0 unique_id 0xabc\n0 pci_id 0x100c100\n0 memory_total_bytes " \
	"206141652992\n"                                                                           \
	"0 cap_uw 750000000\n0 cap_default_uw 760000000\n"
#define METERS "0 energy_counts 65536\n0 current_uw 140500999\n0 average_uw 141000000\n"
#define GAUGES                                                                                         \
	"0 system_clock_hz 2100000000\n0 memory_clock_hz 1300000000\n0 junction_millidegree_c 45000\n" \
	"0 memory_millidegree_c 39000\n0 memory_used_bytes 298889216\n0 busy_percent 37\n0 fan 51\n0 " \
	"fan_most 255\n"

static bool is_new(void)
{
	return !strcmp(getenv("KWHY_FAKE_ROCM_VERSION"), "7");
}

static void write_scenario(const struct host *host, const char *text)
{
	temporary_write(&host->folder, "scenario", "w", text);
	setenv("KWHY_FAKE_ROCM", temporary_path(&host->folder, "scenario"), 1);
}

static int setup(void **state)
{
	static char drm[128];
	struct host *host;

	host_setup(state);
	host = *state;
	snprintf(drm, sizeof(drm), "%s/drm", host->folder.path);
	temporary_write(&host->folder, "drm/card0/device/vendor", "w", "0x1002\n");
	host->request.without_rocm = false;
	host->request.without_host = true;
	host->request.drm_root = drm;
	return 0;
}

static int64_t gauge(const struct host *host, enum kwhy_gauge which)
{
	const struct kwhy_source_channel *source = kwhy_sensors_find_gauge(host->sensors, which, 0);
	struct kwhy_reading reading;

	return source && kwhy_channel_last(&source->channel, &reading) ? reading.value : -1;
}

static void a_card_is_told_with_its_name_place_and_limits(void **state)
{
	struct host *host = *state;
	const struct kwhy_sensor_device *device;

	write_scenario(host, CARD METERS);
	host_open(host);
	assert_int_equal(host->sensors->device_count, 1);
	device = &host->sensors->devices[0];
	assert_int_equal(device->vendor, KWHY_VENDOR_AMD);
	assert_string_equal(device->name, "Instinct");
	assert_string_equal(device->uuid, "GPU-0000000000000abc");
	assert_string_equal(device->pci_address, "0000:c1:00.0");
	assert_string_equal(device->driver, "6.8.5");
	assert_int_equal(device->limit_mw, 750000);
	assert_int_equal(device->default_limit_mw, 760000);
	assert_int_equal(device->memory_bytes, UINT64_C(206141652992));
	assert_null(host_absence(host, "rocm"));
}

static void the_accumulator_counts_in_units_of_2_to_the_minus_16_joules(void **state)
{
	struct host *host = *state;

	write_scenario(host, CARD METERS);
	host_open(host);
	host_read(host, 5);
	assert_int_equal(host_last(host, KWHY_METER_ROCM_ENERGY, 0), 1000000);
	assert_int_equal(host_last(host, KWHY_METER_ROCM_POWER, 0), is_new() ? 140500 : 141000);
	write_scenario(host, CARD "0 energy_counts 1000\n0 resolution_uj 2.5\n0 current_uw 1000\n");
	host_read(host, 6);
	assert_int_equal(host_last(host, KWHY_METER_ROCM_ENERGY, 0), 2500);
}

static void a_reading_has_the_driver_s_time_where_that_can_be_and_else_the_time_of_asking(void **state)
{
	struct host *host = *state;
	const struct kwhy_source_channel *source;
	struct kwhy_reading reading;
	char text[512];
	int64_t now_ns = kwhy_clock_mono_ns();

	snprintf(text, sizeof(text), CARD METERS "0 stamp_ns 12\n");
	write_scenario(host, text);
	host_open(host);
	source = host_source(host, KWHY_METER_ROCM_ENERGY, 0);
	host_read(host, now_ns);
	assert_true(kwhy_channel_last(&source->channel, &reading));
	assert_int_equal(reading.time_mono_ns, now_ns);
}

static void gauges_are_read_in_our_units_where_they_are_asked_for(void **state)
{
	struct host *host = *state;

	write_scenario(host, CARD METERS GAUGES);
	host->request.gauges = true;
	host_open(host);
	host_read(host, 5);
	assert_int_equal(gauge(host, KWHY_GAUGE_SM_CLOCK), 2100000000);
	assert_int_equal(gauge(host, KWHY_GAUGE_MEMORY_CLOCK), 1300000000);
	assert_int_equal(gauge(host, KWHY_GAUGE_TEMPERATURE), 45000);
	assert_int_equal(gauge(host, KWHY_GAUGE_MEMORY_TEMPERATURE), 39000);
	assert_int_equal(gauge(host, KWHY_GAUGE_MEMORY_USED), 298889216);
	assert_int_equal(gauge(host, KWHY_GAUGE_BUSY), 370);
	assert_int_equal(gauge(host, KWHY_GAUGE_FAN_SPEED), 200);
	assert_int_equal(gauge(host, KWHY_GAUGE_POWER_LIMIT), 750000);
	assert_null(kwhy_sensors_find_gauge(host->sensors, KWHY_GAUGE_MEMORY_BUSY, 0));
}

static void a_call_that_fails_later_is_counted_and_gives_no_reading(void **state)
{
	struct host *host = *state;

	write_scenario(host, CARD METERS);
	host_open(host);
	host_read(host, 5);
	write_scenario(host, CARD METERS "0 fails rsmi_dev_energy_count_get 3\n");
	host_read(host, 6);
	write_scenario(host, CARD "0 energy_counts 18446744073709551615\n" METERS);
	host_read(host, 7);
	assert_int_equal(host_source(host, KWHY_METER_ROCM_ENERGY, 0)->failures, 2);
	assert_int_equal(host_source(host, KWHY_METER_ROCM_ENERGY, 0)->channel.written, 1);
	assert_int_equal(host_source(host, KWHY_METER_ROCM_POWER, 0)->channel.written, 3);
}

static void processes_are_those_of_the_card_with_their_memory_where_they_use_no_other(void **state)
{
	struct kwhy_sensor_process processes[KWHY_SENSOR_PROCESSES];
	struct host *host = *state;
	char text[32768];
	int length;

	write_scenario(host,
		CARD METERS "process 11 bytes 5000 devices 0\nprocess 12 bytes 7000 devices 1\n"
			    "process 13 bytes 9000 devices 1 0\n");
	host_open(host);
	assert_int_equal(kwhy_sensors_processes(host->sensors, 0, processes), 2);
	assert_int_equal(processes[0].pid, 11);
	assert_int_equal(processes[0].memory_bytes, 5000);
	assert_int_equal(processes[1].pid, 13);
	assert_int_equal(processes[1].memory_bytes, -1);
	assert_int_equal(kwhy_sensors_processes(host->sensors, 1, processes), 0);
	length = snprintf(text, sizeof(text), "%s", CARD METERS);
	for (int i = 0; i < KWHY_SENSOR_PROCESSES + 36; i++)
		length += snprintf(text + length, sizeof(text) - (size_t)length,
			"process %d bytes 1 devices 0\n", 100 + i);
	write_scenario(host, text);
	assert_int_equal(kwhy_sensors_processes(host->sensors, 0, processes), KWHY_SENSOR_PROCESSES);
}

static void the_card_s_sensor_among_the_board_s_is_not_read_once_more(void **state)
{
	struct host *host = *state;

	write_scenario(host, CARD METERS);
	temporary_write(&host->folder, "hwmon/hwmon0/name", "w", "amdgpu\n");
	temporary_write(&host->folder, "hwmon/hwmon0/power1_average", "w", "35000000\n");
	host->request.without_host = false;
	host_open(host);
	assert_null(host_source(host, KWHY_METER_HWMON_POWER, 0));
	assert_int_equal(host->sensors->source_count, 2);
}

static void a_card_without_a_counter_or_with_one_at_0_says_so_and_its_power_is_read(void **state)
{
	struct host *host = *state;

	write_scenario(host,
		CARD "devices 1\n0 average_uw 5000000\n0 current_uw 5000000\n0 fails "
		     "rsmi_dev_energy_count_get 3\n");
	host_open(host);
	assert_non_null(strstr(host_absence(host, "rocm"), "AMD GPU 0: a file of the driver is missing"));
	assert_non_null(host_source(host, KWHY_METER_ROCM_POWER, 0));
	kwhy_sensors_close(host->sensors);
	write_scenario(host, CARD "0 energy_counts 0\n0 current_uw 0\n0 average_uw 0\n");
	host_open(host);
	assert_non_null(strstr(host_absence(host, "rocm"), "it stands at 0; a card of two dies"));
	assert_int_equal(host->sensors->source_count, 0);
	assert_int_equal(host->sensors->device_count, 1);
}

static void without_a_card_the_library_is_not_loaded_and_one_that_does_not_start_is_told(void **state)
{
	struct host *host = *state;

	write_scenario(host, CARD "init 8\n");
	host_open(host);
	assert_non_null(strstr(host_absence(host, "rocm"), "ROCm SMI does not start: failed"));
	assert_int_equal(host->sensors->device_count, 0);
	kwhy_sensors_close(host->sensors);
	temporary_write(&host->folder, "drm/card0/device/vendor", "w", "0x10de\n");
	host_open(host);
	assert_non_null(strstr(host_absence(host, "rocm"), "no AMD GPU"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, host_teardown)
		TEST(a_card_is_told_with_its_name_place_and_limits),
		TEST(the_accumulator_counts_in_units_of_2_to_the_minus_16_joules),
		TEST(a_reading_has_the_driver_s_time_where_that_can_be_and_else_the_time_of_asking),
		TEST(gauges_are_read_in_our_units_where_they_are_asked_for),
		TEST(a_call_that_fails_later_is_counted_and_gives_no_reading),
		TEST(processes_are_those_of_the_card_with_their_memory_where_they_use_no_other),
		TEST(the_card_s_sensor_among_the_board_s_is_not_read_once_more),
		TEST(a_card_without_a_counter_or_with_one_at_0_says_so_and_its_power_is_read),
		TEST(without_a_card_the_library_is_not_loaded_and_one_that_does_not_start_is_told),
	};

	if (!getenv("KWHY_FAKE_ROCM_VERSION"))
		return kwhy_skip_all(
			"KWHY_FAKE_ROCM_VERSION is not set; ctest sets it with the fake library");
	return kwhy_test_main(tests, NULL, NULL);
}
