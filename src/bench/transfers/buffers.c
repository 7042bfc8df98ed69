/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/buffers.h"

#include "base/random.h"
#include "bench/transfers/compress.h"
#include "bench/transfers/plan.h"
#include "gpu/numa.h"

#include <stdlib.h>

enum { PAGE_BYTES = 4096, PAGES_MAX = 16384, SLACK_BYTES = 1 << 20, THREADS = 256, BLOCKS_PER_SM = 8 };

static const enum kwhy_gpu_host_kind kinds[KWHY_BENCH_MEMORY_COUNT] = {
	[KWHY_BENCH_PAGEABLE] = KWHY_GPU_HOST_PAGEABLE,
	[KWHY_BENCH_PINNED] = KWHY_GPU_HOST_PINNED,
	[KWHY_BENCH_WRITE_COMBINED] = KWHY_GPU_HOST_WRITE_COMBINED,
	[KWHY_BENCH_REGISTERED] = KWHY_GPU_HOST_REGISTERED,
	[KWHY_BENCH_MANAGED] = KWHY_GPU_HOST_MANAGED,
	[KWHY_BENCH_NEAR] = KWHY_GPU_HOST_PINNED,
	[KWHY_BENCH_FAR] = KWHY_GPU_HOST_PINNED,
};

static enum kwhy_status make_kernels(struct kwhy_bench_buffers *buffers, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = buffers->gpu;
	enum kwhy_status status = gpu->ops->module_new(gpu, &kwhy_bench_source, &buffers->module, error);

	for (int i = 0; !status && i < KWHY_BENCH_KERNEL_COUNT; i++)
		status = gpu->ops->kernel_find(gpu, buffers->module,
			kwhy_bench_kernel_name((enum kwhy_bench_kernel)i), &buffers->kernels[i], error);
	return status;
}

static enum kwhy_status make_events(struct kwhy_bench_buffers *buffers, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = buffers->gpu;
	enum kwhy_status status = gpu->ops->event_new(gpu, false, &buffers->fork, error);

	for (int i = 0; !status && i < KWHY_BENCH_STREAMS; i++) {
		status = gpu->ops->stream_new(gpu, &buffers->streams[i], error);
		if (!status)
			status = gpu->ops->event_new(gpu, false, &buffers->joins[i], error);
	}
	if (!status)
		status = gpu->ops->event_new(gpu, true, &buffers->begin, error);
	if (!status)
		status = gpu->ops->event_new(gpu, true, &buffers->end, error);
	return status ? status : gpu->ops->gate_new(gpu, &buffers->gate, error);
}

enum kwhy_status kwhy_bench_buffers_new(struct kwhy_gpu *gpu, size_t capacity, uint32_t seed,
	struct kwhy_bench_buffers **out, struct kwhy_error *error)
{
	struct kwhy_bench_buffers *buffers = calloc(1, sizeof(*buffers));
	enum kwhy_status status;

	if (!buffers)
		return kwhy_fail_memory(error, "the transfer benchmark");
	buffers->gpu = gpu;
	buffers->capacity = capacity;
	buffers->seed = seed;
	status = make_kernels(buffers, error);
	if (!status)
		status = make_events(buffers, error);
	if (!status)
		status = gpu->ops->memory_new(gpu, sizeof(uint64_t), &buffers->counter, error);
	if (status)
		kwhy_bench_buffers_free(buffers);
	else
		*out = buffers;
	return status;
}

static void free_events(struct kwhy_bench_buffers *buffers)
{
	struct kwhy_gpu *gpu = buffers->gpu;

	gpu->ops->gate_free(gpu, buffers->gate);
	gpu->ops->event_free(gpu, buffers->begin);
	gpu->ops->event_free(gpu, buffers->end);
	gpu->ops->event_free(gpu, buffers->fork);
	for (int i = 0; i < KWHY_BENCH_STREAMS; i++) {
		gpu->ops->event_free(gpu, buffers->joins[i]);
		gpu->ops->stream_free(gpu, buffers->streams[i]);
	}
}

void kwhy_bench_buffers_begin(struct kwhy_bench_buffers *buffers, size_t need)
{
	buffers->use++;
	buffers->need = need;
}

static size_t need_of(const struct kwhy_bench_buffers *buffers)
{
	return buffers->need && buffers->need < buffers->capacity ? buffers->need : buffers->capacity;
}

static void drop_device(struct kwhy_bench_buffers *buffers, int role)
{
	buffers->gpu->ops->memory_free(buffers->gpu, buffers->device[role]);
	buffers->device[role] = 0;
}

static void drop_host(struct kwhy_bench_buffers *buffers, int memory, int role)
{
	if (buffers->host[memory][role].memory)
		buffers->gpu->ops->host_free(buffers->gpu, &buffers->host[memory][role]);
	buffers->host[memory][role] = (struct kwhy_gpu_host){0};
}

/* Frees the buffers that have not been used since the last kwhy_bench_buffers_begin(). */
static void drop_others(struct kwhy_bench_buffers *buffers)
{
	for (int role = 0; role < KWHY_BENCH_ROLE_COUNT; role++) {
		if (buffers->device[role] && buffers->device_buffers[role].use != buffers->use)
			drop_device(buffers, role);
		for (int memory = 0; memory < KWHY_BENCH_MEMORY_COUNT; memory++)
			if (buffers->host_buffers[memory][role].use != buffers->use)
				drop_host(buffers, memory, role);
	}
}

void kwhy_bench_buffers_free(struct kwhy_bench_buffers *buffers)
{
	struct kwhy_gpu *gpu;

	if (!buffers)
		return;
	gpu = buffers->gpu;
	kwhy_bench_packet_free(buffers->packet);
	free(buffers->numbers);
	if (buffers->file)
		fclose(buffers->file);
	free_events(buffers);
	gpu->ops->module_free(gpu, buffers->module);
	gpu->ops->memory_free(gpu, buffers->counter);
	buffers->use++;
	drop_others(buffers);
	free(buffers);
}

/*
 * A function that makes the buffer of `role` with `bytes` bytes, on the device, or on the host in memory of
 * the kind `memory`. KWHY_E_MEMORY: memory is short.
 */
typedef enum kwhy_status try_buffer(
	struct kwhy_bench_buffers *buffers, int memory, int role, size_t bytes, struct kwhy_error *error);

/*
 * Makes a buffer of the full capacity with try(). If that returns KWHY_E_MEMORY, frees unused buffers and
 * tries again, and then tries with only the size that the current work needs. *out_bytes receives the usable
 * size, without the slack.
 */
static enum kwhy_status make_buffer(struct kwhy_bench_buffers *buffers, try_buffer *try, int memory, int role,
	size_t *out_bytes, struct kwhy_error *error)
{
	enum kwhy_status status = try(buffers, memory, role, buffers->capacity + SLACK_BYTES, error);

	*out_bytes = buffers->capacity;
	if (status == KWHY_E_MEMORY) {
		drop_others(buffers);
		status = try(buffers, memory, role, buffers->capacity + SLACK_BYTES, error);
	}
	if (status == KWHY_E_MEMORY && need_of(buffers) < buffers->capacity) {
		*out_bytes = need_of(buffers);
		status = try(buffers, memory, role, *out_bytes + SLACK_BYTES, error);
	}
	return status;
}

static enum kwhy_status try_device(
	struct kwhy_bench_buffers *buffers, int memory, int role, size_t bytes, struct kwhy_error *error)
{
	(void)memory;
	return buffers->gpu->ops->memory_new(buffers->gpu, bytes, &buffers->device[role], error);
}

static enum kwhy_status fill_device(struct kwhy_bench_buffers *buffers, int role, struct kwhy_error *error)
{
	uint64_t bytes = buffers->device_buffers[role].bytes + SLACK_BYTES;
	void *arguments[] = {&buffers->device[role], &bytes, &buffers->seed};
	enum kwhy_status status = kwhy_bench_launch(
		buffers, KWHY_BENCH_KERNEL_PATTERN, bytes / 16, arguments, buffers->streams[0], error);

	return status ? status : buffers->gpu->ops->synchronize(buffers->gpu, buffers->streams[0], error);
}

/*
 * Offset of the work's bytes in a buffer: a pseudo-random page, because the speed of a small copy differs by
 * up to 15 % between pages. The page is in the first half of the buffer, because some strategies use more
 * bytes of the buffer than kwhy_bench_buffers_begin() was told. 0: the work needs more than a quarter of the
 * buffer, half of the buffer is less than a page, or `places` is 0.
 */
static uint64_t place_in(const struct kwhy_bench_buffers *buffers, const struct kwhy_bench_buffer *buffer)
{
	uint64_t random = buffers->places + (uint64_t)((const char *)buffer - (const char *)buffers),
		 pages = buffer->bytes / 2 / PAGE_BYTES;

	if (!buffers->places || need_of(buffers) > buffer->bytes / 4 || pages == 0)
		return 0;
	return kwhy_random_next(&random) % (pages < PAGES_MAX ? pages : PAGES_MAX) * PAGE_BYTES;
}

enum kwhy_status kwhy_bench_device(struct kwhy_bench_buffers *buffers, enum kwhy_bench_role role,
	uint64_t *out_address, struct kwhy_error *error)
{
	struct kwhy_bench_buffer *buffer = &buffers->device_buffers[role];
	enum kwhy_status status = KWHY_OK;

	buffer->use = buffers->use;
	if (buffers->device[role] && buffer->bytes < need_of(buffers))
		drop_device(buffers, role);
	if (!buffers->device[role]) {
		status = make_buffer(buffers, try_device, 0, role, &buffer->bytes, error);
		if (!status && role == KWHY_BENCH_SOURCE)
			status = fill_device(buffers, role, error);
	}
	if (!status)
		*out_address = buffers->device[role] + place_in(buffers, buffer);
	return status;
}

/*
 * Finds the NUMA node for a kind of memory. For near memory it is the device's node, for far memory another
 * node. For other kinds it is the device's node if that is known, otherwise the system's choice.
 * KWHY_E_UNSUPPORTED: near or far memory is requested, and the machine has a single node or the device's node
 * is unknown.
 */
static enum kwhy_status find_node(const struct kwhy_bench_buffers *buffers, enum kwhy_bench_memory memory,
	int *out, struct kwhy_error *error)
{
	int near = buffers->gpu->facts.numa_node;
	struct kwhy_numa numa;

	*out = near;
	if (memory != KWHY_BENCH_NEAR && memory != KWHY_BENCH_FAR)
		return KWHY_OK;
	kwhy_numa_read("/sys", &numa);
	if (numa.count < 2)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "this machine has one NUMA node");
	if (near < 0)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the system does not say which NUMA node the GPU is near to");
	for (uint32_t i = 0; memory == KWHY_BENCH_FAR && i < numa.count; i++)
		if (numa.nodes[i].node != near)
			*out = numa.nodes[i].node;
	return KWHY_OK;
}

static enum kwhy_status try_host(
	struct kwhy_bench_buffers *buffers, int memory, int role, size_t bytes, struct kwhy_error *error)
{
	int node;
	enum kwhy_status status = find_node(buffers, (enum kwhy_bench_memory)memory, &node, error);

	return status ? status
		      : buffers->gpu->ops->host_new(buffers->gpu, kinds[memory], bytes, node,
				&buffers->host[memory][role], error);
}

/*
 * Fills a source buffer in host memory with the pattern by a copy from the device's source buffer. If the CPU
 * wrote it, parts would be in its caches.
 */
static enum kwhy_status fill_host(
	struct kwhy_bench_buffers *buffers, enum kwhy_bench_memory memory, struct kwhy_error *error)
{
	struct kwhy_bench_buffer *buffer = &buffers->host_buffers[memory][KWHY_BENCH_SOURCE];
	struct kwhy_gpu_copy copy = {.to = kwhy_gpu_address(buffers->host[memory][KWHY_BENCH_SOURCE].memory)};
	uint64_t place;
	enum kwhy_status status = kwhy_bench_device(buffers, KWHY_BENCH_SOURCE, &place, error);

	if (status)
		return status;
	if (buffer->bytes > buffers->device_buffers[KWHY_BENCH_SOURCE].bytes)
		buffer->bytes = buffers->device_buffers[KWHY_BENCH_SOURCE].bytes;
	copy.from = buffers->device[KWHY_BENCH_SOURCE];
	copy.bytes = buffer->bytes + SLACK_BYTES;
	return buffers->gpu->ops->copy_now(buffers->gpu, &copy, error);
}

static enum kwhy_status make_host(struct kwhy_bench_buffers *buffers, enum kwhy_bench_memory memory,
	enum kwhy_bench_role role, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (memory == KWHY_BENCH_MANAGED && !buffers->gpu->facts.can_manage)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the driver does not let host and device use managed memory concurrently");
	status = make_buffer(
		buffers, try_host, (int)memory, (int)role, &buffers->host_buffers[memory][role].bytes, error);
	if (status || role != KWHY_BENCH_SOURCE)
		return status;
	status = fill_host(buffers, memory, error);
	if (status)
		drop_host(buffers, (int)memory, (int)role);
	return status;
}

enum kwhy_status kwhy_bench_host(struct kwhy_bench_buffers *buffers, enum kwhy_bench_memory memory,
	enum kwhy_bench_role role, struct kwhy_gpu_host *out, struct kwhy_error *error)
{
	struct kwhy_bench_buffer *buffer = &buffers->host_buffers[memory][role];
	enum kwhy_status status = KWHY_OK;
	uint64_t place;

	buffer->use = buffers->use;
	if (buffers->host[memory][role].memory && buffer->bytes < need_of(buffers))
		drop_host(buffers, (int)memory, (int)role);
	if (!buffers->host[memory][role].memory)
		status = make_host(buffers, memory, role, error);
	if (status)
		return status;
	place = place_in(buffers, buffer);
	*out = buffers->host[memory][role];
	out->memory = (char *)out->memory + place;
	out->address += out->address ? place : 0;
	return KWHY_OK;
}

enum kwhy_status kwhy_bench_mapped(struct kwhy_bench_buffers *buffers, enum kwhy_bench_memory memory,
	enum kwhy_bench_role role, uint64_t *out_address, struct kwhy_error *error)
{
	struct kwhy_gpu_host host;
	enum kwhy_status status = kwhy_bench_host(buffers, memory, role, &host, error);

	if (status)
		return status;
	if (!host.address)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "kernels do not reach host memory here");
	*out_address = host.address;
	return KWHY_OK;
}

enum kwhy_status kwhy_bench_launch(struct kwhy_bench_buffers *buffers, enum kwhy_bench_kernel kernel,
	uint64_t items, void **arguments, struct kwhy_gpu_stream *stream, struct kwhy_error *error)
{
	uint64_t most = (uint64_t)BLOCKS_PER_SM *
		(buffers->gpu->facts.sm_count ? buffers->gpu->facts.sm_count : 1),
		 wanted = (items + THREADS - 1) / THREADS;
	struct kwhy_gpu_launch launch = {.kernel = buffers->kernels[kernel],
		.blocks = (uint32_t)(wanted < 1 ? 1
				: wanted > most ? most
						: wanted),
		.threads_per_block = THREADS,
		.arguments = arguments,
		.stream = stream};

	return buffers->gpu->ops->launch(buffers->gpu, &launch, error);
}

enum kwhy_status kwhy_bench_counter_clear(struct kwhy_bench_buffers *buffers, struct kwhy_error *error)
{
	return buffers->gpu->ops->fill(
		buffers->gpu, buffers->streams[0], buffers->counter, 0, sizeof(uint64_t), error);
}

enum kwhy_status kwhy_bench_counter_read(
	struct kwhy_bench_buffers *buffers, uint64_t *out, struct kwhy_error *error)
{
	struct kwhy_gpu_copy copy = {
		.to = kwhy_gpu_address(out), .from = buffers->counter, .bytes = sizeof(*out)};
	enum kwhy_status status = buffers->gpu->ops->synchronize(buffers->gpu, buffers->streams[0], error);

	return status ? status : buffers->gpu->ops->copy_now(buffers->gpu, &copy, error);
}
