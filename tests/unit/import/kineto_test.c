/* SPDX-License-Identifier: Apache-2.0 */
#include "kineto_fixture.h"

/* Tests the variants of the Kineto format, and what kwhy takes the events to mean. */

#define GPU(cat, name, more)                                                                              \
	"{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name                                         \
	"\", \"pid\": 0, \"tid\": 7, \"ts\": 1, \"dur\": 2, \"args\": {\"device\": 0, \"stream\": 7" more \
	"}}"

static void a_kernel_has_its_launch_shape_and_stream(void **state)
{
	struct kwhy_recording *r = read_text(TRACE(KERNEL("10.250", "3.125",
		", \"correlation\": 99, \"registers per thread\": 40, \"shared memory\": 400, "
		"\"grid\": [600, 2, 3], \"block\": [128, 2, 1], \"graph node id\": 5")));

	(void)state;
	assert_int_equal(r->activities.count, 1);
	assert_int_equal(r->activities.start_ns[0], 10250);
	assert_int_equal(r->activities.end_ns[0], 13375);
	assert_int_equal(r->activities.kind[0], KWHY_ACTIVITY_KERNEL);
	assert_int_equal(r->activities.call[0], 99);
	assert_int_equal(r->activities.blocks[0], 3600);
	assert_int_equal(r->activities.threads_per_block[0], 256);
	assert_int_equal(r->activities.registers[0], 40);
	assert_int_equal(r->activities.shared_bytes[0], 400);
	assert_int_equal(r->activities.graph_node[0], 5);
	assert_int_equal(r->streams[0].id, 7);
	assert_int_equal(r->streams[0].context, 1);
	assert_int_equal(r->devices[0].index, 0);
	assert_int_equal(r->origin_unix_ns, INT64_C(1700000000000000000));
	kwhy_recording_free(r);
}

/*
 * A range comes before the first call of its thread. Its process must have the id that it states, though no
 * call has named it yet.
 */
static void a_process_has_its_number_whatever_row_comes_first(void **state)
{
	struct kwhy_recording *r = read_text(
		TRACE(KERNEL("1", "2", "") ", {\"ph\": \"X\", \"cat\": \"user_annotation\", "
					   "\"name\": \"a range\", \"pid\": 42, \"tid\": 43, "
					   "\"ts\": 1, \"dur\": 5}, " CALL("cudaFree", "9")));

	(void)state;
	assert_int_equal(r->processes[0].pid, 42);
	kwhy_recording_free(r);
}

static void what_a_kernel_does_not_say_is_unknown(void **state)
{
	struct kwhy_recording *r = read_text(
		TRACE(KERNEL("1", "2", ", \"grid\": [0, 0, 0], \"block\": [], \"correlation\": 0")));

	(void)state;
	assert_int_equal(r->activities.call[0], KWHY_NONE);
	assert_int_equal(r->activities.blocks[0], KWHY_UNKNOWN_BLOCKS);
	assert_int_equal(r->activities.threads_per_block[0], KWHY_UNKNOWN_U16);
	assert_int_equal(r->activities.registers[0], KWHY_UNKNOWN_U16);
	assert_int_equal(r->activities.shared_bytes[0], KWHY_NONE);
	assert_int_equal(r->activities.graph_node[0], KWHY_NONE);
	assert_true(r->activities.bytes[0] == KWHY_UNKNOWN_BYTES);
	assert_true(has_note(r, "no-device-properties"));
	assert_true(has_note(r, "no-api-rows"));
	kwhy_recording_free(r);
}

static void a_grid_too_large_to_count_is_unknown(void **state)
{
	struct kwhy_recording *r = read_text(TRACE(KERNEL("1", "2",
		", \"grid\": [2147483647, 65535, 65535], \"block\": [99999999999999999999, 1, 1]")));

	(void)state;
	assert_int_equal(r->activities.blocks[0], KWHY_UNKNOWN_BLOCKS);
	assert_int_equal(r->activities.threads_per_block[0], KWHY_UNKNOWN_U16);
	kwhy_recording_free(r);
}

static void calls_lose_their_version_suffix_and_keep_their_thread(void **state)
{
	struct kwhy_recording *r = read_text(TRACE(CALL("cudaLaunchKernel_v7000", "5") "," CALL(
		"cuMemcpyHtoDAsync_v2", "6") "," CALL("cudaMemcpy_v12345", "7")));

	(void)state;
	assert_int_equal(r->calls.count, 3);
	assert_string_equal(name_of(r, r->calls.name[0]), "cudaLaunchKernel");
	assert_string_equal(name_of(r, r->calls.name[1]), "cuMemcpyHtoDAsync_v2");
	assert_string_equal(name_of(r, r->calls.name[2]), "cudaMemcpy");
	assert_int_equal(r->calls.start_ns[0], 1500);
	assert_int_equal(r->calls.end_ns[0], 3750);
	assert_int_equal(r->calls.correlation[0], 5);
	assert_int_equal(r->threads[0].tid, 43);
	assert_int_equal(r->processes[0].pid, 42);
	kwhy_recording_free(r);
}

static void activities_are_linked_to_the_call_of_their_correlation(void **state)
{
	struct kwhy_recording *r = read_text(TRACE(KERNEL("10", "1", ", \"correlation\": 6") "," CALL(
		"cudaLaunchKernel", "5") "," CALL("cudaLaunchKernelExC", "6")));

	(void)state;
	OK(kwhy_recording_finish(r, &error));
	assert_string_equal(name_of(r, r->calls.name[r->activities.call[0]]), "cudaLaunchKernelExC");
	assert_int_equal(r->lost.unlinked_activities, 0);
	kwhy_recording_free(r);
}

static void copies_tell_direction_and_memory(void **state)
{
	static const struct {
		const char *name;
		enum kwhy_copy_kind kind;
		enum kwhy_memory_kind src, dst;
	} copies[] = {
		{"Memcpy HtoD (Pageable -> Device)", KWHY_COPY_H2D, KWHY_MEMORY_PAGEABLE, KWHY_MEMORY_DEVICE},
		{"Memcpy DtoH (Device -> Pinned)", KWHY_COPY_D2H, KWHY_MEMORY_DEVICE, KWHY_MEMORY_PINNED},
		{"Memcpy DtoD (Device -> Device)", KWHY_COPY_D2D, KWHY_MEMORY_DEVICE, KWHY_MEMORY_DEVICE},
		{"Memcpy DtoA (Device -> Array)", KWHY_COPY_D2D, KWHY_MEMORY_DEVICE, KWHY_MEMORY_ARRAY},
		{"Memcpy PtoP", KWHY_COPY_P2P, KWHY_MEMORY_DEVICE, KWHY_MEMORY_DEVICE},
		{"Memcpy HtoH (Managed -> Managed Static)", KWHY_COPY_H2H, KWHY_MEMORY_MANAGED,
			KWHY_MEMORY_MANAGED_STATIC},
		{"Memcpy HtoD (Host -> Device)", KWHY_COPY_H2D, KWHY_MEMORY_UNKNOWN, KWHY_MEMORY_DEVICE},
		{"CopyHostToDevice", KWHY_COPY_H2D, KWHY_MEMORY_UNKNOWN, KWHY_MEMORY_DEVICE},
		{"CopyDeviceToHost", KWHY_COPY_D2H, KWHY_MEMORY_DEVICE, KWHY_MEMORY_UNKNOWN},
		{"something new", KWHY_COPY_UNKNOWN, KWHY_MEMORY_UNKNOWN, KWHY_MEMORY_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		char text[512];
		struct kwhy_recording *r;

		snprintf(
			text, sizeof(text), TRACE(GPU("gpu_memcpy", "%s", ", \"bytes\": 8")), copies[i].name);
		r = read_text(text);
		assert_int_equal(r->activities.copy_kind[0], copies[i].kind);
		assert_int_equal(r->activities.src_memory[0], copies[i].src);
		assert_int_equal(r->activities.dst_memory[0], copies[i].dst);
		assert_int_equal(r->activities.bytes[0], 8);
		kwhy_recording_free(r);
	}
}

static void a_peer_copy_names_the_device_at_the_other_end(void **state)
{
	struct kwhy_recording *r = read_text(TRACE(GPU("gpu_memcpy", "Memcpy PtoP",
		", \"bytes\": 8, \"fromDevice\": 0, \"inDevice\": 0, \"toDevice\": 3")));

	(void)state;
	assert_int_equal(r->activities.peer[0], 3);
	kwhy_recording_free(r);
}

static void a_rocm_copy_without_bytes_is_counted_and_its_kind_is_used(void **state)
{
	struct kwhy_recording *r = read_text(TRACE(GPU("gpu_memcpy", "copy", ", \"kind\": \"DtoH\"") "," GPU(
		"gpu_memset", "Memset (Device)", "")));

	(void)state;
	assert_int_equal(r->activities.copy_kind[0], KWHY_COPY_D2H);
	assert_true(r->activities.bytes[0] == KWHY_UNKNOWN_BYTES);
	assert_int_equal(r->activities.kind[1], KWHY_ACTIVITY_MEMSET);
	assert_int_equal(r->activities.dst_memory[1], KWHY_MEMORY_DEVICE);
	assert_int_equal(r->lost.unknown_bytes, 2);
	assert_true(has_note(r, "copies-without-bytes"));
	kwhy_recording_free(r);
}

static void categories_streams_and_operators_of_2021_are_understood(void **state)
{
	struct kwhy_recording *r = read_text(
		"{\"schemaVersion\": 1, \"traceEvents\": ["
		"{\"ph\": \"X\", \"cat\": \"Kernel\", \"name\": \"k\", \"pid\": 2, \"tid\": \"stream 9\", "
		"\"ts\": 1623142623529248, \"dur\": 0, \"args\": {\"correlation\": 3, \"external id\": 4}},"
		"{\"ph\": \"X\", \"cat\": \"Operator\", \"name\": \"ProfilerStep#7\", \"pid\": 42, "
		"\"tid\": \"43\", \"ts\": 1623142623529248, \"dur\": 9},"
		"{\"ph\": \"X\", \"cat\": \"Operator\", \"name\": \"aten::add\", \"pid\": 42, \"tid\": "
		"\"43\", "
		"\"ts\": 1623142623529248, \"dur\": 9},"
		"{\"ph\": \"X\", \"cat\": \"Runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 42, "
		"\"tid\": \"43\", \"ts\": 1623142623529240, \"dur\": 2, \"args\": {\"correlation\": 3}}]}");

	(void)state;
	assert_int_equal(r->origin_unix_ns, INT64_C(1623142623000000000));
	assert_true(r->unix_clock);
	assert_int_equal(r->activities.start_ns[0], 529248000);
	assert_int_equal(r->activities.end_ns[0], 529248000);
	assert_int_equal(r->streams[0].id, 9);
	assert_int_equal(r->devices[0].index, 2);
	assert_int_equal(r->range_count, 1);
	assert_int_equal(r->ranges[0].kind, KWHY_RANGE_STEP);
	assert_int_equal(r->calls.count, 1);
	assert_int_equal(r->threads[r->calls.thread[0]].tid, 43);
	assert_int_equal(r->sources[0].events, 4);
	assert_true(has_note(r, "whole-microseconds"));
	kwhy_recording_free(r);
}

static void only_kernels_copies_and_memsets_are_activities(void **state)
{
	struct kwhy_recording *r = read_text(
		TRACE(GPU("cuda_sync", "Stream Sync", "") "," GPU("gpu_user_annotation", "nccl:all_reduce",
			"") "," GPU("cpu_op", "aten::add", "") "," GPU("user_annotation",
			"Optimizer.step#SGD.step", "") "," GPU("overhead", "Buffer Flush", "")));

	(void)state;
	assert_int_equal(r->activities.count, 0);
	assert_int_equal(r->device_count, 0);
	assert_int_equal(r->range_count, 1);
	assert_int_equal(r->ranges[0].kind, KWHY_RANGE_USER);
	assert_true(has_note(r, "no-gpu-events"));
	assert_true(has_note(r, "profiler-overhead"));
	kwhy_recording_free(r);
}

#define HOST(cat, name, args)                                     \
	"{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name \
	"\", \"pid\": 42, \"tid\": 43, \"ts\": 1.5, "             \
	"\"dur\": 2.25, \"args\": {" args "}}"

static void expect_host_range(
	const struct kwhy_recording *r, size_t row, enum kwhy_host_kind kind, const char *name)
{
	assert_in_range(row, 0, r->host_ranges.count - 1);
	assert_int_equal(r->host_ranges.kind[row], kind);
	assert_string_equal(kwhy_names_get(&r->names, r->host_ranges.name[row]), name);
	assert_int_equal(r->host_ranges.start_ns[row], 1500);
	assert_int_equal(r->host_ranges.end_ns[row], 3750);
}

static void expect_source(const struct kwhy_recording *r, size_t row, const char *file, uint32_t line)
{
	assert_string_equal(kwhy_names_get(&r->names, kwhy_host_range_file(&r->host_ranges, row)), file);
	assert_int_equal(kwhy_host_range_line(&r->host_ranges, row), line);
}

static void operators_and_python_functions_are_host_ranges(void **state)
{
	struct kwhy_recording *r = read_text(TRACE(HOST("cpu_op", "aten::add", "\"External id\": 5") "," HOST(
		"Operator", "aten::mul", "") "," HOST("python_function", "train.py(54): step",
		"\"Python id\": 1") "," HOST("python_function", "nn.Module: Linear_0",
		"") "," HOST("python_function", "<built-in method item of Tensor object at 0x7f0e871077c0>",
		"")));

	(void)state;
	assert_int_equal(r->host_ranges.count, 5);
	expect_host_range(r, 0, KWHY_HOST_OPERATOR, "aten::add");
	expect_source(r, 0, "", 0);
	expect_host_range(r, 1, KWHY_HOST_OPERATOR, "aten::mul");
	expect_host_range(r, 2, KWHY_HOST_PYTHON, "step");
	expect_source(r, 2, "train.py", 54);
	expect_host_range(r, 3, KWHY_HOST_PYTHON, "nn.Module: Linear_0");
	expect_host_range(r, 4, KWHY_HOST_PYTHON, "<built-in method item of Tensor object>");
	kwhy_recording_free(r);
}

static void shapes_of_operators_whose_work_is_known_are_kept(void **state)
{
	struct kwhy_recording *r = read_text(TRACE(HOST("cpu_op", "aten::mm",
		"\"Input Dims\": [[4, 8], [8, 16]], \"Input type\": [\"float\", \"float\"]") "," HOST("Operat"
												      "or",
		"aten::relu", "\"Input dims\": [[4, 8]]") "," HOST("cpu_op", "aten::linear",
		"\"Input Dims\": [[4, 8], [16, 8]]")));
	static const char *const shapes[] = {"[[4, 8], [8, 16]];[\"float\", \"float\"];;", "[[4, 8]];;;", ""};

	(void)state;
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(
			kwhy_names_get(&r->names, kwhy_host_range_shape(&r->host_ranges, i)), shapes[i]);
	kwhy_recording_free(r);
}

static void a_call_stack_gives_the_innermost_line_outside_of_libraries(void **state)
{
	struct kwhy_recording *r = read_text(TRACE(HOST("Operator", "aten::empty",
		"\"Call stack\": \"/x/site-packages/torch/optim/sgd.py(90): step;run/train.py(54): "
		"step;main.py(9): <module>\"") "," HOST("cpu_op", "aten::empty",
		"\"Call stack\": \"torch/optim/sgd.py(90): step;torch/nn/x.py(7): f\"")));

	(void)state;
	expect_source(r, 0, "run/train.py", 54);
	expect_source(r, 1, "torch/optim/sgd.py", 90);
	kwhy_recording_free(r);
}

static void operators_without_a_usable_time_are_left_out_and_counted(void **state)
{
	struct kwhy_recording *r = read_text(
		TRACE("{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::add\", \"pid\": 1, \"tid\": 2, "
		      "\"ts\": 5}," HOST("cpu_op", "aten::mul", "")));

	(void)state;
	assert_int_equal(r->host_ranges.count, 1);
	assert_true(has_note(r, "host-ranges-untimed"));
	kwhy_recording_free(r);
}

#define MEMORY(type, id, more)                                                                            \
	"{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": \"[memory]\", "          \
	"\"pid\": 42, \"tid\": 43, \"ts\": 5.5, \"args\": {\"Device Type\": " type ", \"Device Id\": " id \
	", \"Bytes\": 512" more "}}"
#define TOTALS ", \"Total Allocated\": 1024, \"Total Reserved\": 4096"

static void memory_events_of_working_gpus_become_memory_points(void **state)
{
	struct kwhy_recording *r = read_text(TRACE(MEMORY("1", "0", TOTALS) "," MEMORY("0", "-1",
		TOTALS) "," MEMORY("1", "5", TOTALS) "," MEMORY("1", "0", "") "," KERNEL("1", "2", "")));

	(void)state;
	assert_int_equal(r->memory_count, 1);
	assert_int_equal(r->memory[0].time_ns, 5500);
	assert_int_equal(r->memory[0].device, 0);
	assert_int_equal(r->memory[0].allocated_bytes, 1024);
	assert_int_equal(r->memory[0].reserved_bytes, 4096);
	assert_true(has_note(r, "memory-without-totals"));
	kwhy_recording_free(r);
}

static void collectives_are_known_by_name_and_keep_their_arguments(void **state)
{
	struct kwhy_recording *r = read_text(
		TRACE(KERNEL("1", "1", "") "," GPU("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
			", \"Collective name\": \"allreduce\", \"dtype\": \"Float\", \"Group size\": 8, "
			"\"In msg nelems\": 1000, \"Out msg nelems\": 2000, \"Seq\": 12")));

	(void)state;
	assert_int_equal(r->activities.kind[0], KWHY_ACTIVITY_KERNEL);
	assert_int_equal(r->activities.kind[1], KWHY_ACTIVITY_COLLECTIVE);
	assert_int_equal(r->collective_count, 1);
	assert_int_equal(r->collectives[0].activity, 1);
	assert_string_equal(name_of(r, r->collectives[0].operation), "allreduce");
	assert_string_equal(name_of(r, r->collectives[0].type), "Float");
	assert_int_equal(r->collectives[0].group_size, 8);
	assert_int_equal(r->collectives[0].in_elements, 1000);
	assert_int_equal(r->collectives[0].out_elements, 2000);
	assert_int_equal(r->collectives[0].sequence, 12);
	kwhy_recording_free(r);
}

static void order_of_keys_and_white_space_do_not_matter(void **state)
{
	struct kwhy_recording *r = read_text(
		"\xEF\xBB\xBF\r\n{ \"traceEvents\"\t:[\n\r\t{\"args\" :{\"grid\":[ 2 ,\n3, 4 "
		"],\"stream\":\"7\" ,"
		"\"device\": 1.0, \"x\": [[{\"a\": [true, false, null, NaN, -Infinity, -1.5e3]}], {}, []]},"
		"\"dur\":\"3\" ,\"ts\":1e1,\"tid\":7,\"pid\":1,\"name\" "
		":\"k\",\"cat\":\"kernel\",\"ph\":\"X\"} , "
		"{ } ],\"deviceProperties\":[{\"id\":1,\"name\":\"A\\u00e9\",\"numSms\":132}],"
		"\"distributedInfo\": {\"rank\": 3, \"world_size\": 8}, \"baseTimeNanoseconds\": 17 }\n\n");

	(void)state;
	assert_int_equal(r->activities.count, 1);
	assert_int_equal(r->activities.start_ns[0], 10000);
	assert_int_equal(r->activities.end_ns[0], 13000);
	assert_int_equal(r->activities.blocks[0], 24);
	assert_int_equal(r->devices[0].index, 1);
	assert_int_equal(r->devices[0].rank, 3);
	assert_string_equal(r->devices[0].name, "A\xC3\xA9");
	assert_int_equal(r->devices[0].sm_count, 132);
	assert_int_equal(r->processes[0].world_size, 8);
	assert_int_equal(r->origin_unix_ns, 17);
	kwhy_recording_free(r);
}

static void a_device_whose_name_is_empty_has_none(void **state)
{
	struct kwhy_recording *r = read_text(
		"{\"deviceProperties\": [{\"id\": 0, \"name\": \"\", \"numSms\": "
		"132}], \"traceEvents\": [" KERNEL("1", "2", "") "]}");

	(void)state;
	assert_null(r->devices[0].name);
	assert_int_equal(r->devices[0].sm_count, 132);
	kwhy_recording_free(r);
}

static void devices_are_described_as_cuda_and_rocm_builds_name_them(void **state)
{
	struct kwhy_recording *r = read_text(
		"{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 1, \"name\": \"NVIDIA H200\", "
		"\"totalGlobalMem\": 150109880320, \"maxThreadsPerMultiprocessor\": 2048, \"numSms\": 132, "
		"\"regsPerMultiprocessor\": 65536, \"sharedMemPerMultiprocessor\": 233472}, "
		"{\"name\": \"AMD\", \"id\": 0, \"maxSharedMemoryPerMultiProcessor\": 65536, \"numSms\": "
		"304}, "
		"{\"id\": 2, \"name\": \"idle\"}], \"cuda_driver_version\": 13000, \"cupti_version\": "
		"130001, "
		"\"traceEvents\": [" GPU(
			"kernel", "k", "") ", {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", "
					   "\"ts\": 1, \"dur\": 1, \"pid\": 1, \"tid\": 7}]}");

	(void)state;
	assert_int_equal(r->device_count, 2);
	assert_string_equal(r->devices[0].name, "AMD");
	assert_int_equal(r->devices[0].sm_count, 304);
	assert_int_equal(r->devices[0].shared_bytes_per_sm, 65536);
	assert_int_equal(r->devices[0].threads_per_sm, 0);
	assert_string_equal(r->devices[1].name, "NVIDIA H200");
	assert_int_equal(r->devices[1].memory_bytes, INT64_C(150109880320));
	assert_int_equal(r->devices[1].threads_per_sm, 2048);
	assert_int_equal(r->devices[1].registers_per_sm, 65536);
	assert_int_equal(r->devices[1].shared_bytes_per_sm, 233472);
	assert_int_equal(r->devices[1].limit_mw, -1);
	assert_string_equal(r->sources[0].version, "1");
	assert_string_equal(
		r->sources[0].producer, "PyTorch profiler (Kineto): CUDA driver 13000, CUPTI 130001");
	kwhy_recording_free(r);
}

static void names_are_unescaped(void **state)
{
	struct kwhy_recording *r = read_text(TRACE(GPU("kernel", "a\\\"b\\\\c\\/\\u00e9\\ud83d\\ude00",
		"") "," GPU("kernel", "\\ud83d \\q\\n", "") "," GPU("kernel", "x},{\\\"ph\\\":[", "")));

	(void)state;
	assert_int_equal(r->activities.count, 3);
	assert_string_equal(name_of(r, r->activities.name[0]), "a\"b\\c/\xC3\xA9\xF0\x9F\x98\x80");
	assert_string_equal(name_of(r, r->activities.name[1]), "\xEF\xBF\xBD \\q ");
	assert_string_equal(name_of(r, r->activities.name[2]), "x},{\"ph\":[");
	kwhy_recording_free(r);
}

static void times_that_are_no_unix_times_are_kept_and_noted(void **state)
{
	struct kwhy_recording *r = read_text("[" KERNEL("1000.5", "1", "") "]");

	(void)state;
	assert_false(r->unix_clock);
	assert_int_equal(r->origin_unix_ns, 0);
	assert_int_equal(r->activities.start_ns[0], 1000500);
	assert_true(has_note(r, "no-unix-clock"));
	kwhy_recording_free(r);
}

static void graph_launches_without_graph_kernels_are_noted(void **state)
{
	struct kwhy_recording *r = read_text(
		TRACE(CALL("cudaGraphLaunch_v10000", "5") "," KERNEL("1", "1", "")));

	(void)state;
	assert_true(has_note(r, "graph-nodes-unknown"));
	kwhy_recording_free(r);
}

static void what_the_profiler_says_it_lost_is_counted(void **state)
{
	struct kwhy_recording *r = read_text("{\"baseTimeNanoseconds\": 1, \"traceEvents\": [], \"WARNING\": "
					     "[\"Dropped 12 activity records\", "
					     "\"Dropped 3 activity records\"], \"INFO\": [\"Out-of-range = "
					     "4181, CUPTI stopped early? = 1\"]}");

	(void)state;
	assert_int_equal(r->lost.dropped_records, 15);
	assert_true(has_note(r, "records-dropped"));
	assert_true(has_note(r, "records-out-of-window"));
	kwhy_recording_free(r);
}

/*
 * Reads a trace of one kernel at 1 us and its launch into `r`. `members`: JSON members before the list of
 * events, such as the rank.
 */
static void read_rank(struct kwhy_recording *r, const char *members)
{
	char text[512];

	snprintf(text, sizeof(text),
		"{%s\"traceEvents\": [" KERNEL("1", "1", ", \"correlation\": 5") "," CALL(
			"cudaLaunchKernel", "5") "]}",
		members);
	write_bytes(text, strlen(text));
	OK(read_into(r, false));
}

static void ranks_share_one_clock_though_their_bases_differ(void **state)
{
	struct kwhy_recording *r;

	(void)state;
	OK(kwhy_recording_new(&r, &error));
	read_rank(r, "\"baseTimeNanoseconds\": 1700000000000000000, \"distributedInfo\": {\"rank\": 0},");
	read_rank(r, "\"baseTimeNanoseconds\": 1700000000000000007, \"distributedInfo\": {\"rank\": 1},");
	assert_int_equal(r->origin_unix_ns, INT64_C(1700000000000000000));
	assert_int_equal(r->activities.start_ns[0], 1000);
	assert_int_equal(r->activities.start_ns[1], 1007);
	assert_int_equal(r->activities.end_ns[1], 2007);
	assert_int_equal(r->calls.start_ns[1], 1507);
	assert_int_equal(r->device_count, 2);
	assert_int_equal(r->devices[0].rank, 0);
	assert_int_equal(r->devices[1].rank, 1);
	OK(kwhy_recording_finish(r, &error));
	assert_int_equal(r->lost.unlinked_activities, 0);
	assert_int_equal(r->calls.thread[r->activities.call[1]], 1);
	kwhy_recording_free(r);
}

static void ranks_of_two_clocks_are_refused(void **state)
{
	static const struct {
		const char *first, *second, *says;
	} cases[] = {
		{TRACE(KERNEL("1", "1", "")), "[" KERNEL("1", "1", "") "]",
			" has none, so the two cannot be aligned; "},
		{"[" KERNEL("1", "1", "") "]", TRACE(KERNEL("1", "1", "")), " has Unix times and "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_recording *r = read_text(cases[i].first);

		write_bytes(cases[i].second, strlen(cases[i].second));
		assert_int_equal(read_into(r, true), KWHY_E_INPUT);
		assert_non_null(strstr(error.text, cases[i].says));
		assert_non_null(strstr(error.text, "\"baseTimeNanoseconds\""));
		kwhy_recording_free(r);
	}
}

static void ranks_that_both_lack_unix_times_are_taken_for_one_clock_and_noted(void **state)
{
	struct kwhy_recording *r = read_text("[" KERNEL("1", "1", "") "]");

	(void)state;
	read_rank(r, "");
	assert_false(r->unix_clock);
	assert_int_equal(r->activities.start_ns[1], 1000);
	assert_true(has_note(r, "no-unix-clock"));
	kwhy_recording_free(r);
}

static void a_trace_without_times_chooses_no_clock(void **state)
{
	struct kwhy_recording *r = read_text("[]");

	(void)state;
	assert_false(has_note(r, "no-unix-clock"));
	read_rank(r, "\"baseTimeNanoseconds\": 1700000000000000000,");
	assert_true(r->unix_clock);
	assert_int_equal(r->origin_unix_ns, INT64_C(1700000000000000000));
	assert_int_equal(r->activities.start_ns[0], 1000);
	kwhy_recording_free(r);
}

static void files_that_do_not_say_their_rank_are_ranked_in_order(void **state)
{
	struct kwhy_recording *r;

	(void)state;
	OK(kwhy_recording_new(&r, &error));
	read_rank(r, "\"baseTimeNanoseconds\": 1700000000000000000,");
	assert_int_equal(r->devices[0].rank, KWHY_NONE);
	read_rank(r, "\"baseTimeNanoseconds\": 1700000000000000000,");
	read_rank(r, "\"baseTimeNanoseconds\": 1700000000000000000,");
	assert_int_equal(r->device_count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(r->devices[i].rank, i);
		assert_int_equal(r->processes[i].rank, i);
	}
	assert_true(has_note(r, "rank-by-order"));
	kwhy_recording_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_has_its_launch_shape_and_stream),
		cmocka_unit_test(a_process_has_its_number_whatever_row_comes_first),
		cmocka_unit_test(what_a_kernel_does_not_say_is_unknown),
		cmocka_unit_test(a_grid_too_large_to_count_is_unknown),
		cmocka_unit_test(calls_lose_their_version_suffix_and_keep_their_thread),
		cmocka_unit_test(activities_are_linked_to_the_call_of_their_correlation),
		cmocka_unit_test(copies_tell_direction_and_memory),
		cmocka_unit_test(a_peer_copy_names_the_device_at_the_other_end),
		cmocka_unit_test(a_rocm_copy_without_bytes_is_counted_and_its_kind_is_used),
		cmocka_unit_test(categories_streams_and_operators_of_2021_are_understood),
		cmocka_unit_test(only_kernels_copies_and_memsets_are_activities),
		cmocka_unit_test(operators_and_python_functions_are_host_ranges),
		cmocka_unit_test(a_call_stack_gives_the_innermost_line_outside_of_libraries),
		cmocka_unit_test(shapes_of_operators_whose_work_is_known_are_kept),
		cmocka_unit_test(operators_without_a_usable_time_are_left_out_and_counted),
		cmocka_unit_test(memory_events_of_working_gpus_become_memory_points),
		cmocka_unit_test(collectives_are_known_by_name_and_keep_their_arguments),
		cmocka_unit_test(order_of_keys_and_white_space_do_not_matter),
		cmocka_unit_test(a_device_whose_name_is_empty_has_none),
		cmocka_unit_test(devices_are_described_as_cuda_and_rocm_builds_name_them),
		cmocka_unit_test(names_are_unescaped),
		cmocka_unit_test(times_that_are_no_unix_times_are_kept_and_noted),
		cmocka_unit_test(graph_launches_without_graph_kernels_are_noted),
		cmocka_unit_test(what_the_profiler_says_it_lost_is_counted),
		cmocka_unit_test(ranks_share_one_clock_though_their_bases_differ),
		cmocka_unit_test(ranks_of_two_clocks_are_refused),
		cmocka_unit_test(ranks_that_both_lack_unix_times_are_taken_for_one_clock_and_noted),
		cmocka_unit_test(a_trace_without_times_chooses_no_clock),
		cmocka_unit_test(files_that_do_not_say_their_rank_are_ranked_in_order),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
