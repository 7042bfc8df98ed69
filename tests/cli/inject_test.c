/* SPDX-License-Identifier: Apache-2.0 */
/* libkwhy-inject.so in a program whose CUDA is a fake: what the program did is in the recording, and nothing
 * of the recording in the program. */
#include "cmocka_all.h"
#include "import/import.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A run of the program, and what came of it. */
struct run {
	char folder[64];
	char out[4096];
	int status; /* of wait() */
	struct kwhy_recording *recording;
};

static int setup(void **state)
{
	struct run *run = calloc(1, sizeof(*run));

	strcpy(run->folder, "/tmp/kwhy-inject-XXXXXX");
	*state = run;
	return mkdtemp(run->folder) ? 0 : -1;
}

static int teardown(void **state)
{
	struct run *run = *state;
	char command[100];

	snprintf(command, sizeof(command), "rm -rf %s", run->folder);
	kwhy_recording_free(run->recording);
	free(run);
	return system(command);
}

/*
 * Runs the program with these variables and words, injected or not. In a build with sanitizers a child of
 * fork cannot look for leaks, as a thread of the parent may have held the allocator, and may start threads.
 */
static void run_program(struct run *run, const char *variables, const char *words)
{
	char command[4096];
	FILE *pipe;
	size_t length;

	snprintf(command, sizeof(command),
		"exec 2>&1; export CUDA_INJECTION64_PATH=%s NVTX_INJECTION64_PATH=%s KWHY_CUPTI=%s "
		"KWHY_RECORD_DIR=%s KWHY_RECORD_PERIOD_MS=2 ASAN_OPTIONS=detect_leaks=0 "
		"TSAN_OPTIONS=die_after_fork=0 LD_LIBRARY_PATH=%s; "
		"%s exec %s %s",
		KWHY_INJECT_LIBRARY, KWHY_INJECT_LIBRARY, KWHY_FAKE_CUPTI_13, run->folder, KWHY_FAKE_CUDA_DIR,
		variables, KWHY_FAKE_PROGRAM, words);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	length = fread(run->out, 1, sizeof(run->out) - 1, pipe);
	run->out[length] = '\0';
	run->status = pclose(pipe);
}

/* How many files the run left. */
static int count_files(const struct run *run)
{
	DIR *folder = opendir(run->folder);
	struct dirent *entry;
	int count = 0;

	assert_non_null(folder);
	while ((entry = readdir(folder)))
		count += entry->d_name[0] != '.';
	closedir(folder);
	return count;
}

static void read_recording(struct run *run)
{
	const struct kwhy_import_options options = {0};
	struct kwhy_error error;

	assert_int_equal(kwhy_recording_new(&run->recording, &error), KWHY_OK);
	if (kwhy_import_trace(run->recording, run->folder, &options, &error) ||
		kwhy_recording_finish(run->recording, &error))
		fail_msg("%s", error.text);
}

static size_t count_kind(const struct run *run, enum kwhy_activity_kind kind)
{
	size_t count = 0;

	for (size_t i = 0; i < run->recording->activities.count; i++)
		count += run->recording->activities.kind[i] == kind;
	return count;
}

static const char *text_of(const struct run *run, uint32_t name)
{
	return kwhy_names_get(&run->recording->names, name);
}

static size_t count_calls(const struct run *run, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < run->recording->calls.count; i++)
		count += !strcmp(text_of(run, run->recording->calls.name[i]), name);
	return count;
}

static size_t count_ranges(const struct run *run, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < run->recording->range_count; i++)
		count += !strcmp(text_of(run, run->recording->ranges[i].name), name);
	return count;
}

static bool has_note(const struct run *run, const char *id, const char *part)
{
	for (size_t i = 0; i < run->recording->note_count; i++)
		if (!strcmp(run->recording->notes[i].id, id) && strstr(run->recording->notes[i].text, part))
			return true;
	return false;
}

static void assert_exit(const struct run *run, int code)
{
	if (!WIFEXITED(run->status) || WEXITSTATUS(run->status) != code)
		fail_msg("status %x, expected exit %d: %s", (unsigned)run->status, code, run->out);
}

static void what_a_program_did_is_recorded_whole(void **state)
{
	struct run *run = *state;

	run_program(run, "", "cuda launch:5000 copy peer memset range:step span:epoch print:hello exit:3");
	assert_exit(run, 3);
	assert_string_equal(run->out, "hello\n");
	read_recording(run);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_KERNEL), 5000);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_COPY), 3);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_MEMSET), 1);
	assert_int_equal(count_calls(run, "cudaLaunchKernel"), 5000);
	assert_int_equal(count_ranges(run, "step"), 1);
	assert_int_equal(count_ranges(run, "epoch"), 1);
	assert_int_equal(run->recording->coverage_count, 1);
	assert_int_equal(run->recording->lost.dropped_records, 0);
	assert_false(run->recording->lost.truncated);
	assert_int_equal(run->recording->note_count, 0);
}

static void a_kernel_keeps_its_shape_its_call_and_its_device(void **state)
{
	struct run *run = *state;
	const struct kwhy_activities *rows;

	run_program(run, "", "cuda launch:1");
	assert_exit(run, 0);
	read_recording(run);
	rows = &run->recording->activities;
	assert_int_equal(rows->count, 1);
	assert_int_equal(rows->end_ns[0] - rows->start_ns[0], 1000);
	assert_string_equal(text_of(run, rows->name[0]), "even(float*)");
	assert_int_equal(rows->blocks[0], 264);
	assert_int_equal(rows->threads_per_block[0], 256);
	assert_int_equal(rows->shared_bytes[0], 1536);
	assert_int_equal(rows->registers[0], 32);
	assert_int_not_equal(rows->call[0], KWHY_NONE);
	assert_int_equal(run->recording->calls.class[rows->call[0]], KWHY_CALL_LAUNCH);
	assert_true(run->recording->calls.start_ns[rows->call[0]] <= rows->start_ns[0]);
	assert_string_equal(run->recording->devices[0].name, "NVIDIA H200");
	assert_string_equal(run->recording->devices[0].uuid, "GPU-00102030-4050-6070-8090-a0b0c0d0e0f0");
	assert_int_equal(run->recording->devices[0].sm_count, 132);
	assert_true(run->recording->unix_clock);
}

static void copies_keep_direction_memory_and_peer(void **state)
{
	struct run *run = *state;
	const struct kwhy_activities *rows;

	run_program(run, "", "cuda copy peer");
	read_recording(run);
	rows = &run->recording->activities;
	assert_int_equal(rows->count, 3);
	assert_int_equal(rows->copy_kind[0], KWHY_COPY_H2D);
	assert_int_equal(rows->src_memory[0], KWHY_MEMORY_PINNED);
	assert_int_equal(rows->dst_memory[0], KWHY_MEMORY_DEVICE);
	assert_int_equal(rows->bytes[0], 4096);
	assert_int_equal(rows->copy_kind[1], KWHY_COPY_D2H);
	assert_int_equal(rows->dst_memory[1], KWHY_MEMORY_PAGEABLE);
	assert_int_equal(rows->copy_kind[2], KWHY_COPY_P2P);
	assert_int_equal(rows->peer[2], 1);
}

static void only_calls_that_matter_are_recorded(void **state)
{
	struct run *run = *state;

	run_program(run, "",
		"cuda call:2:cudaGetDevice_v3020 call:1:cuLaunchHostFunc_ptsz call:1:cuMemAlloc_v2 "
		"call:2:cudaDeviceSynchronize_v3020 call:1:cuInit");
	read_recording(run);
	assert_int_equal(run->recording->calls.count, 2);
	assert_int_equal(count_calls(run, "cuMemAlloc"), 1);
	assert_int_equal(count_calls(run, "cudaDeviceSynchronize"), 1);
}

static void graphs_come_by_node_or_whole_as_asked_for(void **state)
{
	struct run *run = *state;

	run_program(run, "KWHY_RECORD_KINDS=graph,call", "cuda graph");
	read_recording(run);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_GRAPH), 1);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_KERNEL), 0);
	assert_string_equal(text_of(run, run->recording->activities.name[0]), "CUDA graph 5");
	assert_int_equal(run->recording->activities.blocks[0], KWHY_UNKNOWN_BLOCKS);
	kwhy_recording_free(run->recording);
	run->recording = NULL;
	assert_int_equal(count_files(run), 1);
}

static void a_graph_node_is_known(void **state)
{
	struct run *run = *state;

	run_program(run, "", "cuda graph");
	read_recording(run);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_KERNEL), 1);
	assert_int_equal(run->recording->activities.graph_node[0], 77);
}

static void graphs_with_more_kernels_than_can_be_afforded_become_one_row_each(void **state)
{
	struct run *run = *state;

	run_program(run, "KWHY_RECORD_NODES=500", "cuda graph-loop:1400");
	assert_exit(run, 0);
	read_recording(run);
	assert_true(count_kind(run, KWHY_ACTIVITY_KERNEL) > 1000);
	assert_true(count_kind(run, KWHY_ACTIVITY_GRAPH) > 20);
	assert_true(has_note(run, "graphs-whole", "from then on each graph launch is one row"));
	assert_int_equal(run->recording->coverage_count, 1);
}

static void graphs_stay_kernels_where_that_was_asked_for(void **state)
{
	struct run *run = *state;

	run_program(run, "KWHY_RECORD_NODES=500 KWHY_RECORD_GRAPHS=node", "cuda graph-loop:1200");
	assert_exit(run, 0);
	read_recording(run);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_GRAPH), 0);
	assert_int_equal(run->recording->note_count, 0);
}

/* As torchrun and mpirun do it: two ranks on one device, one of them with a child that uses CUDA. */
static void ranks_and_their_children_are_one_recording(void **state)
{
	struct run *run = *state;
	size_t of_rank[2] = {0, 0};

	run_program(run,
		"RANK=1 WORLD_SIZE=2 LOCAL_RANK=1 " KWHY_FAKE_PROGRAM
		" cuda launch:30 & OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2",
		"forked-cuda");
	read_recording(run);
	for (size_t i = 0; i < run->recording->process_count; i++) {
		const struct kwhy_process *process = &run->recording->processes[i];

		assert_int_equal(process->world_size, 2);
		assert_true(process->rank < 2);
		of_rank[process->rank]++;
	}
	assert_int_equal(of_rank[0], 2); /* and the child */
	assert_int_equal(of_rank[1], 1);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_KERNEL), 35);
	assert_int_equal(run->recording->device_count, 1);
}

static void each_rank_has_its_device_and_all_are_one_recording(void **state)
{
	struct run *run = *state;
	size_t of_device[2] = {0, 0};

	run_program(run,
		"export KWHY_FAKE_CUDA_DEVICES=2; RANK=1 WORLD_SIZE=2 LOCAL_RANK=1 " KWHY_FAKE_PROGRAM
		" cuda device:1 launch:30 & RANK=0 WORLD_SIZE=2 LOCAL_RANK=0",
		"cuda launch:20");
	read_recording(run);
	assert_int_equal(run->recording->device_count, 2);
	assert_int_equal(run->recording->process_count, 2);
	for (size_t i = 0; i < run->recording->activities.count; i++) {
		const struct kwhy_stream *stream = &run->recording
							    ->streams[run->recording->activities.stream[i]];

		assert_true(stream->device < 2);
		of_device[run->recording->devices[stream->device].index]++;
	}
	assert_int_equal(of_device[0], 20);
	assert_int_equal(of_device[1], 30);
}

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
	/* On one clock with the coverage, which is on ours. */
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

static void after_exec_the_process_has_a_second_file(void **state)
{
	struct run *run = *state;

	run_program(run, "", "cuda launch:3 settle exec:" KWHY_FAKE_PROGRAM);
	assert_exit(run, 0);
	assert_int_equal(count_files(run), 2);
	read_recording(run);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_KERNEL), 5);
}

static void ranges_alone_are_recorded_without_cuda(void **state)
{
	struct run *run = *state;

	run_program(run, "", "range:alone domain:inner open:never print:x");
	assert_exit(run, 0);
	assert_string_equal(run->out, "x\n");
	read_recording(run);
	assert_int_equal(run->recording->range_count, 3);
	assert_int_equal(count_ranges(run, "alone"), 1);
	assert_int_equal(count_ranges(run, "inner"), 1);
	assert_int_equal(count_ranges(run, "K\xc3\xa4se"), 1);
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

static void the_rank_is_that_of_the_launcher(void **state)
{
	struct run *run = *state;

	run_program(run, "RANK=3 WORLD_SIZE=8 LOCAL_RANK=1 SLURM_PROCID=0 SLURM_NTASKS=1", "cuda launch:1");
	read_recording(run);
	assert_int_equal(run->recording->processes[0].rank, 3);
	assert_int_equal(run->recording->processes[0].world_size, 8);
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

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_a_program_did_is_recorded_whole),
		CASE(a_kernel_keeps_its_shape_its_call_and_its_device),
		CASE(copies_keep_direction_memory_and_peer),
		CASE(only_calls_that_matter_are_recorded),
		CASE(graphs_come_by_node_or_whole_as_asked_for),
		CASE(a_graph_node_is_known),
		CASE(graphs_with_more_kernels_than_can_be_afforded_become_one_row_each),
		CASE(graphs_stay_kernels_where_that_was_asked_for),
		CASE(ranks_and_their_children_are_one_recording),
		CASE(each_rank_has_its_device_and_all_are_one_recording),
		CASE(a_killed_program_leaves_the_windows_that_had_ended),
		CASE(an_exception_that_nobody_catches_leaves_what_was_written),
		CASE(another_profiler_is_left_alone_when_a_window_ends),
		CASE(records_that_cupti_dropped_are_counted),
		CASE(records_may_come_in_any_order),
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
		CASE(after_exec_the_process_has_a_second_file),
		CASE(ranges_alone_are_recorded_without_cuda),
		CASE(a_limit_of_bytes_is_kept_and_what_it_cost_said),
		CASE(the_rank_is_that_of_the_launcher),
		CASE(without_a_folder_nothing_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
