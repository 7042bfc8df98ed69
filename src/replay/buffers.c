/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/buffers.h"

#include <string.h>

enum { ALIGN = 4096 };

#define SMALL_BYTES ((uint64_t)256 << 10)
#define RING_BYTES ((uint64_t)256 << 20)

static unsigned size_class(uint64_t bytes)
{
	return 63U - (unsigned)__builtin_clzll(bytes | 1);
}

static struct kwhy_replay_ring *ring_of(
	struct kwhy_replay_buffers *buffers, const struct kwhy_replay_work *work)
{
	return &buffers->rings[work->host == KWHY_GPU_HOST_PINNED][size_class(work->bytes)];
}

static bool has_host(const struct kwhy_replay_work *work)
{
	return work->kind == KWHY_REPLAY_COPY && work->way != KWHY_REPLAY_D2D;
}

/*
 * For each ring, sets `slots` to the number of copies between host and device that use it, and slot_bytes to
 * the size of the largest of them. Returns the size in bytes of the largest copy or fill, at least ALIGN.
 */
static uint64_t survey(struct kwhy_replay_buffers *buffers, const struct kwhy_replay_pattern *pattern)
{
	uint64_t most = ALIGN;

	for (size_t i = 0; i < pattern->work_count; i++) {
		const struct kwhy_replay_work *work = &pattern->works[i];
		struct kwhy_replay_ring *ring;

		if (work->kind == KWHY_REPLAY_KERNEL)
			continue;
		most = work->bytes > most ? work->bytes : most;
		if (!has_host(work))
			continue;
		ring = ring_of(buffers, work);
		ring->slot_bytes = work->bytes > ring->slot_bytes ? work->bytes : ring->slot_bytes;
		ring->slots += ring->slots < UINT32_MAX;
	}
	return most;
}

static enum kwhy_status make_ring(struct kwhy_replay_buffers *buffers, struct kwhy_replay_ring *ring,
	enum kwhy_gpu_host_kind kind, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = buffers->gpu;
	uint64_t most;
	enum kwhy_status status;

	if (!ring->slots)
		return KWHY_OK;
	ring->slot_bytes = (ring->slot_bytes + ALIGN - 1) / ALIGN * ALIGN;
	most = ring->slot_bytes < SMALL_BYTES ? 1 : RING_BYTES / ring->slot_bytes;
	most = most ? most : 1;
	ring->slots = ring->slots > most ? (uint32_t)most : ring->slots;
	status = gpu->ops->host_new(
		gpu, kind, ring->slot_bytes * ring->slots, gpu->facts.numa_node, &ring->host, error);
	if (!status)
		memset(ring->host.memory, 1, ring->slot_bytes * ring->slots);
	return status;
}

enum kwhy_status kwhy_replay_buffers_init(struct kwhy_replay_buffers *buffers, struct kwhy_gpu *gpu,
	const struct kwhy_replay_pattern *pattern, struct kwhy_error *error)
{
	static const enum kwhy_gpu_host_kind kinds[KWHY_REPLAY_HOST_KINDS] = {
		KWHY_GPU_HOST_PAGEABLE, KWHY_GPU_HOST_PINNED};
	uint64_t most;
	enum kwhy_status status;

	memset(buffers, 0, sizeof(*buffers));
	buffers->gpu = gpu;
	most = survey(buffers, pattern);
	status = gpu->ops->memory_new(gpu, most, &buffers->from, error);
	if (!status)
		status = gpu->ops->memory_new(gpu, most, &buffers->to, error);
	for (size_t kind = 0; kind < KWHY_REPLAY_HOST_KINDS; kind++)
		for (size_t i = 0; !status && i < KWHY_REPLAY_SIZES; i++)
			status = make_ring(buffers, &buffers->rings[kind][i], kinds[kind], error);
	return status;
}

void kwhy_replay_buffers_done(struct kwhy_replay_buffers *buffers)
{
	if (!buffers->gpu)
		return;
	buffers->gpu->ops->memory_free(buffers->gpu, buffers->from);
	buffers->gpu->ops->memory_free(buffers->gpu, buffers->to);
	for (size_t kind = 0; kind < KWHY_REPLAY_HOST_KINDS; kind++)
		for (size_t i = 0; i < KWHY_REPLAY_SIZES; i++)
			if (buffers->rings[kind][i].host.memory)
				buffers->gpu->ops->host_free(buffers->gpu, &buffers->rings[kind][i].host);
	buffers->gpu = NULL;
}

struct kwhy_gpu_copy kwhy_replay_buffers_take(
	struct kwhy_replay_buffers *buffers, const struct kwhy_replay_work *work)
{
	struct kwhy_gpu_copy copy = {buffers->to, buffers->from, work->bytes};
	struct kwhy_replay_ring *ring;
	uint64_t place;

	if (!has_host(work))
		return copy;
	ring = ring_of(buffers, work);
	place = kwhy_gpu_address(ring->host.memory) +
		atomic_fetch_add_explicit(&ring->next, 1, memory_order_relaxed) % ring->slots *
			ring->slot_bytes;
	if (work->way == KWHY_REPLAY_H2D)
		copy.from = place;
	else
		copy.to = place;
	return copy;
}
