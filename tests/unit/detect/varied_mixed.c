/* SPDX-License-Identifier: Apache-2.0 */
#include "varied_ops.h"

#include "ok.h"
#include "varied.h"

#include <string.h>

static struct kwhy_error error;

enum { US = 1000 };

static int64_t now(const struct varied_program *program, const struct varied_op *op)
{
	return program->host_ns[op->thread] + program->gap_ns;
}

static void add_call(struct varied_program *program, const struct varied_op *op, const char *name,
	int64_t start_ns, int64_t end_ns, uint32_t id)
{
	OK(kwhy_recording_add_call(program->recording, start_ns, end_ns,
		varied_name(program->recording, name), op->thread, id, &error));
}

/*
 * Launches by a call that is made inside another call. In some cases the outer call makes a second inner
 * call, which issues more work or waits.
 */
static void launch_within(struct varied_program *program, const struct varied_op *op)
{
	int64_t start_ns = now(program, op);
	struct kwhy_activity row = varied_activity(program, op, "my_gemm");
	int64_t end_ns = varied_run(program, &row, start_ns + US, 2 * US, op->length_ns);

	add_call(program, op, "cudaLaunchKernel", start_ns + US, start_ns + 2 * US, row.call);
	if (op->choice % 3 == 0) {
		end_ns = end_ns > start_ns + 4 * US ? end_ns : start_ns + 4 * US;
		add_call(program, op, "cudaStreamSynchronize", start_ns + 3 * US, end_ns, KWHY_NONE);
	} else {
		row = varied_activity(program, op, "reduce_kernel");
		varied_run(program, &row, start_ns + 3 * US, US, op->length_ns);
		add_call(program, op, "cudaLaunchKernel", start_ns + 3 * US, start_ns + 4 * US, row.call);
		end_ns = start_ns + 4 * US;
	}
	varied_call(program, op->thread, op->name % 2 ? "cublasGemmEx" : "cudaLaunchCooperativeKernel",
		end_ns + US - start_ns, KWHY_NONE);
}

static struct kwhy_activity copy_row(
	struct varied_program *program, const struct varied_op *op, enum kwhy_copy_kind kind)
{
	enum kwhy_memory_kind host = op->choice % 2 ? KWHY_MEMORY_PAGEABLE : KWHY_MEMORY_PINNED;
	struct kwhy_activity row = varied_activity(program, op, "copy");

	row.kind = KWHY_ACTIVITY_COPY;
	row.copy_kind = (uint8_t)kind;
	row.bytes = op->bytes;
	row.src_memory = (uint8_t)(kind == KWHY_COPY_H2D ? host : KWHY_MEMORY_DEVICE);
	row.dst_memory = (uint8_t)(kind == KWHY_COPY_H2D ? KWHY_MEMORY_DEVICE : host);
	return row;
}

static enum kwhy_copy_kind kind_of(const struct varied_op *op)
{
	return op->name % 2 ? KWHY_COPY_H2D : KWHY_COPY_D2H;
}

/* One call that issues several copies. */
static void copy_several(struct varied_program *program, const struct varied_op *op)
{
	struct kwhy_activity row = copy_row(program, op, kind_of(op));
	int64_t start_ns = now(program, op), end_ns = start_ns;

	for (uint32_t i = 0; i < 1 + op->repeats; i++)
		end_ns = varied_run(program, &row, start_ns, 2 * US, op->length_ns);
	varied_call(program, op->thread, op->choice % 3 ? "cudaMemcpy2DAsync" : "cudaMemcpy2D",
		op->choice % 3 ? 3 * US : end_ns + US - start_ns, row.call);
}

/*
 * Asynchronous copies, each followed by a wait for it. In some cases a call that does nothing is made inside
 * the copy's call, or between the two.
 */
static void copy_and_wait(struct varied_program *program, const struct varied_op *op)
{
	for (uint32_t i = 0; i < op->repeats; i++) {
		struct kwhy_activity row = copy_row(program, op, kind_of(op));
		int64_t start_ns = now(program, op);
		int64_t end_ns = varied_run(program, &row, start_ns, 2 * US, op->length_ns);

		if (op->choice % 5 == 0) /* a call inside that of the copy */
			add_call(program, op, "cuCtxGetCurrent", start_ns + US, start_ns + 2 * US, KWHY_NONE);
		varied_call(program, op->thread, "cudaMemcpyAsync", 3 * US, row.call);
		if (op->choice % 5 == 1)
			varied_call(program, op->thread, "cudaGetLastError", US, KWHY_NONE);
		start_ns = now(program, op);
		varied_call(program, op->thread, "cudaStreamSynchronize",
			end_ns > start_ns ? end_ns + US - start_ns : US, KWHY_NONE);
	}
}

/* Kernels of one stream that overlap: each begins before the previous one has ended. */
static void launch_concurrently(struct varied_program *program, const struct varied_op *op)
{
	for (uint32_t i = 0; i < 1 + op->repeats; i++) {
		struct kwhy_activity row = varied_activity(program, op, "softmax_warp_forward");
		int64_t call_ns = varied_call(program, op->thread, "cudaLaunchKernelExC", 2 * US, row.call);

		varied_run(program, &row, call_ns, 3 * US, op->length_ns);
		program->stream_ns[op->stream] -= op->choice % 3 ? op->length_ns / 2 + US : US;
	}
}

/* A graph of kernels and memsets, some of which run at the same time. */
static void launch_graph_of_kinds(struct varied_program *program, const struct varied_op *op)
{
	static const char *const names[] = {"softmax_warp_forward", "memset", "reduce_kernel"};
	struct kwhy_activity row = varied_activity(program, op, "graph");
	int64_t call_ns = varied_call(program, op->thread, "cudaGraphLaunch", 6 * US, row.call);

	for (uint32_t i = 0; i < 2 + op->repeats; i++) {
		uint32_t sort = (i + op->choice) % 4 % 3;

		row.name = varied_name(program->recording, names[sort]);
		row.kind = sort == 1 ? KWHY_ACTIVITY_MEMSET : KWHY_ACTIVITY_KERNEL;
		row.graph_node = i;
		varied_run(program, &row, call_ns, 4 * US, op->length_ns);
		if (i % 3 == 2)
			program->stream_ns[op->stream] -= US + op->name % 2 * US;
	}
}

/* The host pauses between calls, for 1 ms to 3 s. */
static void pause_long(struct varied_program *program, const struct varied_op *op)
{
	static const int64_t lengths_ns[] = {US * 1000 - 1, 1000 * US, 1000 * US + 1, 1000000 * US,
		1000000 * US + 1, INT64_C(3000000) * US};

	program->host_ns[op->thread] += lengths_ns[op->choice % 6] - program->gap_ns;
}

/*
 * An activity that is recorded as starting before its call or with it, as it can be if the clocks of host and
 * device differ.
 */
static void launch_early(struct varied_program *program, const struct varied_op *op)
{
	struct kwhy_activity row = varied_activity(program, op, "layer_norm_kernel");
	int64_t call_ns = varied_call(program, op->thread, "cudaLaunchKernel", 2 * US, row.call);

	varied_run(program, &row, call_ns, op->choice % 2 ? -US / 2 : 0, op->length_ns);
}

/*
 * Allocates between launches. Then frees several blocks in a row, as a framework does that empties its cache,
 * and others between launches.
 */
static void empty_cache(struct varied_program *program, const struct varied_op *op)
{
	struct varied_op one = *op;
	uint32_t row = 2 + op->choice % 4, alone = op->name % 4;

	one.repeats = 1;
	for (uint32_t i = 0; i < row + alone; i++) {
		for (uint32_t k = 0; k < 1 + (op->choice % 5 == 4); k++)
			varied_call(program, op->thread, "cudaMalloc", 4 * US, KWHY_NONE);
		varied_launch(program, &one);
	}
	for (uint32_t i = 0; i < row; i++)
		varied_call(program, op->thread, "cudaFree", 5 * US, KWHY_NONE);
	for (uint32_t i = 0; i < alone; i++) {
		varied_launch(program, &one);
		varied_call(program, op->thread, "cudaFree", 5 * US, KWHY_NONE);
	}
}

/*
 * A collective of the devices, which they enter far apart, or one after the other. The choice decides which
 * collective it is.
 */
static void reduce_apart(struct varied_program *program, const struct varied_op *op)
{
	static const char *const names[] = {"ncclDevKernel_AllReduce_Sum_f32_RING_LL",
		"ncclDevKernel_AllGather_RING_LL", "ncclDevKernel_Broadcast_RING_LL"};
	int64_t end_ns = 0;

	for (uint32_t d = 0; d < program->device_count; d++) {
		struct varied_op of = *op;
		struct kwhy_activity row;
		int64_t start_ns;

		of.stream = d;
		of.thread = 0;
		while (program->thread_process[of.thread] != program->stream_process[d])
			of.thread++;
		row = varied_activity(program, &of, names[op->choice % 3]);
		row.kind = KWHY_ACTIVITY_COLLECTIVE;
		start_ns = varied_call(program, of.thread, "cudaLaunchKernelExC", 2 * US, row.call);
		start_ns = start_ns > end_ns || op->name % 2 ? start_ns : end_ns;
		end_ns = varied_run(program, &row, start_ns, (3 + op->choice % 5 * d) * US, op->length_ns);
	}
}

/* Another thread of the process works while this thread waits for it; then this one continues. */
static void take_turns(struct varied_program *program, const struct varied_op *op)
{
	struct varied_op other = *op;

	for (uint32_t t = 0; t < program->thread_count; t++)
		if (t != op->thread && program->thread_process[t] == program->thread_process[op->thread])
			other.thread = t;
	if (program->host_ns[other.thread] < program->host_ns[op->thread])
		program->host_ns[other.thread] = program->host_ns[op->thread] + op->choice % 2 * US;
	varied_call(program, other.thread, "cudaMallocAsync", (17 + op->name % 3) * US, KWHY_NONE);
	varied_launch(program, &other);
	if (program->host_ns[op->thread] < program->host_ns[other.thread])
		program->host_ns[op->thread] = program->host_ns[other.thread] + op->choice % 3 * US;
	varied_launch(program, op);
}

void (*const varied_mixed_ops[VARIED_MIXED_OPS])(
	struct varied_program *program, const struct varied_op *op) = {launch_within, copy_several,
	copy_and_wait, launch_concurrently, launch_graph_of_kinds, pause_long, launch_early, empty_cache,
	reduce_apart, copy_and_wait, take_turns, take_turns};
