/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/place.h"

enum { HASH_THREADS = 256, HASH_BLOCKS_MOST = 2048, HASH_BYTES_PER_BLOCK = 65536 };
#define USUAL_MOST_BYTES (UINT64_C(1) << 30)
#define LEAST_BYTES (UINT64_C(2) << 20)

extern const char kwhy_kernels_probe_hash[]; /* hash.ptx */

static enum kwhy_cuda_result load(const struct kwhy_cuda_probe *driver, struct kwhy_probe_place *place)
{
	kwhy_cuda_module module;
	enum kwhy_cuda_result result = driver->cuModuleLoadData(&module, kwhy_kernels_probe_hash);

	if (!result)
		result = driver->cuModuleGetFunction(&place->hash, module, "kwhy_probe_hash");
	if (!result)
		result = driver->cuEventCreate(&place->start, 0);
	if (!result)
		result = driver->cuEventCreate(&place->end, 0);
	if (!result)
		result = driver->cuMemHostAlloc(
			(void **)&place->sums_host, KWHY_PROBE_SUMS * sizeof(*place->sums_host), 0);
	return result;
}

/* As much as is wanted, or what there is. */
static enum kwhy_cuda_result take_memory(
	const struct kwhy_cuda_probe *driver, struct kwhy_probe_place *place, uint64_t limit_bytes)
{
	size_t free_bytes = 0, all_bytes = 0;
	enum kwhy_cuda_result result = driver->cuMemGetInfo_v2(&free_bytes, &all_bytes);
	uint64_t bytes = free_bytes / 10 < USUAL_MOST_BYTES ? free_bytes / 10 : USUAL_MOST_BYTES;

	if (limit_bytes)
		bytes = limit_bytes < free_bytes / 10 * 9 ? limit_bytes : free_bytes / 10 * 9;
	bytes -= bytes % LEAST_BYTES;
	if (!result && bytes < LEAST_BYTES)
		result = KWHY_CUDA_OUT_OF_MEMORY;
	if (!result)
		result = driver->cuMemAlloc_v2(&place->sums, bytes);
	if (!result) {
		place->copies = place->sums + KWHY_PROBE_SUMS_BYTES;
		place->copies_bytes = bytes - KWHY_PROBE_SUMS_BYTES;
	}
	return result;
}

bool kwhy_probe_place_prepare(
	const struct kwhy_cuda_probe *driver, struct kwhy_probe_place *place, uint64_t limit_bytes)
{
	if (place->is_ready || place->has_failed)
		return place->is_ready;
	place->failure = load(driver, place);
	if (!place->failure)
		place->failure = take_memory(driver, place, limit_bytes);
	place->is_ready = !place->failure;
	place->has_failed = !place->is_ready;
	return place->is_ready;
}

enum kwhy_cuda_result kwhy_probe_place_hash(const struct kwhy_cuda_probe *driver,
	const struct kwhy_probe_place *place, kwhy_cuda_address address, uint64_t bytes, unsigned sum,
	kwhy_cuda_stream stream)
{
	const uint64_t wanted = (bytes + HASH_BYTES_PER_BLOCK - 1) / HASH_BYTES_PER_BLOCK;
	kwhy_cuda_address out = place->sums + sum * sizeof(uint64_t);
	void *arguments[] = {&address, &bytes, &out};

	return driver->cuLaunchKernel(place->hash,
		wanted < HASH_BLOCKS_MOST ? (unsigned)wanted : HASH_BLOCKS_MOST, 1, 1, HASH_THREADS, 1, 1, 0,
		stream, arguments, NULL);
}
