/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_clock.h"
#include "host_meters.h"

#include "sensor/sensor_csv.h"

#include <signal.h>
#include <sys/resource.h>

#define MONO INT64_C(5000000000)
#define OFFSET INT64_C(1795245000000000000)

static struct fake_clock fake;
static struct kwhy_sensor_csv *csv;

static int setup(void **state)
{
	struct host *host;

	host_setup(state);
	host = *state;
	fake_clock_init(&fake, MONO, OFFSET);
	host->request.without_host = true;
	host->request.clock = &fake.clock;
	host->request.history_s = 64;
	host_open(host);
	return 0;
}

static int teardown(void **state)
{
	fake_clock_done(&fake);
	return host_teardown(state);
}

static struct kwhy_source_channel *add(
	struct host *host, enum kwhy_meter meter, uint32_t device, uint32_t domain, int64_t wrap)
{
	struct kwhy_source_channel source = {
		.meter = meter, .device = device, .domain = domain, .wrap = wrap, .label = "\"x\"\n"};
	uint32_t index;

	assert_int_equal(
		kwhy_sensors_add_source(host->sensors, &source, 1, &host->request, &index, &host->error),
		KWHY_OK);
	return &host->sensors->sources[index];
}

static void add_device(struct host *host)
{
	struct kwhy_sensor_device device = {
		.index = 3, .mig_index = -1, .name = "Card \"A\"", .uuid = "GPU-1", .limit_mw = 700500};
	uint32_t index;

	assert_int_equal(kwhy_sensors_add_device(host->sensors, &device, &index, &host->error), KWHY_OK);
}

static void push(struct kwhy_source_channel *source, int64_t after_ns, int64_t value)
{
	kwhy_channel_push(&source->channel, (struct kwhy_reading){MONO + after_ns, value});
}

static void begin(struct host *host)
{
	assert_int_equal(kwhy_sensor_csv_open(temporary_path(&host->folder, "power.csv"), host->sensors, &csv,
				 &host->error),
		KWHY_OK);
}

static const char *whole(struct host *host)
{
	static char text[16384];
	FILE *file = fopen(temporary_path(&host->folder, "power.csv"), "r");

	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

static void readings_are_rows_with_unix_times_and_the_vendor_s_numbers_of_devices(void **state)
{
	struct host *host = *state;

	add_device(host);
	add(host, KWHY_METER_NVML_SAMPLE, 0, 0, 0);
	add(host, KWHY_METER_RAPL_DRAM, KWHY_SENSOR_NO_DEVICE, 1, 0);
	push(&host->sensors->sources[0], 10, 121500);
	begin(host);
	kwhy_sensor_csv_drain(csv);
	push(&host->sensors->sources[1], 20, 7);
	fake_set_offset(&fake, 0); /* Unix time is set; times in the file go on unchanged */
	push(&host->sensors->sources[0], 30, 121600);
	assert_int_equal(kwhy_sensor_csv_lost(csv), 0);
	assert_int_equal(kwhy_sensor_csv_close(csv, &host->error), KWHY_OK);
	assert_string_equal(whole(host),
		"# device 3 name=\"Card  A \" uuid=\"GPU-1\" limit_w=700.5\n"
		"# source nvml.sample_mw label=\" x  \"\n"
		"# source rapl.dram-1_uj label=\" x  \"\n"
		"time_ns,device,source,value\n"
		"1795245005000000010,3,nvml.sample_mw,121500\n"
		"1795245005000000030,3,nvml.sample_mw,121600\n"
		"1795245005000000020,,rapl.dram-1_uj,7\n");
}

/*
 * After a fall the file counts on as if the counter had wrapped, and does not take this back when the counter
 * later rises: from 20 to 10 adds a whole wrap, although the 10 may be a wrong reading.
 */
static void wraps_are_undone_and_resets_stay_to_be_seen(void **state)
{
	struct host *host = *state;
	struct kwhy_source_channel *source = add(
		host, KWHY_METER_RAPL_PACKAGE, KWHY_SENSOR_NO_DEVICE, 0, 999999);

	push(source, 0, 999990);
	push(source, 1000000000, 9);
	push(source, 2000000000, 20);
	push(source, 3000000000, 10);
	push(source, 3000000001, 5); /* 1 ns later: no wrap, so a reset */
	push(source, 4000000000, 6);
	begin(host);
	assert_int_equal(kwhy_sensor_csv_close(csv, &host->error), KWHY_OK);
	assert_string_equal(strstr(whole(host), "value\n"),
		"value\n"
		"1795245005000000000,,rapl.package-0_uj,999990\n"
		"1795245006000000000,,rapl.package-0_uj,1000009\n"
		"1795245007000000000,,rapl.package-0_uj,1000020\n"
		"1795245008000000000,,rapl.package-0_uj,2000010\n"
		"1795245008000000001,,rapl.package-0_uj,2000005\n"
		"1795245009000000000,,rapl.package-0_uj,2000006\n");
}

static void what_was_overwritten_is_counted_and_told_in_the_file(void **state)
{
	struct host *host = *state;
	struct kwhy_source_channel *source = add(host, KWHY_METER_WALL, KWHY_SENSOR_NO_DEVICE, 0, 0);

	for (int i = 0; i < 100; i++)
		push(source, i, i);
	begin(host);
	kwhy_sensor_csv_drain(csv);
	assert_int_equal(kwhy_sensor_csv_lost(csv), 37);
	assert_int_equal(kwhy_sensor_csv_close(csv, &host->error), KWHY_OK);
	assert_non_null(strstr(whole(host), "value\n# lost 37 readings of meter_mw here\n"));
}

static void what_is_written_can_be_played_back(void **state)
{
	struct host *host = *state;
	struct kwhy_sensor_request request = {.clock = &fake.clock};
	struct kwhy_sensors *replayed;
	char path[128];

	add_device(host);
	add(host, KWHY_METER_NVML_ENERGY, 0, 0, 0);
	push(&host->sensors->sources[0], 0, 5);
	push(&host->sensors->sources[0], 100000000, 6);
	begin(host);
	assert_int_equal(kwhy_sensor_csv_close(csv, &host->error), KWHY_OK);
	snprintf(path, sizeof(path), "%s/power.csv", host->folder.path);
	request.replay_path = path;
	assert_int_equal(kwhy_sensors_open(&request, &replayed, &host->error), KWHY_OK);
	assert_int_equal(replayed->devices[0].index, 3);
	assert_string_equal(replayed->devices[0].name, "Card  A ");
	assert_int_equal(kwhy_sensors_find_meter(replayed, KWHY_METER_NVML_ENERGY, 0)->period_ns, 100000000);
	kwhy_sensors_close(replayed);
}

static void a_file_that_cannot_be_written_is_refused(void **state)
{
	struct host *host = *state;

	assert_int_equal(kwhy_sensor_csv_open(temporary_path(&host->folder, "absent/power.csv"),
				 host->sensors, &csv, &host->error),
		KWHY_E_IO);
	assert_non_null(strstr(host->error.text, "absent/power.csv"));
	if (access("/dev/full", W_OK))
		kwhy_skip("there is no /dev/full");
	assert_int_equal(kwhy_sensor_csv_open("/dev/full", host->sensors, &csv, &host->error), KWHY_E_IO);
	assert_non_null(strstr(host->error.text, "No space left"));
	assert_int_equal(kwhy_sensor_csv_close(NULL, &host->error), KWHY_OK);
}

/*
 * A write fails because of a limit on the size of files, which is then raised. Rows written afterwards would
 * leave a gap in the file, so none may be written, and closing must report the failure.
 */
static void after_a_write_that_failed_nothing_is_written_and_the_end_tells_why(void **state)
{
	struct host *host = *state;
	struct kwhy_source_channel *source = add(host, KWHY_METER_WALL, KWHY_SENSOR_NO_DEVICE, 0, 0);
	struct rlimit before, small;

	begin(host);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){1, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	push(source, 10, 121500);
	kwhy_sensor_csv_drain(csv);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	push(source, 20, 121600);
	kwhy_sensor_csv_drain(csv);
	assert_int_equal(kwhy_sensor_csv_close(csv, &host->error), KWHY_E_IO);
	assert_non_null(strstr(host->error.text, "power.csv': File too large"));
	assert_null(strstr(whole(host), "121600"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(readings_are_rows_with_unix_times_and_the_vendor_s_numbers_of_devices),
		TEST(wraps_are_undone_and_resets_stay_to_be_seen),
		TEST(after_a_write_that_failed_nothing_is_written_and_the_end_tells_why),
		TEST(what_was_overwritten_is_counted_and_told_in_the_file),
		TEST(what_is_written_can_be_played_back),
		TEST(a_file_that_cannot_be_written_is_refused),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
