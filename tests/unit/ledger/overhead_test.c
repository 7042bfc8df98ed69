/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"

/*
 * Tests the ledger's sums of recording costs: those that a recording states itself, and idle time of devices
 * during the profiler's overhead.
 */

static void cost(struct kwhy_recording *recording, enum kwhy_cost_kind kind, int64_t spent_ns, uint64_t count)
{
	const struct kwhy_cost row = {0, kind, spent_ns, count};

	OK(kwhy_recording_add_cost(recording, &row, &error));
}

static void overhead(struct kwhy_recording *recording, uint32_t thread, int64_t start_ns, int64_t end_ns)
{
	const struct kwhy_overhead row = {start_ns, end_ns, 0, thread};

	OK(kwhy_recording_add_overhead(recording, &row, &error));
}

static const struct kwhy_overhead_sum *sum_of(const struct kwhy_ledger *ledger, uint32_t kind)
{
	for (size_t i = 0; i < ledger->overhead_count; i++)
		if (ledger->overheads[i].kind == kind)
			return &ledger->overheads[i];
	return NULL;
}

static void costs_of_processes_are_added_up_by_kind(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	cost(recording, KWHY_COST_BUFFERS, 5000, 2);
	cost(recording, KWHY_COST_SAMPLER, 7000, 0);
	cost(recording, KWHY_COST_BUFFERS, 3000, 1);
	build_kernel(recording, 0, 100, 200, "a");
	ledger = build_ledger(recording);
	assert_int_equal(ledger->overhead_count, 2);
	assert_int_equal(sum_of(ledger, KWHY_COST_BUFFERS)->time_ns, 8000);
	assert_int_equal(sum_of(ledger, KWHY_COST_BUFFERS)->count, 3);
	assert_int_equal(sum_of(ledger, KWHY_COST_BUFFERS)->device, KWHY_NONE);
	assert_int_equal(sum_of(ledger, KWHY_COST_BUFFERS)->energy_nj, KWHY_UNKNOWN_NJ);
	assert_string_equal(kwhy_overhead_kind_name(KWHY_COST_BUFFERS), "buffers");
	build_free(recording, ledger);
}

static void read_package(struct kwhy_recording *recording, int64_t time_ns, int64_t value_uj)
{
	OK(kwhy_recording_add_reading(
		recording, KWHY_METER_RAPL_PACKAGE, KWHY_NONE, 0, time_ns, value_uj, &error));
}

/*
 * The CPU package draws 20 W, 200 J in the 10 s of the run; 8 s of them are metered, 160 J. Its
 * processors were busy for 4 s of the 10 s, so a second of processor time takes 50 J, and the
 * sampler's 10 ms take 0.5 J.
 */
static void processor_time_has_its_part_of_the_packages_energy(void **state)
{
	static const int64_t second_ns = 1000000000;
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	cost(recording, KWHY_COST_SAMPLER, second_ns / 100, 50);
	cost(recording, KWHY_COST_START, second_ns / 10, 0);
	cost(recording, KWHY_COST_MACHINE, 4 * second_ns, (uint64_t)(10 * second_ns));
	read_package(recording, 0, 5000);
	read_package(recording, 8 * second_ns, 5000 + 160000000);
	build_kernel(recording, 0, 100, 200, "a");
	ledger = build_ledger(recording);
	assert_int_equal(ledger->overhead_count, 2);
	assert_int_equal(sum_of(ledger, KWHY_COST_SAMPLER)->energy_nj, second_ns / 2);
	assert_int_equal(sum_of(ledger, KWHY_COST_START)->energy_nj, KWHY_UNKNOWN_NJ);
	build_free(recording, ledger);
}

static void read_package_of(
	struct kwhy_recording *recording, uint32_t machine, int64_t time_ns, int64_t value_uj)
{
	const struct kwhy_power_source source = {
		.meter = KWHY_METER_RAPL_PACKAGE, .device = KWHY_NONE, .machine = machine};

	OK(kwhy_recording_add_power(recording, &source, time_ns, value_uj, &error));
}

/*
 * Two machines: that of the previous test, and one that draws 500 W and for which no processor time is
 * recorded. The second one's energy must not be used.
 */
static void processor_time_has_its_part_of_its_own_machines_energy(void **state)
{
	static const int64_t second_ns = 1000000000;
	struct kwhy_recording *recording = build_one();
	uint32_t machine = build_machine(recording, "node1"), other = build_machine(recording, "node2");
	struct kwhy_ledger *ledger;

	(void)state;
	recording->processes[0].machine = machine;
	cost(recording, KWHY_COST_SAMPLER, second_ns / 100, 50);
	cost(recording, KWHY_COST_MACHINE, 4 * second_ns, (uint64_t)(10 * second_ns));
	read_package_of(recording, machine, 0, 5000);
	read_package_of(recording, machine, 8 * second_ns, 5000 + 160000000);
	read_package_of(recording, other, 0, 0);
	read_package_of(recording, other, 8 * second_ns, 4000000000);
	build_kernel(recording, 0, 100, 200, "a");
	ledger = build_ledger(recording);
	assert_int_equal(sum_of(ledger, KWHY_COST_SAMPLER)->energy_nj, second_ns / 2);
	build_free(recording, ledger);
}

static void processor_time_on_a_machine_that_tells_no_whole_has_no_joules(void **state)
{
	struct kwhy_recording *recording = build_one();
	const struct kwhy_cost elsewhere = {build_process(recording, 7), KWHY_COST_SAMPLER, 1000, 50};
	struct kwhy_ledger *ledger;

	(void)state;
	recording->processes[0].machine = build_machine(recording, "node1");
	recording->processes[1].machine = build_machine(recording, "node2");
	cost(recording, KWHY_COST_SAMPLER, 1000, 50);
	cost(recording, KWHY_COST_MACHINE, 4000, 10000);
	OK(kwhy_recording_add_cost(recording, &elsewhere, &error));
	read_package_of(recording, 0, 0, 5000);
	read_package_of(recording, 0, 10000, 6000);
	build_kernel(recording, 0, 100, 200, "a");
	ledger = build_ledger(recording);
	assert_int_equal(sum_of(ledger, KWHY_COST_SAMPLER)->time_ns, 2000);
	assert_int_equal(sum_of(ledger, KWHY_COST_SAMPLER)->energy_nj, KWHY_UNKNOWN_NJ);
	build_free(recording, ledger);
}

static void processor_time_of_several_machines_has_no_joules(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	cost(recording, KWHY_COST_SAMPLER, 1000, 50);
	cost(recording, KWHY_COST_MACHINE, 4000, 10000);
	cost(recording, KWHY_COST_MACHINE, 4000, 10000);
	read_package(recording, 0, 5000);
	read_package(recording, 10000, 6000);
	build_kernel(recording, 0, 100, 200, "a");
	ledger = build_ledger(recording);
	assert_int_equal(sum_of(ledger, KWHY_COST_SAMPLER)->energy_nj, KWHY_UNKNOWN_NJ);
	build_free(recording, ledger);
}

/*
 * The device idles from 200 to 300 ns and from 400 to 500 ns. Overheads overlap one another, begin before an
 * idle interval, or reach into the next one.
 */
static void a_device_that_idles_while_the_profiler_holds_its_program_is_counted(void **state)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_recording *recording = build_one();
	const struct kwhy_overhead_sum *idle;
	struct kwhy_ledger *ledger;

	(void)state;
	options.assumed.given = true;
	options.assumed.all_w = 100;
	build_kernel(recording, 0, 100, 200, "a");
	build_kernel(recording, 0, 300, 400, "a");
	build_kernel(recording, 0, 500, 600, "a");
	overhead(recording, 0, 150, 230);	  /* 30 ns of the first gap */
	overhead(recording, 0, 220, 240);	  /* 10 ns more */
	overhead(recording, KWHY_NONE, 250, 260); /* profiler's own thread: not counted */
	overhead(recording, 0, 290, 420);	  /* 10 ns of the first gap and 20 ns of the second */
	overhead(recording, 0, 700, 800);	  /* after all work */
	ledger = build_ledger_with(recording, &options);
	assert_int_equal(sum_of(ledger, KWHY_OVERHEAD_PROFILER)->count, 5);
	assert_int_equal(sum_of(ledger, KWHY_OVERHEAD_PROFILER)->time_ns, 80 + 20 + 10 + 130 + 100);
	idle = sum_of(ledger, KWHY_OVERHEAD_DEVICE);
	assert_int_equal(idle->device, 0);
	assert_int_equal(idle->time_ns, 70);
	assert_int_equal(idle->energy_nj, 7000);
	assert_string_equal(kwhy_overhead_kind_name(KWHY_OVERHEAD_DEVICE), "device_idle");
	build_free(recording, ledger);
}

static void a_recording_that_says_nothing_of_its_costs_has_no_rows(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	build_kernel(recording, 0, 100, 200, "a");
	ledger = build_ledger(recording);
	assert_int_equal(ledger->overhead_count, 0);
	build_free(recording, ledger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(costs_of_processes_are_added_up_by_kind),
		cmocka_unit_test(processor_time_has_its_part_of_the_packages_energy),
		cmocka_unit_test(processor_time_has_its_part_of_its_own_machines_energy),
		cmocka_unit_test(processor_time_on_a_machine_that_tells_no_whole_has_no_joules),
		cmocka_unit_test(processor_time_of_several_machines_has_no_joules),
		cmocka_unit_test(a_device_that_idles_while_the_profiler_holds_its_program_is_counted),
		cmocka_unit_test(a_recording_that_says_nothing_of_its_costs_has_no_rows),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
