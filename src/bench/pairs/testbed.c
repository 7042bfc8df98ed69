/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/testbed.h"

#include "base/clock.h"
#include "bench/gpu_list.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

/*
 * FLAG_BYTES: size of a GPU's flags in bytes. Their allocation has FLAG_SPACE_BYTES and holds nothing else,
 * since only whole allocations can be shared with other processes.
 */
enum { SEED_STEP = 7919, FLAG_BYTES = 256, FLAG_SPACE_BYTES = 2 << 20 };

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

bool kwhy_pair_is_own(const struct kwhy_pair_testbed *testbed, uint32_t i)
{
	return !testbed->ranks || i == testbed->own;
}

uint32_t kwhy_pair_first_own(const struct kwhy_pair_testbed *testbed)
{
	return testbed->ranks ? testbed->own : 0;
}

static uint64_t long_at(void **arguments, size_t testbed)
{
	return *(const uint64_t *)arguments[testbed];
}

static void *place_at(void **arguments, size_t testbed)
{
	return kwhy_gpu_at(long_at(arguments, testbed));
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

enum kwhy_status kwhy_pair_set_current(const struct kwhy_bench_buffers *buffers, struct kwhy_error *error)
{
	return buffers->gpu->ops->enter(buffers->gpu, error);
}

static enum kwhy_status make_put(struct kwhy_pair_testbed *testbed, uint32_t i, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = testbed->gpu_buffers[i]->gpu;
	enum kwhy_status status = gpu->ops->module_new(gpu, &kwhy_pair_source, &testbed->modules[i], error);

	return status
		? status
		: gpu->ops->kernel_find(gpu, testbed->modules[i], "kwhy_pair_put", &testbed->puts[i], error);
}

static enum kwhy_status reserve(struct kwhy_pair_testbed *testbed, uint32_t i, struct kwhy_gpu *gpu,
	size_t capacity, uint64_t seed, struct kwhy_error *error)
{
	struct kwhy_error why;
	enum kwhy_status status = kwhy_bench_buffers_new(
		gpu, capacity, (uint32_t)seed + i * SEED_STEP, &testbed->gpu_buffers[i], error);

	if (status) {
		gpu->ops->close(gpu);
		return status;
	}
	testbed->count = i + 1;
	status = gpu->ops->memory_new(gpu, FLAG_SPACE_BYTES, &testbed->flags[i], error);
	if (!status)
		status = gpu->ops->fill(gpu, NULL, testbed->flags[i], 0, FLAG_BYTES, error);
	if (!status)
		status = gpu->ops->synchronize(gpu, NULL, error);
	if (!status && make_put(testbed, i, &why))
		snprintf(testbed->no_put, sizeof(testbed->no_put), "%.199s", why.text);
	return status;
}

/* Adds an open GPU to the testbed as number `i`; closes it if that fails. */
static enum kwhy_status move_in(struct kwhy_pair_testbed *testbed, uint32_t i, struct kwhy_gpu *gpu,
	size_t capacity, uint64_t seed, struct kwhy_error *error)
{
	enum kwhy_status status = gpu->ops->enter(gpu, error);

	if (status) {
		gpu->ops->close(gpu);
		return status;
	}
	return reserve(testbed, i, gpu, capacity, seed, error);
}

enum kwhy_status kwhy_pair_testbed_open(struct kwhy_pair_testbed *testbed, uint32_t i,
	enum kwhy_gpu_backend backend, const char *device, size_t capacity, uint64_t seed,
	struct kwhy_error *error)
{
	struct kwhy_gpu *gpu;
	enum kwhy_status status = kwhy_gpu_open(backend, device, &gpu, error);

	return status ? status : move_in(testbed, i, gpu, capacity, seed, error);
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

static void learn_peers(struct kwhy_pair_testbed *testbed)
{
	struct kwhy_error error;

	for (uint32_t i = 0; i < testbed->count; i++)
		for (uint32_t k = 0; k < testbed->count; k++) {
			struct kwhy_gpu *gpu = testbed->gpu_buffers[i]->gpu,
					*other = testbed->gpu_buffers[k]->gpu;

			if (i != k && !kwhy_pair_set_current(testbed->gpu_buffers[i], &error))
				testbed->is_direct[i][k] = !gpu->ops->peer_enable(gpu, other, &error);
		}
}

enum kwhy_status kwhy_pair_testbed_init(enum kwhy_gpu_backend backend, const char *const *devices,
	uint32_t count, size_t capacity, uint64_t seed, struct kwhy_pair_testbed *out,
	struct kwhy_error *error)
{
	struct kwhy_bench_gpus gpus;
	enum kwhy_status status = open_gpus(backend, devices, count, &gpus, error);
	uint32_t i = 0;

	*out = (struct kwhy_pair_testbed){.count = 0};
	for (; !status && i < gpus.count; i++)
		status = move_in(out, i, gpus.items[i], capacity, seed, error);
	if (status) {
		for (; i < gpus.count; i++)
			gpus.items[i]->ops->close(gpus.items[i]);
		kwhy_pair_testbed_done(out);
	} else
		learn_peers(out);
	return status;
}

void kwhy_pair_testbed_done(struct kwhy_pair_testbed *testbed)
{
	struct kwhy_error error;

	kwhy_pair_nccl_stop(testbed);
	for (uint32_t i = 0; i < testbed->count; i++) {
		struct kwhy_gpu *gpu;

		if (!kwhy_pair_is_own(testbed, i) || !testbed->gpu_buffers[i])
			continue;
		gpu = testbed->gpu_buffers[i]->gpu;
		if (!gpu->ops->enter(gpu, &error)) {
			gpu->ops->module_free(gpu, testbed->modules[i]);
			gpu->ops->module_free(gpu, testbed->together_modules[i]);
			gpu->ops->memory_free(gpu, testbed->flags[i]);
			kwhy_bench_buffers_free(testbed->gpu_buffers[i]);
		}
		gpu->ops->close(gpu);
	}
	testbed->count = 0;
}
