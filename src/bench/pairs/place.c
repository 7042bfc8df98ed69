/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/place.h"

#include "base/clock.h"
#include "bench/gpu_list.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

/* Flags have an allocation of their own: what is shared with other processes is shared whole. */
enum { SEED_STEP = 7919, FLAG_BYTES = 256, FLAG_ROOM_BYTES = 2 << 20 };

#define HOST_WAIT_NS INT64_C(4000000000)

extern const char kwhy_kernels_pair[];

bool kwhy_pair_flag_wait(const uint64_t *flag, uint64_t wanted, uint64_t *late)
{
	int64_t end_ns = kwhy_clock_mono_ns() + HOST_WAIT_NS;

	while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) < wanted) {
		if (kwhy_clock_mono_ns() > end_ns)
			__atomic_store_n(late, 1, __ATOMIC_RELAXED);
		if (__atomic_load_n(late, __ATOMIC_RELAXED))
			return false;
		sched_yield();
	}
	return true;
}

bool kwhy_pair_is_own(const struct kwhy_pair_place *place, uint32_t i)
{
	return !place->ranks || i == place->own;
}

uint32_t kwhy_pair_first_own(const struct kwhy_pair_place *place)
{
	return place->ranks ? place->own : 0;
}

static uint64_t long_at(void **arguments, size_t place)
{
	return *(const uint64_t *)arguments[place];
}

static void *place_at(void **arguments, size_t place)
{
	return kwhy_gpu_at(long_at(arguments, place));
}

static void run_put(const struct kwhy_gpu_grid *grid, void **arguments)
{
	uint64_t *theirs = place_at(arguments, 3), *mine = place_at(arguments, 4),
		 *late = place_at(arguments, 8), first = long_at(arguments, 5);
	uint32_t rounds = *(const uint32_t *)arguments[6], leads = *(const uint32_t *)arguments[7];

	(void)grid;
	for (uint32_t round = 0; round < rounds; round++) {
		if ((!leads || round > 0) &&
			!kwhy_pair_flag_wait(mine, first + round + (leads ? 0 : 1), late))
			return;
		memcpy(place_at(arguments, 0), place_at(arguments, 1), long_at(arguments, 2));
		__atomic_store_n(theirs, first + round + 1, __ATOMIC_RELEASE);
	}
	if (leads)
		kwhy_pair_flag_wait(mine, first + rounds, late);
}

static const struct kwhy_gpu_host_kernel on_host[] = {
	{"kwhy_pair_put", run_put, {8, 8, 8, 8, 8, 8, 4, 4, 8}}, {.name = NULL}};

const struct kwhy_gpu_source kwhy_pair_source = {
	.title = "pair.cu", .text = kwhy_kernels_pair, .on_host = on_host};

enum kwhy_status kwhy_pair_turn(const struct kwhy_bench_room *room, struct kwhy_error *error)
{
	return room->gpu->ops->enter(room->gpu, error);
}

static enum kwhy_status make_put(struct kwhy_pair_place *place, uint32_t i, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = place->rooms[i]->gpu;
	enum kwhy_status status = gpu->ops->module_new(gpu, &kwhy_pair_source, &place->modules[i], error);

	return status
		? status
		: gpu->ops->kernel_find(gpu, place->modules[i], "kwhy_pair_put", &place->puts[i], error);
}

static enum kwhy_status make_room(struct kwhy_pair_place *place, uint32_t i, struct kwhy_gpu *gpu,
	size_t capacity, uint64_t seed, struct kwhy_error *error)
{
	struct kwhy_error why;
	enum kwhy_status status = kwhy_bench_room_new(
		gpu, capacity, (uint32_t)seed + i * SEED_STEP, &place->rooms[i], error);

	if (status) {
		gpu->ops->close(gpu);
		return status;
	}
	place->count = i + 1;
	status = gpu->ops->memory_new(gpu, FLAG_ROOM_BYTES, &place->flags[i], error);
	if (!status)
		status = gpu->ops->fill(gpu, NULL, place->flags[i], 0, FLAG_BYTES, error);
	if (!status)
		status = gpu->ops->synchronize(gpu, NULL, error);
	if (!status && make_put(place, i, &why))
		snprintf(place->no_put, sizeof(place->no_put), "%.199s", why.text);
	return status;
}

/* The GPU is the room's, or closed. */
static enum kwhy_status move_in(struct kwhy_pair_place *place, uint32_t i, struct kwhy_gpu *gpu,
	size_t capacity, uint64_t seed, struct kwhy_error *error)
{
	enum kwhy_status status = gpu->ops->enter(gpu, error);

	if (status) {
		gpu->ops->close(gpu);
		return status;
	}
	return make_room(place, i, gpu, capacity, seed, error);
}

enum kwhy_status kwhy_pair_place_open(struct kwhy_pair_place *place, uint32_t i,
	enum kwhy_gpu_backend backend, const char *device, size_t capacity, uint64_t seed,
	struct kwhy_error *error)
{
	struct kwhy_gpu *gpu;
	enum kwhy_status status = kwhy_gpu_open(backend, device, &gpu, error);

	return status ? status : move_in(place, i, gpu, capacity, seed, error);
}

static enum kwhy_status open_gpus(enum kwhy_gpu_backend backend, const char *const *devices, uint32_t count,
	struct kwhy_bench_gpus *out, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	char number[16];

	out->count = 0;
	for (uint32_t i = 0; !status && i < count; i++) {
		snprintf(number, sizeof(number), "%u", (unsigned)i);
		status = kwhy_bench_gpus_add(out, backend, devices ? devices[i] : number, error);
	}
	return status;
}

static void learn_peers(struct kwhy_pair_place *place)
{
	struct kwhy_error error;

	for (uint32_t i = 0; i < place->count; i++)
		for (uint32_t k = 0; k < place->count; k++) {
			struct kwhy_gpu *gpu = place->rooms[i]->gpu, *other = place->rooms[k]->gpu;

			if (i != k && !kwhy_pair_turn(place->rooms[i], &error))
				place->is_direct[i][k] = !gpu->ops->peer_enable(gpu, other, &error);
		}
}

enum kwhy_status kwhy_pair_place_init(enum kwhy_gpu_backend backend, const char *const *devices,
	uint32_t count, size_t capacity, uint64_t seed, struct kwhy_pair_place *out, struct kwhy_error *error)
{
	struct kwhy_bench_gpus gpus;
	enum kwhy_status status = open_gpus(backend, devices, count, &gpus, error);
	uint32_t i = 0;

	*out = (struct kwhy_pair_place){.count = 0};
	for (; !status && i < gpus.count; i++)
		status = move_in(out, i, gpus.items[i], capacity, seed, error);
	if (status) {
		for (; i < gpus.count; i++)
			gpus.items[i]->ops->close(gpus.items[i]);
		kwhy_pair_place_done(out);
	} else
		learn_peers(out);
	return status;
}

void kwhy_pair_place_done(struct kwhy_pair_place *place)
{
	struct kwhy_error error;

	kwhy_pair_nccl_stop(place);
	for (uint32_t i = 0; i < place->count; i++) {
		struct kwhy_gpu *gpu;

		if (!kwhy_pair_is_own(place, i) || !place->rooms[i])
			continue;
		gpu = place->rooms[i]->gpu;
		if (!gpu->ops->enter(gpu, &error)) {
			gpu->ops->module_free(gpu, place->modules[i]);
			gpu->ops->module_free(gpu, place->together_modules[i]);
			gpu->ops->memory_free(gpu, place->flags[i]);
			kwhy_bench_room_free(place->rooms[i]);
		}
		gpu->ops->close(gpu);
	}
	place->count = 0;
}
