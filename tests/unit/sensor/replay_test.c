/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "fake_clock.h"
#include "temporary.h"

#include "sensor/sampler.h"

#define MS INT64_C(1000000)
#define START (7000 * MS)

static struct temporary folder;
static struct fake_clock fake;
static struct kwhy_sensors *sensors;
static struct kwhy_error error;

static int setup(void **state)
{
	(void)state;
	temporary_init(&folder);
	fake_clock_init(&fake, START, 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	kwhy_sensors_close(sensors);
	sensors = NULL;
	fake_clock_done(&fake);
	temporary_done(&folder);
	return 0;
}

static enum kwhy_status open_replay(const char *text, const char *devices)
{
	struct kwhy_sensor_request request = {.replay_path = temporary_path(&folder, "power.csv"),
		.devices = devices,
		.clock = &fake.clock};

	temporary_write(&folder, "power.csv", "w", text);
	return kwhy_sensors_open(&request, &sensors, &error);
}

/*
 * A recording, not sorted by time: readings of device 0's counter, of device 2's power samples and of CPU
 * package 1.
 */
static const char recorded[] = "time_ns,device,source,value\n"
			       "1795245133100000000,2,nvml.sample_mw,150000\n"
			       "1795245133000000000,0,nvml.energy_mj,1000\n"
			       "1795245133200000000,0,nvml.energy_mj,1020\n"
			       "1795245133100000000,0,nvml.energy_mj,1010\n"
			       "1795245133150000000,,rapl.package-1_uj,77\n";

static uint64_t count_of(enum kwhy_meter meter, uint32_t device)
{
	const struct kwhy_source_channel *source = kwhy_sensors_find_meter(sensors, meter, device);

	assert_non_null(source);
	return atomic_load(&source->channel.written);
}

static void readings_come_at_their_distance_from_the_first_on_this_clock(void **state)
{
	const struct kwhy_source_channel *source;
	struct kwhy_sampler *sampler;
	struct kwhy_reading last;

	(void)state;
	assert_int_equal(open_replay(recorded, NULL), KWHY_OK);
	assert_int_equal(sensors->device_count, 2);
	assert_int_equal(sensors->source_count, 3);
	source = kwhy_sensors_find_meter(sensors, KWHY_METER_NVML_ENERGY, 0);
	assert_int_equal(source->period_ns, 100 * MS);
	assert_int_equal(kwhy_sampler_start(sensors, &fake.clock, &sampler, &error), KWHY_OK);
	fake_run_to(&fake, START + 99 * MS);
	assert_int_equal(count_of(KWHY_METER_NVML_ENERGY, 0), 1);
	fake_run_to(&fake, START + 100 * MS);
	assert_int_equal(count_of(KWHY_METER_NVML_ENERGY, 0), 2);
	assert_int_equal(count_of(KWHY_METER_NVML_SAMPLE, 1), 1);
	assert_int_equal(count_of(KWHY_METER_RAPL_PACKAGE, KWHY_SENSOR_NO_DEVICE), 0);
	assert_true(kwhy_channel_last(&source->channel, &last));
	assert_int_equal(last.time_mono_ns, START + 100 * MS);
	assert_int_equal(last.value, 1010);
	assert_false(sensors->devices[0].lost);
	fake_run_to(&fake, START + 10000 * MS);
	assert_true(kwhy_channel_last(&source->channel, &last));
	assert_int_equal(last.value, 1020);
	assert_false(sensors->devices[0].lost); /* no loss of a device: only the file has ended */
	assert_int_equal(
		kwhy_sensors_find_meter(sensors, KWHY_METER_RAPL_PACKAGE, KWHY_SENSOR_NO_DEVICE)->domain, 1);
	kwhy_sampler_stop(sampler, NULL);
}

static void a_list_of_devices_leaves_the_others_out(void **state)
{
	(void)state;
	assert_int_equal(open_replay(recorded, "2"), KWHY_OK);
	assert_int_equal(sensors->device_count, 1);
	assert_int_equal(sensors->devices[0].index, 2);
	assert_null(kwhy_sensors_find_meter(sensors, KWHY_METER_NVML_ENERGY, 0));
	assert_non_null(kwhy_sensors_find_meter(sensors, KWHY_METER_NVML_SAMPLE, 0));
}

static void a_list_that_is_none_or_names_no_device_is_refused(void **state)
{
	static const struct {
		const char *devices, *words;
	} cases[] = {{"1", "there is no device 1 with a meter here"}, {"0,1", "no device 1"},
		{"", "\"\" is not a list"}, {"0,", "is not a list"}, {"x", "is not a list"},
		{"0;1", "is not a list"}, {"-1", "is not a list"}, {"99999999999999999999", "is not a list"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(
			open_replay(recorded, cases[i].devices), i < 2 ? KWHY_E_UNSUPPORTED : KWHY_E_USAGE);
		if (!strstr(error.text, cases[i].words))
			fail_msg("%s", error.text);
	}
}

static void a_file_without_readings_or_with_a_damaged_line_is_refused(void **state)
{
	static const struct {
		const char *text, *words;
	} cases[] = {{"", "holds no readings"}, {"time_ns,device,source,value\n", "holds no readings"},
		{"time_ns,device,source,value\n1795245133100000000,0,nvml.sa", "line 2"},
		{"\n\nx\n", "line 3: \"x\" must name the columns"}};
	struct kwhy_sensor_request request = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(open_replay(cases[i].text, NULL), KWHY_E_INPUT);
		if (!strstr(error.text, cases[i].words))
			fail_msg("%s", error.text);
	}
	request.replay_path = temporary_path(&folder, "absent.csv");
	assert_int_equal(kwhy_sensors_open(&request, &sensors, &error), KWHY_E_IO);
	assert_non_null(strstr(error.text, "absent.csv"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(readings_come_at_their_distance_from_the_first_on_this_clock),
		TEST(a_list_of_devices_leaves_the_others_out),
		TEST(a_list_that_is_none_or_names_no_device_is_refused),
		TEST(a_file_without_readings_or_with_a_damaged_line_is_refused),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
