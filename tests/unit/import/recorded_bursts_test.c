/* SPDX-License-Identifier: Apache-2.0 */
#include "recorded_tape.h"

/*
 * Tests the import of recordings of kwhy probe, in which bursts (repeats of a kernel by kwhy) lie between the
 * program's own work.
 */
enum { PROGRAM_THREAD = 43, OTHER_THREAD = 44, HASH = TOKENS + 1, COPY_CALL, WHY, CALLED = 100 };

static void begin_process(struct tape *tape, int fd, uint64_t id)
{
	tape_init(tape, fd, id);
	say_names(tape);
	say_name(tape, HASH, "kwhy_probe_hash");
	say_name(tape, COPY_CALL, "cuMemcpyDtoDAsync_v2");
	say_name(tape, WHY, "it waits for other devices");
	ADD(tape, PROCESS, process, .pid = (int64_t)id, .host = HOST, .rank = KWHY_WIRE_UNKNOWN_U32,
		.world_size = KWHY_WIRE_UNKNOWN_U32);
	ADD(tape, CLOCK, clock, .mono_ns = 0, .offset_ns = BOOT_UNIX_NS, .width_ns = 100);
	ADD(tape, DEVICE, device, .index = 0, .name = H200, .uuid = UUID, .limit_mw = 700000);
	ADD(tape, COVERAGE, coverage, .start_mono_ns = MS, .end_mono_ns = 900 * MS, .device = -1);
}

static void kernel(struct tape *tape, uint32_t name, int64_t start_ms, uint32_t correlation, uint32_t stream)
{
	ADD(tape, KERNEL, kernel, .start_mono_ns = start_ms * MS, .end_mono_ns = start_ms * MS + MS / 2,
		.name = name, .correlation = correlation, .stream = stream, .context = 1, .blocks = 132,
		.threads_per_block = 256);
}

static void copy(struct tape *tape, int64_t start_ms, uint32_t correlation, uint32_t stream)
{
	ADD(tape, COPY, copy, .start_mono_ns = start_ms * MS, .end_mono_ns = start_ms * MS + MS / 2,
		.bytes = 4096, .correlation = correlation, .stream = stream, .context = 1,
		.copy_kind = KWHY_COPY_D2D);
}

static void call(struct tape *tape, uint32_t name, int64_t start_ms, uint32_t correlation, uint32_t thread)
{
	ADD(tape, CALL, call, .start_mono_ns = start_ms * MS, .end_mono_ns = start_ms * MS + MS / 4,
		.name = name, .correlation = correlation, .thread = thread);
}

/* Adds a burst from start_ms to end_ms for the launch with correlation id CALLED on stream 7. */
static void burst(struct tape *tape, int64_t start_ms, int64_t end_ms)
{
	ADD(tape, BURST, burst, .start_mono_ns = start_ms * MS, .end_mono_ns = end_ms * MS,
		.saved_bytes = 4096, .name = GEMM, .correlation = CALLED, .context = 1,
		.thread = PROGRAM_THREAD, .blocks = 132, .repeats = 2, .threads_per_block = 256,
		.form = KWHY_BURST_PUT_BACK, .check = KWHY_BURST_SAME, .launch_ns = 2 * MS,
		.launched_ns = 4 * MS);
}

/*
 * Checks by whom activities, in order of time, were launched: P: program; R: repeat, C: copy or check of kwhy
 * probe.
 */
static void assert_origins(const struct kwhy_recording *recording, const char *expected)
{
	char origins[64] = "";

	assert_in_range(recording->activities.count, 0, sizeof(origins) - 1);
	for (size_t i = 0; i < recording->activities.count; i++)
		origins[i] = "PRC"[recording->activities.origin[i]];
	assert_string_equal(origins, expected);
}

static void repeats_and_copies_of_a_burst_are_not_the_programs(void **state)
{
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	begin_process(&tape, memfd_create("recording", 0), 1);
	kernel(&tape, GEMM, 9, 90, 7); /* launched before the burst: P */
	copy(&tape, 11, 101, 7);
	kernel(&tape, HASH, 12, 102, 7);
	kernel(&tape, GEMM, 13, CALLED, 7); /* the program's own launch: P */
	kernel(&tape, GEMM, 14, 104, 7);
	copy(&tape, 15, 105, 7);
	kernel(&tape, GEMM, 16, 106, 7);
	ADD(&tape, MEMSET, memset, .start_mono_ns = 17 * MS, .end_mono_ns = 17 * MS + 1, .bytes = 8,
		.correlation = 107, .stream = 7, .context = 1);
	kernel(&tape, GEMM, 31, 110, 7); /* after the burst: P */
	copy(&tape, 32, 111, 7);
	burst(&tape, 10, 30);
	recording = import_tape(&tape);
	assert_origins(recording, "PCCPRCRCPP");
	assert_int_equal(recording->burst_count, 1);
	assert_int_equal(recording->bursts[0].repeats, 2);
	assert_int_equal(recording->bursts[0].start_ns, 10 * MS);
	assert_int_equal(recording->bursts[0].form, KWHY_BURST_PUT_BACK);
	assert_int_equal(recording->bursts[0].check, KWHY_BURST_SAME);
	assert_int_equal(recording->bursts[0].stream, recording->activities.stream[0]);
	kwhy_recording_free(recording);
}

/* In a burst of only the copies that restore memory, these are the repeats (R), named after the kernel. */
static void copies_alone_are_repeats_and_named_after_their_kernel(void **state)
{
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	begin_process(&tape, memfd_create("recording", 0), 1);
	kernel(&tape, GEMM, 11, CALLED, 7); /* the program's kernel: P */
	copy(&tape, 12, 101, 7);
	kernel(&tape, GEMM, 13, 102, 7);
	burst(&tape, 10, 20);
	copy(&tape, 31, CALLED + 10, 7);	 /* before the program's kernel: C */
	kernel(&tape, GEMM, 32, CALLED + 10, 7); /* the program's kernel: P */
	copy(&tape, 33, CALLED + 11, 7);
	copy(&tape, 34, CALLED + 12, 7);
	copy(&tape, 51, CALLED + 20, 7); /* after the burst: P */
	ADD(&tape, BURST, burst, .start_mono_ns = 30 * MS, .end_mono_ns = 50 * MS, .name = GEMM,
		.correlation = CALLED + 10, .context = 1, .thread = PROGRAM_THREAD, .blocks = 132,
		.repeats = 2, .threads_per_block = 256, .form = KWHY_BURST_COPIES);
	recording = import_tape(&tape);
	assert_origins(recording, "PCRCPRRP");
	assert_int_equal(recording->activities.name[1], recording->activities.name[3]);
	assert_int_equal(recording->activities.name[3], recording->activities.name[5]);
	assert_int_not_equal(recording->activities.name[6], recording->activities.name[7]);
	assert_string_equal(kwhy_names_get(&recording->names, recording->activities.name[1]),
		"d2d device->device for gemm [132 x 256]");
	kwhy_recording_free(recording);
}

/* Activities launched before a burst, on another stream or with another name are the program's. */
static void what_others_run_meanwhile_is_the_programs(void **state)
{
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	begin_process(&tape, memfd_create("recording", 0), 1);
	kernel(&tape, GEMM, 11, CALLED, 7);
	kernel(&tape, GEMM, 12, 103, 8);       /* another stream */
	copy(&tape, 13, 104, 8);	       /* another stream */
	kernel(&tape, GEMM, 14, 99, 7);	       /* launched before the burst */
	kernel(&tape, ALL_REDUCE, 15, 105, 7); /* a kernel of another name */
	ADD(&tape, KERNEL, kernel, .start_mono_ns = 16 * MS, .end_mono_ns = 17 * MS, .name = GEMM,
		.correlation = 106, .stream = 7, .context = 1, .is_graph = 1);
	kernel(&tape, GEMM, 18, UINT32_MAX, 7); /* its launch is unknown */
	burst(&tape, 10, 30);
	recording = import_tape(&tape);
	assert_origins(recording, "PPPPPPP");
	kwhy_recording_free(recording);
}

static void a_burst_of_one_process_leaves_another_alone(void **state)
{
	int fd = memfd_create("recording", 0);
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	begin_process(&tape, fd, 1);
	kernel(&tape, GEMM, 11, CALLED, 7);
	kernel(&tape, GEMM, 13, 101, 7);
	burst(&tape, 10, 30);
	tape_done(&tape);
	begin_process(&tape, fd, 2);
	kernel(&tape, GEMM, 12, CALLED, 7);
	kernel(&tape, GEMM, 14, 101, 7);
	call(&tape, LAUNCH, 13, 101, PROGRAM_THREAD);
	recording = import_tape(&tape);
	assert_origins(recording, "PPRP");
	assert_int_equal(recording->calls.count, 1);
	kwhy_recording_free(recording);
}

static void calls_of_the_prober_are_left_out_and_those_of_other_threads_stay(void **state)
{
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	begin_process(&tape, memfd_create("recording", 0), 1);
	call(&tape, LAUNCH, 8, 98, PROGRAM_THREAD);
	call(&tape, LAUNCH, 9, CALLED, PROGRAM_THREAD); /* the runtime's call, which contains the burst */
	call(&tape, COPY_CALL, 11, CALLED, PROGRAM_THREAD);
	call(&tape, LAUNCH, 12, CALLED,
		PROGRAM_THREAD); /* the driver's call, whose recorded duration excludes CUPTI's callbacks */
	call(&tape, COPY_CALL, 14, 101, PROGRAM_THREAD);
	call(&tape, COPY_CALL, 15, CALLED, PROGRAM_THREAD);
	call(&tape, LAUNCH, 14, 103, OTHER_THREAD);
	call(&tape, LAUNCH, 31, 104, PROGRAM_THREAD);
	kernel(&tape, GEMM, 12, CALLED, 7);
	burst(&tape, 10, 30);
	recording = import_tape(&tape);
	assert_int_equal(recording->calls.count, 5);
	for (size_t i = 0; i < recording->calls.count; i++)
		assert_string_equal(
			kwhy_names_get(&recording->names, recording->calls.name[i]), "cudaLaunchKernel");
	kwhy_recording_free(recording);
}

#define US INT64_C(1000)

static void long_call(struct tape *tape, int64_t start_us, int64_t end_us, uint32_t thread)
{
	ADD(tape, CALL, call, .start_mono_ns = start_us * US, .end_mono_ns = end_us * US, .name = LAUNCH,
		.correlation = CALLED, .thread = thread);
}

/* Checks the start and end of the only call, in microseconds of the tape's clock. */
static void assert_call(struct tape *tape, int64_t start_us, int64_t end_us)
{
	struct kwhy_recording *recording = import_tape(tape);
	const int64_t origin_us = recording->activities.start_ns[0] / US - 1000;

	assert_int_equal(recording->calls.count, 1);
	assert_int_equal(recording->calls.start_ns[0] / US - origin_us, start_us);
	assert_int_equal(recording->calls.end_ns[0] / US - origin_us, end_us);
	kwhy_recording_free(recording);
}

/* Begins a recording with a kernel at 1 ms and bursts of PROGRAM_THREAD at 10 to 30 ms and 40 to 60 ms. */
static void begin_two_bursts(struct tape *tape)
{
	begin_process(tape, memfd_create("recording", 0), 1);
	kernel(tape, GEMM, 1, 90, 7);
	burst(tape, 10, 30);
	burst(tape, 40, 60);
}

/*
 * A call that contains a burst loses the burst's time, except that of the program's launch in it. 8
 * us before the burst, the launch's 2 ms (12 to 14 ms), and 5 us after the burst remain.
 */
static void a_call_that_holds_a_burst_has_the_time_of_the_programs_launch(void **state)
{
	struct tape tape;

	(void)state;
	begin_two_bursts(&tape);
	long_call(&tape, 9992, 30005, PROGRAM_THREAD);
	assert_call(&tape, 11992, 14005);
	begin_two_bursts(&tape);
	long_call(&tape, 9992, 60005, PROGRAM_THREAD);
	assert_call(&tape, 9992 + 2 * 2000, 60005 - 2 * 16000);
}

/*
 * A call of another thread that ends right after a burst waited for it: the part of the burst that
 * it covers is taken off, except the program's launch (2 ms). A call that ends in the burst stays.
 */
static void a_call_of_another_thread_that_waits_for_a_burst_is_without_that_wait(void **state)
{
	struct tape tape;

	(void)state;
	begin_two_bursts(&tape);
	long_call(&tape, 9000, 30004, OTHER_THREAD);
	assert_call(&tape, 9000, 12004);
	begin_two_bursts(&tape);
	long_call(&tape, 20000, 30004, OTHER_THREAD);
	assert_call(&tape, 20000, 20004);
	begin_two_bursts(&tape);
	long_call(&tape, 20000, 29999, OTHER_THREAD);
	assert_call(&tape, 20000, 29999);
	begin_two_bursts(&tape);
	long_call(&tape, 20000, 60004, OTHER_THREAD);
	assert_call(&tape, 20000, 60004 - 10000 - 18000);
}

/* The burst follows a copy or graph launch (KWHY_BURST_AFTER), whose own call had ended before. */
static void a_call_before_a_burst_ends_where_the_burst_starts(void **state)
{
	struct tape tape;

	(void)state;
	begin_process(&tape, memfd_create("recording", 0), 1);
	kernel(&tape, GEMM, 1, 90, 7);
	ADD(&tape, BURST, burst, .start_mono_ns = 10 * MS, .end_mono_ns = 30 * MS, .name = GEMM,
		.correlation = CALLED, .context = 1, .thread = PROGRAM_THREAD, .repeats = 2,
		.form = KWHY_BURST_AFTER, .launch_ns = 3 * MS, .launched_ns = 3 * MS);
	long_call(&tape, 9990, 30002, PROGRAM_THREAD);
	assert_call(&tape, 9990, 10002);
}

/* Launched at 0 (version 1) or after the burst (damaged file): the whole burst is taken off the call. */
static void of_a_launch_at_no_possible_time_the_call_is_without_its_burst(void **state)
{
	struct tape tape;

	(void)state;
	for (uint32_t launch_ms = 0; launch_ms < 60; launch_ms += 40) {
		begin_process(&tape, memfd_create("recording", 0), 1);
		kernel(&tape, GEMM, 1, 90, 7);
		ADD(&tape, BURST, burst, .start_mono_ns = 10 * MS, .end_mono_ns = 30 * MS, .name = GEMM,
			.correlation = CALLED, .context = 1, .thread = PROGRAM_THREAD, .repeats = 2,
			.launch_ns = launch_ms * MS, .launched_ns = launch_ms * MS);
		long_call(&tape, 9990, 30002, PROGRAM_THREAD);
		assert_call(&tape, 9990, 10002);
	}
}

/* In a burst without repeats kwhy only waited. The activities in it were launched by the program before. */
static void an_attempt_takes_its_time_off_the_call_and_no_activity_off_the_program(void **state)
{
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	begin_process(&tape, memfd_create("recording", 0), 1);
	kernel(&tape, GEMM, 1, 90, 7);
	kernel(&tape, GEMM, 12, CALLED + 1, 8);
	kernel(&tape, GEMM, 31, CALLED, 7);
	ADD(&tape, BURST, burst, .start_mono_ns = 10 * MS, .end_mono_ns = 30 * MS, .name = GEMM,
		.correlation = CALLED, .context = 1, .thread = PROGRAM_THREAD, .blocks = 132,
		.threads_per_block = 256, .launch_ns = 20 * MS, .launched_ns = 20 * MS);
	long_call(&tape, 9990, 30010, PROGRAM_THREAD);
	recording = import_tape(&tape);
	assert_origins(recording, "PPP");
	assert_int_equal(recording->calls.end_ns[0] - recording->calls.start_ns[0], 20 * US);
	assert_int_equal(recording->calls.end_ns[0] - recording->activities.start_ns[0], 29010 * US);
	kwhy_recording_free(recording);
}

/* Repeats have the correlation id of the program's launch, which CUPTI gives to all calls within its call. */
static void repeats_with_the_correlation_of_the_launch_are_not_joined_with_its_call(void **state)
{
	struct kwhy_recording *recording;
	const struct kwhy_activities *rows;
	struct tape tape;

	(void)state;
	begin_process(&tape, memfd_create("recording", 0), 1);
	call(&tape, LAUNCH, 9, CALLED, PROGRAM_THREAD);
	copy(&tape, 11, CALLED, 7);
	kernel(&tape, HASH, 12, CALLED, 7);
	kernel(&tape, GEMM, 13, CALLED, 7);
	kernel(&tape, GEMM, 14, CALLED, 7);
	copy(&tape, 15, CALLED, 7);
	kernel(&tape, GEMM, 16, CALLED, 7);
	burst(&tape, 10, 30);
	recording = import_tape(&tape);
	rows = &recording->activities;
	assert_origins(recording, "CCPRCR");
	for (size_t i = 0; i < rows->count; i++)
		assert_int_equal(rows->call[i], i == 2 ? 0 : KWHY_NONE);
	kwhy_recording_free(recording);
}

static void repeats_are_found_where_the_programs_own_launch_is_lost(void **state)
{
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	begin_process(&tape, memfd_create("recording", 0), 1);
	kernel(&tape, GEMM, 12, 103, 7);
	copy(&tape, 13, 104, 7);
	kernel(&tape, GEMM, 14, 105, 7);
	kernel(&tape, GEMM, 31, 110, 7);
	burst(&tape, 10, 30);
	recording = import_tape(&tape);
	assert_origins(recording, "RCRP");
	kwhy_recording_free(recording);
}

/* The graph's own kernels run in the burst, with the correlation id of the graph's launch. */
static void behind_a_graph_all_but_its_own_kernels_are_repeats(void **state)
{
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	begin_process(&tape, memfd_create("recording", 0), 1);
	for (int i = 0; i < 2; i++)
		ADD(&tape, KERNEL, kernel, .start_mono_ns = (11 + i) * MS,
			.end_mono_ns = (11 + i) * MS + MS / 2, .name = GEMM, .correlation = CALLED,
			.stream = 7, .context = 1, .graph_node = 5);
	copy(&tape, 13, CALLED, 7);
	kernel(&tape, GEMM, 14, CALLED, 7);
	kernel(&tape, GEMM, 15, 102, 7);
	copy(&tape, 16, 103, 7);
	ADD(&tape, BURST, burst, .start_mono_ns = 10 * MS, .end_mono_ns = 30 * MS, .name = GEMM,
		.correlation = CALLED, .context = 1, .repeats = 2, .form = KWHY_BURST_AFTER,
		.launch_ns = 3 * MS, .launched_ns = 3 * MS);
	recording = import_tape(&tape);
	assert_origins(recording, "PPCRRC");
	assert_int_equal(recording->bursts[0].form, KWHY_BURST_AFTER);
	kwhy_recording_free(recording);
}

static void big_copy(struct tape *tape, int64_t start_ms, uint32_t correlation)
{
	ADD(tape, COPY, copy, .start_mono_ns = start_ms * MS, .end_mono_ns = start_ms * MS + MS / 2,
		.bytes = 1 << 20, .correlation = correlation, .stream = 7, .context = 1,
		.copy_kind = KWHY_COPY_H2D);
}

/* The copy itself may run before the burst, or in it while kwhy waits for the device to become idle. */
static void behind_a_copy_its_like_are_repeats(void **state)
{
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	begin_process(&tape, memfd_create("recording", 0), 1);
	big_copy(&tape, 11, CALLED);
	ADD(&tape, MEMSET, memset, .start_mono_ns = 13 * MS, .end_mono_ns = 13 * MS + 1, .bytes = 64,
		.correlation = CALLED, .stream = 7, .context = 1);
	big_copy(&tape, 14, CALLED);
	big_copy(&tape, 15, 102);
	copy(&tape, 16, 103, 7); /* kwhy probe's copy of the checksums of memory */
	big_copy(&tape, 31, 104);
	ADD(&tape, BURST, burst, .start_mono_ns = 10 * MS, .end_mono_ns = 30 * MS, .name = WHY,
		.correlation = CALLED, .context = 1, .repeats = 2, .blocks = KWHY_WIRE_UNKNOWN_U32,
		.threads_per_block = KWHY_WIRE_UNKNOWN_U16, .form = KWHY_BURST_AFTER, .launch_ns = 2 * MS,
		.launched_ns = 2 * MS);
	recording = import_tape(&tape);
	assert_origins(recording, "PCRRCP");
	kwhy_recording_free(recording);
}

static void correlations_may_begin_anew_within_a_burst(void **state)
{
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	begin_process(&tape, memfd_create("recording", 0), 1);
	kernel(&tape, GEMM, 11, UINT32_MAX - 1, 7);
	kernel(&tape, GEMM, 12, 3, 7);
	ADD(&tape, BURST, burst, .start_mono_ns = 10 * MS, .end_mono_ns = 30 * MS, .name = GEMM,
		.correlation = UINT32_MAX - 1, .context = 1, .repeats = 1);
	recording = import_tape(&tape);
	assert_origins(recording, "PR");
	kwhy_recording_free(recording);
}

static size_t compare_text(char **texts, size_t count, char **others, size_t other_count)
{
	size_t different = count > other_count ? count - other_count : other_count - count;

	for (size_t i = 0; i < count && i < other_count; i++)
		different += strcmp(texts[i], others[i]) != 0;
	return different;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns the activities that the program itself launched, as sorted lines of text. */
static char **own_work(const struct kwhy_recording *recording, size_t *out_count)
{
	const struct kwhy_activities *rows = &recording->activities;
	char **lines = calloc(rows->count + 1, sizeof(*lines));

	assert_non_null(lines);
	*out_count = 0;
	for (size_t i = 0; i < rows->count; i++)
		if (rows->origin[i] == KWHY_ORIGIN_PROGRAM)
			assert_true(
				asprintf(&lines[(*out_count)++], "%s %d %d %u %u %lld", name_of(recording, i),
					rows->kind[i], rows->copy_kind[i], rows->blocks[i],
					rows->threads_per_block[i], (long long)rows->bytes[i]) > 0);
	qsort(lines, *out_count, sizeof(*lines), by_text);
	return lines;
}

static size_t count_origin(const struct kwhy_recording *recording, enum kwhy_activity_origin origin)
{
	size_t count = 0;

	for (size_t i = 0; i < recording->activities.count; i++)
		count += recording->activities.origin[i] == origin;
	return count;
}

static void free_lines(char **lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(lines[i]);
	free(lines);
}

/* A program recorded on an H200 with and without kwhy probe: its own activities must be the same. */
static void a_real_probed_program_ran_what_it_runs_without(void **state)
{
	struct kwhy_recording *plain = import(KWHY_SOURCE_DIR "/examples/recordings/mix.kwhy"),
			      *probed = import(KWHY_SOURCE_DIR "/examples/recordings/mix-probed.kwhy");
	size_t plain_count, probed_count, repeats = 0, first_bursts = 0;
	char **plain_work = own_work(plain, &plain_count), **probed_work = own_work(probed, &probed_count);

	(void)state;
	assert_int_equal(plain_count, 2646);
	assert_int_equal(compare_text(plain_work, plain_count, probed_work, probed_count), 0);
	for (size_t i = 0; i < probed->burst_count; i++) {
		repeats += probed->bursts[i].repeats;
		first_bursts += probed->bursts[i].check == KWHY_BURST_SAME;
	}
	assert_int_equal(probed->burst_count, 2);
	assert_int_equal(repeats, 810);
	/* a burst that checks whether repeats do harm runs the kernel twice more */
	assert_int_equal(count_origin(probed, KWHY_ORIGIN_REPEAT), repeats + 2 * first_bursts);
	assert_int_equal(count_origin(probed, KWHY_ORIGIN_PROBER), 38);
	assert_int_equal(probed->unprobed_count, 11);
	free_lines(plain_work, plain_count);
	free_lines(probed_work, probed_count);
	kwhy_recording_free(plain);
	kwhy_recording_free(probed);
}

/* Records of bursts are written once a second. If the program is killed before, they are missing. */
static void a_recording_cut_before_the_row_of_a_burst_has_none(void **state)
{
	struct kwhy_recording *recording;
	struct tape tape;
	off_t length;
	char path[64];

	(void)state;
	begin_process(&tape, memfd_create("recording", 0), 1);
	kernel(&tape, GEMM, 11, CALLED, 7);
	kernel(&tape, GEMM, 12, 103, 7);
	kwhy_block_writer_flush(&tape.writer);
	length = lseek(tape.fd, 0, SEEK_END);
	burst(&tape, 10, 30);
	tape_done(&tape);
	assert_int_equal(ftruncate(tape.fd, length + 40), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", tape.fd);
	recording = import(path);
	assert_int_equal(recording->burst_count, 0);
	assert_true(recording->lost.truncated);
	assert_origins(recording, "PP");
	kwhy_recording_free(recording);
	close(tape.fd);
}

static void impossible_bursts_are_skipped_and_counted(void **state)
{
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	begin_process(&tape, memfd_create("recording", 0), 1);
	kernel(&tape, GEMM, 11, CALLED, 7);
	burst(&tape, 30, 10);
	ADD(&tape, BURST, burst, .start_mono_ns = -5, .end_mono_ns = INT64_MAX, .name = 9999);
	ADD(&tape, BURST, burst, .start_mono_ns = 10 * MS, .end_mono_ns = 20 * MS, .name = GEMM,
		.correlation = 7, .form = 200, .check = 200);
	recording = import_tape(&tape);
	assert_int_equal(recording->lost.skipped_events, 2);
	assert_int_equal(recording->burst_count, 1);
	assert_int_equal(recording->bursts[0].form, KWHY_BURST_PUT_BACK);
	assert_int_equal(recording->bursts[0].check, KWHY_BURST_UNCHECKED);
	assert_int_equal(recording->bursts[0].stream, KWHY_NONE);
	assert_origins(recording, "P");
	kwhy_recording_free(recording);
}

static void what_was_not_probed_says_why(void **state)
{
	struct kwhy_recording *recording;
	struct tape tape;

	(void)state;
	begin_process(&tape, memfd_create("recording", 0), 1);
	ADD(&tape, UNPROBED, unprobed, .launches = 12, .name = ALL_REDUCE, .reason = WHY, .blocks = 24,
		.threads_per_block = 512);
	recording = import_tape(&tape);
	assert_int_equal(recording->unprobed_count, 1);
	assert_int_equal(recording->unprobed[0].launches, 12);
	assert_string_equal(recording->unprobed[0].reason, "it waits for other devices");
	assert_int_equal(recording->unprobed[0].blocks, 24);
	kwhy_recording_free(recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(repeats_and_copies_of_a_burst_are_not_the_programs),
		cmocka_unit_test(copies_alone_are_repeats_and_named_after_their_kernel),
		cmocka_unit_test(what_others_run_meanwhile_is_the_programs),
		cmocka_unit_test(a_burst_of_one_process_leaves_another_alone),
		cmocka_unit_test(calls_of_the_prober_are_left_out_and_those_of_other_threads_stay),
		cmocka_unit_test(a_call_that_holds_a_burst_has_the_time_of_the_programs_launch),
		cmocka_unit_test(a_call_of_another_thread_that_waits_for_a_burst_is_without_that_wait),
		cmocka_unit_test(a_call_before_a_burst_ends_where_the_burst_starts),
		cmocka_unit_test(of_a_launch_at_no_possible_time_the_call_is_without_its_burst),
		cmocka_unit_test(an_attempt_takes_its_time_off_the_call_and_no_activity_off_the_program),
		cmocka_unit_test(repeats_with_the_correlation_of_the_launch_are_not_joined_with_its_call),
		cmocka_unit_test(repeats_are_found_where_the_programs_own_launch_is_lost),
		cmocka_unit_test(behind_a_graph_all_but_its_own_kernels_are_repeats),
		cmocka_unit_test(behind_a_copy_its_like_are_repeats),
		cmocka_unit_test(correlations_may_begin_anew_within_a_burst),
		cmocka_unit_test(a_real_probed_program_ran_what_it_runs_without),
		cmocka_unit_test(a_recording_cut_before_the_row_of_a_burst_has_none),
		cmocka_unit_test(impossible_bursts_are_skipped_and_counted),
		cmocka_unit_test(what_was_not_probed_says_why),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
