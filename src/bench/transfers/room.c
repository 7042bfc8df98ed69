/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/room.h"

#include "bench/transfers/compress.h"
#include "bench/transfers/plan.h"
#include "gpu/numa.h"

#include <stdlib.h>

enum { PAGE_BYTES = 4096, PAGES_MOST = 16384, SLACK_BYTES = 1 << 20, THREADS = 256, BLOCKS_PER_SM = 8 };

static const enum kwhy_gpu_host_kind kinds[KWHY_BENCH_MEMORY_COUNT] = {
	[KWHY_BENCH_PAGEABLE] = KWHY_GPU_HOST_PAGEABLE,
	[KWHY_BENCH_PINNED] = KWHY_GPU_HOST_PINNED,
	[KWHY_BENCH_WRITE_COMBINED] = KWHY_GPU_HOST_WRITE_COMBINED,
	[KWHY_BENCH_REGISTERED] = KWHY_GPU_HOST_REGISTERED,
	[KWHY_BENCH_MANAGED] = KWHY_GPU_HOST_MANAGED,
	[KWHY_BENCH_NEAR] = KWHY_GPU_HOST_PINNED,
	[KWHY_BENCH_FAR] = KWHY_GPU_HOST_PINNED,
};

static enum kwhy_status make_kernels(struct kwhy_bench_room *room, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = room->gpu;
	enum kwhy_status status = gpu->ops->module_new(gpu, &kwhy_bench_source, &room->module, error);

	for (int i = 0; !status && i < KWHY_BENCH_KERNEL_COUNT; i++)
		status = gpu->ops->kernel_find(gpu, room->module,
			kwhy_bench_kernel_name((enum kwhy_bench_kernel)i), &room->kernels[i], error);
	return status;
}

static enum kwhy_status make_events(struct kwhy_bench_room *room, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = room->gpu;
	enum kwhy_status status = gpu->ops->event_new(gpu, false, &room->fork, error);

	for (int i = 0; !status && i < KWHY_BENCH_STREAMS; i++) {
		status = gpu->ops->stream_new(gpu, &room->streams[i], error);
		if (!status)
			status = gpu->ops->event_new(gpu, false, &room->joins[i], error);
	}
	if (!status)
		status = gpu->ops->event_new(gpu, true, &room->begin, error);
	if (!status)
		status = gpu->ops->event_new(gpu, true, &room->end, error);
	return status ? status : gpu->ops->gate_new(gpu, &room->gate, error);
}

enum kwhy_status kwhy_bench_room_new(struct kwhy_gpu *gpu, size_t capacity, uint32_t seed,
	struct kwhy_bench_room **out, struct kwhy_error *error)
{
	struct kwhy_bench_room *room = calloc(1, sizeof(*room));
	enum kwhy_status status;

	if (!room)
		return kwhy_fail_memory(error, "the transfer benchmark");
	room->gpu = gpu;
	room->capacity = capacity;
	room->seed = seed;
	status = make_kernels(room, error);
	if (!status)
		status = make_events(room, error);
	if (!status)
		status = gpu->ops->memory_new(gpu, sizeof(uint64_t), &room->counter, error);
	if (status)
		kwhy_bench_room_free(room);
	else
		*out = room;
	return status;
}

static void free_events(struct kwhy_bench_room *room)
{
	struct kwhy_gpu *gpu = room->gpu;

	gpu->ops->gate_free(gpu, room->gate);
	gpu->ops->event_free(gpu, room->begin);
	gpu->ops->event_free(gpu, room->end);
	gpu->ops->event_free(gpu, room->fork);
	for (int i = 0; i < KWHY_BENCH_STREAMS; i++) {
		gpu->ops->event_free(gpu, room->joins[i]);
		gpu->ops->stream_free(gpu, room->streams[i]);
	}
}

void kwhy_bench_room_turn(struct kwhy_bench_room *room, size_t need)
{
	room->turn++;
	room->need = need;
}

static size_t need_of(const struct kwhy_bench_room *room)
{
	return room->need && room->need < room->capacity ? room->need : room->capacity;
}

static void drop_device(struct kwhy_bench_room *room, int role)
{
	room->gpu->ops->memory_free(room->gpu, room->device[role]);
	room->device[role] = 0;
}

static void drop_host(struct kwhy_bench_room *room, int memory, int role)
{
	if (room->host[memory][role].memory)
		room->gpu->ops->host_free(room->gpu, &room->host[memory][role]);
	room->host[memory][role] = (struct kwhy_gpu_host){0};
}

/* What the work in hand did not ask for. */
static void drop_others(struct kwhy_bench_room *room)
{
	for (int role = 0; role < KWHY_BENCH_ROLE_COUNT; role++) {
		if (room->device[role] && room->device_buffers[role].turn != room->turn)
			drop_device(room, role);
		for (int memory = 0; memory < KWHY_BENCH_MEMORY_COUNT; memory++)
			if (room->host_buffers[memory][role].turn != room->turn)
				drop_host(room, memory, role);
	}
}

void kwhy_bench_room_free(struct kwhy_bench_room *room)
{
	struct kwhy_gpu *gpu;

	if (!room)
		return;
	gpu = room->gpu;
	kwhy_bench_packet_free(room->packet);
	free(room->numbers);
	if (room->file)
		fclose(room->file);
	free_events(room);
	gpu->ops->module_free(gpu, room->module);
	gpu->ops->memory_free(gpu, room->counter);
	room->turn++;
	drop_others(room);
	free(room);
}

/* Tries to make a buffer of that size. */
typedef enum kwhy_status try_buffer(
	struct kwhy_bench_room *room, int memory, int role, size_t bytes, struct kwhy_error *error);

/* As large as can be, down to what the work in hand needs. */
static enum kwhy_status make_buffer(struct kwhy_bench_room *room, try_buffer *try, int memory, int role,
	size_t *out_bytes, struct kwhy_error *error)
{
	enum kwhy_status status = try(room, memory, role, room->capacity + SLACK_BYTES, error);

	*out_bytes = room->capacity;
	if (status == KWHY_E_MEMORY) {
		drop_others(room);
		status = try(room, memory, role, room->capacity + SLACK_BYTES, error);
	}
	if (status == KWHY_E_MEMORY && need_of(room) < room->capacity) {
		*out_bytes = need_of(room);
		status = try(room, memory, role, *out_bytes + SLACK_BYTES, error);
	}
	return status;
}

static enum kwhy_status try_device(
	struct kwhy_bench_room *room, int memory, int role, size_t bytes, struct kwhy_error *error)
{
	(void)memory;
	return room->gpu->ops->memory_new(room->gpu, bytes, &room->device[role], error);
}

static enum kwhy_status fill_device(struct kwhy_bench_room *room, int role, struct kwhy_error *error)
{
	uint64_t bytes = room->device_buffers[role].bytes + SLACK_BYTES;
	void *arguments[] = {&room->device[role], &bytes, &room->seed};
	enum kwhy_status status = kwhy_bench_launch(
		room, KWHY_BENCH_KERNEL_PATTERN, bytes / 16, arguments, room->streams[0], error);

	return status ? status : room->gpu->ops->synchronize(room->gpu, room->streams[0], error);
}

/*
 * How fast a small copy is depends on where it lies, by up to 15 % from page to page. Half of the buffer
 * stays for what lies there, of which some ways need more than they say.
 */
static uint64_t place_in(const struct kwhy_bench_room *room, const struct kwhy_bench_buffer *buffer)
{
	uint64_t random = room->places + (uint64_t)((const char *)buffer - (const char *)room),
		 pages = buffer->bytes / 2 / PAGE_BYTES;

	if (!room->places || need_of(room) > buffer->bytes / 4 || pages == 0)
		return 0;
	return kwhy_bench_random(&random) % (pages < PAGES_MOST ? pages : PAGES_MOST) * PAGE_BYTES;
}

enum kwhy_status kwhy_bench_device(struct kwhy_bench_room *room, enum kwhy_bench_role role,
	uint64_t *out_address, struct kwhy_error *error)
{
	struct kwhy_bench_buffer *buffer = &room->device_buffers[role];
	enum kwhy_status status = KWHY_OK;

	buffer->turn = room->turn;
	if (room->device[role] && buffer->bytes < need_of(room))
		drop_device(room, role);
	if (!room->device[role]) {
		status = make_buffer(room, try_device, 0, role, &buffer->bytes, error);
		if (!status && role == KWHY_BENCH_SOURCE)
			status = fill_device(room, role, error);
	}
	if (!status)
		*out_address = room->device[role] + place_in(room, buffer);
	return status;
}

/*
 * The node that a kind of memory is bound to: the device's own where it is known, as other benchmarks do.
 * KWHY_E_UNSUPPORTED where near and far are asked for and there is one alone.
 */
static enum kwhy_status find_node(
	const struct kwhy_bench_room *room, enum kwhy_bench_memory memory, int *out, struct kwhy_error *error)
{
	int near = room->gpu->facts.numa_node;
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
	struct kwhy_bench_room *room, int memory, int role, size_t bytes, struct kwhy_error *error)
{
	int node;
	enum kwhy_status status = find_node(room, (enum kwhy_bench_memory)memory, &node, error);

	return status ? status
		      : room->gpu->ops->host_new(
				room->gpu, kinds[memory], bytes, node, &room->host[memory][role], error);
}

/* Written by the device, so that no line of it lies in a cache of the CPU's own making. */
static enum kwhy_status fill_host(
	struct kwhy_bench_room *room, enum kwhy_bench_memory memory, struct kwhy_error *error)
{
	struct kwhy_bench_buffer *buffer = &room->host_buffers[memory][KWHY_BENCH_SOURCE];
	struct kwhy_gpu_copy copy = {.to = kwhy_gpu_address(room->host[memory][KWHY_BENCH_SOURCE].memory)};
	uint64_t place;
	enum kwhy_status status = kwhy_bench_device(room, KWHY_BENCH_SOURCE, &place, error);

	if (status)
		return status;
	if (buffer->bytes > room->device_buffers[KWHY_BENCH_SOURCE].bytes)
		buffer->bytes = room->device_buffers[KWHY_BENCH_SOURCE].bytes;
	copy.from = room->device[KWHY_BENCH_SOURCE];
	copy.bytes = buffer->bytes + SLACK_BYTES;
	return room->gpu->ops->copy_now(room->gpu, &copy, error);
}

static enum kwhy_status make_host(struct kwhy_bench_room *room, enum kwhy_bench_memory memory,
	enum kwhy_bench_role role, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (memory == KWHY_BENCH_MANAGED && !room->gpu->facts.can_manage)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the driver does not let host and device use managed memory at once");
	status = make_buffer(
		room, try_host, (int)memory, (int)role, &room->host_buffers[memory][role].bytes, error);
	if (status || role != KWHY_BENCH_SOURCE)
		return status;
	status = fill_host(room, memory, error);
	if (status)
		drop_host(room, (int)memory, (int)role);
	return status;
}

enum kwhy_status kwhy_bench_host(struct kwhy_bench_room *room, enum kwhy_bench_memory memory,
	enum kwhy_bench_role role, struct kwhy_gpu_host *out, struct kwhy_error *error)
{
	struct kwhy_bench_buffer *buffer = &room->host_buffers[memory][role];
	enum kwhy_status status = KWHY_OK;
	uint64_t place;

	buffer->turn = room->turn;
	if (room->host[memory][role].memory && buffer->bytes < need_of(room))
		drop_host(room, (int)memory, (int)role);
	if (!room->host[memory][role].memory)
		status = make_host(room, memory, role, error);
	if (status)
		return status;
	place = place_in(room, buffer);
	*out = room->host[memory][role];
	out->memory = (char *)out->memory + place;
	out->address += out->address ? place : 0;
	return KWHY_OK;
}

enum kwhy_status kwhy_bench_mapped(struct kwhy_bench_room *room, enum kwhy_bench_memory memory,
	enum kwhy_bench_role role, uint64_t *out_address, struct kwhy_error *error)
{
	struct kwhy_gpu_host host;
	enum kwhy_status status = kwhy_bench_host(room, memory, role, &host, error);

	if (status)
		return status;
	if (!host.address)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "kernels do not reach host memory here");
	*out_address = host.address;
	return KWHY_OK;
}

enum kwhy_status kwhy_bench_launch(struct kwhy_bench_room *room, enum kwhy_bench_kernel kernel,
	uint64_t items, void **arguments, struct kwhy_gpu_stream *stream, struct kwhy_error *error)
{
	uint64_t most = (uint64_t)BLOCKS_PER_SM * (room->gpu->facts.sm_count ? room->gpu->facts.sm_count : 1),
		 wanted = (items + THREADS - 1) / THREADS;
	struct kwhy_gpu_launch launch = {.kernel = room->kernels[kernel],
		.blocks = (uint32_t)(wanted < 1 ? 1
				: wanted > most ? most
						: wanted),
		.threads_per_block = THREADS,
		.arguments = arguments,
		.stream = stream};

	return room->gpu->ops->launch(room->gpu, &launch, error);
}

enum kwhy_status kwhy_bench_counter_clear(struct kwhy_bench_room *room, struct kwhy_error *error)
{
	return room->gpu->ops->fill(room->gpu, room->streams[0], room->counter, 0, sizeof(uint64_t), error);
}

enum kwhy_status kwhy_bench_counter_read(
	struct kwhy_bench_room *room, uint64_t *out, struct kwhy_error *error)
{
	struct kwhy_gpu_copy copy = {
		.to = kwhy_gpu_address(out), .from = room->counter, .bytes = sizeof(*out)};
	enum kwhy_status status = room->gpu->ops->synchronize(room->gpu, room->streams[0], error);

	return status ? status : room->gpu->ops->copy_now(room->gpu, &copy, error);
}
