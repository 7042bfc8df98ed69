/* SPDX-License-Identifier: Apache-2.0 */
#include "exported.h"

#include <math.h>

static void perfettos_tracks_name_their_machine(void **state)
{
	struct kwhy_recording *recording = make(2, nodes);

	(void)state;
	EXPECT("perfetto", recording, "GPU 0 H200 of rank 0 on node-a", "GPU 0 H200 of rank 1 on node \"b\"",
		"calls of thread 77 of rank 0 on node-a", "calls of thread 77 of rank 1 on node \"b\"",
		"ranges of rank 0 on node-a", "ranges of rank 1 on node \"b\"", "hwmon.power-0_mw on node-a",
		"hwmon.power-0_mw on node \"b\"");
	kwhy_recording_free(recording);
}

/*
 * Counts in a Perfetto trace the values of GPU counters (protobuf field 3, 64 bits) that have the same bits
 * as `value`.
 */
static size_t count_of_value(const struct kwhy_text *text, double value)
{
	unsigned char field[1 + sizeof(value)] = {3 << 3 | 1};
	size_t count = 0;

	memcpy(field + 1, &value, sizeof(value));
	for (size_t i = 0; i + sizeof(field) <= text->length; i++)
		count += !memcmp(text->data + i, field, sizeof(field));
	return count;
}

static void perfettos_power_is_unknown_not_0_where_a_counter_was_reset(void **state)
{
	static const int64_t counts_mj[] = {1000000, 1000100, 1000200, 50, 150, 250, 350, 450};
	enum { READINGS = sizeof(counts_mj) / sizeof(counts_mj[0]) };
	struct kwhy_recording *recording;
	struct kwhy_text text;

	(void)state;
	OK(kwhy_recording_new(&recording, &error));
	add_tracks(recording, 0, KWHY_NONE, PID);
	add_rows(recording, 0);
	for (int64_t i = 0; i < READINGS; i++)
		OK(kwhy_recording_add_reading(
			recording, KWHY_METER_NVML_ENERGY, 0, 0, i * ms_ns, counts_mj[i], &error));
	OK(kwhy_recording_finish(recording, &error));
	text = contents("perfetto", recording);
	assert_int_equal(count_of_value(&text, 0), 0);
	assert_int_equal(count_of_value(&text, NAN), 2);
	assert_int_equal(count_of_value(&text, 100), READINGS - 2);
	kwhy_text_done(&text);
	kwhy_recording_free(recording);
}

/*
 * Chrome's pid stands for devices and processes alike. On the first machine GPU 0 keeps 0 and process 1 keeps
 * 1; on the second one, as these are taken, GPU 0 becomes 2 and process 1 becomes 3.
 */
static void chromes_numbers_are_of_one_device_or_process_and_named(void **state)
{
	struct kwhy_recording *recording = make(2, nodes);

	(void)state;
	EXPECT("chrome", recording,
		"\"pid\":0,\"tid\":0,\"args\":{\"name\":\"GPU 0 H200 of rank 0 on node-a\"}",
		"\"pid\":2,\"tid\":0,\"args\":{\"name\":\"GPU 0 H200 of rank 1 on node \\\"b\\\"\"}",
		"\"pid\":1,\"tid\":0,\"args\":{\"name\":\"process 1 of rank 0 on node-a\"}",
		"\"pid\":3,\"tid\":0,\"args\":{\"name\":\"process 1 of rank 1 on node \\\"b\\\"\"}",
		"\"pid\":0,\"tid\":7,\"args\":{\"device\":0,", "\"pid\":2,\"tid\":7,\"args\":{\"device\":2,",
		"\"pid\":1,\"tid\":77,\"args\"", "\"pid\":3,\"tid\":77,\"args\"", "\"pid\":1,\"tid\":77}",
		"\"pid\":3,\"tid\":77}", "{\"id\":0,", "{\"id\":2,");
	kwhy_recording_free(recording);
}

/* Processes of unknown pid get numbers below -1, since -1 is the number of the host's meters. */
static void chromes_unknown_processes_do_not_take_the_hosts_number(void **state)
{
	struct kwhy_recording *recording = make(2, nodes);
	struct kwhy_text text;

	(void)state;
	for (size_t i = 0; i < COUNT; i++)
		recording->processes[i].pid = -1;
	EXPECT("chrome", recording,
		"\"pid\":-2,\"tid\":0,\"args\":{\"name\":\"process of rank 0 on node-a\"}",
		"\"pid\":-3,\"tid\":0,\"args\":{\"name\":\"process of rank 1 on node \\\"b\\\"\"}",
		"\"pid\":-2,\"tid\":77,\"args\"", "\"pid\":-3,\"tid\":77,\"args\"",
		"{\"ph\":\"C\",\"name\":\"hwmon.power-0_mw on node-a\",\"pid\":-1,\"ts\":0.000");
	text = contents("chrome", recording);
	assert_int_equal(count_of(&text, "\"pid\":-1,\"tid\""), 0);
	kwhy_text_done(&text);
	kwhy_recording_free(recording);
}

static void a_process_that_was_unknown_is_so_when_read_back(void **state)
{
	struct kwhy_recording *recording = make(1, nodes), *back;

	(void)state;
	for (size_t i = 0; i < COUNT; i++)
		recording->processes[i].pid = -1;
	back = read_back("chrome", recording);
	for (size_t i = 0; i < back->process_count; i++)
		assert_true(back->processes[i].pid < 0);
	kwhy_recording_free(back);
	kwhy_recording_free(recording);
}

static void a_device_without_a_name_has_none_when_read_back(void **state)
{
	static const char *const forms[] = {"chrome", "csv"};
	struct kwhy_recording *recording = make(1, nodes);

	(void)state;
	for (size_t d = 0; d < COUNT; d++)
		recording->devices[d].name = NULL;
	for (size_t i = 0; i < 2; i++) {
		struct kwhy_recording *back = read_back(forms[i], recording);

		for (uint32_t d = 0; d < back->device_count; d++)
			assert_null(back->devices[d].name);
		kwhy_recording_free(back);
	}
	EXPECT("chrome", recording, "\"deviceProperties\":[{\"id\":0,\"rank\":0},{\"id\":3,\"rank\":1}],");
	kwhy_recording_free(recording);
}

static void what_is_read_back_has_as_many_devices(void **state)
{
	static const char *const forms[] = {"chrome", "csv"};
	struct kwhy_recording *recording = make(2, nodes);

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct kwhy_recording *back = read_back(forms[i], recording);

		assert_int_equal(back->device_count, COUNT);
		assert_int_equal(back->activities.count, COUNT);
		for (uint32_t d = 0; d < COUNT; d++)
			assert_string_equal(back->devices[d].name, "H200");
		if (i == 0)
			assert_int_equal(back->thread_count, COUNT);
		kwhy_recording_free(back);
	}
	kwhy_recording_free(recording);
}

/* Number and total time of activities by kind; the last element is for calls. bytes: of all activities. */
struct sums {
	int64_t count[KWHY_ACTIVITY_KIND_COUNT + 1], time_ns[KWHY_ACTIVITY_KIND_COUNT + 1];
	uint64_t bytes;
	int64_t first_unix_ns;
};

static struct sums sums_of(const struct kwhy_recording *recording)
{
	struct sums sums = {.first_unix_ns = recording->origin_unix_ns + recording->start_ns};

	for (size_t i = 0; i < recording->activities.count; i++) {
		const uint8_t kind = recording->activities.kind[i];

		sums.count[kind]++;
		sums.time_ns[kind] += recording->activities.end_ns[i] - recording->activities.start_ns[i];
		sums.bytes += kind == KWHY_ACTIVITY_COPY || kind == KWHY_ACTIVITY_MEMSET
			? recording->activities.bytes[i]
			: 0;
	}
	for (size_t i = 0; i < recording->calls.count; i++) {
		sums.count[KWHY_ACTIVITY_KIND_COUNT]++;
		sums.time_ns[KWHY_ACTIVITY_KIND_COUNT] += recording->calls.end_ns[i] -
			recording->calls.start_ns[i];
	}
	return sums;
}

/*
 * Returns a recording whose durations are odd numbers of ns, so that an export that rounds them would change
 * the sums.
 */
static struct kwhy_recording *make_odd(void)
{
	static const struct {
		enum kwhy_activity_kind kind;
		const char *name;
	} kinds[] = {{KWHY_ACTIVITY_KERNEL, "gemm"}, {KWHY_ACTIVITY_COPY, "h2d"},
		{KWHY_ACTIVITY_MEMSET, "set"},
		{KWHY_ACTIVITY_COLLECTIVE, "ncclDevKernel_AllReduce_Sum_f16_RING_LL"}};
	struct kwhy_recording *recording;
	int64_t at_ns = 1;

	OK(kwhy_recording_new(&recording, &error));
	recording->unix_clock = true;
	recording->origin_unix_ns = INT64_C(1795262400123456789);
	add_tracks(recording, 0, KWHY_NONE, PID);
	for (size_t i = 0; i < 400; i++) {
		struct kwhy_activity row = kwhy_activity_unknown();

		row.kind = (uint8_t)kinds[i % 4].kind;
		row.name = intern(recording, kinds[i % 4].name);
		row.start_ns = at_ns;
		row.end_ns = at_ns + 1 + (int64_t)(i * i * 7919 % 100003);
		row.call = (uint32_t)i + 1;
		if (row.kind == KWHY_ACTIVITY_COPY || row.kind == KWHY_ACTIVITY_MEMSET)
			row.bytes = 4096 + i;
		if (row.kind == KWHY_ACTIVITY_COPY)
			row.copy_kind = KWHY_COPY_H2D;
		OK(kwhy_recording_add_activity(recording, &row, &error));
		OK(kwhy_recording_add_call(recording, at_ns - 1, at_ns + 3 + (int64_t)i,
			intern(recording, "cudaLaunchKernel"), 0, row.call, &error));
		at_ns = row.end_ns + 17;
	}
	OK(kwhy_recording_finish(recording, &error));
	return recording;
}

static void every_format_has_the_same_sums_to_the_nanosecond(void **state)
{
	static const char *const forms[] = {"chrome", "perfetto", "sqlite", "csv"};
	struct kwhy_recording *recording = make_odd();
	const struct sums wanted = sums_of(recording);

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct kwhy_recording *back = read_back(forms[i], recording);
		const struct sums sums = sums_of(back);

		for (size_t kind = 0; kind <= KWHY_ACTIVITY_KIND_COUNT; kind++)
			if (sums.count[kind] != wanted.count[kind] ||
				sums.time_ns[kind] != wanted.time_ns[kind])
				fail_msg("%s, kind %zu: %lld rows of %lld ns, not %lld of %lld", forms[i],
					kind, (long long)sums.count[kind], (long long)sums.time_ns[kind],
					(long long)wanted.count[kind], (long long)wanted.time_ns[kind]);
		assert_int_equal(sums.bytes, wanted.bytes);
		assert_int_equal(sums.first_unix_ns, wanted.first_unix_ns);
		kwhy_recording_free(back);
	}
	kwhy_recording_free(recording);
}

static void every_format_keeps_uuids_and_addresses_of_devices(void **state)
{
	static const char *const forms[] = {"chrome", "perfetto", "sqlite", "csv"};
	struct kwhy_recording *recording = make(0, NULL);

	(void)state;
	recording->devices[0].uuid = "GPU-1b2f";
	recording->devices[0].pci = "0000:3b:00.0";
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct kwhy_recording *back = read_back(forms[i], recording);

		assert_string_equal(back->devices[0].uuid, recording->devices[0].uuid);
		assert_string_equal(back->devices[0].pci, recording->devices[0].pci);
		assert_null(back->devices[1].uuid);
		assert_null(back->devices[1].pci);
		kwhy_recording_free(back);
	}
	kwhy_recording_free(recording);
}

static void tables_and_perfetto_keep_the_hosts_of_processes(void **state)
{
	static const char *const forms[] = {"perfetto", "sqlite"};
	struct kwhy_recording *recording = make(0, NULL);

	(void)state;
	recording->processes[1].host = "node-b";
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct kwhy_recording *back = read_back(forms[i], recording);

		assert_null(back->processes[0].host);
		assert_string_equal(back->processes[1].host, "node-b");
		kwhy_recording_free(back);
	}
	kwhy_recording_free(recording);
}

/*
 * Exports must keep thread numbers, whatever they are: Kineto writes the low 32 bits of a pthread_t, which
 * may be a negative number.
 */
static void every_format_keeps_the_numbers_of_threads(void **state)
{
	static const char *const forms[] = {"chrome", "perfetto", "sqlite", "csv"};
	static const int64_t numbers[] = {77, -549452224, -2, INT64_C(140123456789504)};
	struct kwhy_recording *recording = make_odd();

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++) {
			struct kwhy_recording *back;

			recording->threads[0].tid = numbers[n];
			back = read_back(forms[i], recording);
			if (back->threads[back->calls.thread[0]].tid != numbers[n])
				fail_msg("%s: thread %lld is %lld when read back", forms[i],
					(long long)numbers[n],
					(long long)back->threads[back->calls.thread[0]].tid);
			kwhy_recording_free(back);
		}
	kwhy_recording_free(recording);
}

static void what_is_read_back_of_chrome_has_the_ranks_of_devices_and_processes(void **state)
{
	(void)state;
	for (size_t machines = 0; machines <= COUNT; machines++) {
		struct kwhy_recording *recording = make(machines, nodes), *back;

		recording->processes[1].world_size = COUNT;
		back = read_back("chrome", recording);
		assert_int_equal(back->process_count, COUNT);
		assert_int_equal(back->stream_count, COUNT);
		for (uint32_t i = 0; i < COUNT; i++) {
			const struct kwhy_stream *stream = &back->streams[back->activities.stream[i]];

			assert_int_equal(back->devices[stream->device].rank, i);
			assert_int_equal(back->processes[stream->process].rank, i);
			assert_int_equal(back->threads[back->calls.thread[i]].process, stream->process);
			assert_int_equal(back->activities.call[i], i);
		}
		assert_int_equal(back->processes[1].world_size, COUNT);
		kwhy_recording_free(back);
		kwhy_recording_free(recording);
	}
}

/*
 * Both ranks run on device 0; in an imported Chrome trace their streams must still belong to different
 * processes.
 */
static void ranks_that_share_a_device_stay_apart_in_chrome(void **state)
{
	struct kwhy_recording *recording = make(0, NULL), *back;

	(void)state;
	recording->streams[1].device = 0;
	back = read_back("chrome", recording);
	assert_int_equal(back->device_count, 1);
	assert_int_equal(back->stream_count, COUNT);
	for (uint32_t i = 0; i < COUNT; i++) {
		const struct kwhy_stream *stream = &back->streams[back->activities.stream[i]];

		assert_int_equal(back->processes[stream->process].rank, i);
		assert_int_equal(back->activities.call[i], i);
	}
	kwhy_recording_free(back);
	kwhy_recording_free(recording);
}

static void csvs_rows_say_their_machine(void **state)
{
	struct kwhy_recording *recording = make(2, nodes);

	(void)state;
	EXPECT("csv", recording, "# GPU 0 H200 of rank 1 on node \"b\": device 2\n",
		",src_memory,dst_memory,registers,shared_bytes,machine\n",
		"kernel,gemm,0,7,1795262400000000000,1795262400001000000,,,,,,1,,0,,,,,node-a\n",
		"kernel,gemm,2,7,1795262400001000000,1795262400002000000,,,,,,3,,1,,,,,\"node \"\"b\"\"\"\n");
	kwhy_recording_free(recording);
}

static void ranks_that_share_a_number_are_told_apart_without_a_machine(void **state)
{
	struct kwhy_recording *recording = make(0, NULL);

	(void)state;
	EXPECT("perfetto", recording, "GPU 0 H200 of rank 0", "GPU 0 H200 of rank 1",
		"calls of thread 77 of rank 0", "calls of thread 77 of rank 1");
	EXPECT("chrome", recording, "\"pid\":0,\"tid\":7,", "\"pid\":2,\"tid\":7,", "\"pid\":1,\"tid\":77,",
		"\"pid\":3,\"tid\":77,");
	kwhy_recording_free(recording);
}

static void numbers_of_one_machine_stay_as_they_are(void **state)
{
	static const char *const forms[] = {"perfetto", "chrome", "csv"};
	const struct kwhy_machine nameless = {.width_ns = -1}; /* stated neither host nor boot */
	uint32_t machine;
	struct kwhy_recording *recording = make(1, nodes);

	(void)state;
	OK(kwhy_recording_add_machine(recording, &nameless, &machine, &error));
	recording->devices[1].index = PID; /* device 1, process 1: equal numbers */
	for (size_t i = 0; i < 3; i++) {
		struct kwhy_text text = contents(forms[i], recording);

		assert_int_equal(count_of(&text, "on node-a"), 0);
		assert_int_equal(count_of(&text, "of rank"), 0);
		assert_int_equal(count_of(&text, "process_name"), 0);
		assert_int_equal(count_of(&text, "machine"), 0);
		kwhy_text_done(&text);
	}
	EXPECT("chrome", recording, "\"pid\":0,\"tid\":7,", "\"pid\":1,\"tid\":7,", "\"pid\":1,\"tid\":77,",
		"\"pid\":2,\"tid\":77,");
	kwhy_recording_free(recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perfettos_tracks_name_their_machine),
		cmocka_unit_test(perfettos_power_is_unknown_not_0_where_a_counter_was_reset),
		cmocka_unit_test(chromes_numbers_are_of_one_device_or_process_and_named),
		cmocka_unit_test(chromes_unknown_processes_do_not_take_the_hosts_number),
		cmocka_unit_test(a_process_that_was_unknown_is_so_when_read_back),
		cmocka_unit_test(a_device_without_a_name_has_none_when_read_back),
		cmocka_unit_test(what_is_read_back_has_as_many_devices),
		cmocka_unit_test(every_format_has_the_same_sums_to_the_nanosecond),
		cmocka_unit_test(every_format_keeps_uuids_and_addresses_of_devices),
		cmocka_unit_test(tables_and_perfetto_keep_the_hosts_of_processes),
		cmocka_unit_test(every_format_keeps_the_numbers_of_threads),
		cmocka_unit_test(what_is_read_back_of_chrome_has_the_ranks_of_devices_and_processes),
		cmocka_unit_test(ranks_that_share_a_device_stay_apart_in_chrome),
		cmocka_unit_test(csvs_rows_say_their_machine),
		cmocka_unit_test(ranks_that_share_a_number_are_told_apart_without_a_machine),
		cmocka_unit_test(numbers_of_one_machine_stay_as_they_are),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
