/* SPDX-License-Identifier: Apache-2.0 */
#include "varied_ops.h"

#include "ok.h"
#include "varied.h"

#include <stdio.h>
#include <string.h>

static struct kwhy_error error;

enum { US = 1000 };

uint32_t varied_name(struct kwhy_recording *recording, const char *name)
{
	uint32_t id;

	OK(kwhy_names_intern(&recording->names, name, strlen(name), &id, &error));
	return id;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Returns the length of an operation; in uneven programs it is random, up to a quarter longer. */
static int64_t length_of(struct varied_program *program, const struct varied_op *op)
{
	return program->uneven ? op->length_ns + op->length_ns / 16 * varied_below(&program->random, 5)
			       : op->length_ns;
}

int64_t varied_call(
	struct varied_program *program, uint32_t thread, const char *name, int64_t length_ns, uint32_t id)
{
	int64_t start_ns = program->host_ns[thread] + program->gap_ns;

	OK(kwhy_recording_add_call(program->recording, start_ns, start_ns + length_ns,
		varied_name(program->recording, name), thread, id, &error));
	program->host_ns[thread] = start_ns + length_ns;
	return start_ns;
}

void varied_range(struct varied_program *program, uint32_t thread, struct kwhy_host_range row)
{
	row.thread = thread;
	OK(kwhy_recording_add_host_range(program->recording, &row, &error));
}

struct kwhy_activity varied_activity(
	struct varied_program *program, const struct varied_op *op, const char *name)
{
	struct kwhy_activity row = kwhy_activity_unknown();

	row.stream = op->stream;
	row.name = varied_name(program->recording, name);
	row.call = ++program->correlation;
	return row;
}

int64_t varied_run(struct varied_program *program, struct kwhy_activity *row, int64_t call_ns,
	int64_t delay_ns, int64_t length_ns)
{
	int64_t *stream_ns = &program->stream_ns[row->stream];
	int64_t queued_ns = *stream_ns ? *stream_ns + US : 0;

	row->start_ns = larger(queued_ns, call_ns + delay_ns);
	row->end_ns = *stream_ns = row->start_ns + length_ns;
	OK(kwhy_recording_add_activity(program->recording, row, &error));
	return row->end_ns;
}

static const char *const kernels[] = {"ampere_sgemm_32x32_sliced1x4_tn", "sm80_xmma_gemm_bf16bf16_tn",
	"void at::native::vectorized_elementwise_kernel<4, add>", "softmax_warp_forward",
	"cudnn::nchwToNhwcKernel", "csr2dense_kernel", "reduce_kernel", "my_gemm", "layer_norm_kernel",
	"sparse_to_dense_kernel", "batched_transpose_32x32",
	"a_kernel_whose_name_is_far_longer_than_what_the_titles_of_findings_and_their_evidence_can_show"};

static const char *const functions[] = {"main", "train", "DataLoader.__next__", "forward", "aten::linear",
	"a_function_of_the_program_whose_name_takes_more_than_64_bytes: \303\274\303\274\303\274\303\274"};

static const char *kernel_name(const struct varied_op *op)
{
	return kernels[op->name % 12];
}

static void set_grid(struct kwhy_activity *row, const struct varied_op *op)
{
	static const uint32_t blocks[] = {
		1, 4, 8, 49, 50, 51, 65, 66, 100, 132, 1000, 65536, KWHY_UNKNOWN_BLOCKS};
	static const uint16_t threads[] = {32, 256, 1024, KWHY_UNKNOWN_U16};

	row->blocks = blocks[op->choice % 13];
	row->threads_per_block = threads[op->choice % 4];
}

void varied_launch(struct varied_program *program, const struct varied_op *op)
{
	static const char *const calls[] = {"cudaLaunchKernel", "cuLaunchKernel", "cudaLaunchKernelExC"};

	for (uint32_t i = 0; i < op->repeats; i++) {
		struct kwhy_activity row = varied_activity(program, op, kernel_name(op));
		int64_t call_ns = varied_call(
			program, op->thread, calls[op->choice % 3], (2 + op->choice % 2) * US, row.call);

		set_grid(&row, op);
		varied_run(program, &row, call_ns, (1 + op->choice % 5) * US, length_of(program, op));
	}
}

/* A kernel that begins 3 us to 750 us after its launch, for no reason that the recording shows. */
static void launch_late(struct varied_program *program, const struct varied_op *op)
{
	static const int64_t delays_us[] = {3, 100, 102, 750};
	struct kwhy_activity row = varied_activity(program, op, kernel_name(op));
	int64_t call_ns = varied_call(program, op->thread, "cudaLaunchKernel", 2 * US, row.call);

	set_grid(&row, op);
	varied_run(program, &row, call_ns, delays_us[op->choice % 4] * US, length_of(program, op));
}

static struct kwhy_activity copy_row(
	struct varied_program *program, const struct varied_op *op, enum kwhy_copy_kind kind)
{
	static const enum kwhy_memory_kind hosts[] = {
		KWHY_MEMORY_PINNED, KWHY_MEMORY_PAGEABLE, KWHY_MEMORY_PAGEABLE, KWHY_MEMORY_UNKNOWN};
	struct kwhy_activity row = varied_activity(program, op, "copy");
	enum kwhy_memory_kind host = hosts[op->choice % 4];

	row.kind = KWHY_ACTIVITY_COPY;
	row.copy_kind = (uint8_t)kind;
	row.bytes = op->bytes;
	row.src_memory = (uint8_t)(kind == KWHY_COPY_H2D || kind == KWHY_COPY_H2H ? host
										  : KWHY_MEMORY_DEVICE);
	row.dst_memory = (uint8_t)(kind == KWHY_COPY_D2H || kind == KWHY_COPY_H2H ? host
										  : KWHY_MEMORY_DEVICE);
	return row;
}

/* A copy by an asynchronous call or, with choices above 31, by one that returns at the end of the copy. */
static void copy_by(struct varied_program *program, const struct varied_op *op, enum kwhy_copy_kind kind)
{
	bool blocks = op->choice > 31;
	struct kwhy_activity row = copy_row(program, op, kind);
	int64_t start_ns = program->host_ns[op->thread] + program->gap_ns, end_ns;

	end_ns = varied_run(program, &row, start_ns, 2 * US, length_of(program, op));
	varied_call(program, op->thread, blocks ? "cudaMemcpy" : "cudaMemcpyAsync",
		blocks ? end_ns + US - start_ns : (3 + op->choice % 2) * US, row.call);
}

static void copy_up(struct varied_program *program, const struct varied_op *op)
{
	for (uint32_t i = 0; i < op->repeats; i++)
		copy_by(program, op, KWHY_COPY_H2D);
}

static void copy_down(struct varied_program *program, const struct varied_op *op)
{
	for (uint32_t i = 0; i < op->repeats; i++)
		copy_by(program, op, KWHY_COPY_D2H);
}

static void copy_within(struct varied_program *program, const struct varied_op *op)
{
	static const enum kwhy_copy_kind kinds[] = {KWHY_COPY_D2D, KWHY_COPY_P2P, KWHY_COPY_H2H};

	copy_by(program, op, kinds[op->name % 3]);
}

/* Copies data to the host and then back to the same device or to another one. */
static void round_trip(struct varied_program *program, const struct varied_op *op)
{
	struct varied_op up = *op;

	copy_by(program, op, KWHY_COPY_D2H);
	if (op->name % 2)
		program->host_ns[op->thread] += op->length_ns;
	up.stream = op->other;
	program->stream_ns[up.stream] = larger(program->stream_ns[up.stream], program->stream_ns[op->stream]);
	copy_by(program, &up, KWHY_COPY_H2D);
}

static void set_memory(struct varied_program *program, const struct varied_op *op)
{
	for (uint32_t i = 0; i < op->repeats; i++) {
		struct kwhy_activity row = varied_activity(program, op, "memset");
		int64_t call_ns = varied_call(program, op->thread, "cudaMemsetAsync", 2 * US, row.call);

		row.kind = KWHY_ACTIVITY_MEMSET;
		row.bytes = op->bytes;
		row.dst_memory = KWHY_MEMORY_DEVICE;
		varied_run(program, &row, call_ns, 3 * US, length_of(program, op));
	}
}

static int64_t device_end_ns(const struct varied_program *program, uint32_t stream, bool whole)
{
	int64_t end_ns = program->stream_ns[stream];

	for (uint32_t s = 0; whole && s < program->stream_count; s++)
		if (program->stream_device[s] == program->stream_device[stream])
			end_ns = larger(end_ns, program->stream_ns[s]);
	return end_ns;
}

static int64_t end_of(const struct varied_program *program)
{
	int64_t end_ns = 0;

	for (uint32_t s = 0; s < program->stream_count; s++)
		end_ns = larger(end_ns, program->stream_ns[s]);
	return end_ns;
}

static void wait_for(struct varied_program *program, const struct varied_op *op)
{
	static const char *const calls[] = {
		"cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize", "cuCtxSynchronize"};
	uint32_t kind = op->choice % 4;

	for (uint32_t i = 0; i < (op->repeats > 2 ? 2 : op->repeats); i++) {
		int64_t start_ns = program->host_ns[op->thread] + program->gap_ns;
		int64_t end_ns = larger(start_ns + US, device_end_ns(program, op->stream, kind % 2) + US);

		varied_call(program, op->thread, calls[kind], end_ns - start_ns, KWHY_NONE);
	}
}

static void read_scalar(struct varied_program *program, const struct varied_op *op)
{
	struct varied_op copy = *op;

	copy.bytes = op->choice % 2 ? 8 : 64;
	copy.choice = op->choice % 4;
	copy_by(program, &copy, KWHY_COPY_D2H);
	copy.choice = 0;
	copy.repeats = 1;
	wait_for(program, &copy);
}

/* Ranges and operators in which the host pauses. */
static const struct {
	enum kwhy_host_kind kind;
	const char *name, *file;
} pauses[] = {
	{KWHY_HOST_USER, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", NULL},
	{KWHY_HOST_OPERATOR, "aten::item", NULL},
	{KWHY_HOST_PYTHON, "save_checkpoint", "/program/train.py"},
	{KWHY_HOST_PYTHON, "forward", "model.py"},
	{KWHY_HOST_SYSTEM, "read", NULL},
	{KWHY_HOST_USER, "Torch-Compiled Region: 0/0", NULL},
	{KWHY_HOST_OPERATOR, "aten::empty", NULL},
	{KWHY_HOST_NVTX, "empty_cache in a range whose name is longer than the sixty-four bytes that fit",
		NULL},
};

static void pause(struct varied_program *program, const struct varied_op *op)
{
	uint32_t kind = op->choice % 10;
	int64_t start_ns = program->host_ns[op->thread], end_ns = start_ns + length_of(program, op) + US;

	program->host_ns[op->thread] = end_ns;
	if (kind >= sizeof(pauses) / sizeof(*pauses))
		return;
	if (op->name % 2)
		varied_range(program, op->thread,
			(struct kwhy_host_range){.start_ns = start_ns,
				.end_ns = end_ns,
				.name = varied_name(program->recording, "main_loop"),
				.file = varied_name(program->recording, "src/main.py"),
				.line = 7,
				.kind = KWHY_HOST_PYTHON});
	varied_range(program, op->thread,
		(struct kwhy_host_range){.start_ns = start_ns,
			.end_ns = op->name % 3 ? end_ns : start_ns + (end_ns - start_ns) / 2,
			.name = varied_name(program->recording, pauses[kind].name),
			.file = pauses[kind].file ? varied_name(program->recording, pauses[kind].file) : 0,
			.line = pauses[kind].file ? 18 : 0,
			.kind = (uint8_t)pauses[kind].kind});
}

/* A pause of the host in which its stack was sampled. */
static void sampled_pause(struct varied_program *program, const struct varied_op *op)
{
	program->host_ns[op->thread] += length_of(program, op) + 2 * US;
	for (uint32_t i = 0; i < 1 + op->name % 3; i++)
		varied_range(program, op->thread,
			(struct kwhy_host_range){.start_ns = KWHY_UNKNOWN_TIME,
				.end_ns = program->host_ns[op->thread] - US,
				.name = varied_name(program->recording, functions[i]),
				.file = varied_name(program->recording, "train.py"),
				.line = 10 + i,
				.kind = KWHY_HOST_FRAME});
}

static void allocate(struct varied_program *program, const struct varied_op *op)
{
	static const char *const calls[][2] = {{"cudaMalloc", "cudaFree"},
		{"cudaMallocAsync", "cudaFreeAsync"}, {"cuMemAlloc", "cuMemFree"}, {"hipMalloc", "hipFree"}};
	uint32_t kind = op->choice % 4;
	bool keeps = op->name % 4 == 0, empties = op->name % 4 == 1;

	for (uint32_t i = 0; !empties && i < op->repeats; i++)
		varied_call(program, op->thread, calls[kind][0], larger(US, op->length_ns), KWHY_NONE);
	for (uint32_t i = 0; !keeps && i < op->repeats; i++)
		varied_call(program, op->thread, calls[kind][1], (1 + op->name % 3) * US, KWHY_NONE);
}

static void use_memory(struct varied_program *program, const struct varied_op *op)
{
	struct kwhy_memory_point point = {.time_ns = program->host_ns[op->thread],
		.device = program->stream_device[op->stream],
		.process = program->stream_process[op->stream],
		.allocated_bytes = (UINT64_C(1) << 29) - (op->choice % 3 == 1) + (op->choice % 3 == 2) +
			(program->round % 2) * 4096,
		.reserved_bytes = op->name % 2 ? KWHY_UNKNOWN_BYTES : UINT64_C(5) << 27};

	OK(kwhy_recording_add_memory(program->recording, &point, &error));
}

/* A collective of all devices, or of all but one. It ends on all of them at the same time. */
static void reduce_all(struct varied_program *program, const struct varied_op *op)
{
	int64_t start_ns[VARIED_DEVICES], last_ns = 0;
	uint32_t calls[VARIED_DEVICES];
	uint32_t device_count = op->choice > 55 && program->device_count > 1 ? program->device_count - 1
									     : program->device_count;
	struct varied_op of = *op;

	for (uint32_t d = 0; d < device_count; d++) {
		uint32_t thread = 0;

		of.stream = op->name % 2 && program->stream_count > program->device_count
			? d + program->device_count
			: d;
		while (program->thread_process[thread] != program->stream_process[of.stream])
			thread++;
		calls[d] = ++program->correlation;
		start_ns[d] = larger(program->stream_ns[of.stream] + US,
			varied_call(program, thread, "cudaLaunchKernelExC", 2 * US, calls[d]) + 3 * US);
		start_ns[d] += op->choice % 4 * d * US;
		last_ns = larger(last_ns, start_ns[d]);
	}
	for (uint32_t d = 0; d < device_count; d++) {
		struct kwhy_activity row = varied_activity(
			program, op, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");

		row.stream = op->name % 2 && program->stream_count > program->device_count
			? d + program->device_count
			: d;
		row.kind = KWHY_ACTIVITY_COLLECTIVE;
		row.call = calls[d];
		varied_run(program, &row, start_ns[d], 0, last_ns + op->length_ns - start_ns[d]);
	}
}

/* A graph as one activity, or as its kernels. */
static void launch_graph(struct varied_program *program, const struct varied_op *op)
{
	struct kwhy_activity row = varied_activity(program, op, "graph");
	int64_t call_ns = varied_call(
		program, op->thread, "cudaGraphLaunch", (5 + op->choice % 3) * US, row.call);

	if (op->choice % 2) {
		row.kind = KWHY_ACTIVITY_GRAPH;
		varied_run(program, &row, call_ns, 4 * US, length_of(program, op));
		return;
	}
	for (uint32_t i = 0; i < op->repeats; i++) {
		row.name = varied_name(program->recording, kernels[(op->name + i) % 12]);
		row.graph_node = i;
		set_grid(&row, op);
		varied_run(program, &row, call_ns, 4 * US, length_of(program, op));
	}
}

/* One stream waits for an event of another. */
static void wait_for_event(struct varied_program *program, const struct varied_op *op)
{
	varied_call(program, op->thread, "cudaEventRecord", US, KWHY_NONE);
	varied_call(program, op->thread, "cudaStreamWaitEvent", US, KWHY_NONE);
	program->stream_ns[op->other] = larger(
		program->stream_ns[op->other], program->stream_ns[op->stream] + US);
	varied_launch(program,
		&(struct varied_op){.thread = op->thread,
			.stream = op->other,
			.repeats = 1,
			.name = op->name,
			.choice = op->choice,
			.length_ns = op->length_ns});
}

/* All threads of the process wait until the last call of this thread has ended. */
static void hand_over(struct varied_program *program, const struct varied_op *op)
{
	for (uint32_t t = 0; t < program->thread_count; t++)
		if (program->thread_process[t] == program->thread_process[op->thread])
			program->host_ns[t] = larger(program->host_ns[t], program->host_ns[op->thread] + US);
}

static void other_call(struct varied_program *program, const struct varied_op *op)
{
	int64_t start_ns = program->host_ns[op->thread];

	varied_call(program, op->thread, "cudaGetDevice", (1 + op->choice % 2) * US, KWHY_NONE);
	if (op->name % 2) /* a call inside another one */
		OK(kwhy_recording_add_call(program->recording, start_ns + program->gap_ns + US / 4,
			start_ns + program->gap_ns + US / 2,
			varied_name(program->recording, "cuCtxGetCurrent"), op->thread, KWHY_NONE, &error));
}

/* Launches from two lines of a source file, in functions whose names may be longer than reports show. */
static void launch_from_lines(struct varied_program *program, const struct varied_op *op)
{
	static const char *const files[] = {"train.py", "/program/model.py", NULL};
	const char *file = files[op->choice % 3];

	for (uint32_t i = 0; i < 2; i++) {
		struct varied_op one = *op;
		int64_t start_ns = program->host_ns[op->thread];

		one.repeats = i ? op->repeats : 1;
		varied_launch(program, &one);
		program->host_ns[op->thread] += op->name % 2 ? op->length_ns : 0;
		for (uint32_t k = 0; k < 1 + op->name % 3; k++)
			varied_range(program, op->thread,
				(struct kwhy_host_range){.start_ns = start_ns,
					.end_ns = program->host_ns[op->thread] + k,
					.name = varied_name(
						program->recording, functions[(op->name + k) % 6]),
					.file = file ? varied_name(program->recording, file) : 0,
					.line = file ? 18 + i * (op->choice % 2) : 0,
					.kind = (uint8_t)(k % 2 ? KWHY_HOST_USER : KWHY_HOST_PYTHON)});
	}
}

/* Kernels without a recorded call. Some overlap with the kernel before them in their stream. */
static void run_unlinked(struct varied_program *program, const struct varied_op *op)
{
	for (uint32_t i = 0; i < op->repeats; i++) {
		struct kwhy_activity row = varied_activity(program, op, kernel_name(op));

		row.call = KWHY_NONE;
		set_grid(&row, op);
		varied_run(program, &row, program->host_ns[op->thread], 0, length_of(program, op));
		if (op->name % 3 == 0)
			program->stream_ns[op->stream] -= op->length_ns / 2 + US;
	}
}

/* A launch call that takes long, as one that waits for space in the queue. */
static void launch_long(struct varied_program *program, const struct varied_op *op)
{
	struct kwhy_activity row = varied_activity(program, op, kernel_name(op));
	int64_t call_ns = varied_call(program, op->thread, "cudaLaunchKernel",
		larger(op->length_ns, (49 + op->name % 3) * US), row.call);

	set_grid(&row, op);
	varied_run(program, &row, call_ns, 3 * US, length_of(program, op));
}

/* Kernels in two streams in turn. */
static void launch_in_two(struct varied_program *program, const struct varied_op *op)
{
	struct varied_op one = *op;

	one.repeats = 1;
	for (uint32_t i = 0; i < 2 * op->repeats; i++) {
		one.stream = i % 2 ? op->other : op->stream;
		varied_launch(program, &one);
	}
}

/* A pause of the host in a range whose thread is unknown. */
static void pause_apart(struct varied_program *program, const struct varied_op *op)
{
	struct kwhy_range row = {.start_ns = program->host_ns[op->thread],
		.end_ns = program->host_ns[op->thread] + op->length_ns + US,
		.name = varied_name(program->recording, "elsewhere"),
		.thread = KWHY_NONE,
		.kind = KWHY_RANGE_USER};

	program->host_ns[op->thread] = row.end_ns;
	OK(kwhy_recording_add_range(program->recording, &row, &error));
}

/*
 * A kernel on each device; on one of them it takes longer. In some cases a collective of all devices follows.
 */
static void work_everywhere(struct varied_program *program, const struct varied_op *op)
{
	static const int64_t more_us[] = {1, 2, 5, 10, 20, 40};

	for (uint32_t s = 0; s < program->device_count; s++) {
		struct varied_op one = *op;

		one.repeats = 1;
		one.stream = s;
		one.thread = 0;
		while (program->thread_process[one.thread] != program->stream_process[s])
			one.thread++;
		one.length_ns = (100 + s % 3) * US;
		if (s == op->choice % program->device_count)
			one.length_ns += more_us[op->name % 6] * US;
		varied_launch(program, &one);
	}
	if (op->name % 3 == 0)
		reduce_all(program, op);
}

/* A copy of 64 MiB, and a kernel with one thread, or nearly so, for each value in it. */
static void stream_array(struct varied_program *program, const struct varied_op *op)
{
	struct varied_op up = *op;
	struct kwhy_activity row;

	up.bytes = (UINT64_C(64) << 20) - (op->name % 4 == 3) * 4;
	copy_by(program, &up, op->name % 2 ? KWHY_COPY_H2D : KWHY_COPY_D2H);
	row = varied_activity(program, op, kernel_name(op));
	row.threads_per_block = 256;
	row.blocks = (op->choice % 2 ? 65536 : 32768) + (op->choice % 5 == 4) - (op->choice % 5 == 3);
	varied_run(program, &row, varied_call(program, op->thread, "cudaLaunchKernel", 2 * US, row.call),
		3 * US, length_of(program, op));
}

/* All threads of the program wait twice for all work, also those that issue none. */
static void wait_everywhere(struct varied_program *program, const struct varied_op *op)
{
	for (uint32_t t = 0; t < program->thread_count; t++)
		for (uint32_t i = 0; i < 2; i++)
			varied_call(program, t,
				op->choice % 2 ? "cudaDeviceSynchronize" : "cudaStreamSynchronize",
				larger(US, end_of(program) + US - program->host_ns[t]), KWHY_NONE);
}

/* A launch call that takes longer in some rounds, with calls of other kinds before it. */
static void launch_seldom(struct varied_program *program, const struct varied_op *op)
{
	struct kwhy_activity row = varied_activity(program, op, kernel_name(op));
	int64_t length_ns = 2 * US + program->round % 3 * US / 2;
	int64_t call_ns;

	varied_call(program, op->thread, "cudaGetDevice", US, KWHY_NONE);
	if (program->round % 6 == 4)
		length_ns = (3 + op->choice % 8) * US;
	call_ns = varied_call(program, op->thread, "cudaLaunchKernel", length_ns, row.call);
	if (op->name % 2)
		row.kind = KWHY_ACTIVITY_MEMSET;
	set_grid(&row, op);
	varied_run(program, &row, call_ns, length_ns + US, length_of(program, op));
}

void (*const varied_ops[VARIED_OPS])(struct varied_program *program, const struct varied_op *op) = {
	varied_launch, varied_launch, varied_launch, launch_late, copy_up, copy_down, copy_within, round_trip,
	set_memory, wait_for, read_scalar, pause, sampled_pause, allocate, use_memory, reduce_all,
	launch_graph, wait_for_event, varied_operate, varied_attend, hand_over, other_call, launch_from_lines,
	run_unlinked, launch_long, launch_in_two, pause_apart, varied_append, work_everywhere, stream_array,
	wait_everywhere, launch_seldom, varied_step_model, varied_step_model};
