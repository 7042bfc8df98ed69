/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that the recording has all that a program did, and that the program's output and exit status do
 * not change.
 */
#include "inject_run.h"

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

static void calls_are_recorded_in_every_window(void **state)
{
	struct run *run = *state;

	run_program(run, "KWHY_RECORD_RANGE=step",
		"cuda launch:5 open:step launch:50 close off open:step launch:60 call:2:cudaGetDevice_v3020 "
		"close");
	assert_exit(run, 0);
	read_recording(run);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_KERNEL), 110);
	assert_int_equal(count_calls(run, "cudaLaunchKernel"), 110);
	assert_int_equal(run->recording->calls.count, 110);
	assert_int_equal(run->recording->lost.unlinked_activities, 0);
}

static void calls_are_recorded_where_no_window_is_open_when_the_context_is_made(void **state)
{
	struct run *run = *state;

	run_program(run, "KWHY_RECORD_RANGE=step",
		"cuda off launch:5 open:step launch:50 call:2:cudaProfilerStop_v4000 close off open:step "
		"launch:60 "
		"close");
	assert_exit(run, 0);
	read_recording(run);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_KERNEL), 110);
	assert_int_equal(count_calls(run, "cudaLaunchKernel"), 110);
	assert_int_equal(run->recording->calls.count, 110);
}

static void a_cupti_that_forgets_single_calls_is_asked_for_all_less_others(void **state)
{
	struct run *run = *state;

	run_program(run, "KWHY_RECORD_RANGE=step KWHY_FAKE_CUPTI=forgets",
		"cuda off launch:5 open:step launch:50 close off settle open:step launch:60 close");
	assert_exit(run, 0);
	read_recording(run);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_KERNEL), 110);
	assert_int_equal(count_calls(run, "cudaLaunchKernel"), 60);
	assert_int_equal(run->recording->calls.count, 60);
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

/*
 * KWHY_RECORD_GRAPHS=graph records a graph launch as one activity. A program crashes in CUPTI 13.0
 * if records of graph launches are enabled after a graph was instantiated while they were disabled.
 * So the library enables them at the start and leaves them enabled, also outside of the windows
 * that KWHY_RECORD_RANGE selects.
 */
static void whole_graphs_are_recorded_from_the_start_on_whatever_windows_do(void **state)
{
	struct run *run = *state;

	run_program(run, "KWHY_RECORD_RANGE=step KWHY_RECORD_GRAPHS=graph",
		"cuda off instantiate graph open:step graph graph close off graph open:step instantiate "
		"graph "
		"close");
	assert_exit(run, 0);
	read_recording(run);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_GRAPH), 5);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_KERNEL), 0);
	assert_int_equal(run->recording->coverage_count, 2);
}

static void graphs_are_kernels_unless_asked_for_whole(void **state)
{
	struct run *run = *state;

	run_program(run, "KWHY_RECORD_GRAPHS=node", "cuda instantiate graph graph");
	assert_exit(run, 0);
	read_recording(run);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_GRAPH), 0);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_KERNEL), 2);
}

/*
 * Runs two ranks on one device: rank 1 with the environment variables of torchrun, and rank 0 with
 * those of mpirun. Rank 0 forks a child process that also uses CUDA.
 */
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
	assert_int_equal(of_rank[0], 2); /* two processes: rank 0 and its child */
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

static void the_rank_is_that_of_the_launcher(void **state)
{
	struct run *run = *state;

	run_program(run, "RANK=3 WORLD_SIZE=8 LOCAL_RANK=1 SLURM_PROCID=0 SLURM_NTASKS=1", "cuda launch:1");
	read_recording(run);
	assert_int_equal(run->recording->processes[0].rank, 3);
	assert_int_equal(run->recording->processes[0].world_size, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_a_program_did_is_recorded_whole),
		CASE(a_kernel_keeps_its_shape_its_call_and_its_device),
		CASE(copies_keep_direction_memory_and_peer),
		CASE(only_calls_that_matter_are_recorded),
		CASE(calls_are_recorded_in_every_window),
		CASE(calls_are_recorded_where_no_window_is_open_when_the_context_is_made),
		CASE(a_cupti_that_forgets_single_calls_is_asked_for_all_less_others),
		CASE(graphs_come_by_node_or_whole_as_asked_for),
		CASE(a_graph_node_is_known),
		CASE(whole_graphs_are_recorded_from_the_start_on_whatever_windows_do),
		CASE(graphs_are_kernels_unless_asked_for_whole),
		CASE(ranks_and_their_children_are_one_recording),
		CASE(each_rank_has_its_device_and_all_are_one_recording),
		CASE(ranges_alone_are_recorded_without_cuda),
		CASE(the_rank_is_that_of_the_launcher),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
