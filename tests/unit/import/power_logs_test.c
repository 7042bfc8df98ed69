/* SPDX-License-Identifier: Apache-2.0 */
#include "csv_file.h"
#include "import/power/amount.h"
#include "import/power/stamp.h"

#include <inttypes.h>
#include <math.h>

/*
 * Power logs of other tools. They are from the fuzzer's corpus, which has the smallest log with each feature.
 */
#define LOGS KWHY_SOURCE_DIR "/tests/fuzz/corpus/power_log/"
#define UUID_0 "GPU-11111111-2222-3333-4444-555555555550"
#define UUID_1 "GPU-11111111-2222-3333-4444-555555555551"
#define WORK(device) "kernel,a," device ",7,1795245134000000000,1795245136000000000,,,\n"

/*
 * Makes a trace in which device 0 works for 2 s, with `comments` before its header. The logs begin 2 s before
 * that and end 2 s after it.
 */
static struct kwhy_recording *work_on(const char *comments)
{
	char text[1024];

	snprintf(text, sizeof(text), "%s" HEADER WORK("0"), comments);
	return recording_of(text);
}

static enum kwhy_status import_log(
	struct kwhy_recording *recording, const char *name, const struct kwhy_import_options *options)
{
	char path[4096];

	snprintf(path, sizeof(path), LOGS "%s", name);
	return kwhy_import_power(recording, path, options, &error);
}

static enum kwhy_status import(struct kwhy_recording *recording, const char *name)
{
	return import_log(recording, name, &(struct kwhy_import_options){.partial = false});
}

static void says(enum kwhy_status status, const char *words)
{
	assert_int_equal(status, KWHY_E_INPUT);
	if (!strstr(error.text, words))
		fail_msg("\"%s\" does not say \"%s\"", error.text, words);
}

static const struct kwhy_power_series *series_of(
	const struct kwhy_recording *recording, enum kwhy_meter meter)
{
	for (size_t i = 0; i < recording->power_count; i++)
		if (recording->power[i].meter == meter && recording->power[i].device == 0)
			return &recording->power[i];
	fail_msg("there is no %s", kwhy_meter_name(meter));
	return NULL;
}

/*
 * Returns the energy of a series: the increase of a counter, or the integral of powers by the trapezoidal
 * rule.
 */
static double joules_of(const struct kwhy_power_series *series)
{
	const size_t last = series->count - 1;
	double joules = 0;

	if (kwhy_meter_is_counter(series->meter))
		return (double)(series->value[last] - series->value[0]) *
			(double)kwhy_meter_unit_nj(series->meter) * 1e-9;
	for (size_t i = 0; i < last; i++)
		joules += (double)(series->value[i] + series->value[i + 1]) / 2 * 1e-3 *
			(double)(series->time_ns[i + 1] - series->time_ns[i]) * 1e-9;
	return joules;
}

/* The expected energies were calculated by hand from the logs. */
static void each_tool_s_log_has_its_joules_on_the_trace_s_clock(void **state)
{
	static const struct {
		const char *name;
		enum kwhy_meter meter;
		size_t readings;
		int64_t first_ns; /* time of the first reading since the start of the work, ns; negative:
				     before it */
		double joules;
	} logs[] = {
		{"nvidia-smi.csv", KWHY_METER_NVML_INSTANT, 7, -1750000000, 780},
		{"nvidia-smi.csv", KWHY_METER_NVML_AVERAGE, 6, -750000000, 467.5},
		{"nvidia-smi-nounits.csv", KWHY_METER_NVML_AVERAGE, 7, -2000000000, 1218},
		{"nvidia-smi-damaged.csv", KWHY_METER_NVML_AVERAGE, 7, -1500000000, 900},
		{"inferencex.csv", KWHY_METER_NVML_AVERAGE, 7, -1969000000, 1998},
		{"dmon.txt", KWHY_METER_NVML_AVERAGE, 7, -2000000000, 1818},
		{"dmon.csv", KWHY_METER_NVML_AVERAGE, 7, -2000000000, 1500},
		{"dcgmi-dmon.txt", KWHY_METER_NVML_AVERAGE, 7, -1500000000, 2418},
		{"dcgmi-dmon.txt", KWHY_METER_NVML_ENERGY, 7, -1500000000, 2400},
		{"dcgm-exporter.prom", KWHY_METER_NVML_AVERAGE, 7, -2000000000, 1320},
		{"dcgm-exporter.prom", KWHY_METER_NVML_ENERGY, 7, -2000000000, 1320},
		{"dcgm-range.json", KWHY_METER_NVML_AVERAGE, 7, -2000000000, 1860},
		{"dcgm-range.json", KWHY_METER_NVML_ENERGY, 7, -1750000000, 1860},
		{"amd-smi.csv", KWHY_METER_ROCM_POWER, 7, -2000000000, 3000},
		{"amd-smi.csv", KWHY_METER_ROCM_ENERGY, 7, -2000000000, 3003},
		{"amd-smi-wide.csv", KWHY_METER_ROCM_POWER, 7, -2000000000, 4200},
		{"amd-smi.json", KWHY_METER_ROCM_POWER, 6, -2000000000, 3000},
		{"amd-smi.json", KWHY_METER_ROCM_ENERGY, 7, -2000000000, 3601.5},
		{"rocm-smi.csv", KWHY_METER_ROCM_POWER, 7, -1875000000, 1440},
		{"rocm-smi.csv", KWHY_METER_ROCM_ENERGY, 7, -1875000000, 1440},
		{"rocm-smi.json", KWHY_METER_ROCM_POWER, 7, -2000000000, 1470},
		{"srt-slurm.csv", KWHY_METER_NVML_AVERAGE, 7, -1707502400, 2103},
		{"zeus.csv", KWHY_METER_NVML_ENERGY, 4, -2000000000, 940.5},
		{"codecarbon.csv", KWHY_METER_NVML_ENERGY, 4, -2000000000, 1200},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		struct kwhy_recording *recording = work_on("# device 0 uuid=" UUID_0 "\n");
		const struct kwhy_power_series *series;

		if (import(recording, logs[i].name))
			fail_msg("%s: %s", logs[i].name, error.text);
		OK(kwhy_recording_finish(recording, &error));
		series = series_of(recording, logs[i].meter);
		if (series->count != logs[i].readings || series->time_ns[0] != logs[i].first_ns ||
			fabs(joules_of(series) - logs[i].joules) > 0.0005)
			fail_msg("%s, %s: %zu readings from %" PRId64 " ns on, %.4f J", logs[i].name,
				kwhy_meter_name(logs[i].meter), series->count, series->time_ns[0],
				joules_of(series));
		kwhy_recording_free(recording);
	}
}

static void what_is_not_understood_is_refused_with_its_place_and_how_to_make_it(void **state)
{
	static const struct {
		const char *name, *what, *cure;
	} logs[] = {
		{"nvidia-smi-noheader.csv", "its first line is a row", "the list of --query-gpu"},
		{"dmon-without-times.txt",
			"looks like nvidia-smi dmon, but of its 2 rows none could be read; line 3: "
			"the row has no time",
			"nvidia-smi dmon -s p -o DT"},
		{"dcgmi-dmon-without-times.txt", "looks like dcgmi dmon", "| ts %.s"},
		{"dcgm-exporter-without-times.prom", "looks like DCGM", "/api/v1/query_range"},
		{"dcgm-range-function.json", "record 1: a series has no name", "ask for the bare metric"},
		{"prometheus-error.json",
			"is an error that Prometheus answered (exceeded maximum resolution of 11,000 points",
			"correct the query"},
		{"prometheus-empty.json", "is an answer of Prometheus without a series",
			"check the name of the metric"},
		{"rocm-smi-without-times.csv", "looks like rocm-smi", "date +%s.%N"},
		{"zeus-with-gaps.csv", "between its windows lie 2.000 of 4.000 s",
			"one window over the whole run"},
		{"codecarbon-of-several.csv", "the sum of several GPUs", "emissions.csv"},
		{"interleaved.csv", "rows of several seem to take turns", "timestamp,index,uuid"},
		{"other.csv", "names no power and no energy known here", "time_ns,device,source,value"},
		{"other.prom", "none of the metrics",
			"DCGM_FI_DEV_POWER_USAGE, DCGM_FI_DEV_POWER_USAGE_INSTANT, "
			"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"},
		{"other.json", "names no power and no energy known here", "docs/formats/power-logs.md"},
	};
	struct kwhy_recording *recording = work_on("");

	(void)state;
	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		says(import(recording, logs[i].name), logs[i].what);
		says(import(recording, logs[i].name), logs[i].cure);
		assert_non_null(strstr(error.text, logs[i].name));
	}
	assert_int_equal(recording->power_count, 0);
	kwhy_recording_free(recording);
}

static void rows_that_are_not_understood_are_counted_and_the_first_is_told(void **state)
{
	struct kwhy_recording *recording = work_on("");

	(void)state;
	OK(import(recording, "nvidia-smi-damaged.csv"));
	assert_non_null(strstr(note_of(recording, "power-rows-unread")->text,
		"4 of 11 rows could not be read, the first at line 9: \"yesterday\" is not a time."));
	kwhy_recording_free(recording);
	recording = work_on("");
	OK(import(recording, "nvidia-smi.csv"));
	assert_non_null(strstr(note_of(recording, "power-empty")->text, "2 readings are empty"));
	assert_null(note_of(recording, "power-rows-unread"));
	kwhy_recording_free(recording);
	recording = work_on("");
	OK(import(recording, "dcgmi-dmon.txt"));
	assert_non_null(strstr(note_of(recording, "power-rows-unread")->text,
		"1 of 15 rows could not be read, the first at line 5: \"1795245132.500000 GPU-I 0"));
	kwhy_recording_free(recording);
}

static void times_whose_seconds_were_cut_are_said_to_be(void **state)
{
	static const char *const logs[] = {"amd-smi.csv", "dmon.txt", "codecarbon.csv", "dcgm-range.json"};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct kwhy_recording *recording = work_on("# device 0 uuid=" UUID_0 "\n");

		OK(import(recording, logs[i]));
		assert_int_equal(note_of(recording, "power-whole-seconds") != NULL, i < 3);
		kwhy_recording_free(recording);
	}
}

static void gpus_are_known_by_uuid_and_a_wrong_one_is_refused(void **state)
{
	struct kwhy_recording *recording = work_on("# device 0 uuid=" UUID_1 "\n");

	(void)state;
	OK(import(recording, "nvidia-smi.csv"));
	assert_int_equal(recording->power[0].value[0],
		150000); /* 150 W is the reading of GPU 1 in the log, which has this UUID */
	assert_non_null(note_of(recording, "power-of-other-devices"));
	assert_null(note_of(recording, "power-by-number"));
	kwhy_recording_free(recording);
	recording = work_on("# device 0 uuid=11111111222233334444555555555551\n");
	OK(import(recording, "dcgm-range.json"));
	assert_int_equal(recording->power[0].value[0], 510000);
	kwhy_recording_free(recording);
	recording = work_on("# device 0 uuid=GPU-99999999-2222-3333-4444-555555555551\n");
	says(import(recording, "nvidia-smi.csv"),
		"holds no readings of what the trace shows: its first GPU is " UUID_0
		", the trace's first is device 0, GPU-99999999");
	kwhy_recording_free(recording);
}

static void gpus_are_known_by_their_address_on_the_bus(void **state)
{
	struct kwhy_recording *recording = work_on("# device 0 pci=0000:31:00.0\n");

	(void)state;
	OK(import(recording, "nvidia-smi.csv"));
	assert_int_equal(recording->power[0].value[0], 150000);
	kwhy_recording_free(recording);
}

static void by_number_alone_a_log_of_more_gpus_is_taken_with_a_warning(void **state)
{
	struct kwhy_recording *recording = work_on("");

	(void)state;
	OK(import(recording, "nvidia-smi.csv"));
	assert_int_equal(recording->power[0].value[0], 100000);
	assert_non_null(strstr(note_of(recording, "power-by-number")->text, "CUDA_VISIBLE_DEVICES"));
	kwhy_recording_free(recording);
}

static void of_several_hosts_the_number_is_not_enough(void **state)
{
	static const char *const stated[] = {"0=node2/0"};
	static const struct kwhy_import_options options = {.power_devices = stated, .power_device_count = 1};
	struct kwhy_recording *recording = work_on("");

	(void)state;
	says(import(recording, "srt-slurm.csv"),
		"device 0 could be that of node2.cluster and of node1.cluster");
	says(import(recording, "srt-slurm.csv"), "--power-device 0=HOST/GPU");
	OK(import_log(recording, "srt-slurm.csv", &options));
	assert_int_equal(recording->power[0].value[0], 650000);
	kwhy_recording_free(recording);
	recording = work_on("");
	recording->processes[0].host = "node1";
	OK(import(recording, "srt-slurm.csv"));
	assert_int_equal(recording->power[0].value[0], 350500);
	kwhy_recording_free(recording);
}

static void who_knows_better_says_which_gpu_a_device_is(void **state)
{
	static const char *const stated[] = {"0=1", "0=" UUID_1, "0=31:00.0", "0=7", "0=", "GPU=0", "0"};
	struct kwhy_recording *recording;

	(void)state;
	for (size_t i = 0; i < 7; i++) {
		const struct kwhy_import_options options = {
			.power_devices = stated + i, .power_device_count = 1};

		recording = work_on("# device 0 uuid=" UUID_0 "\n");
		if (i < 3) {
			OK(import_log(recording, "nvidia-smi.csv", &options));
			assert_int_equal(recording->power[0].value[0], 150000);
		} else if (i == 3) {
			says(import_log(recording, "nvidia-smi.csv", &options), "holds no readings of what");
		} else {
			assert_int_equal(import_log(recording, "nvidia-smi.csv", &options), KWHY_E_USAGE);
			assert_non_null(strstr(error.text, "write [RANK/]DEVICE=[HOST/]GPU"));
		}
		kwhy_recording_free(recording);
	}
}

/*
 * Makes a trace as Kineto writes it with ROCm. Its device 2 is the first GPU, because ROCm numbers the
 * machine's two CPUs before.
 */
static struct kwhy_recording *rocm_trace(void)
{
	struct kwhy_recording *recording = recording_of(
		HEADER WORK("2") "sync,hipDeviceSynchronize,,,1795245134000000000,1795245136000000000,,,\n");

	recording->sources[0].format = KWHY_FORMAT_KINETO;
	return recording;
}

#define NODE_WIDE                                                                                        \
	POWER "1795245134000000000,0,rocm.power_mw,500000\n1795245135000000000,0,rocm.power_mw,500000\n" \
	      "1795245134000000000,2,rocm.power_mw,100000\n1795245135000000000,2,rocm.power_mw,100000\n"

static void numbers_of_rocm_s_agents_are_no_numbers_of_meters(void **state)
{
	static const char *const stated[] = {"2=0"};
	static const struct kwhy_import_options options = {.power_devices = stated, .power_device_count = 1};
	struct kwhy_recording *recording = rocm_trace();
	char path[32];

	(void)state;
	refused(import_power(recording, NODE_WIDE, false),
		"device 2 may be ROCm's number of an agent, CPUs among them; say which GPU it is with "
		"--power-device 2=GPU");
	write_file(path, NODE_WIDE, strlen(NODE_WIDE));
	OK(kwhy_import_power(recording, path, &options, &error));
	unlink(path);
	assert_int_equal(recording->power[0].value[0], 500000);
	kwhy_recording_free(recording);
	recording = rocm_trace();
	says(import(recording, "rocm-smi.json"), "holds no readings of what the trace shows");
	OK(import_log(recording, "rocm-smi.json", &options));
	assert_int_equal(recording->power[0].value[0], 245000);
	kwhy_recording_free(recording);
}

static void agent_0_is_a_cpu_so_that_a_device_0_has_the_number_of_a_meter(void **state)
{
	struct kwhy_recording *recording = recording_of(HEADER WORK("0")
			WORK("2") "sync,hipDeviceSynchronize,,,1795245134000000000,1795245136000000000,,,\n");

	(void)state;
	recording->sources[0].format = KWHY_FORMAT_KINETO;
	OK(import_power(recording, NODE_WIDE, false));
	assert_int_equal(recording->power_count, 2);
	kwhy_recording_free(recording);
}

/*
 * NVML reports the instant power up to Volta (compute capability 7.0) and on GA100 (8.0), and a mean power on
 * other GPUs from Ampere on. 0.0: unknown, taken for a recent one.
 */
static void nvml_s_power_is_of_now_before_ampere_and_a_mean_from_then_on(void **state)
{
	static const struct {
		uint32_t major, minor;
		enum kwhy_meter meter;
	} kinds[] = {{7, 0, KWHY_METER_NVML_INSTANT}, {8, 0, KWHY_METER_NVML_INSTANT},
		{8, 6, KWHY_METER_NVML_AVERAGE}, {9, 0, KWHY_METER_NVML_AVERAGE},
		{0, 0, KWHY_METER_NVML_AVERAGE}};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct kwhy_recording *recording = work_on("");

		recording->devices[0].compute_major = kinds[i].major;
		recording->devices[0].compute_minor = kinds[i].minor;
		OK(import(recording, "dmon.csv"));
		assert_int_equal(recording->power[0].meter, kinds[i].meter);
		kwhy_recording_free(recording);
	}
}

static void of_an_amd_gpu_a_table_that_both_makers_share_is_the_socket_s_power(void **state)
{
	struct kwhy_recording *recording = work_on(
		"# device 0 uuid=" UUID_0 " name=\"AMD Instinct MI300X\"\n");

	(void)state;
	OK(import(recording, "srt-slurm.csv"));
	assert_int_equal(recording->power[0].meter, KWHY_METER_ROCM_POWER);
	kwhy_recording_free(recording);
}

static void the_only_zone_in_which_a_log_overlaps_with_the_trace_is_its_own(void **state)
{
	struct kwhy_recording *recording = work_on("");

	(void)state;
	OK(import(recording, "nvidia-smi-nounits.csv"));
	assert_non_null(
		strstr(note_of(recording, "power-zone")->text, "UTC+02:00 is assumed, the only zone"));
	kwhy_recording_free(recording);
}

#define LONG_LOG                                                                                      \
	"timestamp, power.draw [W]\n2026/11/21 06:00:00.000, 100 W\n2026/11/21 07:12:15.000, 100 W\n" \
	"2026/11/21 08:12:15.000, 100 W\n"

static enum kwhy_status import_in_zone(struct kwhy_recording *recording, const char *text, const char *zone)
{
	const struct kwhy_import_options options = {.power_zone = zone};
	enum kwhy_status status;
	char path[32];

	write_file(path, text, strlen(text));
	status = kwhy_import_power(recording, path, &options, &error);
	unlink(path);
	return status;
}

static void of_a_long_log_without_a_zone_the_zone_is_asked_for(void **state)
{
	struct kwhy_recording *recording = work_on("");

	(void)state;
	refused(import_in_zone(recording, LONG_LOG, NULL),
		"overlap with the trace in 9 zones; state its zone with --power-zone");
	OK(import_in_zone(recording, LONG_LOG, "+01:00"));
	assert_int_equal(recording->power[0].time_ns[2], 1000000000);
	assert_int_equal(import_in_zone(recording, LONG_LOG, "Mars"), KWHY_E_USAGE);
	assert_non_null(strstr(error.text, "write +02:00, UTC or local"));
	kwhy_recording_free(recording);
	recording = work_on("");
	setenv("TZ", "CET-1CEST", 1);
	OK(import_in_zone(recording, LONG_LOG, "local"));
	assert_int_equal(recording->power[0].time_ns[2], 1000000000);
	kwhy_recording_free(recording);
}

static void a_log_of_another_time_is_refused_with_both_windows(void **state)
{
	struct kwhy_recording *recording = recording_of(
		HEADER "kernel,a,0,7,1795345134000000000,1795345136000000000,,,\n");

	(void)state;
	says(import(recording, "nvidia-smi.csv"),
		"does not overlap the trace: power from 2026-11-21 07:12:12.250 UTC");
	says(import(recording, "codecarbon.csv"), "does not overlap the trace");
	kwhy_recording_free(recording);
}

static void a_log_given_twice_is_refused(void **state)
{
	struct kwhy_recording *recording = work_on("");

	(void)state;
	OK(import(recording, "amd-smi.csv"));
	says(import(recording, "amd-smi.csv"), "is given twice");
	kwhy_recording_free(recording);
}

static void the_trace_must_have_devices_and_unix_times(void **state)
{
	struct kwhy_recording *recording = empty_recording();

	(void)state;
	says(import(recording, "amd-smi.csv"), "the trace shows no device");
	kwhy_recording_free(recording);
	recording = recording_of(
		"# clock other boot\n" HEADER "kernel,a,0,7,500000000000000,500001000000000,,,\n");
	says(import(recording, "amd-smi.csv"), "has none, so the two cannot be aligned");
	kwhy_recording_free(recording);
}

static struct kwhy_span span(const char *text)
{
	return (struct kwhy_span){text, strlen(text)};
}

static void times_are_read_in_every_form_that_tools_write(void **state)
{
	static const struct {
		const char *text;
		int64_t time_ns; /* -1: not a time */
		bool is_local;
	} times[] = {
		{"1795245132", INT64_C(1795245132000000000), false},
		{"1795245132.2924976", INT64_C(1795245132292497600), false},
		{"1795245132250", INT64_C(1795245132250000000), false},
		{"1795245132250123", INT64_C(1795245132250123000), false},
		{"1795245132250123457", INT64_C(1795245132250123457), false},
		{"2026/11/21 07:12:12.250", INT64_C(1795245132250000000), true},
		{"2026-11-21T07:12:12Z", INT64_C(1795245132000000000), false},
		{"2026-11-21T09:12:12.5+02:00", INT64_C(1795245132500000000), false},
		{"2026-11-21 01:42:12 -0530", INT64_C(1795245132000000000), false},
		{"20261121 07:12:12", INT64_C(1795245132000000000), true},
		{"1970-01-01T00:00:00Z", 0, false},
		{"2024-02-29T00:00:00Z", INT64_C(1709164800000000000), false},
		{"2026-13-21 07:12:12", -1, false},
		{"2026-11-21 25:12:12", -1, false},
		{"2026-11-21", -1, false},
		{"2026-11-21 07:12:12 CET", -1, false},
		{"12345", -1, false},
		{"1795245132s", -1, false},
		{"", -1, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct kwhy_power_stamp stamp = {-1, false};
		const bool known = kwhy_power_stamp_read(span(times[i].text), &stamp);

		if (known != (times[i].time_ns >= 0) || stamp.time_ns != times[i].time_ns ||
			stamp.is_local != times[i].is_local)
			fail_msg("%s is %" PRId64, times[i].text, stamp.time_ns);
	}
}

static void amounts_are_read_with_the_units_that_stand_behind_them(void **state)
{
	static const struct {
		const char *unit, *text;
		enum kwhy_power_amount amount;
		int64_t value;
	} amounts[] = {
		{"W", "70.47", KWHY_POWER_AMOUNT_GOOD, 70470},
		{"W", "70.4706 W", KWHY_POWER_AMOUNT_GOOD, 70471},
		{"W", "70470 mW", KWHY_POWER_AMOUNT_GOOD, 70470},
		{"mW", "70470", KWHY_POWER_AMOUNT_GOOD, 70470},
		{"W", "0", KWHY_POWER_AMOUNT_GOOD, 0},
		{"J", "8000.5", KWHY_POWER_AMOUNT_GOOD, 8000500000},
		{"kWh", "1.5e-3", KWHY_POWER_AMOUNT_GOOD, 5400000000},
		{"kWh", "0.00012345678901234567", KWHY_POWER_AMOUNT_GOOD, 444444440},
		{"W", "[N/A]", KWHY_POWER_AMOUNT_EMPTY, -1},
		{"W", "", KWHY_POWER_AMOUNT_EMPTY, -1},
		{"W", "-", KWHY_POWER_AMOUNT_EMPTY, -1},
		{"W", "-5", KWHY_POWER_AMOUNT_WRONG, -1},
		{"W", "70 J", KWHY_POWER_AMOUNT_WRONG, -1},
		{"W", "70 C", KWHY_POWER_AMOUNT_WRONG, -1},
		{"W", "7e300", KWHY_POWER_AMOUNT_WRONG, -1},
		{"W", "1000001", KWHY_POWER_AMOUNT_WRONG, -1},
		{"W", "P0", KWHY_POWER_AMOUNT_WRONG, -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++) {
		int64_t value = -1;
		const enum kwhy_power_amount amount = kwhy_power_amount_read(
			span(amounts[i].text), kwhy_power_unit_find(span(amounts[i].unit)), &value);

		if (amount != amounts[i].amount || value != amounts[i].value)
			fail_msg("%s is %d, %" PRId64, amounts[i].text, (int)amount, value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_tool_s_log_has_its_joules_on_the_trace_s_clock),
		cmocka_unit_test(what_is_not_understood_is_refused_with_its_place_and_how_to_make_it),
		cmocka_unit_test(rows_that_are_not_understood_are_counted_and_the_first_is_told),
		cmocka_unit_test(times_whose_seconds_were_cut_are_said_to_be),
		cmocka_unit_test(gpus_are_known_by_uuid_and_a_wrong_one_is_refused),
		cmocka_unit_test(gpus_are_known_by_their_address_on_the_bus),
		cmocka_unit_test(by_number_alone_a_log_of_more_gpus_is_taken_with_a_warning),
		cmocka_unit_test(of_several_hosts_the_number_is_not_enough),
		cmocka_unit_test(who_knows_better_says_which_gpu_a_device_is),
		cmocka_unit_test(numbers_of_rocm_s_agents_are_no_numbers_of_meters),
		cmocka_unit_test(agent_0_is_a_cpu_so_that_a_device_0_has_the_number_of_a_meter),
		cmocka_unit_test(nvml_s_power_is_of_now_before_ampere_and_a_mean_from_then_on),
		cmocka_unit_test(of_an_amd_gpu_a_table_that_both_makers_share_is_the_socket_s_power),
		cmocka_unit_test(the_only_zone_in_which_a_log_overlaps_with_the_trace_is_its_own),
		cmocka_unit_test(of_a_long_log_without_a_zone_the_zone_is_asked_for),
		cmocka_unit_test(a_log_of_another_time_is_refused_with_both_windows),
		cmocka_unit_test(a_log_given_twice_is_refused),
		cmocka_unit_test(the_trace_must_have_devices_and_unix_times),
		cmocka_unit_test(times_are_read_in_every_form_that_tools_write),
		cmocka_unit_test(amounts_are_read_with_the_units_that_stand_behind_them),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
