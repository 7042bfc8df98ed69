/* SPDX-License-Identifier: Apache-2.0 */
/* Operations of a host stream: copies, fills and kernels. */
#include "gpu/host.h"

#include <stdlib.h>
#include <string.h>

static void copy_one(const struct kwhy_gpu_copy *copy)
{
	if (copy->bytes > 0)
		memmove(kwhy_gpu_at(copy->to), kwhy_gpu_at(copy->from), copy->bytes);
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
		memset(kwhy_gpu_at(operation->fill.address), operation->fill.value, operation->fill.bytes);
}

enum kwhy_status kwhy_gpu_host_fill(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, uint64_t address,
	uint8_t value, size_t bytes, struct kwhy_error *error)
{
	static const struct kwhy_gpu_host_verb verb = {.run = run_fill, .recordable = true};
	struct kwhy_gpu_host_operation operation = {
		.verb = &verb, .fill = {.address = address, .bytes = bytes, .value = value}};

	return kwhy_gpu_host_queue(gpu, stream, &operation, error);
}

/* Number of 8-byte words that an argument of `bytes` bytes takes in an operation. */
static size_t words_of(uint16_t bytes)
{
	return ((size_t)bytes + 7) / 8;
}

static void run_launch(const struct kwhy_gpu_host_operation *operation)
{
	uint64_t values[KWHY_GPU_HOST_ARGUMENT_BYTES_MAX / 8];
	void *arguments[KWHY_GPU_HOST_ARGUMENTS_MAX];
	size_t used = 0;

	/*
	 * The kernel gets copies of its arguments: the kernel may change its arguments, and a graph launches
	 * the same operation again.
	 */
	memcpy(values, operation->launch.arguments, sizeof(values));
	for (size_t i = 0; operation->launch.argument_bytes[i]; i++) {
		arguments[i] = &values[used];
		used += words_of(operation->launch.argument_bytes[i]);
	}
	operation->launch.run(&operation->launch.grid, arguments);
}

/*
 * Copies a launch's arguments into the operation. false: together they are larger than
 * KWHY_GPU_HOST_ARGUMENT_BYTES_MAX.
 */
static bool take_arguments(
	const struct kwhy_gpu_host_kernel *kernel, void *const *arguments, uint64_t *out_values)
{
	size_t used = 0;

	for (size_t i = 0; kernel->argument_bytes[i]; i++) {
		size_t words = words_of(kernel->argument_bytes[i]);

		if (i == KWHY_GPU_HOST_ARGUMENTS_MAX || used + words > KWHY_GPU_HOST_ARGUMENT_BYTES_MAX / 8)
			return false;
		memcpy(&out_values[used], arguments[i], kernel->argument_bytes[i]);
		used += words;
	}
	return true;
}

enum kwhy_status kwhy_gpu_host_launch(
	struct kwhy_gpu *gpu, const struct kwhy_gpu_launch *launch, struct kwhy_error *error)
{
	static const struct kwhy_gpu_host_verb verb = {.run = run_launch, .recordable = true};
	const struct kwhy_gpu_host_kernel *kernel = (const void *)launch->kernel;
	struct kwhy_gpu_host_operation operation = {
		.verb = &verb,
		.launch = {.run = kernel->run,
			.grid = {.blocks = launch->blocks,
				.threads_per_block = launch->threads_per_block,
				.shared_bytes = launch->shared_bytes},
			.argument_bytes = kernel->argument_bytes},
	};

	if (launch->blocks == 0 || launch->threads_per_block == 0 ||
		!take_arguments(kernel, launch->arguments, operation.launch.arguments))
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the host cannot launch %s with %u blocks of %u threads; give at least one of each, "
			"and %d bytes of arguments at most",
			kernel->name, launch->blocks, launch->threads_per_block,
			(int)KWHY_GPU_HOST_ARGUMENT_BYTES_MAX);
	return kwhy_gpu_host_queue(gpu, launch->stream, &operation, error);
}
