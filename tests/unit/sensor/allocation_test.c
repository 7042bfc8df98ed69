/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_clock.h"
#include "host_meters.h"

#include "sensor/sampler.h"

/* Linked with --wrap: counts what is allocated, by whomever. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static _Atomic unsigned allocations;

void *__wrap_malloc(size_t size)
{
	allocations++;
	return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	allocations++;
	return __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	allocations++;
	return __real_realloc(old, size);
}

#define SECOND INT64_C(1000000000)

static void sampling_allocates_nothing_however_long_it_runs(void **state)
{
	static const char *files[1];
	struct host *host = *state;
	struct fake_clock fake;
	struct kwhy_sampler *sampler;
	struct kwhy_sampler_cost cost;
	unsigned before;

	fake_clock_init(&fake, SECOND, 0);
	temporary_write(&host->folder, "powercap/intel-rapl:0/name", "w", "package-0\n");
	temporary_write(&host->folder, "powercap/intel-rapl:0/energy_uj", "w", "5\n");
	temporary_write(&host->folder, "hwmon/hwmon0/power1_input", "w", "5000\n");
	temporary_write(
		&host->folder, "wall.csv", "w", "time_ns,source,value\n1795245050000000000,meter_mw,1\n");
	files[0] = temporary_path(&host->folder, "wall.csv");
	host->request.meter_files = files;
	host->request.meter_file_count = 1;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			sampling_allocates_nothing_however_long_it_runs, host_setup, host_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
