/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_MEMORY_H
#define KWHY_INJECT_PROBE_MEMORY_H

#include "vendor/cuda_probe.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The program's live device memory and its streams, as known from its calls of the driver since its first use
 * of CUDA. Any thread may call these functions. The lock is never held while the driver is called.
 */
enum { KWHY_PROBE_ALLOCATIONS = 8192, KWHY_PROBE_STREAMS = 1024 };

struct kwhy_probe_allocation {
	kwhy_cuda_address address;
	size_t bytes;
	kwhy_cuda_context context; /* context in which the memory was allocated; NULL: it was mapped by
				      cuMemMap(), or is unknown */
	bool is_shared;		   /* shared with another process */
};

struct kwhy_probe_memory {
	atomic_flag lock;
	size_t allocation_count, stream_count;
	bool is_incomplete,
		has_lost_streams; /* is_incomplete: allocations are missing, since `allocations` was full;
				     has_lost_streams: streams are missing, since `streams` was full */
	struct kwhy_probe_allocation allocations[KWHY_PROBE_ALLOCATIONS];
	struct {
		kwhy_cuda_context context;
		kwhy_cuda_stream stream;
	} streams[KWHY_PROBE_STREAMS];
};

void kwhy_probe_memory_add(struct kwhy_probe_memory *memory, const struct kwhy_probe_allocation *allocation);
/*
 * Removes the allocation that begins at `address` and, if `bytes` is above 0, all that begin in the `bytes`
 * bytes from there on, as when mapped memory is unmapped.
 */
void kwhy_probe_memory_remove(struct kwhy_probe_memory *memory, kwhy_cuda_address address, size_t bytes);
/*
 * Marks the allocation that contains the address as shared with another process. If no known allocation
 * contains it, adds an allocation of 1 byte at this address.
 */
void kwhy_probe_memory_share(struct kwhy_probe_memory *memory, kwhy_cuda_address address);

/* Finds the allocation that contains an address. False: no known allocation contains it. */
bool kwhy_probe_memory_find(
	struct kwhy_probe_memory *memory, kwhy_cuda_address address, struct kwhy_probe_allocation *out);

/*
 * Lists the allocations that a kernel of the context may reach: those allocated in the context, and all
 * mapped memory. Returns the number of elements written to out[space].
 */
size_t kwhy_probe_memory_list(struct kwhy_probe_memory *memory, kwhy_cuda_context context,
	struct kwhy_probe_allocation *out, size_t space);

void kwhy_probe_memory_add_stream(
	struct kwhy_probe_memory *memory, kwhy_cuda_context context, kwhy_cuda_stream stream);
void kwhy_probe_memory_remove_stream(struct kwhy_probe_memory *memory, kwhy_cuda_stream stream);
void kwhy_probe_memory_remove_context(struct kwhy_probe_memory *memory, kwhy_cuda_context context);
size_t kwhy_probe_memory_streams(
	struct kwhy_probe_memory *memory, kwhy_cuda_context context, kwhy_cuda_stream *out, size_t space);

#endif
