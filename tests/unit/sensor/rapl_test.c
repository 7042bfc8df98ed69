/* SPDX-License-Identifier: Apache-2.0 */
#include "host_meters.h"

static void write_zone(struct host *host, const char *zone, const char *name, const char *energy_uj)
{
	char path[128];

	snprintf(path, sizeof(path), "powercap/%s/name", zone);
	temporary_write(&host->folder, path, "w", name);
	snprintf(path, sizeof(path), "powercap/%s/energy_uj", zone);
	temporary_write(&host->folder, path, "w", energy_uj);
	snprintf(path, sizeof(path), "powercap/%s/max_energy_range_uj", zone);
	temporary_write(&host->folder, path, "w", "262143328850\n");
}

/*
 * Writes the powercap files of two sockets and their memory, whose zone numbers differ from the package
 * numbers, of a core counter, of a platform counter (psys) that includes both packages, and of a second
 * interface (MMIO) to package 0's counter.
 */
static void write_two_sockets(struct host *host)
{
	write_zone(host, "intel-rapl:0", "package-1\n", "1000\n");
	write_zone(host, "intel-rapl:0:0", "core\n", "100\n");
	write_zone(host, "intel-rapl:0:1", "dram\n", "10\n");
	write_zone(host, "intel-rapl:1", "package-0\n", "2000\n");
	write_zone(host, "intel-rapl:1:0", "dram\n", "20\n");
	write_zone(host, "intel-rapl:2", "psys\n", "9000\n");
	write_zone(host, "intel-rapl-mmio:0", "package-0\n", "2000\n");
	temporary_write(&host->folder, "powercap/intel-rapl/enabled", "w", "1\n");
}

static void packages_and_their_memory_are_read_and_nothing_that_holds_or_repeats_them(void **state)
{
	struct host *host = *state;

	write_two_sockets(host);
	host_open(host);
	assert_int_equal(host->sensors->source_count, 4);
	assert_int_equal(host_source(host, KWHY_METER_RAPL_PACKAGE, 0)->wrap, INT64_C(262143328850));
	assert_string_equal(host_source(host, KWHY_METER_RAPL_PACKAGE, 1)->label, "package-1");
	assert_string_equal(host_source(host, KWHY_METER_RAPL_DRAM, 1)->label, "dram of package 1");
	assert_int_equal(host_source(host, KWHY_METER_RAPL_DRAM, 0)->device, KWHY_SENSOR_NO_DEVICE);
	host_read(host, 5);
	assert_int_equal(host_last(host, KWHY_METER_RAPL_PACKAGE, 0), 2000);
	assert_int_equal(host_last(host, KWHY_METER_RAPL_PACKAGE, 1), 1000);
	assert_int_equal(host_last(host, KWHY_METER_RAPL_DRAM, 1), 10);
	write_zone(host, "intel-rapl:1", "package-0\n", "2500\n");
	host_read(host, 6);
	assert_int_equal(host_last(host, KWHY_METER_RAPL_PACKAGE, 0), 2500);
	assert_null(host_absence(host, "rapl"));
}

static void the_period_is_that_of_the_host_or_else_of_all_counters(void **state)
{
	static const int64_t asked_ns[][3] = {/* host_period_ns, counter_period_ns, expected period */
		{0, 0, 100000000}, {0, 2000000000, 2000000000}, {1000000000, 20000000000, 1000000000}};
	struct host *host = *state;

	write_two_sockets(host);
	for (size_t i = 0; i < 3; i++) {
		host->request.host_period_ns = asked_ns[i][0];
		host->request.counter_period_ns = asked_ns[i][1];
		kwhy_sensors_close(host->sensors);
		host_open(host);
		assert_int_equal(host->sensors->tasks[0].period_ns, asked_ns[i][2]);
	}
}

static void the_dies_of_a_package_are_metered_each(void **state)
{
	struct host *host = *state;

	write_zone(host, "intel-rapl:0", "package-0-die-0\n", "1\n");
	write_zone(host, "intel-rapl:1", "package-0-die-1\n", "2\n");
	write_zone(host, "intel-rapl:10", "package-1-die-0\n", "3\n");
	host_open(host);
	host_read(host, 5);
	assert_int_equal(host_last(host, KWHY_METER_RAPL_PACKAGE, 1), 2);
	assert_int_equal(host_last(host, KWHY_METER_RAPL_PACKAGE, 2), 3);
	assert_string_equal(host_source(host, KWHY_METER_RAPL_PACKAGE, 2)->label, "package-1-die-0");
}

static void without_a_counter_that_is_said_with_where_it_was_looked_for(void **state)
{
	struct host *host = *state;

	host_open(host);
	assert_int_equal(host->sensors->source_count, 0);
	assert_int_equal(host->sensors->task_count, 0);
	assert_non_null(strstr(host_absence(host, "rapl"), "no CPU energy"));
	assert_non_null(strstr(host_absence(host, "rapl"), host->powercap));
}

static void counters_for_root_alone_are_one_sentence_with_the_cure(void **state)
{
	static const uid_t nobody = 65534;
	struct host *host = *state;
	uid_t self = geteuid();

	write_two_sockets(host);
	chmod(host->folder.path, 0755);
	chmod(temporary_path(&host->folder, "powercap/intel-rapl:0/energy_uj"), 0);
	chmod(temporary_path(&host->folder, "powercap/intel-rapl:1/energy_uj"), 0);
	if (self == 0 && seteuid(nobody))
		kwhy_skip("root cannot become another user here, and root reads everything");
	host_open(host);
	if (self == 0)
		assert_int_equal(seteuid(self), 0);
	assert_int_equal(host->sensors->absence_count, 2); /* messages: RAPL refused, no hwmon sensor */
	assert_non_null(strstr(host_absence(host, "rapl"), "for root alone"));
	assert_non_null(strstr(host_absence(host, "rapl"), "chmod o+r"));
	for (size_t i = 0; i < host->sensors->absence_count; i++)
		assert_int_equal(host->sensors->absences[i].is_refused,
			strcmp(host->sensors->absences[i].backend, "rapl") == 0);
	assert_int_equal(host->sensors->source_count, 2);
}

static void a_counter_that_goes_away_or_holds_no_number_is_a_failure_and_no_reading(void **state)
{
	static const char *const damaged[] = {"", "N/A\n", "-5\n", "12 34\n", "99999999999999999999\n"};
	struct host *host = *state;
	const struct kwhy_source_channel *source;

	write_zone(host, "intel-rapl:0", "package-0\n", "1000\n");
	host_open(host);
	source = host_source(host, KWHY_METER_RAPL_PACKAGE, 0);
	host_read(host, 1);
	for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
		write_zone(host, "intel-rapl:0", "package-0\n", damaged[i]);
		host_read(host, 2);
		assert_int_equal(source->failures, i + 1);
	}
	assert_int_equal(source->channel.written, 1);
}

static void a_counter_without_a_number_at_the_start_is_not_available(void **state)
{
	struct host *host = *state;

	write_zone(host, "intel-rapl:0", "package-0\n", "none\n");
	host_open(host);
	assert_int_equal(host->sensors->source_count, 0);
	assert_non_null(strstr(host_absence(host, "rapl"), "cannot be read"));
}

/*
 * Writes the files of a perf device "power". The event behind energy-pkg is in fact a CPU's clock, which
 * every Linux kernel has. A count is 1 uJ. cpus: CPUs on which it is opened; unit: unit of the event.
 */
static void write_perf(struct host *host, const char *cpus, const char *unit)
{
	temporary_write(&host->folder, "perf/cpumask", "w", cpus);
	temporary_write(&host->folder, "perf/type", "w", "1\n");
	temporary_write(&host->folder, "perf/events/energy-pkg", "w", "event=0x00\n");
	temporary_write(&host->folder, "perf/events/energy-pkg.scale", "w", "1e-6\n");
	temporary_write(&host->folder, "perf/events/energy-pkg.unit", "w", unit);
}

static void where_the_tree_shows_nothing_perf_is_asked(void **state)
{
	struct host *host = *state;
	int64_t before;

	write_perf(host, "0\n", "Joules\n");
	host_open(host);
	if (host->sensors->source_count == 0)
		kwhy_skip("this kernel lets us open no power event");
	assert_int_equal(host->sensors->source_count, 1);
	assert_null(host_absence(host, "rapl"));
	host_read(host, 1);
	before = host_last(host, KWHY_METER_RAPL_PACKAGE, 0);
	host_read(host, 2);
	assert_true(host_last(host, KWHY_METER_RAPL_PACKAGE, 0) > before);
}

static void a_counter_of_the_tree_goes_before_perf_s(void **state)
{
	struct host *host = *state;

	write_perf(host, "0\n", "Joules\n");
	write_zone(host, "intel-rapl:0", "package-0\n", "1000\n");
	host_open(host);
	host_read(host, 1);
	assert_int_equal(host->sensors->source_count, 1);
	assert_int_equal(host_last(host, KWHY_METER_RAPL_PACKAGE, 0), 1000);
}

static void perf_events_of_another_unit_or_on_no_cpu_are_not_read(void **state)
{
	static const char *const cpus[] = {"", "x\n", "5-2\n", "99999999999\n", "65000\n"};
	struct host *host = *state;

	write_perf(host, "0\n", "Watts\n");
	host_open(host);
	assert_int_equal(host->sensors->source_count, 0);
	assert_non_null(host_absence(host, "rapl"));
	for (size_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
		kwhy_sensors_close(host->sensors);
		write_perf(host, cpus[i], "Joules\n");
		host_open(host);
		assert_int_equal(host->sensors->source_count, 0);
	}
}

/*
 * Returns the time of a clock that advances by 10 us with each call. Before the second call it jumps by 80
 * ms, as if the thread were held up within the first read of a counter. context: number of calls so far.
 */
static int64_t halting_now(void *context)
{
	int *looks = context;

	++*looks;
	return 1000000000 + *looks * INT64_C(10000) + (*looks > 1 ? INT64_C(80000000) : 0);
}

static void a_read_that_is_held_up_is_made_again(void **state)
{
	struct host *host = *state;
	int looks = 0;
	const struct kwhy_clock clock = {.now_mono_ns = halting_now, .context = &looks};
	struct kwhy_reading reading;

	write_zone(host, "intel-rapl:0", "package-0\n", "1000\n");
	host_open(host);
	host->sensors->clock = &clock;
	host_read(host, 1000000000);
	assert_true(kwhy_channel_last(&host_source(host, KWHY_METER_RAPL_PACKAGE, 0)->channel, &reading));
	assert_int_equal(looks, 4);
	assert_int_equal(reading.time_mono_ns, 1000000000 + 80000000 + 35000);
	assert_int_equal(reading.value, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, host_setup, host_teardown)
		TEST(packages_and_their_memory_are_read_and_nothing_that_holds_or_repeats_them),
		TEST(the_period_is_that_of_the_host_or_else_of_all_counters),
		TEST(the_dies_of_a_package_are_metered_each),
		TEST(without_a_counter_that_is_said_with_where_it_was_looked_for),
		TEST(counters_for_root_alone_are_one_sentence_with_the_cure),
		TEST(a_counter_that_goes_away_or_holds_no_number_is_a_failure_and_no_reading),
		TEST(where_the_tree_shows_nothing_perf_is_asked),
		TEST(a_counter_of_the_tree_goes_before_perf_s),
		TEST(perf_events_of_another_unit_or_on_no_cpu_are_not_read),
		TEST(a_read_that_is_held_up_is_made_again),
		TEST(a_counter_without_a_number_at_the_start_is_not_available),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
