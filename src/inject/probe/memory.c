/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/memory.h"

#include <sched.h>

static void take(struct kwhy_probe_memory *memory)
{
	while (atomic_flag_test_and_set_explicit(&memory->lock, memory_order_acquire))
		sched_yield();
}

static void give(struct kwhy_probe_memory *memory)
{
	atomic_flag_clear_explicit(&memory->lock, memory_order_release);
}

void kwhy_probe_memory_add(struct kwhy_probe_memory *memory, const struct kwhy_probe_allocation *allocation)
{
	take(memory);
	if (memory->allocation_count < KWHY_PROBE_ALLOCATIONS)
		memory->allocations[memory->allocation_count++] = *allocation;
	else
		memory->is_incomplete = true;
	give(memory);
}

void kwhy_probe_memory_remove(struct kwhy_probe_memory *memory, kwhy_cuda_address address, size_t bytes)
{
	take(memory);
	for (size_t i = memory->allocation_count; i-- > 0;) {
		const kwhy_cuda_address at = memory->allocations[i].address;

		if (at == address || (at > address && at < address + bytes))
			memory->allocations[i] = memory->allocations[--memory->allocation_count];
	}
	give(memory);
}

static struct kwhy_probe_allocation *holding(struct kwhy_probe_memory *memory, kwhy_cuda_address address)
{
	for (size_t i = 0; i < memory->allocation_count; i++)
		if (address - memory->allocations[i].address < memory->allocations[i].bytes)
			return &memory->allocations[i];
	return NULL;
}

void kwhy_probe_memory_share(struct kwhy_probe_memory *memory, kwhy_cuda_address address)
{
	const struct kwhy_probe_allocation unknown = {.address = address, .bytes = 1, .is_shared = true};
	struct kwhy_probe_allocation *allocation;

	take(memory);
	allocation = holding(memory, address);
	if (allocation)
		allocation->is_shared = true;
	give(memory);
	if (!allocation)
		kwhy_probe_memory_add(memory, &unknown);
}

bool kwhy_probe_memory_find(
	struct kwhy_probe_memory *memory, kwhy_cuda_address address, struct kwhy_probe_allocation *out)
{
	const struct kwhy_probe_allocation *allocation;

	take(memory);
	allocation = holding(memory, address);
	if (allocation)
		*out = *allocation;
	give(memory);
	return allocation != NULL;
}

size_t kwhy_probe_memory_list(struct kwhy_probe_memory *memory, kwhy_cuda_context context,
	struct kwhy_probe_allocation *out, size_t space)
{
	size_t count = 0;

	take(memory);
	for (size_t i = 0; i < memory->allocation_count && count < space; i++)
		if (!memory->allocations[i].is_shared &&
			(!memory->allocations[i].context || memory->allocations[i].context == context))
			out[count++] = memory->allocations[i];
	give(memory);
	return count;
}

void kwhy_probe_memory_add_stream(
	struct kwhy_probe_memory *memory, kwhy_cuda_context context, kwhy_cuda_stream stream)
{
	take(memory);
	if (memory->stream_count < KWHY_PROBE_STREAMS) {
		memory->streams[memory->stream_count].context = context;
		memory->streams[memory->stream_count++].stream = stream;
	} else {
		memory->has_lost_streams = true;
	}
	give(memory);
}

void kwhy_probe_memory_remove_stream(struct kwhy_probe_memory *memory, kwhy_cuda_stream stream)
{
	take(memory);
	for (size_t i = memory->stream_count; i-- > 0;)
		if (memory->streams[i].stream == stream)
			memory->streams[i] = memory->streams[--memory->stream_count];
	give(memory);
}

void kwhy_probe_memory_remove_context(struct kwhy_probe_memory *memory, kwhy_cuda_context context)
{
	take(memory);
	for (size_t i = memory->stream_count; i-- > 0;)
		if (memory->streams[i].context == context)
			memory->streams[i] = memory->streams[--memory->stream_count];
	for (size_t i = memory->allocation_count; i-- > 0;)
		if (memory->allocations[i].context == context)
			memory->allocations[i] = memory->allocations[--memory->allocation_count];
	give(memory);
}

size_t kwhy_probe_memory_streams(
	struct kwhy_probe_memory *memory, kwhy_cuda_context context, kwhy_cuda_stream *out, size_t space)
{
	size_t count = 0;

	take(memory);
	for (size_t i = 0; i < memory->stream_count && count < space; i++)
		if (memory->streams[i].context == context)
			out[count++] = memory->streams[i].stream;
	give(memory);
	return count;
}
