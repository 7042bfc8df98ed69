/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests `kwhy record --counters` with a fake CUPTI, whose samples of performance counters are all equal, and
 * which can be made to fail. A failure of sampling must change neither the command nor the rest of its
 * recording.
 */
#include "import/import.h"
#include "record_folder.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#define PROGRAM KWHY_FAKE_PROGRAM " cuda launch:50"

static int begin_with_gpus(void **state)
{
	const int failed = begin(state);

	setenv("LD_LIBRARY_PATH", KWHY_FAKE_NVML_DIR ":" KWHY_FAKE_CUDA_DIR, 1);
	setenv("KWHY_FAKE_NVML", KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/h200_of_fake_cuda.txt", 1);
	setenv("KWHY_CUPTI", KWHY_FAKE_CUPTI, 1);
	setenv("KWHY_INJECT", KWHY_INJECT_LIBRARY, 1);
	unsetenv("KWHY_FAKE_CUPTI_PM");
	unsetenv("KWHY_FAKE_CUPTI_PM_FROM");
	return failed;
}

static int end_fault(void **state)
{
	unsetenv("KWHY_FAKE_CUPTI_PM");
	unsetenv("KWHY_FAKE_CUPTI_PM_FROM");
	unsetenv("KWHY_FAKE_CUDA_DEVICES");
	setenv("KWHY_CUPTI", KWHY_FAKE_CUPTI, 1);
	setenv("KWHY_FAKE_NVML", KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/h200_of_fake_cuda.txt", 1);
	unlink(place("two.txt"));
	unlink(place("a"));
	unlink(place("a.sqlite"));
	remove_recording("b");
	return end_one(state);
}

static struct kwhy_recording *read_recording(const char *path)
{
	const struct kwhy_import_options options = {0};
	struct kwhy_recording *recording;
	struct kwhy_error error;

	assert_int_equal(kwhy_recording_new(&recording, &error), KWHY_OK);
	if (kwhy_import_trace(recording, path, &options, &error) || kwhy_recording_finish(recording, &error))
		fail_msg("%s", error.text);
	return recording;
}

static bool has_note(const struct kwhy_recording *recording, const char *id, const char *says)
{
	for (size_t i = 0; i < recording->note_count; i++)
		if (!strcmp(recording->notes[i].id, id) && strstr(recording->notes[i].text, says))
			return true;
	return false;
}

/*
 * Checks that the samples of `device`, at least `least` of them, are 200 us long, follow one another without
 * a gap and have the counts of the fake CUPTI.
 */
static void check_samples(const struct kwhy_recording *recording, uint32_t device, size_t least)
{
	const struct kwhy_perf_sample *last = NULL;
	size_t count = 0;

	for (size_t i = 0; i < recording->perf_sample_count; i++) {
		const struct kwhy_perf_sample *sample = &recording->perf_samples[i];

		if (sample->device != device)
			continue;
		assert_int_equal(sample->length_ns, 200000);
		if (last)
			assert_int_equal(sample->start_ns, last->start_ns + 200000);
		for (int c = 0; c < KWHY_PERF_COUNTER_COUNT; c++)
			assert_float_equal(sample->counts[c], 100.0 * (c + 1), 0);
		last = sample;
		count++;
	}
	assert_true(count >= least);
}

static void counters_are_sampled_from_before_the_first_kernel_to_after_the_last(void **state)
{
	const char *const words[] = {"record", "-q", "--counters", "--counter-share", "100%", "-o",
		place("a"), "--", "sh", "-c", PROGRAM "; sleep 0.1; echo out; exit 5", NULL};
	struct spawned spawned = spawn_run(&(struct spawn){.words = words});
	struct kwhy_recording *recording;
	const struct kwhy_activities *activities;
	const struct kwhy_perf_sample *last;

	(void)state;
	assert_string_equal(spawned.out.data, "out\n");
	spawned = assert_ends(spawned, 5, "ended with status 5");
	assert_null(strstr(spawned.err.data, "counters"));
	spawned_done(&spawned);
	recording = read_recording(place("a"));
	activities = &recording->activities;
	assert_int_equal(activities->count, 50);
	assert_int_equal(recording->device_count, 1);
	check_samples(recording, 0, 500);
	last = &recording->perf_samples[recording->perf_sample_count - 1];
	assert_true(recording->perf_samples[0].start_ns < activities->start_ns[0]);
	assert_true(last->start_ns > activities->start_ns[activities->count - 1]);
	assert_false(has_note(recording, "no-counters", ""));
	assert_int_equal(recording->lost.dropped_records, 0);
	kwhy_recording_free(recording);
	assert_done(SPAWN("verify", place("a")), 0, "");
}

/* Length of the windows of a recording, ns. Checks that every sample lies in one. */
static int64_t check_windows(const struct kwhy_recording *recording)
{
	int64_t length_ns = 0;

	for (size_t i = 0; i < recording->counter_window_count; i++)
		length_ns += recording->counter_windows[i].end_ns - recording->counter_windows[i].start_ns;
	for (size_t i = 0; i < recording->perf_sample_count; i++) {
		const struct kwhy_perf_sample *sample = &recording->perf_samples[i];
		bool is_inside = false;

		for (size_t k = 0; k < recording->counter_window_count; k++)
			is_inside |= sample->start_ns >= recording->counter_windows[k].start_ns &&
				sample->start_ns < recording->counter_windows[k].end_ns;
		assert_true(is_inside);
	}
	return length_ns;
}

static void counters_are_enabled_in_a_window_of_each_two_seconds(void **state)
{
	const char *const words[] = {"record", "-q", "--counters", "-o", place("a"), "--", "sh", "-c",
		PROGRAM "; sleep 4.5", NULL};
	struct kwhy_recording *recording;

	(void)state;
	assert_done(spawn_run(&(struct spawn){.words = words}), 0, "");
	recording = read_recording(place("a"));
	/* the first begins with the command, and the third by 5.3 s, when the command may have ended */
	assert_in_range(recording->counter_window_count, 2, 3);
	assert_true(check_windows(recording) < 3000000000);
	/* 0.2 s of each window */
	assert_in_range(recording->perf_sample_count, 900, 3300);
	kwhy_recording_free(recording);
}

static void counters_are_not_enabled_outside_of_the_recorded_time(void **state)
{
	const char *const words[] = {"record", "-q", "--counters", "--counter-share", "100%", "--delay",
		"1.5", "--duration", "0.5", "-o", place("a"), "--", "sleep", "3", NULL};
	struct kwhy_recording *recording;

	(void)state;
	assert_done(spawn_run(&(struct spawn){.words = words}), 0, "");
	recording = read_recording(place("a"));
	/* the first begins before the command, and the second at most 0.7 s before the recorded time */
	assert_int_equal(recording->counter_window_count, 2);
	assert_true(check_windows(recording) < 2000000000);
	assert_true(recording->perf_sample_count >= 2400);
	kwhy_recording_free(recording);
}

/*
 * Records for some 4 s while CUPTI fails as `fault` says from the second window on. The samples before the
 * fault and both windows are recorded, the second one too, because its counters were enabled.
 */
static void check_fault_in_second_window(const char *fault, const char *says)
{
	const char *const words[] = {"record", "-q", "--counters", "-o", place("a"), "--", "sh", "-c",
		PROGRAM "; sleep 3.7", NULL};
	struct kwhy_recording *recording;

	setenv("KWHY_FAKE_CUPTI_PM", fault, 1);
	setenv("KWHY_FAKE_CUPTI_PM_FROM", "2", 1);
	assert_done(spawn_run(&(struct spawn){.words = words}), 0, says);
	recording = read_recording(place("a"));
	assert_int_equal(recording->activities.count, 50);
	assert_int_equal(recording->counter_window_count, 2);
	check_windows(recording);
	assert_in_range(recording->perf_sample_count, 900, 2500);
	assert_true(has_note(recording, "no-counters", says));
	kwhy_recording_free(recording);
	assert_done(SPAWN("verify", place("a")), 0, "");
}

static void a_window_that_another_profiler_prevents_is_recorded(void **state)
{
	(void)state;
	check_fault_in_second_window("busy", "end the other profiler of this GPU");
}

static void a_window_in_which_sampling_fails_is_recorded(void **state)
{
	(void)state;
	check_fault_in_second_window("overflow", "samples came faster than");
}

static void a_window_that_does_not_stop_is_recorded(void **state)
{
	(void)state;
	check_fault_in_second_window("stop", "CUPTI cannot stop to sample counters");
}

/* The command kills the process that samples between its first two windows. */
static void a_window_is_written_when_it_ends(void **state)
{
	const char *const words[] = {"record", "-q", "--counters", "-o", place("a"), "--", "sh", "-c",
		PROGRAM "; sleep 0.9; for p in $(cat /proc/$PPID/task/*/children); do [ $p = $$ ] || kill -9 "
			"$p; done",
		NULL};
	struct kwhy_recording *recording;

	(void)state;
	assert_done(spawn_run(&(struct spawn){.words = words}), 0, "killed by signal 9");
	recording = read_recording(place("a"));
	assert_int_equal(recording->counter_window_count, 1);
	check_windows(recording);
	assert_in_range(recording->perf_sample_count, 900, 1300);
	kwhy_recording_free(recording);
}

static size_t count_processes(const char *path)
{
	json_t *report = report_of(path);
	const size_t count = json_array_size(json_object_get(report, "processes"));

	json_decref(report);
	return count;
}

static void the_sampling_process_is_no_process_of_the_report(void **state)
{
	const char *const with[] = {
		"record", "-q", "--counters", "-o", place("a"), "--", "sh", "-c", PROGRAM, NULL};
	const char *const without[] = {"record", "-q", "-o", place("a"), "--", "sh", "-c", PROGRAM, NULL};
	size_t count;

	(void)state;
	assert_done(spawn_run(&(struct spawn){.words = with}), 0, "");
	count = count_processes(place("a"));
	assert_done(spawn_run(&(struct spawn){.words = without}), 0, "");
	assert_int_equal(count, count_processes(place("a")));
}

static void two_gpus_have_samples_of_their_own(void **state)
{
	static const char gpus[] = "gpu \"NVIDIA H200\"\nuuid GPU-00102030-4050-6070-8090-a0b0c0d0e0f0\n"
				   "power constant 124\n"
				   "gpu \"NVIDIA H200\"\nuuid GPU-01112131-4151-6171-8191-a1b1c1d1e1f1\n"
				   "power constant 124\n";
	const char *const words[] = {"record", "-q", "--counters", "--counter-share", "100%", "-o",
		place("a"), "--", "sh", "-c", PROGRAM "; sleep 0.1", NULL};
	FILE *file = fopen(place("two.txt"), "w");
	struct kwhy_recording *recording;

	(void)state;
	assert_non_null(file);
	fputs(gpus, file);
	fclose(file);
	setenv("KWHY_FAKE_NVML", place("two.txt"), 1);
	setenv("KWHY_FAKE_CUDA_DEVICES", "2", 1);
	assert_done(spawn_run(&(struct spawn){.words = words}), 0, "");
	recording = read_recording(place("a"));
	assert_int_equal(recording->device_count, 2);
	check_samples(recording, 0, 500);
	check_samples(recording, 1, 500);
	kwhy_recording_free(recording);
}

static void a_gpu_that_cuda_does_not_show_has_no_samples(void **state)
{
	const char *const words[] = {"record", "-q", "--counters", "-o", place("a"), "--", "true", NULL};
	struct kwhy_recording *recording;

	(void)state;
	use_steady_load();
	assert_done(spawn_run(&(struct spawn){.words = words}), 0, "CUDA does not show this GPU");
	recording = read_recording(place("a"));
	assert_true(has_note(recording, "no-counters", "CUDA does not show this GPU"));
	assert_int_equal(recording->perf_sample_count, 0);
	kwhy_recording_free(recording);
}

/*
 * Records while sampling fails as KWHY_FAKE_CUPTI_PM says. Checks that the activities are complete and that
 * one message and one note contain `says`. Returns the number of samples that were recorded.
 */
static size_t record_with_fault(const char *says)
{
	const char *const words[] = {"record", "-q", "--counters", "-o", place("a"), "--", "sh", "-c",
		PROGRAM "; sleep 0.4; echo out; exit 5", NULL};
	struct spawned spawned = spawn_run(&(struct spawn){.words = words});
	struct kwhy_recording *recording;
	const char *told;
	size_t samples;

	assert_string_equal(spawned.out.data, "out\n");
	spawned = assert_ends(spawned, 5, says);
	told = strstr(spawned.err.data, "samples of performance counters are missing on GPU 0: ");
	assert_non_null(told);
	assert_null(strstr(told + 1, "samples of performance counters are missing"));
	spawned_done(&spawned);
	recording = read_recording(place("a"));
	assert_int_equal(recording->activities.count, 50);
	assert_true(has_note(recording, "no-counters", says));
	assert_int_equal(recording->lost.dropped_records, 0);
	samples = recording->perf_sample_count;
	kwhy_recording_free(recording);
	return samples;
}

static void without_permission_the_message_says_how_to_get_it(void **state)
{
	(void)state;
	setenv("KWHY_FAKE_CUPTI_PM", "privileges", 1);
	assert_int_equal(
		record_with_fault("run kwhy as root, or let the driver's module allow it to all users "
				  "(NVreg_RestrictProfilingToAdminUsers=0)"),
		0);
	assert_done(SPAWN("verify", place("a")), 0, "");
}

static void a_chip_with_other_counters_has_no_samples(void **state)
{
	(void)state;
	setenv("KWHY_FAKE_CUPTI_PM", "metrics", 1);
	assert_int_equal(record_with_fault("on Hopper (H100, H200) only"), 0);
	assert_done(SPAWN("verify", place("a")), 0, "");
}

static void after_an_overflow_the_samples_end(void **state)
{
	(void)state;
	setenv("KWHY_FAKE_CUPTI_PM", "overflow", 1);
	assert_in_range(record_with_fault("samples came faster than"), 1, 510);
	assert_done(SPAWN("verify", place("a")), 0, "");
}

static void a_crash_of_the_sampling_process_is_told(void **state)
{
	(void)state;
	setenv("KWHY_FAKE_CUPTI_PM", "crash", 1);
	assert_in_range(record_with_fault("their process was killed by signal 11"), 1, 510);
}

static void a_sampling_process_that_hangs_is_killed_at_the_end(void **state)
{
	(void)state;
	setenv("KWHY_FAKE_CUPTI_PM", "hang", 1);
	record_with_fault("their process was killed by signal 9");
}

/*
 * Waits at most `most_ms` milliseconds until no process has the other end of the pipe open. Returns whether
 * that happened.
 */
static bool ends_within(int pipe_end, int most_ms)
{
	struct pollfd file = {.fd = pipe_end, .events = POLLIN};

	return poll(&file, 1, most_ms) == 1 && (file.revents & POLLHUP);
}

/*
 * The command kills its `kwhy record`. The process that kwhy started for sampling hangs in CUPTI, so it must
 * be killed by the kernel. It inherited the write end of the pipe, which shows when it has ended.
 */
static void a_sampling_process_that_hangs_ends_after_its_recorder_was_killed(void **state)
{
	const char *const words[] = {"record", "-q", "--counters", "-o", place("a"), "--", "sh", "-c",
		PROGRAM "; sleep 0.3; kill -9 $PPID", NULL};
	struct spawned spawned;
	int ends[2];

	(void)state;
	setenv("KWHY_FAKE_CUPTI_PM", "hang", 1);
	assert_int_equal(pipe(ends), 0);
	spawned = spawn_run(&(struct spawn){.words = words});
	close(ends[1]);
	assert_int_equal(spawned.exit, -SIGKILL);
	spawned_done(&spawned);
	assert_true(ends_within(ends[0], 15000));
	close(ends[0]);
}

static void a_crash_before_the_first_sample_is_told(void **state)
{
	(void)state;
	setenv("KWHY_FAKE_CUPTI_PM", "crash-early", 1);
	assert_int_equal(record_with_fault("their process was killed by signal 11"), 0);
	assert_done(SPAWN("verify", place("a")), 0, "");
}

static void an_old_cupti_has_no_samples(void **state)
{
	const char *const words[] = {"record", "-q", "--counters", "-o", place("a"), "--", "true", NULL};

	(void)state;
	setenv("KWHY_CUPTI", KWHY_FAKE_CUPTI_12, 1);
	assert_done(spawn_run(&(struct spawn){.words = words}), 0, "older than CUDA 12.6");
}

static void without_cupti_there_are_no_samples(void **state)
{
	const char *const words[] = {"record", "-q", "--counters", "-o", place("a"), "--", "true", NULL};

	(void)state;
	setenv("KWHY_CUPTI", "/nowhere/libcupti.so", 1);
	assert_done(spawn_run(&(struct spawn){.words = words}), 0, "CUPTI, a part of the CUDA toolkit,");
}

static void a_full_file_ends_the_samples_and_loses_no_record_of_the_program(void **state)
{
	const char *const words[] = {"record", "-q", "--counters", "--counter-share", "100%", "--max-size",
		"64K", "-o", place("a"), "--", "sh", "-c", PROGRAM "; sleep 0.5", NULL};
	struct kwhy_recording *recording;

	(void)state;
	assert_done(spawn_run(&(struct spawn){.words = words}), 0, "their file has reached --max-size");
	recording = read_recording(place("a"));
	assert_int_equal(recording->activities.count, 50);
	assert_in_range(recording->perf_sample_count, 1, 65536 / 48);
	assert_int_equal(recording->lost.dropped_records, 0);
	kwhy_recording_free(recording);
	assert_done(SPAWN("verify", place("a")), 0, "");
}

static void samples_are_in_a_recording_of_one_file(void **state)
{
	const char *const words[] = {"record", "-q", "--counters", "--counter-share", "100%", "--one-file",
		"-o", place("a"), "--", "sh", "-c", PROGRAM "; sleep 0.1", NULL};
	struct kwhy_recording *recording;

	(void)state;
	assert_done(spawn_run(&(struct spawn){.words = words}), 0, "");
	recording = read_recording(place("a"));
	assert_int_equal(recording->activities.count, 50);
	check_samples(recording, 0, 500);
	kwhy_recording_free(recording);
}

static void the_first_screen_says_what_sampling_drew(void **state)
{
	struct spawned spawned;

	(void)state;
	assert_done(SPAWN("record", "-q", "--counters", "--counter-share", "100%", "-o", place("a"), "--",
			    "sh", "-c", PROGRAM),
		0, "");
	spawned = SPAWN("report", place("a"));
	assert_non_null(strstr(spawned.out.data, "  Sampling performance counters took another "));
	spawned_done(&spawned);
	assert_done(SPAWN("record", "-q", "-o", place("b"), "--", "sh", "-c", PROGRAM), 0, "");
	spawned = SPAWN("report", place("b"));
	assert_null(strstr(spawned.out.data, "Sampling performance counters"));
	spawned_done(&spawned);
}

static void exports_say_that_they_have_no_samples(void **state)
{
	(void)state;
	assert_done(SPAWN("record", "-q", "--counters", "-o", place("a"), "--", "sh", "-c", PROGRAM), 0, "");
	assert_done(SPAWN("export", "-o", place("a.sqlite"), place("a")), 0,
		": it does not say when performance counters were sampled, so a report of it takes the power "
		"that this drew for the program's; make reports from the recording");
}

static void a_command_that_cannot_start_leaves_nothing(void **state)
{
	const char *const words[] = {
		"record", "-q", "--counters", "-o", place("a"), "--", "/nowhere/x", NULL};

	(void)state;
	assert_done(spawn_run(&(struct spawn){.words = words}), 127, "cannot run '/nowhere/x'");
	assert_false(is_there(place("a")));
}

static void counters_need_kernels_and_meters(void **state)
{
	(void)state;
	assert_done(SPAWN("record", "--counters", "--power-only", "--", "true"), 2,
		"--counters and --power-only exclude each other");
	assert_done(SPAWN("record", "--counters", "--power-file", "a.csv", "--", "true"), 2,
		"--counters and --power-file exclude each other");
	assert_done(SPAWN("record", "--counter-share", "20", "--", "true"), 2,
		"--counter-share goes with --counters");
	assert_done(SPAWN("record", "--counters", "--counter-share", "80", "--", "true"), 2,
		"--counter-share takes 1 to 60 %, or 100 %");
}

#define FAULT(name) cmocka_unit_test_teardown(name, end_fault)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(counters_are_sampled_from_before_the_first_kernel_to_after_the_last),
		CASE(counters_are_enabled_in_a_window_of_each_two_seconds),
		CASE(counters_are_not_enabled_outside_of_the_recorded_time),
		CASE(the_sampling_process_is_no_process_of_the_report),
		FAULT(two_gpus_have_samples_of_their_own),
		FAULT(a_gpu_that_cuda_does_not_show_has_no_samples),
		FAULT(without_permission_the_message_says_how_to_get_it),
		FAULT(a_chip_with_other_counters_has_no_samples),
		FAULT(after_an_overflow_the_samples_end),
		FAULT(a_crash_of_the_sampling_process_is_told),
		FAULT(a_sampling_process_that_hangs_is_killed_at_the_end),
		FAULT(a_sampling_process_that_hangs_ends_after_its_recorder_was_killed),
		FAULT(a_crash_before_the_first_sample_is_told),
		FAULT(a_window_that_another_profiler_prevents_is_recorded),
		FAULT(a_window_in_which_sampling_fails_is_recorded),
		FAULT(a_window_that_does_not_stop_is_recorded),
		CASE(a_window_is_written_when_it_ends),
		FAULT(an_old_cupti_has_no_samples),
		FAULT(without_cupti_there_are_no_samples),
		FAULT(a_full_file_ends_the_samples_and_loses_no_record_of_the_program),
		FAULT(samples_are_in_a_recording_of_one_file),
		FAULT(the_first_screen_says_what_sampling_drew),
		FAULT(exports_say_that_they_have_no_samples),
		CASE(a_command_that_cannot_start_leaves_nothing),
		CASE(counters_need_kernels_and_meters),
	};

	return kwhy_test_main(tests, begin_with_gpus, end);
}
