/* SPDX-License-Identifier: Apache-2.0 */
#include "csv_file.h"
#include "import/tracks.h"

/* Makes a trace in which device 0 works for 2 s, 10 s after T0 and until 12 s. */
static struct kwhy_recording *two_seconds(void)
{
	return recording_of(HEADER "kernel,a,0,7,1795245134000000000,1795245136000000000,,,\n");
}

static const struct kwhy_power_series *series_of(
	const struct kwhy_recording *recording, enum kwhy_meter meter, uint32_t device, uint32_t domain)
{
	for (size_t i = 0; i < recording->power_count; i++) {
		const struct kwhy_power_series *series = &recording->power[i];

		if (series->meter == meter && series->device == device && series->domain == domain)
			return series;
	}
	fail_msg("there is no such series");
	return NULL;
}

static void readings_go_to_the_series_of_their_source_and_device_on_the_trace_s_clock(void **state)
{
	struct kwhy_recording *recording = two_seconds();
	const struct kwhy_power_series *series;

	(void)state;
	OK(import_power(recording,
		"value,source,time_ns,device,note\n"
		"100,nvml.energy_mj,1795245133000000000,0,\n"
		"121500,nvml.sample_mw,1795245133500000000,0,x\n"
		"200100,nvml.energy_mj,1795245137000000000,0,\n"
		"7,rapl.package-0_uj,1795245134000000000,,\n"
		"8,rapl.package-1_uj,1795245134000000000,0,\n"
		"9,rapl.dram-12_uj,1795245134000000000,,\n"
		"10,meter_mw,1795245134000000000,,\n"
		"11,meter_mw,1795245134000000000,0,\n"
		"12,nvml.average_mw,1795245134000000000,0,\n"
		"13,nvml.instant_mw,1795245134000000000,0,\n"
		",nvml.instant_mw,1795245135000000000,0,\n",
		false));
	assert_int_equal(recording->power_count, 9);
	series = series_of(recording, KWHY_METER_NVML_ENERGY, 0, 0);
	assert_int_equal(series->count, 2);
	assert_int_equal(series->time_ns[0], -1000000000);
	assert_int_equal(series->value[1], 200100);
	assert_int_equal(series_of(recording, KWHY_METER_NVML_SAMPLE, 0, 0)->value[0], 121500);
	assert_int_equal(series_of(recording, KWHY_METER_RAPL_PACKAGE, KWHY_NONE, 0)->value[0], 7);
	assert_int_equal(series_of(recording, KWHY_METER_RAPL_PACKAGE, KWHY_NONE, 1)->value[0], 8);
	assert_int_equal(series_of(recording, KWHY_METER_RAPL_DRAM, KWHY_NONE, 12)->value[0], 9);
	assert_int_equal(series_of(recording, KWHY_METER_WALL, KWHY_NONE, 0)->value[0], 10);
	assert_int_equal(series_of(recording, KWHY_METER_WALL, 0, 0)->value[0], 11);
	assert_int_equal(series_of(recording, KWHY_METER_NVML_INSTANT, 0, 0)->count, 1);
	assert_null(note_of(recording, "power-overlap"));
	kwhy_recording_free(recording);
}

/*
 * Imports a power CSV: the lines `more`, and twelve readings of `source` for device 0 at intervals
 * of 0.1 s from T0 + 10 s on. The first value is `least`, each further one larger by `step`.
 */
static enum kwhy_status import_dozen(
	struct kwhy_recording *recording, const char *more, const char *source, int least, int step)
{
	char text[2048];

	snprintf(text, sizeof(text), POWER "%s", more);
	for (int i = 0; i < 12; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "17952451%d00000000,0,%s,%d\n",
			340 + i, source, least + i * step);
	return import_power(recording, text, false);
}

static void watts_in_the_place_of_milliwatts_are_refused(void **state)
{
	static const char *const sources[] = {
		"nvml.sample_mw", "nvml.average_mw", "nvml.instant_mw", "rocm.power_mw", "meter_mw"};
	struct kwhy_recording *recording = two_seconds();

	(void)state;
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		refused(import_dozen(recording, "", sources[i], 690, 1),
			"of device 0 is above 701 mW, and no GPU idles that low; if these are watts");
	OK(import_dozen(recording, "", "nvml.sample_mw", 4000, 1));
	kwhy_recording_free(recording);
}

/* 40 J in 0.1 s are 400 W; read as millijoules they are 400 mW. */
static void joules_in_the_place_of_millijoules_are_refused(void **state)
{
	struct kwhy_recording *recording = two_seconds();

	(void)state;
	refused(import_dozen(recording, "", "nvml.energy_mj", 8000, 40),
		"nvml.energy_mj of device 0 tells of 400 mW on average, and no GPU idles that low; if it "
		"counts joules, write millijoules");
	refused(import_dozen(recording, "", "rocm.energy_uj", 8000, 40000), "write microjoules");
	OK(import_dozen(recording, "", "nvml.energy_mj", 8000, 400));
	kwhy_recording_free(recording);
}

static void a_host_s_meters_and_a_memory_s_may_tell_of_little(void **state)
{
	struct kwhy_recording *recording = two_seconds();

	(void)state;
	OK(import_dozen(recording, "", "nvml.memory_average_mw", 100, 1));
	OK(import_dozen(recording, "", "rapl.package-0_uj", 8000, 40));
	OK(import_dozen(recording, "", "hwmon.power-0_mw", 0, 0));
	assert_int_equal(recording->power_count, 3);
	kwhy_recording_free(recording);
}

static void a_dead_meter_alone_is_refused(void **state)
{
	struct kwhy_recording *recording = two_seconds();

	(void)state;
	refused(import_dozen(recording, "", "nvml.sample_mw", 0, 0),
		"nvml.sample_mw of device 0 reads 0 throughout, and no GPU draws nothing; record power "
		"again");
	kwhy_recording_free(recording);
	recording = two_seconds();
	refused(import_dozen(recording, "", "nvml.energy_mj", 77777, 0),
		"nvml.energy_mj of device 0 does not move, and no GPU draws nothing; record power again");
	kwhy_recording_free(recording);
}

static void a_dead_meter_beside_others_is_left_out_and_noted(void **state)
{
	struct kwhy_recording *recording = two_seconds();

	(void)state;
	OK(import_dozen(recording,
		"1795245134000000000,0,nvml.energy_mj,100\n"
		"1795245134100000000,0,nvml.energy_mj,40100\n",
		"nvml.sample_mw", 120000, 1));
	OK(import_dozen(
		recording, "1795245135000000000,0,nvml.sample_mw,120000\n", "nvml.energy_mj", 77777, 0));
	assert_int_equal(recording->power_count, 2);
	assert_int_equal(series_of(recording, KWHY_METER_NVML_ENERGY, 0, 0)->count, 2);
	assert_int_equal(series_of(recording, KWHY_METER_NVML_SAMPLE, 0, 0)->count, 13);
	assert_non_null(strstr(note_of(recording, "dead-meter")->text,
		"nvml.energy_mj of device 0 does not move, and no GPU draws nothing: it is left out."));
	OK(import_dozen(recording, "1795245135000000000,,rapl.package-0_uj,1\n", "nvml.instant_mw", 0, 0));
	assert_int_equal(recording->power_count, 3);
	kwhy_recording_free(recording);
}

static void a_counter_may_stand_still_between_its_steps(void **state)
{
	struct kwhy_recording *recording = two_seconds();

	(void)state;
	OK(import_power(recording,
		POWER "1795245134000000000,0,nvml.energy_mj,100\n1795245134190000000,0,nvml.energy_mj,100\n",
		false));
	assert_int_equal(recording->power[0].count, 2);
	kwhy_recording_free(recording);
}

static void power_of_another_time_is_refused_with_both_windows(void **state)
{
	struct kwhy_recording *recording = two_seconds();

	(void)state;
	refused(import_power(recording,
			POWER
			"1795245144000000000,0,nvml.sample_mw,1\n1795245145250000000,0,nvml.sample_mw,2\n",
			false),
		"power from 2026-11-21 07:12:24.000 UTC to 2026-11-21 07:12:25.250 UTC, activity from "
		"2026-11-21 07:12:14.000 UTC to 2026-11-21 07:12:16.000 UTC, 8.00 s apart");
	kwhy_recording_free(recording);
}

static void a_dead_meter_says_nothing_of_the_time_that_the_others_have(void **state)
{
	struct kwhy_recording *recording = two_seconds();

	(void)state;
	refused(import_dozen(recording,
			"1795245144000000000,0,nvml.energy_mj,100\n"
			"1795245145000000000,0,nvml.energy_mj,400100\n",
			"nvml.sample_mw", 0, 0),
		"power from 2026-11-21 07:12:24.000 UTC to 2026-11-21 07:12:25.000 UTC, activity from "
		"2026-11-21 07:12:14.000 UTC to 2026-11-21 07:12:16.000 UTC, 8.00 s apart");
	kwhy_recording_free(recording);
	recording = two_seconds();
	OK(import_dozen(recording,
		"1795245135500000000,0,nvml.energy_mj,100\n"
		"1795245136500000000,0,nvml.energy_mj,400100\n",
		"nvml.sample_mw", 0, 0));
	assert_non_null(strstr(note_of(recording, "power-overlap")->text, "covers 500 ms of the 2.00 s"));
	kwhy_recording_free(recording);
}

static void power_of_another_year_is_refused_with_both_windows_too(void **state)
{
	struct kwhy_recording *recording = two_seconds();

	(void)state;
	refused(import_power(recording,
			POWER
			"1695245144000000000,0,nvml.sample_mw,1\n1695245145250000000,0,nvml.sample_mw,2\n",
			false),
		"power from 2023-09-20 21:25:44.000 UTC to 2023-09-20 21:25:45.250 UTC, activity from "
		"2026-11-21 07:12:14.000 UTC to 2026-11-21 07:12:16.000 UTC, 1157.4 days apart");
	refused(import_power(recording,
			POWER
			"1695245144000000000,0,nvml.sample_mw,1\n1795245135250000000,0,nvml.sample_mw,2\n",
			false),
		"more than a year; remove those that are not of this run");
	kwhy_recording_free(recording);
}

static void power_that_covers_a_part_is_taken_and_noted(void **state)
{
	struct kwhy_recording *recording = two_seconds();

	(void)state;
	OK(import_power(recording,
		POWER "1795245135500000000,0,nvml.sample_mw,1\n1795245145000000000,0,nvml.sample_mw,2\n",
		false));
	assert_non_null(note_of(recording, "power-overlap"));
	assert_non_null(strstr(note_of(recording, "power-overlap")->text, "500 ms of the 2.00 s"));
	assert_non_null(strstr(note_of(recording, "power-overlap")->text, "25.0 %"));
	kwhy_recording_free(recording);
}

static void a_wrong_unit_of_time_is_named_and_so_is_the_file_that_has_it(void **state)
{
	static const struct {
		const char *trace, *power, *words;
	} cases[] = {
		{"1795245134000000000", "1795245134000000", "looks like Unix time in microseconds"},
		{"1795245134000000000", "1795245134000", "looks like Unix time in milliseconds"},
		{"1795245134000000000", "1795245134", "looks like Unix time in seconds"},
		{"1795245134000000000", "1795245134.5", "looks like Unix time in seconds"},
		{"1795245134000", "1795245134000000000", "times before it look like milliseconds"},
		{"1795245134", "1795245134000000000", "times before it look like seconds"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_recording *recording;
		char text[256];

		snprintf(
			text, sizeof(text), HEADER "kernel,a,0,7,%s,%s,,,\n", cases[i].trace, cases[i].trace);
		recording = recording_of(text);
		snprintf(text, sizeof(text), POWER "%s,0,nvml.sample_mw,1\n", cases[i].power);
		refused(import_power(recording, text, false), cases[i].words);
		kwhy_recording_free(recording);
	}
}

static void on_a_clock_that_is_not_unix_time_magnitudes_tell_the_unit_too(void **state)
{
	struct kwhy_recording *recording = recording_of(
		"# clock other boot\n" HEADER "kernel,a,0,7,500000000000000,500001000000000,,,\n");

	(void)state;
	refused(import_power(
			recording, "# clock other boot\n" POWER "500000000000,0,nvml.sample_mw,1\n", false),
		"the power's times are 1,000 times smaller than the trace's: microseconds?");
	refused(import_power(recording, POWER "500000000000000,0,nvml.sample_mw,1\n", false),
		"another clock than the trace's; if they count from the same time, state \"# clock other "
		"boot\"");
	OK(import_power(
		recording, "# clock other boot\n" POWER "500000000000000,0,nvml.sample_mw,1\n", false));
	kwhy_recording_free(recording);
}

/* Makes a trace as if it had been read from a file in this format that has no Unix times. */
static struct kwhy_recording *without_unix_times(enum kwhy_trace_format format)
{
	struct kwhy_recording *recording = two_seconds();

	recording->unix_clock = false;
	recording->sources[0].format = format;
	return recording;
}

static void beside_a_clock_that_is_not_the_power_s_the_cure_is_what_can_be_done(void **state)
{
	struct kwhy_recording *recording = two_seconds();

	(void)state;
	refused(import_power(recording, "# clock other boot\n" POWER "500000000000000,0,nvml.sample_mw,1\n",
			false),
		"the trace's, which are Unix times; write Unix nanoseconds and no \"# clock other\"");
	kwhy_recording_free(recording);
	recording = without_unix_times(KWHY_FORMAT_KINETO);
	refused(import_power(recording, POWER "1795245135000000000,0,nvml.sample_mw,1\n", false),
		"which has no Unix times; give that trace as export_chrome_trace() wrote it");
	kwhy_recording_free(recording);
	recording = without_unix_times(KWHY_FORMAT_NSYS);
	refused(import_power(recording, POWER "1795245135000000000,0,nvml.sample_mw,1\n", false),
		"exported again with its TARGET_INFO_SESSION_START_TIME");
	kwhy_recording_free(recording);
}

static void power_beside_a_trace_without_events_is_told_that_it_shows_no_device(void **state)
{
	struct kwhy_recording *recording = empty_recording();
	const struct kwhy_source source = {.path = "k.json", .format = KWHY_FORMAT_KINETO};

	(void)state;
	OK(kwhy_recording_add_source(recording, &source, NULL, &error));
	refused(import_power(recording, POWER "1795245135000000000,0,nvml.sample_mw,1\n", false),
		"the trace shows no device: nothing ran on one");
	kwhy_recording_free(recording);
}

static void a_device_number_that_several_ranks_share_is_refused(void **state)
{
	static const char second[] = "# device 0 rank=1\n" HEADER
				     "kernel,a,0,7,1795245134000000000,1795245136000000000,,,\n"
				     "kernel,a,1,7,1795245134000000000,1795245136000000000,,,\n";
	struct kwhy_recording *recording = two_seconds();

	(void)state;
	OK(import_bytes(recording, second, strlen(second), false));
	refused(import_power(recording, POWER "1795245135000000000,0,nvml.sample_mw,1\n", false),
		"line 2, column device: \"0\" is a device of several ranks or machines");
	OK(import_power(recording, POWER "1795245135000000000,1,nvml.sample_mw,1\n", false));
	assert_int_equal(recording->power[0].device, kwhy_recording_find_device(recording, 1, KWHY_NONE));
	kwhy_recording_free(recording);
}

static void a_device_number_that_several_machines_share_is_refused(void **state)
{
	struct kwhy_device device = kwhy_device_unknown(0, KWHY_NONE);
	struct kwhy_recording *recording = two_seconds();
	uint32_t index;

	(void)state;
	device.machine = 1;
	OK(kwhy_recording_add_device(recording, &device, &index, &error));
	refused(import_power(recording, POWER "1795245135000000000,0,nvml.sample_mw,1\n", false),
		"\"0\" is a device of several ranks or machines of this recording; give each one's trace and "
		"power to a run of its own");
	kwhy_recording_free(recording);
}

static void readings_of_devices_that_the_trace_does_not_show_are_left_out_and_noted(void **state)
{
	struct kwhy_recording *recording = two_seconds();

	(void)state;
	OK(import_power(recording,
		POWER "1795245135000000000,0,nvml.sample_mw,1\n1795245135000000000,7,nvml.sample_mw,1\n",
		false));
	assert_int_equal(recording->power_count, 1);
	assert_non_null(note_of(recording, "power-of-other-devices"));
	kwhy_recording_free(recording);
	recording = two_seconds();
	refused(import_power(recording, POWER "1795245135000000000,7,nvml.sample_mw,1\n", false),
		"they are of device 7, its first is 0");
	refused(import_power(recording, POWER, false), "holds no readings");
	kwhy_recording_free(recording);
}

static void what_is_wrong_is_refused_with_its_line_and_column(void **state)
{
	static const struct {
		const char *row, *words;
	} cases[] = {
		{"1795245135000000000,0,nvml.watts,1\n",
			"line 2, column source: \"nvml.watts\" is no source; write nvml.energy_mj, "
			"nvml.sample_mw, nvml.average_mw, "},
		{"1795245135000000000,0,nvml.watts,1\n", " or meter_mw"},
		{"1795245135000000000,0,rapl.package-N_uj,1\n", "is no source"},
		{"1795245135000000000,0,rapl.package-_uj,1\n", "is no source"},
		{"1795245135000000000,0,rapl.package-0,1\n", "is no source"},
		{"1795245135000000000,0,,1\n", "is no source"},
		{"1795245135000000000,,nvml.sample_mw,1\n",
			"is no device; only the host's meters and meter_mw"},
		{"1795245135000000000,0,nvml.sample_mw,310.8\n", "column value: \"310.8\" is not whole"},
		{"1795245135000000000,0,nvml.sample_mw,-1\n", "column value: \"-1\" is not between"},
		{"1795245135000000000,0,nvml.sample_mw,N/A\n", "\"N/A\" is not a whole number"},
		{"1795245135000000000,0,nvml.sample_mw,1000000001\n", "is not between 0 and 1000000000"},
		{",0,nvml.sample_mw,1\n", "column time_ns: \"\" is not a time"},
	};
	struct kwhy_recording *recording = two_seconds();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256];

		snprintf(text, sizeof(text), POWER "%s", cases[i].row);
		refused(import_power(recording, text, false), cases[i].words);
	}
	OK(import_power(
		recording, POWER "x,0,nvml.sample_mw,1\n1795245135000000000,0,nvml.sample_mw,1\n", true));
	assert_int_equal(recording->lost.skipped_events, 1);
	kwhy_recording_free(recording);
}

static void measured_power_covers_its_trace(void **state)
{
	struct kwhy_import_options options = {0};
	const char *folder = KWHY_SOURCE_DIR "/examples/h200-mix-burst";
	struct kwhy_recording *recording;
	char path[4096];

	(void)state;
	recording = empty_recording();
	snprintf(path, sizeof(path), "%s/activities.csv", folder);
	OK(kwhy_reader_csv.read(recording, path, &options, &error));
	snprintf(path, sizeof(path), "%s/power.csv", folder);
	OK(kwhy_import_power(recording, path, &options, &error));
	assert_int_equal(series_of(recording, KWHY_METER_NVML_ENERGY, 0, 0)->count, 220);
	assert_int_equal(series_of(recording, KWHY_METER_NVML_SAMPLE, 0, 0)->count, 1086);
	assert_null(note_of(recording, "power-overlap"));
	OK(kwhy_recording_finish(recording, &error));
	kwhy_recording_free(recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readings_go_to_the_series_of_their_source_and_device_on_the_trace_s_clock),
		cmocka_unit_test(watts_in_the_place_of_milliwatts_are_refused),
		cmocka_unit_test(joules_in_the_place_of_millijoules_are_refused),
		cmocka_unit_test(a_host_s_meters_and_a_memory_s_may_tell_of_little),
		cmocka_unit_test(a_dead_meter_alone_is_refused),
		cmocka_unit_test(a_dead_meter_beside_others_is_left_out_and_noted),
		cmocka_unit_test(a_counter_may_stand_still_between_its_steps),
		cmocka_unit_test(power_of_another_time_is_refused_with_both_windows),
		cmocka_unit_test(a_dead_meter_says_nothing_of_the_time_that_the_others_have),
		cmocka_unit_test(power_of_another_year_is_refused_with_both_windows_too),
		cmocka_unit_test(power_that_covers_a_part_is_taken_and_noted),
		cmocka_unit_test(a_wrong_unit_of_time_is_named_and_so_is_the_file_that_has_it),
		cmocka_unit_test(on_a_clock_that_is_not_unix_time_magnitudes_tell_the_unit_too),
		cmocka_unit_test(beside_a_clock_that_is_not_the_power_s_the_cure_is_what_can_be_done),
		cmocka_unit_test(power_beside_a_trace_without_events_is_told_that_it_shows_no_device),
		cmocka_unit_test(a_device_number_that_several_ranks_share_is_refused),
		cmocka_unit_test(a_device_number_that_several_machines_share_is_refused),
		cmocka_unit_test(readings_of_devices_that_the_trace_does_not_show_are_left_out_and_noted),
		cmocka_unit_test(what_is_wrong_is_refused_with_its_line_and_column),
		cmocka_unit_test(measured_power_covers_its_trace),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
