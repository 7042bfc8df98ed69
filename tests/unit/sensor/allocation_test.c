/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_clock.h"
#include "host_meters.h"
#include "unit/failing_memory.h"

#include "sensor/sampler.h"
#include "sensor/sensor_csv.h"

#define SECOND INT64_C(1000000000)

/*
 * Makes the files of a CPU package, a board's sensor and a wall meter. replay: the request plays back the
 * wall meter's file and uses no other sensor.
 */
static void make_machine(struct host *host, bool replay)
{
	static const char *files[1];
	static char path[128];

	temporary_write(&host->folder, "powercap/intel-rapl:0/name", "w", "package-0\n");
	temporary_write(&host->folder, "powercap/intel-rapl:0/energy_uj", "w", "5\n");
	temporary_write(&host->folder, "hwmon/hwmon0/power1_input", "w", "5000\n");
	temporary_write(&host->folder, "wall.csv", "w",
		"time_ns,device,source,value\n1795245050000000000,,meter_mw,1\n"
		"1795245050000000000,0,nvml.sample_mw,1\n");
	snprintf(path, sizeof(path), "%s/wall.csv", host->folder.path);
	files[0] = path;
	host->request.meter_files = files;
	host->request.meter_file_count = 1;
	host->request.replay_path = replay ? path : NULL;
}

static void sampling_allocates_nothing_however_long_it_runs(void **state)
{
	struct host *host = *state;
	struct fake_clock fake;
	struct kwhy_sampler *sampler;
	struct kwhy_sampler_cost cost;
	unsigned before;

	fake_clock_init(&fake, SECOND, 0);
	make_machine(host, false);
	host->request.clock = &fake.clock;
	host_open(host);
	assert_int_equal(host->sensors->task_count, 3);
	assert_int_equal(kwhy_sampler_start(host->sensors, &fake.clock, &sampler, &host->error), KWHY_OK);
	fake_run_to(&fake, 2 * SECOND);
	before = allocations;
	fake_run_to(&fake, 602 * SECOND);
	kwhy_sampler_flush(sampler);
	assert_int_equal(allocations, before);
	kwhy_sampler_stop(sampler, &cost);
	assert_true(cost.reads > 10000);
	fake_clock_done(&fake);
}

/*
 * Opens the sensors, starts the sampler and opens a CSV file of readings, then closes all of them. Returns
 * KWHY_OK or the status of the first failure.
 */
static enum kwhy_status use_all(struct host *host)
{
	struct kwhy_sensor_csv *csv = NULL;
	struct kwhy_sampler *sampler = NULL;
	struct kwhy_error ignored;
	enum kwhy_status status = kwhy_sensors_open(&host->request, &host->sensors, &host->error);

	if (status)
		return status;
	status = kwhy_sampler_start(host->sensors, NULL, &sampler, &host->error);
	if (!status)
		status = kwhy_sensor_csv_open("/dev/null", host->sensors, &csv, &host->error);
	if (sampler)
		kwhy_sampler_stop(sampler, NULL);
	if (!status)
		status = kwhy_sensor_csv_close(csv, &host->error);
	else
		(void)!kwhy_sensor_csv_close(csv, &ignored);
	kwhy_sensors_close(host->sensors);
	host->sensors = NULL;
	return status;
}

/*
 * Lets each allocation fail in turn. Each time the status must be an error with a message, or KWHY_OK, as the
 * C library can do without some memory, such as a buffer.
 */
static void want_of_memory_at_any_place_is_an_error_with_words(void **state)
{
	struct host *host = *state;
	unsigned refused = 0;

	for (int replay = 0; replay < 2; replay++) {
		make_machine(host, replay);
		for (long number = 0;; number++) {
			enum kwhy_status status;

			host->error.text[0] = '\0';
			failed = false;
			left_until_failure = number;
			status = use_all(host);
			left_until_failure = -1;
			if (!failed) {
				assert_int_equal(status, KWHY_OK);
				break;
			}
			refused += status != KWHY_OK;
			assert_true(status == KWHY_OK || host->error.text[0]);
		}
	}
	assert_true(refused > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			sampling_allocates_nothing_however_long_it_runs, host_setup, host_teardown),
		cmocka_unit_test_setup_teardown(
			want_of_memory_at_any_place_is_an_error_with_words, host_setup, host_teardown),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
