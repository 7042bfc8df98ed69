/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/parts.h"
#include "unit/ledger/build.h"

#include <string.h>

/*
 * Tests energies of the host in the ledger, from counters and powers of CPU packages, boards and wall meters.
 */

static void add_rapl(struct kwhy_recording *recording, enum kwhy_meter meter, uint32_t domain,
	int64_t time_ns, int64_t value)
{
	OK(kwhy_recording_add_reading(recording, meter, KWHY_NONE, domain, time_ns, value, &error));
}

static void host_counters_are_energies(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	for (int64_t i = 0; i < 3; i++) {
		add_rapl(recording, KWHY_METER_RAPL_PACKAGE, 1, 100 * i, 5000 + 7 * i);
		add_rapl(recording, KWHY_METER_RAPL_DRAM, 0, 100 * i, 3 * i);
	}
	ledger = build_ledger(recording);
	assert_int_equal(ledger->host_count, 2);
	assert_string_equal(ledger->hosts[0].source, "rapl.package-1_uj");
	assert_int_equal(ledger->hosts[0].measured_nj, 14000);
	assert_int_equal(ledger->hosts[0].end_ns, 200);
	assert_string_equal(ledger->hosts[1].source, "rapl.dram-0_uj");
	assert_null(ledger->hosts[1].host);
	build_free(recording, ledger);
}

/*
 * Three sources of power: a wall meter that reads 400 W and then 600 W, 2 s apart; a sensor of the board; and
 * another sensor with a single reading, which gives no energy.
 */
static void powers_of_the_host_are_energies_by_the_area_below_them(void **state)
{
	static const int64_t second_ns = 1000000000;
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	add_rapl(recording, KWHY_METER_WALL, 0, 0, 400000);
	add_rapl(recording, KWHY_METER_WALL, 0, second_ns, 400000);
	add_rapl(recording, KWHY_METER_WALL, 0, 3 * second_ns, 600000);
	add_rapl(recording, KWHY_METER_HWMON_POWER, 3, 0, 1);
	add_rapl(recording, KWHY_METER_HWMON_POWER, 3, 1001, 1);
	add_rapl(recording, KWHY_METER_HWMON_POWER, 4, 0, 80000);
	ledger = build_ledger(recording);
	assert_int_equal(ledger->host_count, 2);
	assert_string_equal(ledger->hosts[0].source, "meter_mw");
	assert_int_equal(ledger->hosts[0].end_ns, 3 * second_ns);
	assert_int_equal(ledger->hosts[0].measured_nj, 1400 * second_ns);
	assert_string_equal(ledger->hosts[1].source, "hwmon.power-3_mw");
	assert_int_equal(ledger->hosts[1].measured_nj, 1);
	build_free(recording, ledger);
}

/*
 * Readings are as large as in a damaged recording: two of them add up to more than an int64_t holds. The
 * energy must be unknown.
 */
static void powers_of_the_host_that_no_sum_holds_are_an_unknown_energy(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	for (int64_t i = 0; i < 2; i++)
		add_rapl(recording, KWHY_METER_WALL, 0, i * INT64_C(1000000000000), INT64_MAX / 3 * 2);
	ledger = build_ledger(recording);
	assert_int_equal(ledger->host_count, 1);
	assert_true(ledger->hosts[0].measured_nj == KWHY_UNKNOWN_NJ);
	build_free(recording, ledger);
}

static void a_host_counter_that_falls_leaves_its_interval_out_and_says_so(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	add_rapl(recording, KWHY_METER_RAPL_PACKAGE, 0, 0, 9000000000);
	add_rapl(recording, KWHY_METER_RAPL_PACKAGE, 0, 100, 9000000050);
	add_rapl(recording, KWHY_METER_RAPL_PACKAGE, 0, 200, 30);
	add_rapl(recording, KWHY_METER_RAPL_PACKAGE, 0, 300, 40);
	ledger = build_ledger(recording);
	assert_int_equal(ledger->hosts[0].measured_nj, 60000);
	assert_int_equal(ledger->note_count, 1);
	assert_string_equal(ledger->notes[0].id, "host-counter-fell");
	assert_non_null(
		strstr(ledger->notes[0].text, "rapl.package-0_uj fell or jumped in 1 of 3 intervals"));
	build_free(recording, ledger);
}

/* Two machines, whose counters begin at very different values, draw 200 W and 150 W for 30 s. */
static void host_counters_are_each_machines_own(void **state)
{
	static const int64_t second_ns = 1000000000;
	struct kwhy_recording *recording = build_one();
	const uint32_t machines[] = {build_machine(recording, "node1"), build_machine(recording, "node2")};
	struct kwhy_ledger *ledger;

	(void)state;
	for (int64_t i = 0; i <= 30; i++)
		for (uint32_t m = 0; m < 2; m++)
			OK(kwhy_recording_add_power(recording,
				&(struct kwhy_power_source){.meter = KWHY_METER_RAPL_PACKAGE,
					.device = KWHY_NONE,
					.machine = machines[m]},
				i * second_ns, m ? 7 + 150000000 * i : 60000000000 + 200000000 * i, &error));
	ledger = build_ledger(recording);
	assert_int_equal(ledger->host_count, 2);
	assert_int_equal(ledger->hosts[0].measured_nj, 6000 * second_ns);
	assert_string_equal(ledger->hosts[0].host, "node1");
	assert_int_equal(ledger->hosts[1].measured_nj, 4500 * second_ns);
	assert_string_equal(ledger->hosts[1].host, "node2");
	assert_int_equal(ledger->note_count, 0);
	build_free(recording, ledger);
}

/*
 * The package draws 200 W for 30 s. In the last interval the counter wraps, at the range that the recording
 * states.
 */
static void a_host_counter_that_wraps_where_the_recording_says_is_whole(void **state)
{
	static const int64_t wrap = 262143328850, second_ns = 1000000000;
	const struct kwhy_power_source source = {
		.meter = KWHY_METER_RAPL_PACKAGE, .device = KWHY_NONE, .wrap = wrap};
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	for (int64_t i = 0; i <= 15; i++)
		OK(kwhy_recording_add_power(recording, &source, 2 * i * second_ns,
			(wrap - 5700000000 + 400000000 * i) % (wrap + 1), &error));
	ledger = build_ledger(recording);
	assert_int_equal(ledger->hosts[0].measured_nj, 6000 * second_ns);
	assert_int_equal(ledger->note_count, 0);
	build_free(recording, ledger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_counters_are_energies),
		cmocka_unit_test(powers_of_the_host_are_energies_by_the_area_below_them),
		cmocka_unit_test(powers_of_the_host_that_no_sum_holds_are_an_unknown_energy),
		cmocka_unit_test(a_host_counter_that_falls_leaves_its_interval_out_and_says_so),
		cmocka_unit_test(host_counters_are_each_machines_own),
		cmocka_unit_test(a_host_counter_that_wraps_where_the_recording_says_is_whole),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
