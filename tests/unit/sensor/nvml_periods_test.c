/* SPDX-License-Identifier: Apache-2.0 */
/* Tests how often the meters and gauges of a GPU are read, with the fake NVML. */
#include "cmocka_all.h"

#include "nvml_machine.h"

#define H200 "gpu \"NVIDIA H200\"\n"

/*
 * Runs the machine for 10 s. Returns the largest age that the newest power sample had in that time, which
 * shows how often the driver's buffer of samples is read.
 */
static int64_t oldest_age_ns(struct machine *machine)
{
	const struct kwhy_source_channel *ring = machine_meter(machine, KWHY_METER_NVML_SAMPLE, 0);
	int64_t most_ns = 0;

	for (int i = 0; i < 100; i++) {
		struct kwhy_reading last;

		machine_run(machine, 100 * MS);
		assert_true(kwhy_channel_last(&ring->channel, &last));
		most_ns = machine->now_ns - last.time_mono_ns > most_ns ? machine->now_ns - last.time_mono_ns
									: most_ns;
	}
	return most_ns;
}

static void the_ring_is_read_more_often_while_somebody_watches(void **state)
{
	struct machine *machine = machine_new(H200 "power constant 200\n");

	(void)state;
	machine->request.ring_period_ns = 2 * S;
	machine->request.ring_view_period_ns = 500 * MS;
	machine_open(machine);
	machine_run(machine, S);
	assert_in_range(oldest_age_ns(machine), 1800 * MS, 2200 * MS);
	kwhy_sensors_view(machine->sensors, machine->now_ns + 14 * S);
	machine_run(machine, 2 * S);
	assert_in_range(oldest_age_ns(machine), 400 * MS, 700 * MS);
	machine_run(machine, 4 * S);
	assert_in_range(oldest_age_ns(machine), 1800 * MS, 2200 * MS);
	assert_int_equal(machine_meter(machine, KWHY_METER_NVML_SAMPLE, 0)->failures, 0);
	machine_end(machine);
}

static size_t reads_of(struct machine *machine, enum kwhy_gauge gauge)
{
	return machine_read(machine, kwhy_sensors_find_gauge(machine->sensors, gauge, 0));
}

static void slow_gauges_are_read_less_often_than_clocks_and_utilisation(void **state)
{
	struct machine *machine = machine_new(H200 "gpm_sm_percent 50\n");

	(void)state;
	machine->request.gauge_period_ns = 2 * S;
	machine->request.slow_gauge_period_ns = 10 * S;
	machine_open(machine);
	machine_run(machine, S);
	assert_int_equal(
		reads_of(machine, KWHY_GAUGE_SM_ACTIVE), 1); /* first read within 1 s, then every 10 s */
	machine_run(machine, 60 * S);
	assert_in_range(reads_of(machine, KWHY_GAUGE_SM_CLOCK), 30, 31);
	assert_in_range(reads_of(machine, KWHY_GAUGE_BUSY), 30, 31);
	assert_in_range(reads_of(machine, KWHY_GAUGE_TEMPERATURE), 6, 7);
	assert_in_range(reads_of(machine, KWHY_GAUGE_THROTTLE_REASONS), 6, 7);
	assert_in_range(reads_of(machine, KWHY_GAUGE_SM_ACTIVE), 6, 7);
	assert_in_range(reads_of(machine, KWHY_GAUGE_POWER_LIMIT), 6, 7);
	assert_in_range(
		machine_read(machine, machine_meter(machine, KWHY_METER_NVML_MEMORY_AVERAGE, 0)), 6, 7);
	assert_int_equal(
		kwhy_sensors_find_gauge(machine->sensors, KWHY_GAUGE_TEMPERATURE, 0)->period_ns, 10 * S);
	machine_end(machine);
}

static void no_gauge_is_read_less_often_than_a_long_period_asks_for(void **state)
{
	struct machine *machine = machine_new(H200);

	(void)state;
	machine->request.gauge_period_ns = 30 * S;
	machine_open(machine);
	machine_run(machine, 300 * S);
	assert_in_range(reads_of(machine, KWHY_GAUGE_POWER_LIMIT), 10, 11);
	machine_end(machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_ring_is_read_more_often_while_somebody_watches),
		cmocka_unit_test(slow_gauges_are_read_less_often_than_clocks_and_utilisation),
		cmocka_unit_test(no_gauge_is_read_less_often_than_a_long_period_asks_for),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
