/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the meters of a GPU that is divided into MIG instances, or made whole again, while they are read. */
#include "cmocka_all.h"

#include "nvml_machine.h"

#define H200 "gpu \"NVIDIA H200\"\npower constant 200\nbusy_percent 40\n"
#define SMALL "mig \"MIG 3g\" MIG-1 60 71000 "
#define LARGE "mig \"MIG 4g\" MIG-2 64 71000 "

static enum kwhy_division division(const struct machine *machine)
{
	return machine->sensors->devices[0].division;
}

static const struct kwhy_source_channel *gauge_of(
	const struct machine *machine, enum kwhy_gauge gauge, uint32_t device)
{
	const struct kwhy_source_channel *source = kwhy_sensors_find_gauge(machine->sensors, gauge, device);

	assert_non_null(source);
	return source;
}

/*
 * From 10 s to 20 s the GPU is divided. Energy counter and power samples must lose nothing; utilisation is
 * refused then, because the driver does not tell it for a divided GPU.
 */
static void a_gpu_that_is_divided_and_made_whole_again_is_metered_all_the_time(void **state)
{
	struct machine *machine = machine_start(H200 SMALL "none\nmig_from_s 10\nmig_until_s 20\n");
	const struct kwhy_source_channel *busy = gauge_of(machine, KWHY_GAUGE_BUSY, 0),
					 *ring = machine_meter(machine, KWHY_METER_NVML_SAMPLE, 0),
					 *counter = machine_meter(machine, KWHY_METER_NVML_ENERGY, 0);

	(void)state;
	machine_run(machine, 9 * S);
	assert_int_equal(division(machine), KWHY_DIVISION_KEPT);
	assert_false(busy->refused);
	machine_run(machine, 4 * S);
	assert_int_equal(division(machine), KWHY_DIVISION_OTHER);
	assert_true(busy->refused);
	assert_in_range(busy->failures, 0, 3); /* not read again after 3 failures */
	assert_int_equal(machine->sensors->device_count, 1);
	machine_run(machine, 10 * S);
	assert_int_equal(division(machine), KWHY_DIVISION_KEPT);
	assert_false(busy->refused);
	assert_true(machine->sensors->devices[0].divided_anew);
	assert_in_range(machine_read(machine, ring), 1200, 1275);
	assert_in_range(machine_read(machine, counter), 200, 230);
	assert_int_equal(ring->failures + counter->failures, 0);
	machine_end(machine);
}

/*
 * At 10 s the first instance ends, and the driver gives its index and handle to the second one, which ends at
 * 20 s. At 30 s both exist again. Meanwhile both must count as lost: readings by the old handle could be of
 * the wrong instance.
 */
static void instances_that_end_are_lost_until_they_are_there_again(void **state)
{
	struct machine *machine = machine_start(
		H200 SMALL "30 0 10\n" LARGE "80 0 20\n" SMALL "50 30\n" LARGE "80 30\nprocess 7 1\n");
	const struct kwhy_sensor_device *devices = machine->sensors->devices;
	const struct kwhy_source_channel *active = gauge_of(machine, KWHY_GAUGE_SM_ACTIVE, 1);
	struct kwhy_sensor_process processes[KWHY_SENSOR_PROCESSES];
	struct kwhy_reading last;
	size_t before;

	(void)state;
	machine_run(machine, 9 * S);
	assert_true(kwhy_channel_last(&active->channel, &last));
	assert_int_equal(last.value, 300);
	kwhy_sensors_processes(machine->sensors, 1, processes);
	assert_false(devices[1].lost || devices[2].lost || devices[1].unlisted);
	machine_run(machine, 2 * S);
	assert_true(active->refused);
	machine_run(machine, 2 * S);
	before = machine_read(machine, active);
	assert_true(devices[1].lost && devices[2].lost && !devices[0].lost);
	assert_int_equal(division(machine), KWHY_DIVISION_OTHER);
	kwhy_sensors_processes(machine->sensors, 1, processes);
	assert_true(devices[1].unlisted);
	machine_run(machine, 16 * S);
	assert_int_equal(division(machine), KWHY_DIVISION_OTHER); /* MIG mode without any instance */
	assert_int_equal(machine_read(machine, active), before);
	machine_run(machine, 6 * S);
	assert_int_equal(division(machine), KWHY_DIVISION_KEPT);
	assert_false(devices[1].lost || devices[2].lost || active->refused);
	assert_true(kwhy_channel_last(&active->channel, &last));
	assert_int_equal(last.value, 500);
	machine_end(machine);
}

static void a_divided_gpu_that_is_made_whole_tells_its_utilisation(void **state)
{
	struct machine *machine = machine_start(H200 SMALL "30\nmig_until_s 10\n");
	const struct kwhy_source_channel *busy = gauge_of(machine, KWHY_GAUGE_BUSY, 0);

	(void)state;
	assert_true(machine_lacks(machine, "the utilisation of GPU 0 cannot be read"));
	machine_run(machine, 9 * S);
	assert_int_equal(machine_read(machine, busy), 0);
	assert_int_equal(busy->failures, 0);
	assert_true(busy->refused);
	assert_false(machine->sensors->devices[0].divided_anew);
	machine_run(machine, 5 * S);
	assert_int_equal(division(machine), KWHY_DIVISION_WHOLE);
	assert_true(machine->sensors->devices[1].lost);
	assert_int_equal(machine_gauge(machine, KWHY_GAUGE_BUSY), 400);
	machine_end(machine);
}

/*
 * While the driver divides a GPU, all its calls may fail, with various errors. The meters must be read again
 * afterwards.
 */
static void a_gpu_that_refuses_everything_for_a_while_is_asked_again(void **state)
{
	static const char *const results[] = {
		"no_permission", "unknown", "reset_required", "invalid_argument", "not_supported"};
	char scenario[256];

	(void)state;
	for (size_t i = 0; i < sizeof(results) / sizeof(*results); i++) {
		struct machine *machine;

		snprintf(scenario, sizeof(scenario), H200 "fail * %s after_s 10 until_s 20\n", results[i]);
		machine = machine_start(scenario);
		machine_run(machine, 19 * S);
		assert_true(gauge_of(machine, KWHY_GAUGE_BUSY, 0)->refused);
		assert_false(machine->sensors->devices[0].lost);
		assert_false(machine->sensors->devices[0].divided_anew);
		machine_run(machine, 11 * S);
		assert_false(gauge_of(machine, KWHY_GAUGE_BUSY, 0)->refused);
		machine_read(machine, machine_meter(machine, KWHY_METER_NVML_ENERGY, 0));
		assert_float_equal(
			(double)machine->readings[machine->count - 1].value, 1e6 + 30 * 200e3, 60e3);
		machine_end(machine);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gpu_that_is_divided_and_made_whole_again_is_metered_all_the_time),
		cmocka_unit_test(instances_that_end_are_lost_until_they_are_there_again),
		cmocka_unit_test(a_divided_gpu_that_is_made_whole_tells_its_utilisation),
		cmocka_unit_test(a_gpu_that_refuses_everything_for_a_while_is_asked_again),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
