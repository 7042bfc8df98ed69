/* SPDX-License-Identifier: Apache-2.0 */
#include "kineto_fixture.h"

#include "import/import.h"

/*
 * Tests the import of Chrome JSON traces of other profilers than Kineto with CUDA, of several ranks in
 * several files, and of events that kwhy does not understand.
 */

#define EVENT(cat, name, pid, tid, ts, dur, args)                                                       \
	"{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name "\", \"pid\": " pid ", \"tid\": " tid \
	", \"ts\": " ts ", \"dur\": " dur ", \"args\": {" args "}}"
#define NAMED(what, pid, tid, name)                                             \
	"{\"ph\": \"M\", \"pid\": " pid ", \"tid\": " tid ", \"name\": \"" what \
	"\", \"args\": {\"name\": \"" name "\"}}"
#define XLA_TRACKS                                                                      \
	NAMED("process_name", "1", "0", "/device:GPU:3")                                \
	"," NAMED("thread_name", "1", "13", "Stream #13(Compute,MemcpyH2D)") "," NAMED( \
		"thread_name", "1", "99", "XLA Ops") "," NAMED("process_name", "701", "0", "/host:CPU") ","
#define XLA(name, pid, tid, ts, dur, args)                                                  \
	"{\"ph\": \"X\", \"pid\": " pid ", \"tid\": " tid ", \"ts\": " ts ", \"dur\": " dur \
	", \"name\": \"" name "\", \"args\": {" args "}}"

static void a_stream_of_xla_holds_kernels_and_copies(void **state)
{
	struct kwhy_recording *r = read_text(TRACE(XLA_TRACKS XLA("fusion", "1", "13", "1000.5", "60.2504",
		"\"correlation_id\": \"100\", \"kernel_details\": \"regs:32 static_shared:16 "
		"dynamic_shared:8 "
		"grid:108,2,1 block:128,1,1 occ_pct:100\"") "," XLA("MemcpyH2D", "1", "13", "900", "50",
		"\"memcpy_details\": \"kind_src:pageable kind_dst:device size:4096 dest:0 "
		"async:1\"") "," XLA("Memset", "1", "13", "800", "1",
		"\"memset_details\": \"kind:device size:64\"") "," XLA("fusion", "1", "99", "1000.5", "60.25",
		"") "," XLA("cuLaunchKernel", "701", "1", "990", "5", "\"correlation_id\": \"100\"") ", {}"));
	const struct kwhy_activities *rows = &r->activities;

	(void)state;
	assert_int_equal(rows->count, 3);
	assert_int_equal(rows->start_ns[0], 1000500);
	assert_int_equal(rows->end_ns[0] - rows->start_ns[0], 60250);
	assert_int_equal(rows->call[0], 100);
	assert_int_equal(rows->blocks[0], 216);
	assert_int_equal(rows->threads_per_block[0], 128);
	assert_int_equal(rows->registers[0], 32);
	assert_int_equal(rows->shared_bytes[0], 24);
	assert_int_equal(rows->kind[1], KWHY_ACTIVITY_COPY);
	assert_int_equal(rows->copy_kind[1], KWHY_COPY_H2D);
	assert_int_equal(rows->src_memory[1], KWHY_MEMORY_PAGEABLE);
	assert_int_equal(rows->bytes[1], 4096);
	assert_int_equal(rows->kind[2], KWHY_ACTIVITY_MEMSET);
	assert_int_equal(rows->bytes[2], 64);
	assert_int_equal(r->streams[rows->stream[0]].id, 13);
	assert_int_equal(r->devices[0].index, 3);
	assert_int_equal(r->calls.count, 1);
	assert_int_equal(r->calls.correlation[0], 100);
	kwhy_recording_free(r);
}

static void the_host_of_xla_has_python_steps_and_operators(void **state)
{
	struct kwhy_recording *r = read_text(TRACE(XLA_TRACKS XLA("k", "1", "13", "1", "1", "") "," XLA(
		"$train.py:54 step", "701", "1", "2", "3", "") "," XLA("train", "701", "1", "2", "3",
		"\"step_num\": \"7\"") "," XLA("Thunks::Prepare", "701", "1", "3", "1", "")));

	(void)state;
	assert_int_equal(r->host_ranges.count, 2);
	assert_int_equal(r->host_ranges.kind[0], KWHY_HOST_PYTHON);
	assert_string_equal(name_of(r, r->host_ranges.name[0]), "step");
	assert_string_equal(name_of(r, kwhy_host_range_file(&r->host_ranges, 0)), "train.py");
	assert_int_equal(kwhy_host_range_line(&r->host_ranges, 0), 54);
	assert_string_equal(name_of(r, r->host_ranges.name[1]), "Thunks::Prepare");
	assert_int_equal(r->range_count, 1);
	kwhy_recording_free(r);
}

#define HALF(ph, ts, more) "{\"ph\": \"" ph "\", \"pid\": 0, \"tid\": 7, \"ts\": " ts more "}"
#define KERNEL_BEGIN ", \"cat\": \"kernel\", \"name\": \"k\", \"args\": {\"device\": 2, \"stream\": 7}"

static void a_begin_and_an_end_are_one_slice(void **state)
{
	struct kwhy_recording *r = read_text(TRACE(HALF("B", "10.5", KERNEL_BEGIN) "," HALF(
		"B", "11", ", \"cat\": \"gpu_user_annotation\", \"name\": \"x\"") "," HALF("E", "12",
		"") "," HALF("E", "20.75", ", \"args\": {\"correlation\": 5}")));

	(void)state;
	assert_int_equal(r->activities.count, 1);
	assert_int_equal(r->activities.start_ns[0], 10500);
	assert_int_equal(r->activities.end_ns[0], 20750);
	assert_int_equal(r->activities.call[0], 5);
	assert_int_equal(r->devices[0].index, 2);
	assert_false(has_note(r, "slices-unpaired"));
	kwhy_recording_free(r);
}

static void halves_without_a_partner_are_counted(void **state)
{
	struct kwhy_recording *r = read_text(
		TRACE(KERNEL("1", "2", "") "," HALF("E", "12", "") "," HALF("B", "13", KERNEL_BEGIN)));

	(void)state;
	assert_int_equal(r->activities.count, 1);
	assert_true(has_note(r, "slices-unpaired"));
	kwhy_recording_free(r);
}

static void an_end_before_its_begin_is_refused(void **state)
{
	(void)state;
	refusal_of(TRACE(HALF("B", "13", KERNEL_BEGIN) "," HALF("E", "12", "")));
	assert_non_null(strstr(error.text, "is negative"));
}

static void the_first_profiler_of_pytorch_named_processes_in_words(void **state)
{
	struct kwhy_recording *r = read_text(
		"[{\"name\": \"mm\", \"ph\": \"X\", \"ts\": 1, \"dur\": 9, \"tid\": "
		"1, \"pid\": \"CPU functions\", \"args\": {}}, "
		"{\"name\": \"mm\", \"ph\": \"s\", \"ts\": 1, \"tid\": 1, \"pid\": "
		"\"CPU functions\", \"id\": 1, \"cat\": \"cpu_to_cuda\", \"args\": {}}, "
		"{\"name\": \"sgemm\", \"ph\": \"X\", \"ts\": 5, \"dur\": 3, \"tid\": 1, "
		"\"pid\": \"CUDA functions\", \"args\": {}}]");

	(void)state;
	assert_int_equal(r->activities.count, 1);
	assert_int_equal(r->devices[0].index, 1);
	assert_true(r->streams[0].unordered);
	assert_int_equal(r->host_ranges.count, 1);
	kwhy_recording_free(r);
}

static void intel_musa_and_custom_devices_have_calls_of_their_own(void **state)
{
	struct kwhy_recording *r = read_text(TRACE(EVENT("kernel", "gemm", "0", "64", "20", "5",
		"\"device\": 0, \"sycl queue\": 64, \"context\": "
		"\"0x1\", \"correlation\": 4") "," EVENT("gpu_memcpy", "Memcpy M2D (MEMORY -> DEVICE)", "0",
		"64", "30", "5", "\"device\": 0, \"bytes\": 4096") "," EVENT("xpu_runtime",
		"urEnqueueKernelLaunch", "5", "6", "10", "2",
		"\"correlation\": 4") "," EVENT("musa_runtime", "musaLaunchKernel", "5", "6", "11", "1",
		"") "," EVENT("privateuse1_runtime", "cnInvokeKernel", "5", "6", "12", "1",
		"") "," EVENT("mtia_runtime", "launch", "5", "6", "13", "1", "")));

	(void)state;
	OK(kwhy_recording_finish(r, &error));
	assert_int_equal(r->activities.count, 2);
	assert_int_equal(r->streams[r->activities.stream[0]].id, 64);
	assert_int_equal(r->activities.copy_kind[1], KWHY_COPY_H2D);
	assert_int_equal(r->activities.dst_memory[1], KWHY_MEMORY_DEVICE);
	assert_int_equal(r->calls.count, 4);
	assert_int_equal(r->calls.class[0], KWHY_CALL_LAUNCH);
	assert_int_equal(r->calls.class[1], KWHY_CALL_LAUNCH);
	assert_int_equal(r->activities.call[0], 0);
	kwhy_recording_free(r);
}

static void unitrace_names_shapes_sizes_and_the_device_s_address(void **state)
{
	struct kwhy_recording *r = read_text(TRACE(EVENT("gpu_op", "gemm[SIMD32 {64; 2; 1} {256; 1; 1}]",
		"4294967295", "4294967290", "20", "5", "\"id\": \"1\"") "," EVENT("gpu_op",
		"zeCommandListAppendMemoryCopy(M2D)[4096 bytes]", "4294967295", "4294967290", "30", "5",
		"") "," EVENT("cpu_op", "zeCommandListAppendLaunchKernel", "5", "6", "10", "2",
		"") "," NAMED("process_name", "4294967295", "0", "DEVICE<node>0:3b:0:0")));

	(void)state;
	assert_int_equal(r->activities.count, 2);
	assert_string_equal(name_of(r, r->activities.name[0]), "gemm");
	assert_int_equal(r->activities.blocks[0], 128);
	assert_int_equal(r->activities.threads_per_block[0], 256);
	assert_int_equal(r->activities.kind[1], KWHY_ACTIVITY_COPY);
	assert_int_equal(r->activities.copy_kind[1], KWHY_COPY_H2D);
	assert_int_equal(r->activities.bytes[1], 4096);
	assert_int_equal(r->devices[0].index, 0);
	assert_string_equal(r->devices[0].pci, "0000:3b:00.0");
	assert_int_equal(r->calls.count, 1);
	kwhy_recording_free(r);
}

static void onnx_runtime_writes_kernels_and_copies_without_a_device(void **state)
{
	struct kwhy_recording *r = read_text("[" EVENT("Session", "model_run", "9", "9", "1", "90",
		"") "," EVENT("Node", "Add_kernel_time", "9", "9", "2", "3",
		"\"provider\": \"CUDAExecutionProvider\"") "," EVENT("Kernel", "add", "-1", "-1", "5", "6",
		"\"stream\": \"7\", \"grid_x\": \"4\", \"grid_y\": \"2\", \"grid_z\": \"1\", "
		"\"block_x\": \"32\", \"block_y\": \"1\", \"block_z\": \"1\"") "," EVENT("Kernel",
		"MemcpyHostToDevice", "-1", "-1", "15", "6",
		"\"stream\": \"7\", \"grid_x\": \"-1\", \"grid_y\": \"-1\", \"grid_z\": \"-1\"") "]");

	(void)state;
	assert_int_equal(r->activities.count, 2);
	assert_int_equal(r->activities.blocks[0], 8);
	assert_int_equal(r->activities.threads_per_block[0], 32);
	assert_int_equal(r->activities.kind[1], KWHY_ACTIVITY_COPY);
	assert_int_equal(r->activities.copy_kind[1], KWHY_COPY_H2D);
	assert_int_equal(r->devices[0].index, 0);
	assert_int_equal(r->host_ranges.count, 2);
	assert_true(has_note(r, "no-device-numbers"));
	kwhy_recording_free(r);
}

static void proton_writes_an_object_a_stream(void **state)
{
#define PROTON(tid, ts)                                                                                  \
	"{\"displayTimeUnit\": \"us\", \"traceEvents\": [{\"cat\": \"kernel\", \"dur\": 2.5, \"name\": " \
	"\"k\", \"ph\": \"X\", \"tid\": " tid ", \"ts\": " ts ", \"args\": {\"call_stack\": [\"a\"]}}]}\n"
	struct kwhy_recording *r = read_text(PROTON("1", "0.5") PROTON("2", "1.5"));

	(void)state;
	assert_int_equal(r->activities.count, 2);
	assert_int_equal(r->stream_count, 2);
	assert_int_equal(r->device_count, 1);
	kwhy_recording_free(r);
}

#define RANK_EVENTS(label)                                                                \
	EVENT("cuda_runtime", "cudaLaunchKernel", "\"" label " 1000\"", "1000", "1", "2", \
		"\"correlation\": 1")                                                     \
	"," EVENT("kernel", "k", "\"" label " 0\"", "7", "5", "2",                        \
		"\"device\": 0, \"stream\": 7, \"correlation\": 1")

static void labels_before_process_numbers_are_ranks(void **state)
{
	struct kwhy_recording *r = read_text(TRACE(RANK_EVENTS("[TP03]") "," RANK_EVENTS("[TP01]")));

	(void)state;
	assert_int_equal(r->process_count, 2);
	assert_int_equal(r->device_count, 2);
	assert_int_equal(r->processes[0].rank, 3);
	assert_int_equal(r->processes[1].rank, 1);
	assert_int_equal(r->processes[0].pid, 1000);
	assert_int_equal(r->devices[r->streams[0].device].rank, 3);
	assert_int_equal(r->devices[r->streams[1].device].rank, 1);
	OK(kwhy_recording_finish(r, &error));
	assert_int_equal(r->lost.unlinked_activities, 0);
	kwhy_recording_free(r);
}

static void labels_of_several_dimensions_count_in_their_order(void **state)
{
	struct kwhy_recording *r = read_text(
		TRACE(RANK_EVENTS("[TP00-DP01]") "," RANK_EVENTS("[TP00-DP00]")));

	(void)state;
	assert_int_equal(r->device_count, 2);
	assert_int_equal(r->processes[0].rank, 0);
	assert_int_equal(r->processes[1].rank, 1);
	assert_true(r->processes[1].rank_by_order);
	assert_true(has_note(r, "rank-by-order"));
	kwhy_recording_free(r);
}

static void ranks_in_the_arguments_separate_devices_of_one_number(void **state)
{
	struct kwhy_recording *r = read_text(TRACE(KERNEL("1", "2", ", \"rank\": 0") "," EVENT(
		"kernel", "k", "1000", "7", "1", "2", "\"device\": 0, \"stream\": 7, \"rank\": 8")));

	(void)state;
	assert_int_equal(r->device_count, 2);
	assert_int_equal(r->devices[0].rank, 0);
	assert_int_equal(r->devices[1].rank, 8);
	kwhy_recording_free(r);
}

/*
 * The events of one rank in a file by TraceFuse, which merges traces. It adds a multiple of the rank to
 * process and correlation ids, keeps the old ones as *_raw, and gives every event its rank. Threads, devices
 * and streams keep the numbers that they have on their node.
 */
#define FUSED(rank, pid, gpu, correlation)                                                                \
	EVENT("cuda_runtime", "cudaLaunchKernel", pid, "77", "1", "2",                                    \
		"\"correlation\": " correlation ", \"rank\": " rank                                       \
		", \"pid_raw\": 1000, \"correlation_raw\": 1")                                            \
	"," EVENT("cuda_runtime", "cudaStreamSynchronize", pid, "77", "4", "9",                           \
		"\"rank\": " rank ", \"pid_raw\": 1000") "," EVENT("kernel", "gemm_" rank, gpu, "7", "5", \
		"7",                                                                                      \
		"\"device\": 0, \"stream\": 7, \"correlation\": " correlation ", \"rank\": " rank         \
		", \"pid_raw\": 0, \"correlation_raw\": 1")

static void a_file_of_trace_fuse_holds_several_nodes(void **state)
{
	struct kwhy_recording *r = read_text(
		TRACE(FUSED("0", "1000", "0", "1") "," FUSED("8", "81000", "80000", "801")));

	(void)state;
	OK(kwhy_recording_finish(r, &error));
	assert_int_equal(r->device_count, 2);
	assert_int_equal(r->process_count, 2);
	assert_int_equal(r->thread_count, 2);
	assert_int_equal(r->lost.unlinked_activities, 0);
	for (uint32_t i = 0; i < 2; i++) {
		const struct kwhy_stream *stream = &r->streams[r->activities.stream[i]];

		assert_int_equal(r->devices[stream->device].index, 0);
		assert_int_equal(r->devices[stream->device].rank, 8 * i);
		assert_int_equal(r->processes[stream->process].rank, 8 * i);
		assert_int_equal(r->processes[stream->process].pid, 1000);
		assert_int_equal(r->threads[r->calls.thread[r->activities.call[i]]].process, stream->process);
	}
	kwhy_recording_free(r);
}

static void records_without_times_are_left_out_and_counted(void **state)
{
	struct kwhy_recording *r = read_text(TRACE(KERNEL("5", "2", "") "," KERNEL("0", "0", "") "," EVENT(
		"cuda_runtime", "cudaLaunchKernel", "4", "4", "0.0", "0.0", "\"correlation\": 1")));

	(void)state;
	assert_int_equal(r->activities.count, 1);
	assert_int_equal(r->calls.count, 0);
	assert_int_equal(r->lost.untimed_records, 2);
	assert_true(has_note(r, "records-untimed"));
	kwhy_recording_free(r);
}

static void what_is_not_understood_is_counted_and_alone_refused(void **state)
{
	struct kwhy_recording *r = read_text(
		TRACE(KERNEL("5", "2", "") "," EVENT("npu_op", "x", "3", "4", "1", "1", "")));

	(void)state;
	assert_true(has_note(r, "events-unknown"));
	kwhy_recording_free(r);
	refusal_of(TRACE(EVENT("npu_op", "x", "3", "4", "1", "1", "") "," EVENT(
		"npu_op", "x", "3", "4", "1", "1", "")));
	assert_non_null(strstr(error.text, "2 of its 2 events are of unknown kinds (2 of \"npu_op\")"));
	assert_non_null(strstr(error.text, "ProfilerActivity.CUDA"));
}

static void a_trace_of_the_host_alone_is_refused_unless_asked_for(void **state)
{
	struct kwhy_import_options options = {0};
	const char *text = TRACE(EVENT("cpu_op", "aten::mm", "3", "4", "1", "1", ""));
	struct kwhy_recording *recording;

	(void)state;
	for (int alone = 0; alone < 2; alone++) {
		write_bytes(text, strlen(text));
		OK(kwhy_recording_new(&recording, &error));
		options.host_alone = alone;
		assert_int_equal(kwhy_import_trace(recording, kineto_path, &options, &error),
			alone ? KWHY_OK : KWHY_E_INPUT);
		unlink(kineto_path);
		kwhy_recording_free(recording);
		if (!alone)
			assert_non_null(strstr(error.text, "but 1 operator or range of the host"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream_of_xla_holds_kernels_and_copies),
		cmocka_unit_test(the_host_of_xla_has_python_steps_and_operators),
		cmocka_unit_test(a_begin_and_an_end_are_one_slice),
		cmocka_unit_test(halves_without_a_partner_are_counted),
		cmocka_unit_test(an_end_before_its_begin_is_refused),
		cmocka_unit_test(the_first_profiler_of_pytorch_named_processes_in_words),
		cmocka_unit_test(intel_musa_and_custom_devices_have_calls_of_their_own),
		cmocka_unit_test(unitrace_names_shapes_sizes_and_the_device_s_address),
		cmocka_unit_test(onnx_runtime_writes_kernels_and_copies_without_a_device),
		cmocka_unit_test(proton_writes_an_object_a_stream),
		cmocka_unit_test(labels_before_process_numbers_are_ranks),
		cmocka_unit_test(labels_of_several_dimensions_count_in_their_order),
		cmocka_unit_test(ranks_in_the_arguments_separate_devices_of_one_number),
		cmocka_unit_test(a_file_of_trace_fuse_holds_several_nodes),
		cmocka_unit_test(records_without_times_are_left_out_and_counted),
		cmocka_unit_test(what_is_not_understood_is_counted_and_alone_refused),
		cmocka_unit_test(a_trace_of_the_host_alone_is_refused_unless_asked_for),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
