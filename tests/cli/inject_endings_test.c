/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests what libkwhy-inject.so does when the program ends abnormally, forks or calls exec; when CUPTI is
 * missing, is too old, is in use by another profiler or drops records; and when the size of the recording or
 * of files is limited.
 */
#include "inject_run.h"

static void a_killed_program_leaves_the_windows_that_had_ended(void **state)
{
	struct run *run = *state;

	run_program(run, "KWHY_RECORD_RANGE=step",
		"cuda open:step launch:50 close off settle open:step launch:9 kill");
	assert_true(WIFSIGNALED(run->status) && WTERMSIG(run->status) == SIGKILL);
	read_recording(run);
	assert_true(count_kind(run, KWHY_ACTIVITY_KERNEL) >= 50);
	assert_int_equal(run->recording->coverage_count, 1);
	assert_true(has_note(run, "recording-cut", "did not end"));
}

/*
 * kwhy can meter the idle power of a device with a context only while the context exists. So the library
 * delays the end of the program: the recording must cover at least 300 ms after the last activity.
 */
static void a_program_that_has_a_context_stays_while_its_device_rests(void **state)
{
	struct run *run = *state;
	int64_t last_ns = INT64_MIN;

	run_program(run, "KWHY_FAKE_CONTEXT=1", "cuda launch:10");
	assert_exit(run, 0);
	read_recording(run);
	for (size_t i = 0; i < run->recording->activities.count; i++)
		last_ns = run->recording->activities.end_ns[i] > last_ns
			? run->recording->activities.end_ns[i]
			: last_ns;
	assert_int_equal(run->recording->coverage_count, 1);
	assert_true(run->recording->coverage[0].end_ns - last_ns >= 300000000);
}

static void an_exception_that_nobody_catches_leaves_what_was_written(void **state)
{
	struct run *run = *state;

	run_program(run, "", "cuda launch:100 settle signal:6");
	assert_true(WIFSIGNALED(run->status) && WTERMSIG(run->status) == SIGABRT);
	read_recording(run);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_KERNEL), 100);
}

static void another_profiler_is_left_alone_when_a_window_ends(void **state)
{
	struct run *run = *state;

	run_program(run, "KWHY_RECORD_RANGE=step",
		"cuda open:step launch:10 settle takeover close loop:300 on print:untouched");
	assert_exit(run, 0);
	assert_non_null(strstr(run->out, "untouched"));
	read_recording(run);
	assert_true(has_note(run, "activity-taken-over", "Another profiler"));
}

static void records_that_cupti_dropped_are_counted(void **state)
{
	struct run *run = *state;

	run_program(run, "KWHY_FAKE_CUPTI=drops", "cuda launch:10");
	assert_exit(run, 0);
	read_recording(run);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_KERNEL), 10);
	assert_true(run->recording->lost.dropped_records >= 3);
}

static void records_may_come_in_any_order(void **state)
{
	struct run *run = *state;

	run_program(run, "KWHY_FAKE_CUPTI=reorders", "cuda launch:500 copy");
	read_recording(run);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_KERNEL), 500);
	assert_int_equal(count_calls(run, "cudaLaunchKernel"), 500);
}

/*
 * In the fake scenario "lasts" the forced flush at the end of the program takes 50 ms, and any use of CUPTI
 * after it makes the program fail. The recording thread, which flushes every 2 ms, must not use CUPTI any
 * more either.
 */
static void behind_the_last_flush_cupti_is_left_alone(void **state)
{
	struct run *run = *state;

	run_program(run, "KWHY_FAKE_CUPTI=lasts", "cuda launch:10");
	assert_exit(run, 0);
	read_recording(run);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_KERNEL), 10);
}

/*
 * "threads-at-end" prints the number of kwhy's threads after all exit handlers of libraries. It must be 0: a
 * thread that then called the driver would crash the program, because the driver's state is being destroyed.
 */
static void the_thread_of_the_recording_is_gone_when_the_program_ends(void **state)
{
	struct run *run = *state;

	run_program(run, "KWHY_RECORD_PERIOD_MS=1000", "cuda launch:10 threads threads-at-end");
	assert_exit(run, 0);
	assert_string_equal(run->out, "1 of kwhy\n0 of kwhy\n");
}

static void a_kernel_that_still_runs_at_the_end_counts_as_lost(void **state)
{
	struct run *run = *state;

	run_program(run, "", "cuda launch:3 running");
	assert_exit(run, 0);
	read_recording(run);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_KERNEL), 3);
	assert_int_equal(run->recording->lost.dropped_records, 1);
}

static void too_few_buffers_lose_records_and_say_so(void **state)
{
	struct run *run = *state;

	run_program(run, "KWHY_RECORD_BUFFERS=2 KWHY_RECORD_BUFFER_KIB=64", "cuda launch:20000");
	assert_exit(run, 0);
	read_recording(run);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_KERNEL) + run->recording->calls.count +
			run->recording->lost.dropped_records,
		40000);
}

static void a_taken_cupti_leaves_the_program_alone_and_a_sentence(void **state)
{
	struct run *run = *state;

	run_program(run, "KWHY_FAKE_CUPTI=taken", "cuda launch:10 print:fine exit:4");
	assert_exit(run, 4);
	assert_string_equal(run->out, "fine\n");
	read_recording(run);
	assert_int_equal(run->recording->activities.count, 0);
	assert_true(has_note(run, "no-activity", "another profiler"));
	assert_int_equal(run->recording->coverage_count, 0);
}

static void a_cupti_before_cuda_12_is_refused_in_words(void **state)
{
	struct run *run = *state;

	run_program(run, "KWHY_FAKE_CUPTI=old", "cuda launch:10 exit:4");
	assert_exit(run, 4);
	read_recording(run);
	assert_true(has_note(run, "no-activity", "older than CUDA 12"));
}

static void a_missing_cupti_is_said_in_words(void **state)
{
	struct run *run = *state;

	run_program(
		run, "FAKE_CUPTI_PATH=$KWHY_CUPTI KWHY_CUPTI=/nowhere/libcupti.so", "cuda launch:10 exit:4");
	assert_exit(run, 4);
	read_recording(run);
	assert_true(has_note(run, "no-activity", "/nowhere/libcupti.so"));
}

static void a_cupti_of_12_0_with_its_own_clock_gives_the_same(void **state)
{
	struct run *run = *state;
	const struct kwhy_activities *rows;

	run_program(run, "KWHY_CUPTI=" KWHY_FAKE_CUPTI_12,
		"cuda launch:10 call:2:cudaGetDevice_v3020 call:2:cudaDeviceSynchronize_v3020");
	assert_exit(run, 0);
	read_recording(run);
	rows = &run->recording->activities;
	assert_int_equal(rows->count, 10);
	assert_int_equal(run->recording->calls.count, 11);
	/*
	 * times of activities are on the clock of the coverage, although this CUPTI cannot be told to use
	 * that clock
	 */
	assert_true(rows->start_ns[0] >= run->recording->coverage[0].start_ns - 1000000);
	assert_true(rows->end_ns[9] <= run->recording->coverage[0].end_ns + 1000000);
}

static void another_profiler_that_takes_over_ends_the_coverage(void **state)
{
	struct run *run = *state;

	run_program(run, "", "cuda launch:10 settle launch:5 takeover launch:5 exit:0");
	assert_exit(run, 0);
	read_recording(run);
	assert_true(count_kind(run, KWHY_ACTIVITY_KERNEL) >= 10);
	assert_true(count_kind(run, KWHY_ACTIVITY_KERNEL) <= 15);
	assert_true(has_note(run, "activity-taken-over", "Another profiler"));
}

static void a_killed_program_leaves_what_was_written(void **state)
{
	struct run *run = *state;

	run_program(run, "", "cuda launch:100 range:before settle launch:1 kill");
	assert_true(WIFSIGNALED(run->status) && WTERMSIG(run->status) == SIGKILL);
	read_recording(run);
	assert_true(count_kind(run, KWHY_ACTIVITY_KERNEL) >= 100);
	assert_int_equal(count_ranges(run, "before"), 1);
	assert_true(has_note(run, "recording-cut", "did not end"));
	assert_int_equal(run->recording->coverage_count, 0);
	assert_int_equal(run->recording->device_count, 1);
}

static void a_program_that_ends_without_ceremony_loses_a_period_at_most(void **state)
{
	struct run *run = *state;

	run_program(run, "", "cuda launch:100 settle _exit:7");
	assert_exit(run, 7);
	read_recording(run);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_KERNEL), 100);
}

static void children_of_fork_write_nothing(void **state)
{
	struct run *run = *state;

	run_program(run, "", "cuda launch:10 fork launch:10");
	assert_exit(run, 0);
	assert_int_equal(count_files(run), 1);
	read_recording(run);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_KERNEL), 20);
	assert_int_equal(count_ranges(run, "range of the child"), 0);
	assert_false(run->recording->lost.truncated);
}

static void a_child_that_starts_cuda_itself_has_a_recording_of_its_own(void **state)
{
	struct run *run = *state;

	run_program(run, "", "range:parent forked-cuda");
	assert_exit(run, 0);
	assert_int_equal(count_files(run), 2);
	read_recording(run);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_KERNEL), 5);
	assert_int_equal(count_ranges(run, "parent"), 1);
	assert_int_equal(run->recording->process_count, 2);
	assert_int_equal(run->recording->note_count, 0);
}

/*
 * SIGALRM interrupts a thread while it switches collection on or off, holding the lock for that. The signal's
 * handler ends the program on this thread, so the lock is never released. What the library does at the end of
 * a program must not wait for this lock.
 */
static void a_handler_may_end_the_program_while_collection_is_switched(void **state)
{
	struct run *run = *state;

	run_program(run, "KWHY_FAKE_CUPTI=interrupted-switching KWHY_RECORD_RANGE=step",
		"cuda open:step launch:10 settle close off handle:5 open:step print:not-reached");
	assert_exit(run, 5);
	assert_string_equal(run->out, "");
	read_recording(run);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_KERNEL), 10);
	assert_true(has_note(run, "recording-cut", "did not end"));
}

/* Checks that the recording is refused as incomplete, because its processes wrote no end. */
static void assert_incomplete(struct run *run)
{
	const struct kwhy_import_options options = {0};
	struct kwhy_error error;

	assert_int_equal(kwhy_recording_new(&run->recording, &error), KWHY_OK);
	assert_int_equal(kwhy_import_trace(run->recording, run->folder, &options, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "is incomplete"));
}

static void a_handler_may_end_the_program_while_a_buffer_is_read(void **state)
{
	struct run *run = *state;

	run_program(run,
		"KWHY_FAKE_CUPTI=interrupted-reading KWHY_RECORD_PERIOD_MS=10000 KWHY_RECORD_BUFFER_KIB=64",
		"cuda handle:5 range:step launch:20000 print:not-reached");
	assert_exit(run, 5);
	assert_string_equal(run->out, "");
	assert_incomplete(run);
}

/*
 * Daemons, and programs that start others, close descriptors that they did not open. They may then open files
 * of their own under the numbers that libkwhy-inject.so used. The library must neither write to these files
 * nor close them.
 */
static void descriptors_that_the_program_has_taken_are_its_own(void **state)
{
	struct run *run = *state;
	char words[200], path[100], mine[100] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/.mine", run->folder);
	snprintf(words, sizeof(words), "cuda launch:10 settle retake:%s launch:10 fork exit:3", path);
	run_program(run, "", words);
	assert_exit(run, 3);
	assert_non_null(strstr(run->out, "0 closed by others"));
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fread(mine, 1, sizeof(mine), file), 4);
	assert_memory_equal(mine, "mine", 4);
	fclose(file);
	unlink(path);
	read_recording(run);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_KERNEL), 10);
	assert_true(has_note(run, "recording-cut", "did not end"));
}

static void after_exec_the_process_has_a_second_file(void **state)
{
	struct run *run = *state;

	run_program(run, "", "cuda launch:3 settle exec:" KWHY_FAKE_PROGRAM);
	assert_exit(run, 0);
	assert_int_equal(count_files(run), 2);
	read_recording(run);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_KERNEL), 5);
}

static void a_limit_of_bytes_is_kept_and_what_it_cost_said(void **state)
{
	struct run *run = *state;

	run_program(run, "KWHY_RECORD_MAX_BYTES=300000", "cuda launch:20000 exit:5");
	assert_exit(run, 5);
	read_recording(run);
	assert_true(run->recording->activities.count > 0);
	assert_true(run->recording->activities.count < 20000);
	assert_true(run->recording->lost.dropped_records > 0);
	assert_int_equal(run->recording->coverage_count, 1);
}

static void a_limit_of_the_process_on_files_ends_the_recording_alone(void **state)
{
	struct run *run = *state;

	run_program(run, "ulimit -f 8; KWHY_RECORD_PERIOD_MS=10000", "cuda launch:2000 exit:3");
	assert_exit(run, 3);
	assert_incomplete(run);
}

static void without_a_folder_nothing_happens(void **state)
{
	struct run *run = *state;

	run_program(run, "unset KWHY_RECORD_DIR;", "cuda launch:10 range:x print:same exit:6");
	assert_exit(run, 6);
	assert_string_equal(run->out, "same\n");
	assert_int_equal(count_files(run), 0);
	run_program(run, "KWHY_RECORD_DIR=/nowhere/at/all", "cuda launch:10 range:x print:same exit:6");
	assert_exit(run, 6);
	assert_string_equal(run->out, "same\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_killed_program_leaves_the_windows_that_had_ended),
		CASE(a_program_that_has_a_context_stays_while_its_device_rests),
		CASE(an_exception_that_nobody_catches_leaves_what_was_written),
		CASE(another_profiler_is_left_alone_when_a_window_ends),
		CASE(records_that_cupti_dropped_are_counted),
		CASE(records_may_come_in_any_order),
		CASE(behind_the_last_flush_cupti_is_left_alone),
		CASE(the_thread_of_the_recording_is_gone_when_the_program_ends),
		CASE(a_kernel_that_still_runs_at_the_end_counts_as_lost),
		CASE(too_few_buffers_lose_records_and_say_so),
		CASE(a_taken_cupti_leaves_the_program_alone_and_a_sentence),
		CASE(a_cupti_before_cuda_12_is_refused_in_words),
		CASE(a_missing_cupti_is_said_in_words),
		CASE(a_cupti_of_12_0_with_its_own_clock_gives_the_same),
		CASE(another_profiler_that_takes_over_ends_the_coverage),
		CASE(a_killed_program_leaves_what_was_written),
		CASE(a_program_that_ends_without_ceremony_loses_a_period_at_most),
		CASE(children_of_fork_write_nothing),
		CASE(a_child_that_starts_cuda_itself_has_a_recording_of_its_own),
		CASE(a_handler_may_end_the_program_while_collection_is_switched),
		CASE(a_handler_may_end_the_program_while_a_buffer_is_read),
		CASE(descriptors_that_the_program_has_taken_are_its_own),
		CASE(after_exec_the_process_has_a_second_file),
		CASE(a_limit_of_bytes_is_kept_and_what_it_cost_said),
		CASE(a_limit_of_the_process_on_files_ends_the_recording_alone),
		CASE(without_a_folder_nothing_happens),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
