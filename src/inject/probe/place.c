/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/place.h"

enum { TABLE_CHUNKS = 1 << 22 }; /* 256 GiB */
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
		result = driver->cuModuleGetFunction(&place->chunks, module, "kwhy_probe_chunks");
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

bool kwhy_probe_place_holds(const struct kwhy_probe_place *place, kwhy_cuda_address address)
{
	return (place->sums && address - place->sums < KWHY_PROBE_SUMS_BYTES + place->copies_bytes) ||
		(place->table && address - place->table < TABLE_CHUNKS * sizeof(uint64_t));
}

static unsigned hash_blocks(uint64_t bytes)
{
	const uint64_t wanted = (bytes + HASH_BYTES_PER_BLOCK - 1) / HASH_BYTES_PER_BLOCK;

	return wanted < HASH_BLOCKS_MOST ? (unsigned)wanted : HASH_BLOCKS_MOST;
}

enum kwhy_cuda_result kwhy_probe_place_hash(const struct kwhy_cuda_probe *driver,
	const struct kwhy_probe_place *place, kwhy_cuda_address address, uint64_t bytes, unsigned sum,
	kwhy_cuda_stream stream)
{
	kwhy_cuda_address out = place->sums + sum * sizeof(uint64_t);
	void *arguments[] = {&address, &bytes, &out};

	return driver->cuLaunchKernel(
		place->hash, hash_blocks(bytes), 1, 1, HASH_THREADS, 1, 1, 0, stream, arguments, NULL);
}

bool kwhy_probe_place_has_table(
	const struct kwhy_cuda_probe *driver, struct kwhy_probe_place *place, uint64_t chunks)
{
	if (!place->table && !place->has_no_table)
		place->has_no_table = driver->cuMemAlloc_v2(&place->table, TABLE_CHUNKS * sizeof(uint64_t)) ||
			driver->cuMemHostAlloc(
				(void **)&place->table_host, TABLE_CHUNKS * sizeof(uint64_t), 0);
	return !place->has_no_table && chunks <= TABLE_CHUNKS;
}

enum kwhy_cuda_result kwhy_probe_place_hash_chunks(const struct kwhy_cuda_probe *driver,
	const struct kwhy_probe_place *place, const struct kwhy_probe_chunks *chunks, kwhy_cuda_stream stream)
{
	kwhy_cuda_address address = chunks->address, out = place->sums + chunks->sum * sizeof(uint64_t),
			  table = place->table + chunks->first * sizeof(uint64_t);
	uint64_t bytes = chunks->bytes;
	int64_t factor = chunks->factor;
	void *arguments[] = {&address, &bytes, &out, &table, &factor};

	return driver->cuLaunchKernel(
		place->chunks, hash_blocks(bytes), 1, 1, HASH_THREADS, 1, 1, 0, stream, arguments, NULL);
}
