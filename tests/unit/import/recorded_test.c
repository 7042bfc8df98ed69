/* SPDX-License-Identifier: Apache-2.0 */
#include "recorded_tape.h"

#include <fcntl.h>
#include <math.h>

static void record_program(struct tape *tape)
{
	ADD(tape, PROCESS, process, .pid = 42, .host = HOST, .rank = KWHY_WIRE_UNKNOWN_U32,
		.world_size = KWHY_WIRE_UNKNOWN_U32);
	ADD(tape, CLOCK, clock, .mono_ns = 1000 * MS, .offset_ns = BOOT_UNIX_NS + 77, .width_ns = 900);
	ADD(tape, DEVICE, device, .index = 0, .name = H200, .uuid = UUID, .sm_count = 132,
		.limit_mw = 700000);
	ADD(tape, CALL, call, .start_mono_ns = 1090 * MS, .end_mono_ns = 1091 * MS, .name = LAUNCH,
		.correlation = 5, .thread = 43);
	ADD(tape, KERNEL, kernel, .start_mono_ns = 1100 * MS, .end_mono_ns = 1103 * MS, .name = GEMM,
		.correlation = 5, .stream = 7, .context = 1, .blocks = 1056, .threads_per_block = 256,
		.registers = 96, .shared_bytes = 4096);
	ADD(tape, KERNEL, kernel, .start_mono_ns = 1104 * MS, .end_mono_ns = 1105 * MS, .name = ALL_REDUCE,
		.correlation = 6, .stream = 8, .context = 1, .blocks = 24, .threads_per_block = 512);
	ADD(tape, COPY, copy, .start_mono_ns = 1106 * MS, .end_mono_ns = 1107 * MS, .bytes = 1 << 20,
		.stream = 7, .context = 1, .correlation = 8, .copy_kind = KWHY_COPY_H2D,
		.src_memory = KWHY_MEMORY_PINNED, .dst_memory = KWHY_MEMORY_DEVICE,
		.src_device = KWHY_WIRE_UNKNOWN_U16, .dst_device = KWHY_WIRE_UNKNOWN_U16);
	ADD(tape, MEMSET, memset, .start_mono_ns = 1108 * MS, .end_mono_ns = 1109 * MS, .bytes = 64,
		.stream = 7, .context = 1, .memory = KWHY_MEMORY_DEVICE);
	ADD(tape, RANGE, range, .start_mono_ns = 1080 * MS, .end_mono_ns = 1120 * MS, .name = STEP,
		.thread = 43, .kind = KWHY_RANGE_USER);
	ADD(tape, COVERAGE, coverage, .start_mono_ns = 1050 * MS, .end_mono_ns = 1200 * MS, .device = -1);
	ADD(tape, WORK, work, .time_mono_ns = 1120 * MS, .count = 64, .unit = TOKENS);
}

static void record_meters(struct tape *tape)
{
	ADD(tape, PROCESS, process, .pid = 41, .host = HOST, .rank = KWHY_WIRE_UNKNOWN_U32,
		.world_size = KWHY_WIRE_UNKNOWN_U32);
	ADD(tape, CLOCK, clock, .mono_ns = 1000 * MS, .offset_ns = BOOT_UNIX_NS, .width_ns = 100);
	ADD(tape, SOURCE, source, .id = 1, .meter = ENERGY, .uuid = UUID, .device = 0);
	ADD(tape, SOURCE, source, .id = 2, .meter = SAMPLE, .uuid = UUID, .device = 0);
	ADD(tape, SOURCE, source, .id = 3, .gauge = CLOCKS, .uuid = UUID, .device = 0);
	for (int64_t i = 0; i < 10; i++) {
		ADD(tape, READING, reading, .time_mono_ns = (1000 + 100 * i) * MS,
			.value = 8000000 + 12000 * i, .source = 1);
		ADD(tape, READING, reading, .time_mono_ns = (1000 + 20 * i) * MS, .value = 120000,
			.source = 2);
		ADD(tape, READING, reading, .time_mono_ns = (1000 + 100 * i) * MS, .value = 1980000000,
			.source = 3);
	}
}

/* Makes a file with the blocks of two writers: the program and the meters. */
static int record_both(char path[64])
{
	int fd = memfd_create("recording", 0);
	struct tape tape;

	snprintf(path, 64, "/proc/self/fd/%d", fd);
	tape_init(&tape, fd, 100);
	record_program(&tape);
	kwhy_block_writer_flush(&tape.writer);
	say_names(&tape); /* a writer may write names after their use */
	tape_done(&tape);
	tape_init(&tape, fd, 200);
	say_names(&tape);
	record_meters(&tape);
	tape_done(&tape);
	return fd;
}

static void activities_come_with_all_that_was_recorded(void **state)
{
	char path[64];
	int fd = record_both(path);
	struct kwhy_recording *recording = import(path);
	const struct kwhy_activities *rows = &recording->activities;

	(void)state;
	assert_int_equal(rows->count, 4);
	assert_string_equal(name_of(recording, 0), "gemm");
	assert_int_equal(rows->kind[0], KWHY_ACTIVITY_KERNEL);
	assert_int_equal(rows->kind[1], KWHY_ACTIVITY_COLLECTIVE);
	assert_int_equal(rows->kind[2], KWHY_ACTIVITY_COPY);
	assert_int_equal(rows->kind[3], KWHY_ACTIVITY_MEMSET);
	assert_int_equal(rows->blocks[0], 1056);
	assert_int_equal(rows->registers[0], 96);
	assert_int_equal(rows->bytes[2], 1 << 20);
	assert_int_equal(rows->src_memory[2], KWHY_MEMORY_PINNED);
	assert_int_equal(recording->calls.count, 1);
	assert_int_equal(rows->call[0], 0);
	assert_int_equal(rows->end_ns[0] - rows->start_ns[0], 3 * MS);
	assert_int_equal(recording->device_count, 1);
	assert_string_equal(recording->devices[0].name, "NVIDIA H200");
	assert_int_equal(recording->range_count, 1);
	assert_int_equal(recording->ranges[0].kind, KWHY_RANGE_STEP);
	assert_int_equal(recording->coverage_count, 1);
	assert_true(recording->work[0].count == 64);
	kwhy_recording_free(recording);
	close(fd);
}

/*
 * The writers of the program and of the meters state the Unix time with widths of 900 ns and 100 ns, and
 * differ by 77 ns. The more exact one must be used for both.
 */
static void meters_and_activities_share_the_best_known_clock(void **state)
{
	char path[64];
	int fd = record_both(path);
	struct kwhy_recording *recording = import(path);

	(void)state;
	assert_true(recording->unix_clock);
	assert_int_equal(
		recording->origin_unix_ns + recording->activities.start_ns[0], BOOT_UNIX_NS + 1100 * MS);
	assert_int_equal(recording->power_count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct kwhy_power_series *series = &recording->power[i];

		assert_int_equal(series->count, 10);
		assert_int_equal(series->device, 0);
		assert_int_equal(recording->origin_unix_ns + series->time_ns[0], BOOT_UNIX_NS + 1000 * MS);
	}
	kwhy_recording_free(recording);
	close(fd);
}

/*
 * The more exact clock record may come later in the file. The origin of times must still be before
 * everything, so that no time is negative.
 */
static void the_origin_lies_before_all_that_was_recorded(void **state)
{
	char path[64];
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	tape_init(&tape, memfd_create("recording", 0), 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", tape.fd);
	ADD(&tape, CLOCK, clock, .mono_ns = 1000 * MS, .offset_ns = BOOT_UNIX_NS, .width_ns = 900);
	ADD(&tape, CLOCK, clock, .mono_ns = 9000 * MS, .offset_ns = BOOT_UNIX_NS + 7, .width_ns = 90);
	ADD(&tape, KERNEL, kernel, .start_mono_ns = 1100 * MS, .end_mono_ns = 1103 * MS);
	tape_done(&tape);
	recording = import(path);
	assert_int_equal(recording->origin_unix_ns, BOOT_UNIX_NS + 1000 * MS);
	assert_int_equal(recording->activities.start_ns[0], 100 * MS + 7);
	kwhy_recording_free(recording);
	close(tape.fd);
}

static void a_recording_that_ended_in_order_has_no_complaints(void **state)
{
	char path[64];
	int fd = record_both(path);
	struct kwhy_recording *recording = import(path);

	(void)state;
	assert_int_equal(recording->note_count, 0);
	assert_false(recording->lost.truncated);
	assert_false(kwhy_lost_work(&recording->lost));
	kwhy_recording_free(recording);
	close(fd);
}

static void a_cut_recording_is_read_and_says_so(void **state)
{
	char path[64];
	int fd = record_both(path);
	off_t length = lseek(fd, 0, SEEK_END);
	struct kwhy_recording *recording;

	(void)state;
	assert_int_equal(ftruncate(fd, length - 10), 0);
	recording = import(path);
	assert_int_equal(recording->activities.count, 4);
	assert_true(recording->lost.truncated);
	assert_true(has_note(recording, "recording-cut"));
	/* the stated amount of work is that of the whole run, so it is left out for a part of it */
	assert_int_equal(recording->work_count, 0);
	assert_true(has_note(recording, "work-of-a-cut-run"));
	kwhy_recording_free(recording);
	close(fd);
}

/*
 * Imports a recording without activities whose last `cut` bytes are missing, with power readings if
 * has_power. An error must contain `words`.
 */
static enum kwhy_status import_cut(bool has_power, off_t cut, const char *words)
{
	const struct kwhy_import_options options = {0};
	struct kwhy_recording *recording;
	struct kwhy_error error;
	enum kwhy_status status;
	struct tape tape;
	char path[64];

	tape_init(&tape, memfd_create("recording", 0), 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", tape.fd);
	say_names(&tape);
	ADD(&tape, CLOCK, clock, .mono_ns = 1, .offset_ns = BOOT_UNIX_NS, .width_ns = 90);
	ADD(&tape, RUN, run, .start_mono_ns = 1000 * MS, .end_mono_ns = 9000 * MS);
	if (has_power) {
		ADD(&tape, SOURCE, source, .id = 7, .meter = PACKAGE, .device = -1);
		ADD(&tape, READING, reading, .time_mono_ns = 2000 * MS, .value = 5, .source = 7);
		ADD(&tape, READING, reading, .time_mono_ns = 8000 * MS, .value = 6, .source = 7);
	}
	tape_done(&tape);
	assert_int_equal(ftruncate(tape.fd, lseek(tape.fd, 0, SEEK_END) - cut), 0);
	assert_int_equal(kwhy_recording_new(&recording, &error), KWHY_OK);
	status = kwhy_import_trace(recording, path, &options, &error);
	if (status)
		assert_non_null(strstr(error.text, words));
	kwhy_recording_free(recording);
	close(tape.fd);
	return status;
}

static void a_recording_without_device_work_is_reported_if_whole_or_with_power(void **state)
{
	(void)state;
	assert_int_equal(import_cut(false, 0, ""), KWHY_OK);
	assert_int_equal(import_cut(true, 0, ""), KWHY_OK);
	assert_int_equal(import_cut(true, 1, ""), KWHY_OK);
	assert_int_equal(import_cut(false, 1,
				 "is incomplete, and what is whole of it holds no device work and no "
				 "power readings: no kernel, copy or memset; copy, export or record"),
		KWHY_E_INPUT);
}

static void damage_inside_has_to_be_asked_for_and_costs_its_block(void **state)
{
	const struct kwhy_import_options strict = {0}, partial = {.partial = true};
	struct kwhy_recording *recording;
	struct kwhy_error error;
	char path[64];
	int fd = record_both(path);

	(void)state;
	/* damages the first block, which holds kernels */
	assert_int_equal(pwrite(fd, "\xff\xff", 2, 64 + 10), 2);
	assert_int_equal(kwhy_recording_new(&recording, &error), KWHY_OK);
	assert_int_equal(kwhy_import_trace(recording, path, &strict, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "is damaged at byte 0: the checksum of the block's records"));
	assert_non_null(strstr(error.text, "--partial"));
	kwhy_recording_free(recording);
	assert_int_equal(kwhy_recording_new(&recording, &error), KWHY_OK);
	assert_int_equal(kwhy_import_trace(recording, path, &partial, &error), KWHY_OK);
	assert_int_equal(recording->activities.count, 2);
	assert_true(has_note(recording, "recording-damaged"));
	assert_true(kwhy_lost_work(&recording->lost));
	kwhy_recording_free(recording);
	close(fd);
}

static void a_folder_of_blocks_is_the_same_recording(void **state)
{
	char folder[] = "/tmp/kwhy-recorded-XXXXXX", path[128];
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%d.blocks", folder, i);
		tape_init(&tape, open(path, O_CREAT | O_WRONLY | O_APPEND, 0600), 100 + (uint64_t)i);
		say_names(&tape);
		if (i)
			record_meters(&tape);
		else
			record_program(&tape);
		tape_done(&tape);
		close(tape.fd);
	}
	recording = import(folder);
	assert_int_equal(recording->activities.count, 4);
	assert_int_equal(recording->power_count, 2);
	assert_int_equal(recording->note_count, 0);
	kwhy_recording_free(recording);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%d.blocks", folder, i);
		unlink(path);
	}
	rmdir(folder);
}

static void gauges_of_the_run_are_kept(void **state)
{
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	tape_init(&tape, memfd_create("recording", 0), 1);
	say_names(&tape);
	record_meters(&tape);
	ADD(&tape, RUN, run, .start_mono_ns = 1150 * MS, .end_mono_ns = 1450 * MS);
	recording = import_tape(&tape);
	assert_int_equal(recording->gauge_count, 1);
	assert_int_equal(recording->gauges[0].gauge, KWHY_GAUGE_SM_CLOCK);
	assert_int_equal(recording->gauges[0].device, 0);
	assert_int_equal(recording->gauges[0].count, 3); /* at 1200, 1300 and 1400 ms */
	assert_int_equal(recording->gauges[0].value[2], 1980000000);
	kwhy_recording_free(recording);
}

/* The range of RAPL's counter depends on the machine and is near 2^38 uJ. Impossible ranges are ignored. */
static void a_counter_keeps_where_it_wraps(void **state)
{
	static const int64_t wraps[] = {262143328850, 0, -5, INT64_MIN};
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	tape_init(&tape, memfd_create("recording", 0), 1);
	say_names(&tape);
	ADD(&tape, CLOCK, clock, .mono_ns = 1000 * MS, .offset_ns = BOOT_UNIX_NS, .width_ns = 900);
	for (uint32_t i = 0; i < 4; i++)
		ADD(&tape, SOURCE, source, .id = i, .meter = PACKAGE, .device = -1, .domain = i,
			.wrap = wraps[i]);
	for (uint32_t i = 0; i < 4; i++)
		ADD(&tape, READING, reading, .time_mono_ns = 2000 * MS, .value = 7, .source = i);
	recording = import_tape(&tape);
	assert_int_equal(recording->power_count, 4);
	assert_int_equal(recording->power[0].wrap, 262143328850);
	for (size_t i = 1; i < 4; i++)
		assert_int_equal(recording->power[i].wrap, 0);
	kwhy_recording_free(recording);
}

static void of_meters_alone_the_run_is_covered(void **state)
{
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	tape_init(&tape, memfd_create("recording", 0), 1);
	say_names(&tape);
	record_meters(&tape);
	ADD(&tape, RUN, run, .start_mono_ns = 1300 * MS, .end_mono_ns = 1600 * MS);
	recording = import_tape(&tape);
	assert_int_equal(recording->coverage_count, 1);
	assert_int_equal(recording->coverage[0].device, KWHY_NONE);
	assert_int_equal(recording->coverage[0].end_ns - recording->coverage[0].start_ns, 300 * MS);
	kwhy_recording_free(recording);
}

static void without_an_end_of_the_run_what_the_meters_saw_is_covered(void **state)
{
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	tape_init(&tape, memfd_create("recording", 0), 1);
	say_names(&tape);
	record_meters(&tape);
	recording = import_tape(&tape);
	assert_int_equal(recording->coverage_count, 1);
	assert_int_equal(recording->coverage[0].end_ns - recording->coverage[0].start_ns, 900 * MS);
	kwhy_recording_free(recording);
}

static void a_run_that_was_not_seen_to_end_is_covered_from_its_start(void **state)
{
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	tape_init(&tape, memfd_create("recording", 0), 1);
	say_names(&tape);
	record_meters(&tape);
	ADD(&tape, RUN, run, .start_mono_ns = 1300 * MS, .end_mono_ns = INT64_MAX);
	recording = import_tape(&tape);
	assert_int_equal(recording->coverage_count, 1);
	assert_int_equal(recording->coverage[0].start_ns, 300 * MS);
	assert_int_equal(recording->coverage[0].end_ns, 900 * MS);
	kwhy_recording_free(recording);
}

static void what_ran_outside_the_window_that_was_asked_for_is_left_out(void **state)
{
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	tape_init(&tape, memfd_create("recording", 0), 1);
	say_names(&tape);
	record_program(&tape);
	ADD(&tape, RUN, run, .start_mono_ns = 1104 * MS, .end_mono_ns = 1107 * MS);
	recording = import_tape(&tape);
	assert_int_equal(recording->activities.count, 2); /* the collective and the copy */
	assert_int_equal(recording->coverage_count, 1);
	assert_int_equal(recording->coverage[0].end_ns - recording->coverage[0].start_ns, 3 * MS);
	kwhy_recording_free(recording);
}

static void a_process_that_ended_just_before_the_run_is_known_to_run_nothing_after_it(void **state)
{
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	tape_init(&tape, memfd_create("recording", 0), 1);
	say_names(&tape);
	record_program(&tape); /* recorded until 1200 ms; covered until 200 ms after the run */
	ADD(&tape, RUN, run, .start_mono_ns = 900 * MS, .end_mono_ns = 1300 * MS);
	recording = import_tape(&tape);
	assert_int_equal(recording->coverage[0].end_ns - recording->coverage[0].start_ns, 450 * MS);
	kwhy_recording_free(recording);

	tape_init(&tape, memfd_create("recording", 0), 1);
	say_names(&tape);
	record_program(&tape);
	ADD(&tape, RUN, run, .start_mono_ns = 900 * MS, .end_mono_ns = 9300 * MS);
	/* the process ended 8 s before the run; what ran after its end is not known */
	recording = import_tape(&tape);
	assert_int_equal(recording->coverage[0].end_ns - recording->coverage[0].start_ns, 150 * MS);
	kwhy_recording_free(recording);
}

static void what_writers_know_of_a_device_is_put_together(void **state)
{
	const struct kwhy_device *device;
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	tape_init(&tape, memfd_create("recording", 0), 1);
	say_names(&tape);
	ADD(&tape, DEVICE, device, .index = 0, .name = H200, .uuid = UUID, .limit_mw = 700000);
	ADD(&tape, DEVICE, device, .index = 3, .uuid = UUID, .threads_per_sm = 2048, .sm_count = 132,
		.limit_mw = -1);
	recording = import_tape(&tape);
	assert_int_equal(recording->device_count, 1);
	device = &recording->devices[0];
	assert_string_equal(device->name, "NVIDIA H200");
	assert_int_equal(device->sm_count, 132);
	assert_int_equal(device->threads_per_sm, 2048);
	assert_int_equal(device->limit_mw, 700000);
	kwhy_recording_free(recording);
}

static void rows_with_impossible_times_are_refused(void **state)
{
	const struct kwhy_import_options strict = {0}, partial = {.partial = true};
	struct kwhy_recording *recording;
	struct kwhy_error error;
	struct tape tape;
	char path[64];

	(void)state;
	tape_init(&tape, memfd_create("recording", 0), 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", tape.fd);
	ADD(&tape, KERNEL, kernel, .start_mono_ns = 5, .end_mono_ns = 4, .correlation = 9);
	ADD(&tape, KERNEL, kernel, .start_mono_ns = 5, .end_mono_ns = 6, .correlation = 10);
	tape_done(&tape);
	assert_int_equal(kwhy_recording_new(&recording, &error), KWHY_OK);
	assert_int_equal(kwhy_import_trace(recording, path, &strict, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "a kernel with correlation 9 ends before it starts"));
	kwhy_recording_free(recording);
	assert_int_equal(kwhy_recording_new(&recording, &error), KWHY_OK);
	assert_int_equal(kwhy_import_trace(recording, path, &partial, &error), KWHY_OK);
	assert_int_equal(recording->lost.skipped_events, 1);
	kwhy_recording_free(recording);
	close(tape.fd);
}

/*
 * Adds the process that samples counters for pid 41, with a valid sample and four invalid ones: two with
 * impossible counts, one of length 0, and one of device 77, which is not described. Adds a valid window of
 * counters and two invalid ones: of length 0, and of device 77.
 */
static void record_counters(struct tape *tape, int device)
{
	ADD(tape, PROCESS, process, .pid = 44, .parent_pid = 41, .host = HOST, .rank = KWHY_WIRE_UNKNOWN_U32,
		.is_helper = 1);
	ADD(tape, DEVICE, device, .index = device, .uuid = UUID, .limit_mw = -1);
	ADD(tape, COUNTERS, counters, .start_mono_ns = 1100 * MS, .length_ns = 200000, .device = device,
		.counts = {1, 2, 3, 4, 5, 6, 7, 8});
	ADD(tape, COUNTERS, counters, .start_mono_ns = 1101 * MS, .length_ns = 200000, .device = device,
		.counts = {-1});
	ADD(tape, COUNTERS, counters, .start_mono_ns = 1102 * MS, .length_ns = 200000, .device = device,
		.counts = {0, INFINITY});
	ADD(tape, COUNTERS, counters, .start_mono_ns = 1103 * MS, .length_ns = 0, .device = device);
	ADD(tape, COUNTERS, counters, .start_mono_ns = 1104 * MS, .length_ns = 200000, .device = 77);
	ADD(tape, COUNTER_WINDOW, counter_window, .start_mono_ns = 1000 * MS, .end_mono_ns = 1200 * MS,
		.device = device);
	ADD(tape, COUNTER_WINDOW, counter_window, .start_mono_ns = 1300 * MS, .end_mono_ns = 1300 * MS,
		.device = device);
	ADD(tape, COUNTER_WINDOW, counter_window, .start_mono_ns = 1300 * MS, .end_mono_ns = 1400 * MS,
		.device = 77);
}

static void samples_of_counters_belong_to_the_device_and_their_writer_to_the_launcher(void **state)
{
	char path[64];
	int fd = record_both(path);
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	tape_init(&tape, fd, 300);
	say_names(&tape);
	record_counters(&tape, 3);
	tape_done(&tape);
	recording = import(path);
	assert_int_equal(recording->process_count, 2);
	assert_int_equal(recording->device_count, 1);
	assert_int_equal(recording->machine_count, 1);
	assert_int_equal(recording->perf_sample_count, 1);
	assert_int_equal(recording->counter_window_count, 1);
	assert_int_equal(recording->counter_windows[0].device, 0);
	assert_int_equal(
		recording->counter_windows[0].end_ns - recording->counter_windows[0].start_ns, 200 * MS);
	assert_int_equal(
		recording->perf_samples[0].start_ns - recording->counter_windows[0].start_ns, 100 * MS);
	assert_int_equal(recording->lost.skipped_events, 6);
	assert_int_equal(recording->perf_samples[0].device, 0);
	assert_int_equal(recording->perf_samples[0].start_ns, recording->activities.start_ns[0]);
	assert_int_equal(recording->perf_samples[0].length_ns, 200000);
	assert_float_equal(recording->perf_samples[0].counts[KWHY_PERF_L2_SECTORS], 8, 0);
	kwhy_recording_free(recording);
	close(fd);
}

/* The process that samples counters is read, though the process for which it samples is missing. */
static void a_helper_without_its_process_is_read(void **state)
{
	char path[64];
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	tape_init(&tape, memfd_create("recording", 0), 300);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", tape.fd);
	say_names(&tape);
	ADD(&tape, KERNEL, kernel, .start_mono_ns = 5, .end_mono_ns = 6, .name = GEMM);
	record_counters(&tape, 0);
	tape_done(&tape);
	recording = import(path);
	assert_int_equal(recording->process_count, 1);
	assert_int_equal(recording->perf_sample_count, 1);
	kwhy_recording_free(recording);
	close(tape.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(activities_come_with_all_that_was_recorded),
		cmocka_unit_test(meters_and_activities_share_the_best_known_clock),
		cmocka_unit_test(the_origin_lies_before_all_that_was_recorded),
		cmocka_unit_test(a_recording_that_ended_in_order_has_no_complaints),
		cmocka_unit_test(a_cut_recording_is_read_and_says_so),
		cmocka_unit_test(a_recording_without_device_work_is_reported_if_whole_or_with_power),
		cmocka_unit_test(damage_inside_has_to_be_asked_for_and_costs_its_block),
		cmocka_unit_test(a_folder_of_blocks_is_the_same_recording),
		cmocka_unit_test(gauges_of_the_run_are_kept),
		cmocka_unit_test(a_counter_keeps_where_it_wraps),
		cmocka_unit_test(of_meters_alone_the_run_is_covered),
		cmocka_unit_test(without_an_end_of_the_run_what_the_meters_saw_is_covered),
		cmocka_unit_test(a_run_that_was_not_seen_to_end_is_covered_from_its_start),
		cmocka_unit_test(what_ran_outside_the_window_that_was_asked_for_is_left_out),
		cmocka_unit_test(a_process_that_ended_just_before_the_run_is_known_to_run_nothing_after_it),
		cmocka_unit_test(what_writers_know_of_a_device_is_put_together),
		cmocka_unit_test(rows_with_impossible_times_are_refused),
		cmocka_unit_test(samples_of_counters_belong_to_the_device_and_their_writer_to_the_launcher),
		cmocka_unit_test(a_helper_without_its_process_is_read),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
