/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/contents.h"

/*
 * If a kernel reaches more memory than this and it must be restored before each repeat, restoring all of it
 * would take longer than most kernels, so only what it writes is restored.
 */
#define PUT_BACK_MAX_BYTES (UINT64_C(64) << 20)

void kwhy_probe_contents_list_outside(struct kwhy_probe_burst *burst)
{
	const size_t count = kwhy_probe_memory_list(
		burst->memory, burst->launch.context, burst->outside, KWHY_PROBE_ALLOCATIONS);
	kwhy_cuda_device device = 0;

	burst->outside_count = 0;
	if (burst->driver->cuCtxGetDevice(&device))
		return;
	for (size_t i = 0; i < count; i++)
		if (!kwhy_probe_reach_holds(&burst->reach, burst->outside[i].address) &&
			kwhy_probe_reach_may_read(burst->driver, &burst->outside[i], device))
			burst->outside[burst->outside_count++] = burst->outside[i];
}

/*
 * Stores the first failure of a driver call in burst->failure. After a failure, the functions of this file
 * queue no more hashes, but still queue copies, because memory must be restored.
 */
void kwhy_probe_contents_note(struct kwhy_probe_burst *burst, enum kwhy_cuda_result result)
{
	if (result && !burst->failure)
		burst->failure = result;
}

void kwhy_probe_contents_hash_outside(struct kwhy_probe_burst *burst, unsigned sum)
{
	for (size_t i = 0; i < burst->outside_count && !burst->failure; i++)
		kwhy_probe_contents_note(burst,
			kwhy_probe_context_hash(burst->driver, burst->probe_context,
				burst->outside[i].address, burst->outside[i].bytes, sum,
				burst->launch.stream));
}

static void hash_ranges(
	struct kwhy_probe_burst *burst, const struct kwhy_probe_range *ranges, size_t count, unsigned sum)
{
	for (size_t i = 0; i < count && !burst->failure; i++)
		kwhy_probe_contents_note(burst,
			kwhy_probe_context_hash(burst->driver, burst->probe_context, ranges[i].address,
				ranges[i].bytes, sum, burst->launch.stream));
}

void kwhy_probe_contents_hash_inside(struct kwhy_probe_burst *burst, unsigned sum)
{
	hash_ranges(burst, burst->reach.ranges, burst->reach.count, sum);
}

void kwhy_probe_contents_hash_saved(struct kwhy_probe_burst *burst, unsigned sum)
{
	hash_ranges(burst, burst->saved.ranges, burst->saved.count, sum);
}

static uint64_t padded(uint64_t bytes)
{
	return (bytes + 511) & ~UINT64_C(511);
}

bool kwhy_probe_contents_fit(const struct kwhy_probe_burst *burst)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < burst->saved.count; i++)
		bytes += padded(burst->saved.ranges[i].bytes);
	return bytes <= burst->probe_context->copies_bytes / 2;
}

void kwhy_probe_contents_copy(struct kwhy_probe_burst *burst, enum kwhy_probe_stage which, bool is_back)
{
	kwhy_cuda_address at = burst->probe_context->copies +
		(which == KWHY_PROBE_COPY_AFTER ? burst->probe_context->copies_bytes / 2 : 0);

	for (size_t i = 0; i < burst->saved.count; i++) {
		const struct kwhy_probe_range *range = &burst->saved.ranges[i];

		kwhy_probe_contents_note(burst,
			burst->driver->cuMemcpyDtoDAsync_v2(is_back ? range->address : at,
				is_back ? at : range->address, range->bytes, burst->launch.stream));
		at += padded(range->bytes);
	}
}

void kwhy_probe_contents_look(struct kwhy_probe_burst *burst, int64_t factor, unsigned sum)
{
	struct kwhy_probe_chunks chunks = {.factor = factor, .sum = sum};

	for (size_t i = 0; i < burst->reach.count && !burst->failure; i++) {
		chunks.address = burst->reach.ranges[i].address;
		chunks.bytes = burst->reach.ranges[i].bytes;
		kwhy_probe_contents_note(burst,
			kwhy_probe_context_hash_chunks(
				burst->driver, burst->probe_context, &chunks, burst->launch.stream));
		chunks.first += (chunks.bytes + KWHY_PROBE_CHUNK_BYTES - 1) / KWHY_PROBE_CHUNK_BYTES;
	}
}

static void save_all(struct kwhy_probe_burst *burst)
{
	burst->saved.count = burst->reach.count;
	burst->saved.bytes = burst->reach.bytes;
	for (size_t i = 0; i < burst->reach.count; i++)
		burst->saved.ranges[i] = burst->reach.ranges[i];
}

/*
 * Whether only the memory that the kernel writes should be saved, because all that it reaches does not fit
 * into the buffers for the copies, or takes too long to restore before each repeat.
 */
static bool is_large(const struct kwhy_probe_burst *burst)
{
	return !kwhy_probe_contents_fit(burst) ||
		(burst->account->form == KWHY_PROBE_STATEFUL && burst->reach.bytes > PUT_BACK_MAX_BYTES);
}

enum kwhy_probe_reason kwhy_probe_contents_choose(struct kwhy_probe_burst *burst)
{
	const uint64_t chunks = kwhy_probe_writes_chunks(&burst->reach);

	burst->is_looked_at = false;
	burst->writes = NULL;
	burst->saved.count = 0;
	burst->saved.bytes = 0;
	if (burst->launch.copy.bytes)
		return KWHY_PROBE_NONE; /* nothing needs to be saved, because a repeated copy writes the bytes
					   that are already there */
	save_all(burst);
	if (is_large(burst) && !burst->is_of_graph)
		burst->writes = kwhy_probe_writes_of(burst->all_writes, burst->account);
	if (burst->writes && !kwhy_probe_writes_are_regular(burst->writes)) {
		burst->writes = NULL;
		return kwhy_probe_contents_fit(burst) ? KWHY_PROBE_NONE : KWHY_PROBE_WRITES;
	}
	if (burst->writes && !burst->reach.has_lost_pointers &&
		kwhy_probe_context_has_table(burst->driver, burst->probe_context, chunks)) {
		kwhy_probe_writes_predict(burst->writes, &burst->reach, &burst->saved);
		burst->is_looked_at = !kwhy_probe_writes_are_sure(burst->writes, &burst->reach);
	} else {
		burst->writes = NULL;
	}
	return kwhy_probe_contents_fit(burst) ? KWHY_PROBE_NONE : KWHY_PROBE_MEMORY;
}
