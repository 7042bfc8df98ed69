/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/ops/rows.h"

enum {
	SMALL_BYTES = 40,  /* size of small copies to the device: ten floats, as one agent of the simulation
			      `kwhy-lab twin` sends */
	READ_BYTES = 4,	   /* size of small copies from the device: one float, as one agent of `kwhy-lab twin`
			      reads */
	SMALL_BATCH = 256, /* number of small operations that one call of issue() queues */
	GRAPH_KERNELS = 20,
	COLLECTIVE_WORDS = 22,
	L2_BYTES = 16 << 20,
	MIXED_BYTES = 64 << 20
};

#define TENSOR "in tensor instructions"

static enum kwhy_status launch(struct kwhy_ops_kit *kit, uint32_t blocks, struct kwhy_gpu_stream *stream,
	void **arguments, struct kwhy_error *error)
{
	const struct kwhy_gpu_launch one = {.kernel = kit->kernel,
		.blocks = blocks,
		.threads_per_block = KWHY_OPS_THREADS,
		.arguments = arguments,
		.stream = stream};

	return kit->gpus[0]->ops->launch(kit->gpus[0], &one, error);
}

static enum kwhy_status compute(struct kwhy_ops_kit *kit, const struct kwhy_ops_row *row, double *count,
	double *bytes, struct kwhy_error *error)
{
	void *arguments[] = {&kit->seed, &kit->rounds, &kit->to};

	(void)bytes;
	*count += row->thread_count * kit->rounds * kit->blocks * KWHY_OPS_THREADS;
	return launch(kit, kit->blocks, kit->stream, arguments, error);
}

static uint64_t used_bytes(const struct kwhy_ops_kit *kit, const struct kwhy_ops_row *row)
{
	return row->most_bytes && row->most_bytes < kit->bytes ? row->most_bytes : kit->bytes;
}

static enum kwhy_status read_memory(struct kwhy_ops_kit *kit, const struct kwhy_ops_row *row, double *count,
	double *bytes, struct kwhy_error *error)
{
	uint64_t words = used_bytes(kit, row) / 16;
	void *arguments[] = {&kit->rounds, &kit->from, &words, &kit->to};

	(void)bytes;
	*count += row->byte_count * kit->rounds * (double)used_bytes(kit, row);
	return launch(kit, kit->blocks, kit->stream, arguments, error);
}

static enum kwhy_status write_memory(struct kwhy_ops_kit *kit, const struct kwhy_ops_row *row, double *count,
	double *bytes, struct kwhy_error *error)
{
	uint64_t words = used_bytes(kit, row) / 16;
	void *arguments[] = {&kit->rounds, &kit->to, &words, &kit->seed};

	(void)bytes;
	*count += row->byte_count * kit->rounds * (double)used_bytes(kit, row);
	return launch(kit, kit->blocks, kit->stream, arguments, error);
}

static enum kwhy_status copy_memory(struct kwhy_ops_kit *kit, const struct kwhy_ops_row *row, double *count,
	double *bytes, struct kwhy_error *error)
{
	uint64_t words = used_bytes(kit, row) / 16;
	void *arguments[] = {&kit->rounds, &kit->from, &kit->to, &words};

	(void)bytes;
	*count += row->byte_count * kit->rounds * (double)used_bytes(kit, row);
	return launch(kit, kit->blocks, kit->stream, arguments, error);
}

/* Waits until the small operation just issued has ended, unless row->queued is set. */
static enum kwhy_status wait_for_small(
	struct kwhy_ops_kit *kit, const struct kwhy_ops_row *row, struct kwhy_error *error)
{
	return row->queued ? KWHY_OK : kit->gpus[0]->ops->synchronize(kit->gpus[0], kit->stream, error);
}

static enum kwhy_status copy_small(struct kwhy_ops_kit *kit, const struct kwhy_ops_row *row,
	const struct kwhy_gpu_copy *copy, double *count, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (int i = 0; !status && i < SMALL_BATCH; i++) {
		status = kit->gpus[0]->ops->copy(kit->gpus[0], kit->stream, copy, error);
		if (!status)
			status = wait_for_small(kit, row, error);
	}
	*count += SMALL_BATCH;
	return status;
}

static enum kwhy_status small_in(struct kwhy_ops_kit *kit, const struct kwhy_ops_row *row, double *count,
	double *bytes, struct kwhy_error *error)
{
	const struct kwhy_gpu_copy copy = {kit->to, kwhy_gpu_address(kit->host.memory), SMALL_BYTES};

	*bytes += SMALL_BATCH * SMALL_BYTES;
	return copy_small(kit, row, &copy, count, error);
}

static enum kwhy_status small_out(struct kwhy_ops_kit *kit, const struct kwhy_ops_row *row, double *count,
	double *bytes, struct kwhy_error *error)
{
	const struct kwhy_gpu_copy copy = {kwhy_gpu_address(kit->host.memory), kit->from, READ_BYTES};

	*bytes += SMALL_BATCH * READ_BYTES;
	return copy_small(kit, row, &copy, count, error);
}

static enum kwhy_status launch_nothing(struct kwhy_ops_kit *kit, struct kwhy_error *error)
{
	void *arguments[] = {&kit->seed};

	return launch(kit, 1, kit->stream, arguments, error);
}

static enum kwhy_status launch_small(struct kwhy_ops_kit *kit, const struct kwhy_ops_row *row, double *count,
	double *bytes, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	(void)bytes;
	for (int i = 0; !status && i < SMALL_BATCH; i++) {
		status = launch_nothing(kit, error);
		if (!status)
			status = wait_for_small(kit, row, error);
	}
	*count += SMALL_BATCH;
	return status;
}

static enum kwhy_status launch_graph_kernels(void *kit, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (int i = 0; !status && i < GRAPH_KERNELS; i++)
		status = launch_nothing(kit, error);
	return status;
}

static enum kwhy_status capture(struct kwhy_ops_kit *kit, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = kit->gpus[0];
	/* a kernel must have run once before it is recorded in a graph */
	enum kwhy_status status = launch_nothing(kit, error);

	if (!status)
		status = gpu->ops->synchronize(gpu, kit->stream, error);
	return status ? status
		      : kwhy_gpu_capture(gpu, kit->stream, launch_graph_kernels, kit, &kit->graph, error);
}

static enum kwhy_status launch_graph(struct kwhy_ops_kit *kit, const struct kwhy_ops_row *row, double *count,
	double *bytes, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = kit->gpus[0];
	enum kwhy_status status = kit->graph ? KWHY_OK : capture(kit, error);

	(void)row;
	(void)bytes;
	for (int i = 0; !status && i < SMALL_BATCH / GRAPH_KERNELS; i++) {
		status = gpu->ops->graph_launch(gpu, kit->stream, kit->graph, error);
		*count += GRAPH_KERNELS;
	}
	return status;
}

static enum kwhy_status copy_large(
	struct kwhy_ops_kit *kit, struct kwhy_gpu_copy copy, double *count, struct kwhy_error *error)
{
	*count += (double)copy.bytes;
	return kit->gpus[0]->ops->copy(kit->gpus[0], kit->stream, &copy, error);
}

static enum kwhy_status large_in(struct kwhy_ops_kit *kit, const struct kwhy_ops_row *row, double *count,
	double *bytes, struct kwhy_error *error)
{
	(void)row;
	(void)bytes;
	return copy_large(kit,
		(struct kwhy_gpu_copy){kit->to, kwhy_gpu_address(kit->host.memory), kit->host.bytes}, count,
		error);
}

static enum kwhy_status large_out(struct kwhy_ops_kit *kit, const struct kwhy_ops_row *row, double *count,
	double *bytes, struct kwhy_error *error)
{
	(void)row;
	(void)bytes;
	return copy_large(kit,
		(struct kwhy_gpu_copy){kwhy_gpu_address(kit->host.memory), kit->from, kit->host.bytes}, count,
		error);
}

static enum kwhy_status large_peer(struct kwhy_ops_kit *kit, const struct kwhy_ops_row *row, double *count,
	double *bytes, struct kwhy_error *error)
{
	(void)row;
	(void)bytes;
	return copy_large(kit, (struct kwhy_gpu_copy){kit->peer, kit->from, kit->bytes}, count, error);
}

/*
 * Runs arithmetic in kit->stream and, concurrently, a copy to the device in kit->other. Counts the FLOP of
 * the arithmetic and the bytes of the copy.
 */
static enum kwhy_status mixed(struct kwhy_ops_kit *kit, const struct kwhy_ops_row *row, double *count,
	double *bytes, struct kwhy_error *error)
{
	uint64_t length = kit->host.bytes < MIXED_BYTES ? kit->host.bytes : MIXED_BYTES;
	const struct kwhy_gpu_copy copy = {
		kit->to + kit->bytes - length, kwhy_gpu_address(kit->host.memory), length};
	struct kwhy_gpu *gpu = kit->gpus[0];
	enum kwhy_status status = compute(kit, row, count, bytes, error);

	if (!status)
		status = gpu->ops->copy(gpu, kit->other, &copy, error);
	if (!status)
		status = gpu->ops->synchronize(gpu, kit->other, error);
	*bytes += (double)length;
	return status;
}

static enum kwhy_status collective(struct kwhy_ops_kit *kit, const struct kwhy_ops_row *row, double *count,
	double *bytes, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = kit->gpus[0];
	enum kwhy_status status = KWHY_OK;

	(void)row;
	for (int i = 0; !status && i < SMALL_BATCH; i++) {
		status = kit->group->ops->sum(kit->group, kit->group_places, COLLECTIVE_WORDS, error);
		if (!status)
			status = gpu->ops->synchronize(gpu, kit->stream, error);
	}
	*count += SMALL_BATCH;
	*bytes += SMALL_BATCH * COLLECTIVE_WORDS * 8.0 * kit->group->count;
	return status;
}

/*
 * Rows of arithmetic; `round` is the number of units that a thread does in one round. A fused multiply-add is
 * two FLOP. A tensor instruction of m x n x k is 2 m n k FLOP (integers: OP), shared by 32 threads.
 */
#define ARITHMETIC(id_, title_, unit_, kernel_, architecture_, on_host_, round)                          \
	{                                                                                                \
		.id = id_, .title = title_, .unit = unit_, .class = KWHY_OPS_COMPUTE, .kernel = kernel_, \
		.architecture = architecture_, .on_host = on_host_, .gpus = 1, .thread_count = round,    \
		.issue = compute                                                                         \
	}
#define MEMORY(id_, title_, kernel_, most, each, issue_)                                              \
	{                                                                                             \
		.id = id_, .title = title_, .unit = "B", .class = KWHY_OPS_MEMORY, .kernel = kernel_, \
		.on_host = true, .gpus = 1, .most_bytes = most, .byte_count = each, .issue = issue_   \
	}
#define SMALL(id_, title_, unit_, kernel_, queued_, issue_)                                       \
	{                                                                                         \
		.id = id_, .title = title_, .unit = unit_, .class = KWHY_OPS_SMALL_TRANSFERS,     \
		.kernel = kernel_, .on_host = true, .gpus = 1, .queued = queued_, .issue = issue_ \
	}
#define MOVE(id_, title_, unit_, class_, kernel_, gpus_, issue_)                               \
	{                                                                                      \
		.id = id_, .title = title_, .unit = unit_, .class = class_, .kernel = kernel_, \
		.on_host = true, .gpus = gpus_, .issue = issue_                                \
	}

const struct kwhy_ops_row kwhy_ops_rows[] = {
	ARITHMETIC("fp64", "fp64 multiply-add", "FLOP", "kwhy_ops_fp64", 0, true, 32),
	ARITHMETIC("fp32", "fp32 multiply-add", "FLOP", "kwhy_ops_fp32", 0, true, 32),
	ARITHMETIC("fp16", "fp16 multiply-add, in pairs", "FLOP", "kwhy_ops_fp16", 61, false, 64),
	ARITHMETIC("int32", "int32 multiply-add", "OP", "kwhy_ops_int32", 0, true, 32),
	ARITHMETIC("int8", "int8 products of four", "OP", "kwhy_ops_int8", 61, false, 128),
	ARITHMETIC("fp64-tensor", "fp64 " TENSOR, "FLOP", "kwhy_ops_fp64_tensor", 80, false, 8 * 512 / 32.0),
	ARITHMETIC("tf32-tensor", "tf32 " TENSOR, "FLOP", "kwhy_ops_tf32_tensor", 80, false, 8 * 2048 / 32.0),
	ARITHMETIC("bf16-tensor", "bf16 " TENSOR, "FLOP", "kwhy_ops_bf16_tensor", 80, false, 8 * 4096 / 32.0),
	ARITHMETIC("fp16-tensor", "fp16 " TENSOR, "FLOP", "kwhy_ops_fp16_tensor", 80, false, 8 * 4096 / 32.0),
	ARITHMETIC("fp8-tensor", "fp8 " TENSOR, "FLOP", "kwhy_ops_fp8_tensor", 89, false, 8 * 8192 / 32.0),
	ARITHMETIC("int8-tensor", "int8 " TENSOR, "OP", "kwhy_ops_int8_tensor", 80, false, 8 * 8192 / 32.0),
	MEMORY("memory-read", "device memory, read", "kwhy_ops_read", 0, 1, read_memory),
	MEMORY("memory-write", "device memory, written", "kwhy_ops_write", 0, 1, write_memory),
	MEMORY("memory-copy", "device memory, read and written", "kwhy_ops_copy", 0, 2, copy_memory),
	MEMORY("cache-read", "second-level cache, read", "kwhy_ops_read", L2_BYTES, 1, read_memory),
	SMALL("h2d-small", "40 B to the device, waited for", "transfer", NULL, false, small_in),
	SMALL("d2h-small", "4 B from the device, waited for", "transfer", NULL, false, small_out),
	SMALL("launch", "an empty kernel, waited for", "launch", "kwhy_ops_nothing", false, launch_small),
	SMALL("h2d-queued", "40 B to the device, in a queue", "transfer", NULL, true, small_in),
	SMALL("d2h-queued", "4 B from the device, in a queue", "transfer", NULL, true, small_out),
	SMALL("launch-queued", "an empty kernel, in a queue", "launch", "kwhy_ops_nothing", true,
		launch_small),
	SMALL("graph-kernel", "an empty kernel, in a graph of 20", "kernel", "kwhy_ops_nothing", true,
		launch_graph),
	MOVE("h2d-large", "pinned memory to the device", "B", KWHY_OPS_LARGE_BANDWIDTH, NULL, 1, large_in),
	MOVE("d2h-large", "device to pinned memory", "B", KWHY_OPS_LARGE_BANDWIDTH, NULL, 1, large_out),
	MOVE("peer", "device to the next device", "B", KWHY_OPS_LARGE_BANDWIDTH, NULL, 2, large_peer),
	{.id = "mixed",
		.title = "fp32 while copying to the device",
		.unit = "FLOP",
		.class = KWHY_OPS_MIXED,
		.kernel = "kwhy_ops_fp32",
		.on_host = true,
		.gpus = 1,
		.thread_count = 32,
		.issue = mixed},
	MOVE("collective", "sum of 22 int64, waited for", "collective", KWHY_OPS_COLLECTIVES, NULL, 1,
		collective),
};

const size_t kwhy_ops_row_count = sizeof(kwhy_ops_rows) / sizeof(kwhy_ops_rows[0]);
