/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "nvml_machine.h"

#define H200 "gpu \"NVIDIA H200\"\n"

static void a_device_is_described_as_the_driver_describes_it(void **state)
{
	struct machine *machine = machine_start(H200 "pci 0:19:0\nuuid GPU-1234\n");
	const struct kwhy_sensor_device *device = &machine->sensors->devices[0];

	(void)state;
	assert_int_equal(machine->sensors->device_count, 1);
	assert_string_equal(device->name, "NVIDIA H200");
	assert_string_equal(device->uuid, "GPU-1234");
	assert_string_equal(device->pci_address, "0000:19:00.0");
	assert_string_equal(device->driver, "580.159.04");
	assert_int_equal(device->mig_index, -1);
	assert_int_equal(device->limit_mw, 700000);
	assert_int_equal(device->default_limit_mw, 700000);
	assert_int_equal(device->sm_count, 0);
	assert_true(device->memory_bytes == UINT64_C(143771) << 20);
	assert_false(device->energy_is_module);
	machine_end(machine);
}

static void ten_minutes_of_the_ring_are_read_without_a_loss(void **state)
{
	struct machine *machine = machine_start(H200 "power square 121 368 130 70\n");
	const struct kwhy_source_channel *ring = machine_meter(machine, KWHY_METER_NVML_SAMPLE, 0);

	(void)state;
	machine->request.gauges = false;
	machine_run(machine, 600 * S);
	assert_in_range(machine_read(machine, ring), 30088,
		30095); /* 600 s at 50 Hz and 88 to 95 older ones in the buffer */
	assert_int_equal(ring->failures, 0);
	for (size_t i = 1; i < machine->count; i++)
		assert_true(
			machine->readings[i].time_mono_ns - machine->readings[i - 1].time_mono_ns < 31 * MS);
	machine_end(machine);
}

static void stamps_of_the_driver_become_times_of_our_clock(void **state)
{
	struct machine *machine = machine_start(H200 "power steps 0 100 1 300\nring_late_every 0\n");
	int64_t begin_ns = machine->now_ns, first_high_ns = 0;

	(void)state;
	machine_run(machine, 3 * S);
	machine_read(machine, machine_meter(machine, KWHY_METER_NVML_SAMPLE, 0));
	for (size_t i = machine->count; i-- > 0 && machine->readings[i].value > 200000;)
		first_high_ns = machine->readings[i].time_mono_ns - begin_ns;
	/*
	 * power rises at 1 s; samples show half of the rise after the sensor's delay plus ln 2 = 0.69 time
	 * constants
	 */
	assert_in_range(first_high_ns, 1013 * MS, 1035 * MS);
	machine_end(machine);
}

static void setting_unix_time_loses_and_repeats_no_reading(void **state)
{
	struct machine *machine = machine_start(H200 "power constant 200\n");
	const struct kwhy_source_channel *ring = machine_meter(machine, KWHY_METER_NVML_SAMPLE, 0);
	size_t before;

	(void)state;
	machine_run(machine, 10 * S);
	before = machine_read(machine, ring);
	machine->offset_ns -= 3600 * S;
	machine_run(machine, 10 * S);
	machine->offset_ns += 7200 * S;
	machine_run(machine, 10 * S);
	assert_in_range(machine_read(machine, ring) - before, 997, 1001);
	machine_end(machine);
}

static void stamps_that_go_back_are_dropped_and_counted(void **state)
{
	struct machine *machine = machine_start(H200 "power constant 200\nring_back_at_s 1.2\n");
	const struct kwhy_source_channel *ring = machine_meter(machine, KWHY_METER_NVML_SAMPLE, 0);

	(void)state;
	machine_run(machine, 3 * S);
	machine_read(machine, ring);
	assert_in_range(ring->failures, 1, 3);
	machine_end(machine);
}

static void a_ring_read_too_late_counts_what_is_missing(void **state)
{
	struct machine *machine = machine_start(H200 "power constant 200\n");
	const struct kwhy_source_channel *ring = machine_meter(machine, KWHY_METER_NVML_SAMPLE, 0);

	(void)state;
	machine_run(machine, 3 * S);
	assert_int_equal(ring->failures, 0);
	machine->now_ns += 6 * S;
	machine_run(machine, 2 * S);
	assert_in_range(ring->failures, 150, 260);
	machine_end(machine);
}

static void the_counter_is_told_at_its_ticks_and_agrees_with_the_power(void **state)
{
	struct machine *machine = machine_start(H200 "power square 121 368 50 50\n");
	const struct kwhy_source_channel *counter = machine_meter(machine, KWHY_METER_NVML_ENERGY, 0);
	const struct kwhy_reading *readings = machine->readings;
	double power_w;

	(void)state;
	machine_run(machine, 60 * S);
	assert_in_range(machine_read(machine, counter), 597, 600);
	power_w = (double)(readings[machine->count - 1].value - readings[5].value) * 1e6 /
		(double)(readings[machine->count - 1].time_mono_ns - readings[5].time_mono_ns);
	assert_float_equal(power_w, 244.5, 0.05);
	for (size_t i = 5; i < machine->count; i++)
		assert_in_range((readings[i].time_mono_ns - 5000 * S - 37 * MS + 50 * MS) % (100 * MS),
			48 * MS, 52 * MS);
	assert_int_equal(counter->failures, 0);
	machine_end(machine);
}

static void a_counter_that_wraps_resets_and_stands_still_is_passed_on_as_it_is(void **state)
{
	struct machine *machine = machine_start(H200 "power constant 200\nenergy_start_mj 1000000\n"
						     "energy_wrap_mj 1200000\nenergy_reset_at_s 3\n"
						     "energy_stuck_at_s 5\n");
	const struct kwhy_source_channel *counter = machine_meter(machine, KWHY_METER_NVML_ENERGY, 0);
	size_t falls = 0, count;
	uint64_t reads;

	(void)state;
	machine_run(machine, 5 * S);
	count = machine_read(machine, counter);
	assert_in_range(count, 47, 50);
	for (size_t i = 1; i < count; i++)
		falls += machine->readings[i].value < machine->readings[i - 1].value;
	assert_int_equal(falls, 2);
	machine_run(machine, 5 * S);
	reads = machine->reads;
	machine_run(machine, 60 * S);
	assert_in_range(machine_read(machine, counter), count, count + 12);
	assert_true(machine->reads - reads < 60 * 30);
	machine_end(machine);
}

static void a_counter_that_never_moves_is_read_on_and_says_so(void **state)
{
	struct machine *machine = machine_start(H200 "power constant 200\nenergy_start_mj 5000\n"
						     "energy_stuck_at_s 0\n");
	const struct kwhy_source_channel *counter = machine_meter(machine, KWHY_METER_NVML_ENERGY, 0);
	size_t count;

	(void)state;
	machine_run(machine, 10 * S);
	count = machine_read(machine, counter);
	assert_in_range(count, 10, 40);
	for (size_t i = 1; i < count; i++) {
		assert_true(machine->readings[i].value == machine->readings[0].value);
		assert_true(machine->readings[i].time_mono_ns > machine->readings[i - 1].time_mono_ns);
	}
	machine_end(machine);
}

static void a_gpu_that_falls_off_the_bus_is_marked_and_not_asked_again(void **state)
{
	struct machine *machine = machine_start(H200 "power constant 200\nlost_at_s 1.5\n" H200);
	const struct kwhy_sensor_device *devices = machine->sensors->devices;
	size_t before;

	(void)state;
	machine_run(machine, S);
	assert_false(devices[0].lost);
	machine_run(machine, 2 * S);
	assert_true(devices[0].lost);
	assert_false(devices[1].lost);
	before = machine_read(machine, machine_meter(machine, KWHY_METER_NVML_SAMPLE, 1));
	machine->reads = 0;
	machine_run(machine, 10 * S);
	assert_in_range(machine_read(machine, machine_meter(machine, KWHY_METER_NVML_SAMPLE, 1)),
		before + 498, before + 502);
	for (size_t i = 0; i < machine->sensors->task_count; i++)
		if (strstr(machine->sensors->tasks[i].title, "GPU 0"))
			assert_true(machine->due_ns[i] == INT64_MAX);
	machine_end(machine);
}

static void a_call_that_fails_once_is_counted_and_sampling_goes_on(void **state)
{
	struct machine *machine = machine_start(
		H200 "fail nvmlDeviceGetTotalEnergyConsumption unknown nth 60 times 1\n"
		     "fail nvmlDeviceGetSamples timeout nth 5 times 1\n");
	const struct kwhy_source_channel *counter = machine_meter(machine, KWHY_METER_NVML_ENERGY, 0);
	const struct kwhy_source_channel *ring = machine_meter(machine, KWHY_METER_NVML_SAMPLE, 0);

	(void)state;
	machine_run(machine, 20 * S);
	assert_int_equal(counter->failures, 1);
	assert_int_equal(ring->failures, 1);
	assert_in_range(machine_read(machine, counter), 90, 200);
	assert_in_range(machine_read(machine, ring), 1020, 1122);
	assert_false(machine->sensors->devices[0].lost);
	machine_end(machine);
}

static void a_rare_counter_is_read_each_second_while_the_ring_is_refused(void **state)
{
	struct machine *machine = machine_new(
		H200 "power constant 200\nfail nvmlDeviceGetSamples unknown after_s 30 times 174\n");
	const struct kwhy_source_channel *counter;
	size_t before, refused;

	(void)state;
	machine->request.counter_period_ns = 20 * S;
	machine_open(machine);
	counter = machine_meter(machine, KWHY_METER_NVML_ENERGY, 0);
	machine_run(machine, 30 * S);
	before = machine_read(machine, counter);
	machine_run(machine, 40 * S); /* 174 reads of the buffer fail, one every 0.23 s */
	refused = machine_read(machine, counter);
	assert_in_range(refused - before, 30, 46);
	for (size_t i = before; i < refused;
		i++) /* the fake updates its counter at 37 ms + n x 100 ms: each reading's time */
		assert_in_range(
			(machine->readings[i].time_mono_ns - 5000 * S - 37 * MS + 50 * MS) % (100 * MS),
			36 * MS, 64 * MS);
	machine_run(machine, 60 * S);
	assert_in_range(machine_read(machine, counter) - refused, 2, 6);
	machine_end(machine);
}

static void gauges_have_our_units(void **state)
{
	struct machine *machine = machine_start(
		H200 "sm_clock_mhz 1980\ntemperature_c 52\nmemory_temperature_c 58\nthrottle_reasons 0xe5\n"
		     "busy_percent 97\nmemory_busy_percent 35\nfan_percent 40\npower_limit_w 650\n"
		     "process 42 2048\npcie_generation 4\npcie_width 8\n");

	(void)state;
	machine_run(machine, 2 * S);
	assert_int_equal(machine_gauge(machine, KWHY_GAUGE_SM_CLOCK), 1980000000);
	assert_int_equal(machine_gauge(machine, KWHY_GAUGE_MEMORY_CLOCK), 3201000000);
	assert_int_equal(machine_gauge(machine, KWHY_GAUGE_TEMPERATURE), 52000);
	assert_int_equal(machine_gauge(machine, KWHY_GAUGE_MEMORY_TEMPERATURE), 58000);
	assert_int_equal(machine_gauge(machine, KWHY_GAUGE_THROTTLE_REASONS),
		KWHY_THROTTLE_IDLE | KWHY_THROTTLE_POWER_CAP | KWHY_THROTTLE_SOFTWARE_THERMAL |
			KWHY_THROTTLE_HARDWARE_THERMAL | KWHY_THROTTLE_HARDWARE_POWER_BRAKE);
	assert_int_equal(machine_gauge(machine, KWHY_GAUGE_BUSY), 970);
	assert_int_equal(machine_gauge(machine, KWHY_GAUGE_MEMORY_BUSY), 350);
	assert_int_equal(machine_gauge(machine, KWHY_GAUGE_FAN_SPEED), 400);
	assert_int_equal(machine_gauge(machine, KWHY_GAUGE_POWER_LIMIT), 650000);
	assert_int_equal(machine_gauge(machine, KWHY_GAUGE_MEMORY_USED), INT64_C(2048) << 20);
	assert_int_equal(machine_gauge(machine, KWHY_GAUGE_PCIE_GENERATION), 4);
	assert_int_equal(machine_gauge(machine, KWHY_GAUGE_PCIE_WIDTH), 8);
	machine_end(machine);
}

static void the_clock_alone_is_read_more_often_if_asked_for(void **state)
{
	struct machine *machine = machine_new(H200 "sm_clock_mhz 1980\n");
	size_t often, seldom;

	(void)state;
	machine->request.clock_period_ns = 5 * MS;
	machine_open(machine);
	machine_run(machine, 2 * S);
	often = machine_read(machine, kwhy_sensors_find_gauge(machine->sensors, KWHY_GAUGE_SM_CLOCK, 0));
	seldom = machine_read(machine, kwhy_sensors_find_gauge(machine->sensors, KWHY_GAUGE_MEMORY_CLOCK, 0));
	assert_true(often >= 400 && often <= 410);
	assert_true(seldom <= 3);
	assert_int_equal(machine_gauge(machine, KWHY_GAUGE_SM_CLOCK), 1980000000);
	machine_end(machine);
}

static void gpm_gives_means_over_at_least_100_ms_and_no_traffic_that_is_not_there(void **state)
{
	struct machine *machine = machine_start(
		H200 "gpm_sm_percent 98.46\ngpm_pcie_rx_mib_s 2048\ngpm_tensor_percent 12\n"
		     "gpm_integer_percent 7.5\ngpm_fp16_percent 3\ngpm_fp64_percent 1\n");
	size_t count;

	(void)state;
	machine_run(machine, 5500 * MS);
	assert_int_equal(machine_gauge(machine, KWHY_GAUGE_SM_ACTIVE), 985);
	assert_int_equal(machine_gauge(machine, KWHY_GAUGE_TENSOR_ACTIVE), 120);
	assert_int_equal(machine_gauge(machine, KWHY_GAUGE_INTEGER_ACTIVE), 75);
	assert_int_equal(machine_gauge(machine, KWHY_GAUGE_FP16_ACTIVE), 30);
	assert_int_equal(machine_gauge(machine, KWHY_GAUGE_FP64_ACTIVE), 10);
	assert_true(machine_gauge(machine, KWHY_GAUGE_PCIE_RX) == INT64_C(2048) << 20);
	assert_null(kwhy_sensors_find_gauge(machine->sensors, KWHY_GAUGE_NVLINK_RX, 0));
	count = machine_read(machine, kwhy_sensors_find_gauge(machine->sensors, KWHY_GAUGE_SM_ACTIVE, 0));
	for (size_t i = 0; i < machine->sensors->task_count; i++)
		machine_run_task(machine, i);
	machine->now_ns += 50 * MS;
	for (size_t i = 0; i < machine->sensors->task_count; i++)
		machine_run_task(machine, i);
	assert_int_equal(
		machine_read(machine, kwhy_sensors_find_gauge(machine->sensors, KWHY_GAUGE_SM_ACTIVE, 0)),
		count + 1);
	assert_int_equal(machine_gauge(machine, KWHY_GAUGE_SM_ACTIVE), 985);
	machine_end(machine);
}

static void without_gauges_only_meters_are_read(void **state)
{
	struct machine *machine = machine_new(H200);

	(void)state;
	machine->request.gauges = false;
	machine_open(machine);
	for (size_t i = 0; i < machine->sensors->source_count; i++)
		assert_int_equal(machine->sensors->sources[i].kind, KWHY_SOURCE_METER);
	machine_end(machine);
}

static void averages_and_instants_are_read_only_when_asked_for_or_for_want_of_the_ring(void **state)
{
	struct machine *machine = machine_start(H200 "power constant 200\n");

	(void)state;
	assert_null(machine_meter(machine, KWHY_METER_NVML_AVERAGE, 0));
	assert_null(machine_meter(machine, KWHY_METER_NVML_INSTANT, 0));
	assert_non_null(machine_meter(machine, KWHY_METER_NVML_MEMORY_AVERAGE, 0));
	machine_end(machine);
	machine = machine_new(H200 "power constant 200\n");
	machine->request.all_meters = true;
	machine_open(machine);
	machine_run(machine, 3 * S);
	assert_in_range(machine_read(machine, machine_meter(machine, KWHY_METER_NVML_AVERAGE, 0)), 29, 31);
	assert_int_equal(machine->readings[machine->count - 1].value, 200000);
	assert_in_range(machine_read(machine, machine_meter(machine, KWHY_METER_NVML_INSTANT, 0)), 29, 31);
	machine_end(machine);
	machine = machine_start(H200 "fail nvmlDeviceGetSamples not_supported\n");
	assert_null(machine_meter(machine, KWHY_METER_NVML_SAMPLE, 0));
	assert_non_null(machine_meter(machine, KWHY_METER_NVML_AVERAGE, 0));
	assert_non_null(machine_meter(machine, KWHY_METER_NVML_INSTANT, 0));
	assert_true(machine_lacks(machine, "the 20 ms power samples of GPU 0 cannot be read"));
	machine_end(machine);
}

static void without_permission_every_meter_has_a_sentence_with_the_cure(void **state)
{
	struct machine *machine = machine_start(
		H200 "fail nvmlDeviceGetTotalEnergyConsumption no_permission\n"
		     "fail nvmlDeviceGetSamples no_permission\n"
		     "fail nvmlDeviceGetFieldValues no_permission\n"
		     "fail nvmlDeviceGetPowerUsage no_permission\n"
		     "fail nvmlGpmQueryDeviceSupport no_permission\n");

	(void)state;
	assert_true(machine_lacks(
		machine, "the energy counter of GPU 0 cannot be read: permission denied; run as root"));
	assert_true(
		machine_lacks(machine, "the 20 ms power samples of GPU 0 cannot be read: permission denied"));
	assert_true(machine_lacks(machine, "the power of GPU 0 cannot be read: permission denied"));
	assert_true(machine_lacks(machine, "(GPM) of GPU 0 cannot be read: permission denied"));
	assert_null(machine_meter(machine, KWHY_METER_NVML_ENERGY, 0));
	machine_end(machine);
}

static void a_gpu_that_cannot_be_opened_leaves_the_others(void **state)
{
	struct machine *machine = machine_start(
		H200 H200 "fail nvmlDeviceGetHandleByIndex_v2 no_permission nth 1 times 1\n");

	(void)state;
	assert_int_equal(machine->sensors->device_count, 1);
	assert_int_equal(machine->sensors->devices[0].index, 1);
	assert_true(machine_lacks(machine, "GPU 0 cannot be opened: permission denied"));
	machine_end(machine);
}

static void only_the_gpus_asked_for_are_opened(void **state)
{
	struct machine *machine = machine_new(H200 H200 H200);

	(void)state;
	machine->request.devices = "2,0";
	machine_open(machine);
	assert_int_equal(machine->sensors->device_count, 2);
	assert_int_equal(machine->sensors->devices[0].index, 0);
	assert_int_equal(machine->sensors->devices[1].index, 2);
	machine_end(machine);
}

static void gpus_that_the_program_cannot_see_are_left_out_and_named(void **state)
{
	struct machine *machine = machine_new(H200 "uuid GPU-a\n" H200 "uuid GPU-b\n" H200 "uuid GPU-c\n");

	(void)state;
	machine->request.visible = "GPU-b";
	machine_open(machine);
	assert_int_equal(machine->sensors->device_count, 1);
	assert_int_equal(machine->sensors->devices[0].index, 1);
	assert_true(machine_lacks(machine, "GPU 0, 2 left out"));
	assert_true(machine->sensors->absences[0].is_choice);
	machine_end(machine);
}

static void a_list_of_devices_overrides_what_the_program_sees(void **state)
{
	struct machine *machine = machine_new(H200 H200);

	(void)state;
	machine->request.visible = "0";
	machine->request.devices = "1";
	machine_open(machine);
	assert_int_equal(machine->sensors->device_count, 1);
	assert_int_equal(machine->sensors->devices[0].index, 1);
	assert_false(machine_lacks(machine, "left out"));
	machine_end(machine);
}

static void an_instance_that_the_program_sees_has_its_gpu_metered(void **state)
{
	struct machine *machine = machine_new(H200 H200 "mig \"NVIDIA H200 MIG 1g.18gb\" MIG-1 16 16384\n");

	(void)state;
	machine->request.visible = "MIG-1";
	machine_open(machine);
	assert_int_equal(machine->sensors->device_count, 2);
	assert_int_equal(machine->sensors->devices[0].index, 1);
	assert_int_equal(machine->sensors->devices[1].mig_index, 0);
	assert_true(machine_lacks(machine, "GPU 0 left out"));
	machine_end(machine);
}

static void all_are_metered_where_it_is_not_known_which_the_program_sees(void **state)
{
	struct machine *machine = machine_new("gpu \"NVIDIA T4\"\n" H200);

	(void)state;
	machine->request.visible = "0";
	machine_open(machine);
	assert_int_equal(machine->sensors->device_count, 2);
	assert_true(machine_lacks(machine, "CUDA_DEVICE_ORDER=PCI_BUS_ID"));
	assert_true(machine->sensors->absences[0].is_choice);
	machine_end(machine);
}

static void mig_instances_are_devices_without_meters(void **state)
{
	struct machine *machine = machine_start(H200 "gpm 0\nmig \"NVIDIA H200 MIG 1g.18gb\" MIG-1 16 "
						     "16384\nmig \"NVIDIA H200 MIG 3g.71gb\" MIG-2 60 71168\n"
						     "process 7 100\n");
	const struct kwhy_sensor_device *devices = machine->sensors->devices;

	(void)state;
	assert_int_equal(machine->sensors->device_count, 3);
	assert_int_equal(devices[0].mig_index, -1);
	assert_int_equal(devices[2].mig_index, 1);
	assert_int_equal(devices[2].index, 0);
	assert_string_equal(devices[1].name, "NVIDIA H200 MIG 1g.18gb");
	assert_int_equal(devices[1].sm_count, 16);
	assert_true(devices[2].memory_bytes == UINT64_C(71168) << 20);
	assert_int_equal(devices[1].limit_mw, -1);
	assert_non_null(machine_meter(machine, KWHY_METER_NVML_ENERGY, 0));
	for (uint32_t i = 1; i < 3; i++)
		assert_null(machine_meter(machine, KWHY_METER_NVML_ENERGY, i));
	machine_run(machine, 3 * S);
	machine_end(machine);
}

static void processes_are_listed_with_their_memory_where_it_is_told(void **state)
{
	struct machine *machine = machine_start(H200 "process 42 2048\nprocess 43 none\n");
	struct kwhy_sensor_process processes[KWHY_SENSOR_PROCESSES];

	(void)state;
	assert_int_equal(kwhy_sensors_processes(machine->sensors, 0, processes), 2);
	assert_int_equal(processes[0].pid, 42);
	assert_true(processes[0].memory_bytes == INT64_C(2048) << 20);
	assert_int_equal(processes[1].pid, 43);
	assert_int_equal(processes[1].memory_bytes, -1);
	assert_int_equal(kwhy_sensors_processes(machine->sensors, 9, processes), 0);
	machine_end(machine);
}

static void what_processes_use_is_listed_where_the_driver_says_it(void **state)
{
	struct machine *machine = machine_start(H200 "process 42 2048 30\nprocess 43 none\nprocess 44 1 5\n");
	struct kwhy_sensor_use uses[KWHY_SENSOR_PROCESSES];
	int64_t now_us;
	size_t count;

	(void)state;
	machine_run(machine, S);
	assert_true(kwhy_sensors_uses(machine->sensors, 0, 0, uses, &count));
	assert_int_equal(count, 2);
	assert_int_equal(uses[0].pid, 42);
	assert_int_equal(uses[0].busy_percent, 30);
	assert_int_equal(uses[1].pid, 44);
	now_us = uses[0].time_unix_us;
	assert_true(kwhy_sensors_uses(machine->sensors, 0, now_us, uses, &count));
	assert_int_equal(count, 0);
	assert_false(kwhy_sensors_uses(machine->sensors, 9, 0, uses, &count));
	machine_end(machine);
	machine = machine_start(H200 "fail nvmlDeviceGetProcessUtilization not_supported\n");
	assert_false(kwhy_sensors_uses(machine->sensors, 0, 0, uses, &count));
	machine_end(machine);
}

static void a_machine_without_gpu_or_driver_has_a_sentence_and_no_meter(void **state)
{
	struct machine *machine = machine_start("driver 580.159.04\n");

	(void)state;
	assert_int_equal(machine->sensors->source_count, 0);
	assert_true(machine_lacks(machine, "shows no GPU"));
	machine_end(machine);
	machine = machine_start(
		H200 "fail nvmlInitWithFlags driver_not_loaded\nfail nvmlInit_v2 driver_not_loaded\n");
	assert_int_equal(machine->sensors->source_count, 0);
	assert_true(
		machine_lacks(machine, "the NVIDIA driver does not answer: the kernel module is not loaded"));
	machine_end(machine);
}

static void a_module_whose_counter_holds_its_cpu_says_so(void **state)
{
	struct machine *machine = machine_start("gpu \"NVIDIA GH200 480GB\"\n");

	(void)state;
	assert_true(machine->sensors->devices[0].energy_is_module);
	machine_end(machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_is_described_as_the_driver_describes_it),
		cmocka_unit_test(ten_minutes_of_the_ring_are_read_without_a_loss),
		cmocka_unit_test(stamps_of_the_driver_become_times_of_our_clock),
		cmocka_unit_test(setting_unix_time_loses_and_repeats_no_reading),
		cmocka_unit_test(stamps_that_go_back_are_dropped_and_counted),
		cmocka_unit_test(a_ring_read_too_late_counts_what_is_missing),
		cmocka_unit_test(the_counter_is_told_at_its_ticks_and_agrees_with_the_power),
		cmocka_unit_test(a_counter_that_wraps_resets_and_stands_still_is_passed_on_as_it_is),
		cmocka_unit_test(a_counter_that_never_moves_is_read_on_and_says_so),
		cmocka_unit_test(a_gpu_that_falls_off_the_bus_is_marked_and_not_asked_again),
		cmocka_unit_test(a_call_that_fails_once_is_counted_and_sampling_goes_on),
		cmocka_unit_test(a_rare_counter_is_read_each_second_while_the_ring_is_refused),
		cmocka_unit_test(gauges_have_our_units),
		cmocka_unit_test(the_clock_alone_is_read_more_often_if_asked_for),
		cmocka_unit_test(gpm_gives_means_over_at_least_100_ms_and_no_traffic_that_is_not_there),
		cmocka_unit_test(without_gauges_only_meters_are_read),
		cmocka_unit_test(averages_and_instants_are_read_only_when_asked_for_or_for_want_of_the_ring),
		cmocka_unit_test(without_permission_every_meter_has_a_sentence_with_the_cure),
		cmocka_unit_test(a_gpu_that_cannot_be_opened_leaves_the_others),
		cmocka_unit_test(only_the_gpus_asked_for_are_opened),
		cmocka_unit_test(gpus_that_the_program_cannot_see_are_left_out_and_named),
		cmocka_unit_test(a_list_of_devices_overrides_what_the_program_sees),
		cmocka_unit_test(an_instance_that_the_program_sees_has_its_gpu_metered),
		cmocka_unit_test(all_are_metered_where_it_is_not_known_which_the_program_sees),
		cmocka_unit_test(mig_instances_are_devices_without_meters),
		cmocka_unit_test(processes_are_listed_with_their_memory_where_it_is_told),
		cmocka_unit_test(what_processes_use_is_listed_where_the_driver_says_it),
		cmocka_unit_test(a_machine_without_gpu_or_driver_has_a_sentence_and_no_meter),
		cmocka_unit_test(a_module_whose_counter_holds_its_cpu_says_so),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
