/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the meters with a fake driver of 2018 (390.48), which lacks most of the NVML calls that kwhy uses. */
#include "nvml_machine.h"

static void missing_calls_become_sentences_and_power_is_read_as_an_instant(void **state)
{
	struct machine *machine = machine_start(
		"driver 390.48\ngpu \"Tesla P100-PCIE-16GB\"\npower constant 31\n");

	(void)state;
	assert_int_equal(machine->sensors->device_count, 1);
	assert_int_equal(machine->sensors->devices[0].default_limit_mw, -1);
	assert_true(
		machine_lacks(machine, "the energy counter of GPU 0 cannot be read: this driver is too old"));
	assert_true(machine_lacks(machine, "the 20 ms power samples of GPU 0 cannot be read: this driver"));
	assert_null(machine_meter(machine, KWHY_METER_NVML_AVERAGE, 0));
	machine_run(machine, 3 * S);
	assert_in_range(machine_read(machine, machine_meter(machine, KWHY_METER_NVML_INSTANT, 0)), 29, 31);
	assert_int_equal(machine->readings[0].value, 31000);
	assert_int_equal(machine_gauge(machine, KWHY_GAUGE_THROTTLE_REASONS), KWHY_THROTTLE_IDLE);
	assert_int_equal(machine_gauge(machine, KWHY_GAUGE_MEMORY_USED), INT64_C(616) << 20);
	machine_end(machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_calls_become_sentences_and_power_is_read_as_an_instant),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
