/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/context.h"

enum { TABLE_CHUNKS = 1 << 22 }; /* largest number of chunks, each of 64 KiB, so that 256 GiB are covered */
enum { HASH_THREADS = 256, HASH_BLOCKS_MAX = 2048, HASH_BYTES_PER_BLOCK = 65536 };
#define USUAL_MAX_BYTES (UINT64_C(1) << 30)
#define MIN_BYTES (UINT64_C(2) << 20)

extern const char kwhy_kernels_probe_hash[]; /* the text of hash.ptx */

static enum kwhy_cuda_result load(
	const struct kwhy_cuda_probe *driver, struct kwhy_probe_context *probe_context)
{
	kwhy_cuda_module module;
	enum kwhy_cuda_result result = driver->cuModuleLoadData(&module, kwhy_kernels_probe_hash);

	if (!result)
		result = driver->cuModuleGetFunction(&probe_context->hash, module, "kwhy_probe_hash");
	if (!result)
		result = driver->cuModuleGetFunction(&probe_context->chunks, module, "kwhy_probe_chunks");
	if (!result)
		result = driver->cuEventCreate(&probe_context->start, 0);
	if (!result)
		result = driver->cuEventCreate(&probe_context->end, 0);
	if (!result)
		result = driver->cuMemHostAlloc((void **)&probe_context->sums_host,
			KWHY_PROBE_SUMS * sizeof(*probe_context->sums_host), 0);
	return result;
}

/*
 * Allocates device memory for sums and copies: limit_bytes, but at most 90 % of the free memory; if
 * limit_bytes is 0, 10 % of the free memory, at most 1 GiB. Fails if that is less than 2 MiB.
 */
static enum kwhy_cuda_result take_memory(
	const struct kwhy_cuda_probe *driver, struct kwhy_probe_context *probe_context, uint64_t limit_bytes)
{
	size_t free_bytes = 0, all_bytes = 0;
	enum kwhy_cuda_result result = driver->cuMemGetInfo_v2(&free_bytes, &all_bytes);
	uint64_t bytes = free_bytes / 10 < USUAL_MAX_BYTES ? free_bytes / 10 : USUAL_MAX_BYTES;

	if (limit_bytes)
		bytes = limit_bytes < free_bytes / 10 * 9 ? limit_bytes : free_bytes / 10 * 9;
	bytes -= bytes % MIN_BYTES;
	if (!result && bytes < MIN_BYTES)
		result = KWHY_CUDA_OUT_OF_MEMORY;
	if (!result)
		result = driver->cuMemAlloc_v2(&probe_context->sums, bytes);
	if (!result) {
		probe_context->copies = probe_context->sums + KWHY_PROBE_SUMS_BYTES;
		probe_context->copies_bytes = bytes - KWHY_PROBE_SUMS_BYTES;
	}
	return result;
}

bool kwhy_probe_context_prepare(
	const struct kwhy_cuda_probe *driver, struct kwhy_probe_context *probe_context, uint64_t limit_bytes)
{
	if (probe_context->is_ready || probe_context->has_failed)
		return probe_context->is_ready;
	probe_context->failure = load(driver, probe_context);
	if (!probe_context->failure)
		probe_context->failure = take_memory(driver, probe_context, limit_bytes);
	probe_context->is_ready = !probe_context->failure;
	probe_context->has_failed = !probe_context->is_ready;
	return probe_context->is_ready;
}

bool kwhy_probe_context_holds(const struct kwhy_probe_context *probe_context, kwhy_cuda_address address)
{
	return (probe_context->sums &&
		       address - probe_context->sums < KWHY_PROBE_SUMS_BYTES + probe_context->copies_bytes) ||
		(probe_context->table && address - probe_context->table < TABLE_CHUNKS * sizeof(uint64_t));
}

static unsigned hash_blocks(uint64_t bytes)
{
	const uint64_t wanted = (bytes + HASH_BYTES_PER_BLOCK - 1) / HASH_BYTES_PER_BLOCK;

	return wanted < HASH_BLOCKS_MAX ? (unsigned)wanted : HASH_BLOCKS_MAX;
}

enum kwhy_cuda_result kwhy_probe_context_hash(const struct kwhy_cuda_probe *driver,
	const struct kwhy_probe_context *probe_context, kwhy_cuda_address address, uint64_t bytes,
	unsigned sum, kwhy_cuda_stream stream)
{
	kwhy_cuda_address out = probe_context->sums + sum * sizeof(uint64_t);
	void *arguments[] = {&address, &bytes, &out};

	return driver->cuLaunchKernel(probe_context->hash, hash_blocks(bytes), 1, 1, HASH_THREADS, 1, 1, 0,
		stream, arguments, NULL);
}

bool kwhy_probe_context_has_table(
	const struct kwhy_cuda_probe *driver, struct kwhy_probe_context *probe_context, uint64_t chunks)
{
	if (!probe_context->table && !probe_context->has_no_table)
		probe_context->has_no_table = driver->cuMemAlloc_v2(&probe_context->table,
						      TABLE_CHUNKS * sizeof(uint64_t)) ||
			driver->cuMemHostAlloc(
				(void **)&probe_context->table_host, TABLE_CHUNKS * sizeof(uint64_t), 0);
	return !probe_context->has_no_table && chunks <= TABLE_CHUNKS;
}

enum kwhy_cuda_result kwhy_probe_context_hash_chunks(const struct kwhy_cuda_probe *driver,
	const struct kwhy_probe_context *probe_context, const struct kwhy_probe_chunks *chunks,
	kwhy_cuda_stream stream)
{
	kwhy_cuda_address address = chunks->address,
			  out = probe_context->sums + chunks->sum * sizeof(uint64_t),
			  table = probe_context->table + chunks->first * sizeof(uint64_t);
	uint64_t bytes = chunks->bytes;
	int64_t factor = chunks->factor;
	void *arguments[] = {&address, &bytes, &out, &table, &factor};

	return driver->cuLaunchKernel(probe_context->chunks, hash_blocks(bytes), 1, 1, HASH_THREADS, 1, 1, 0,
		stream, arguments, NULL);
}
