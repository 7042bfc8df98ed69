/* SPDX-License-Identifier: Apache-2.0 */
/* What a stream of the host does: copies, fills, kernels. */
#include "gpu/host.h"

#include <stdlib.h>
#include <string.h>

static void *memory_at(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

static void copy_one(const struct kwhy_gpu_copy *copy)
{
	if (copy->bytes > 0)
		memmove(memory_at(copy->to), memory_at(copy->from), copy->bytes);
}

enum kwhy_status kwhy_gpu_host_copy_now(
	struct kwhy_gpu *gpu, const struct kwhy_gpu_copy *copy, struct kwhy_error *error)
{
	(void)gpu;
	(void)error;
	copy_one(copy);
	return KWHY_OK;
}

static void run_copy(const struct kwhy_gpu_host_operation *operation)
{
	copy_one(&operation->copy);
}

enum kwhy_status kwhy_gpu_host_copy(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	const struct kwhy_gpu_copy *copy, struct kwhy_error *error)
{
	static const struct kwhy_gpu_host_verb verb = {.run = run_copy, .recordable = true};
	struct kwhy_gpu_host_operation operation = {.verb = &verb, .copy = *copy};

	return kwhy_gpu_host_queue(gpu, stream, &operation, error);
}

static void run_batch(const struct kwhy_gpu_host_operation *operation)
{
	for (size_t i = 0; i < operation->batch.count; i++)
		copy_one(&operation->batch.copies[i]);
}

static void drop_batch(struct kwhy_gpu_host_operation *operation)
{
	free(operation->batch.copies);
}

enum kwhy_status kwhy_gpu_host_copy_batch(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	const struct kwhy_gpu_copy *copies, size_t count, struct kwhy_error *error)
{
	static const struct kwhy_gpu_host_verb verb = {
		.run = run_batch, .drop = drop_batch, .recordable = true};
	struct kwhy_gpu_host_operation operation = {.verb = &verb, .batch = {.count = count}};

	if (count == 0)
		return KWHY_OK;
	operation.batch.copies = malloc(count * sizeof(*copies));
	if (!operation.batch.copies)
		return kwhy_fail_memory(error, "a batch of copies");
	memcpy(operation.batch.copies, copies, count * sizeof(*copies));
	return kwhy_gpu_host_queue(gpu, stream, &operation, error);
}

static void run_fill(const struct kwhy_gpu_host_operation *operation)
{
	if (operation->fill.bytes > 0)
		memset(memory_at(operation->fill.address), operation->fill.value, operation->fill.bytes);
}

enum kwhy_status kwhy_gpu_host_fill(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, uint64_t address,
	uint8_t value, size_t bytes, struct kwhy_error *error)
{
	static const struct kwhy_gpu_host_verb verb = {.run = run_fill, .recordable = true};
	struct kwhy_gpu_host_operation operation = {
		.verb = &verb, .fill = {.address = address, .bytes = bytes, .value = value}};

	return kwhy_gpu_host_queue(gpu, stream, &operation, error);
}

static void run_launch(const struct kwhy_gpu_host_operation *operation)
{
	uint64_t values[KWHY_GPU_HOST_ARGUMENTS_MOST];
	void *arguments[KWHY_GPU_HOST_ARGUMENTS_MOST];

	/* A kernel may change its arguments, which a graph needs again. */
	memcpy(values, operation->launch.arguments, sizeof(values));
	for (uint32_t i = 0; i < operation->launch.argument_count; i++)
		arguments[i] = &values[i];
	operation->launch.run(&operation->launch.grid, arguments);
}

enum kwhy_status kwhy_gpu_host_launch(
	struct kwhy_gpu *gpu, const struct kwhy_gpu_launch *launch, struct kwhy_error *error)
{
	static const struct kwhy_gpu_host_verb verb = {.run = run_launch, .recordable = true};
	const struct kwhy_gpu_host_kernel *kernel = (const void *)launch->kernel;
	size_t count = strlen(kernel->arguments);
	struct kwhy_gpu_host_operation operation = {
		.verb = &verb,
		.launch = {.run = kernel->run,
			.grid = {.blocks = launch->blocks,
				.threads_per_block = launch->threads_per_block,
				.shared_bytes = launch->shared_bytes},
			.argument_count = (uint32_t)count},
	};

	if (count > KWHY_GPU_HOST_ARGUMENTS_MOST || launch->blocks == 0 || launch->threads_per_block == 0)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the host cannot launch %s with %u blocks of %u threads and %zu arguments; give at "
			"least "
			"one of each and at most %d arguments",
			kernel->name, launch->blocks, launch->threads_per_block, count,
			(int)KWHY_GPU_HOST_ARGUMENTS_MOST);
	for (size_t i = 0; i < count; i++)
		memcpy(&operation.launch.arguments[i], launch->arguments[i],
			(size_t)(kernel->arguments[i] - '0'));
	return kwhy_gpu_host_queue(gpu, launch->stream, &operation, error);
}
