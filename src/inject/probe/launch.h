/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_LAUNCH_H
#define KWHY_INJECT_PROBE_LAUNCH_H

#include "inject/probe/context.h"
#include "inject/probe/memory.h"
#include "inject/probe/reasons.h"
#include "vendor/cupti_abi.h"

/* A copy, or a memset of elements of `width` bytes. */
struct kwhy_probe_copy {
	kwhy_cuda_address to, from;
	size_t bytes;	       /* 0: neither */
	unsigned value, width; /* of a memset; 0: a copy */
};

/* A launch of the program, while its call lasts. */
struct kwhy_probe_launch {
	kwhy_cuda_context context;
	uint32_t context_id, correlation;
	kwhy_cuda_function function;
	unsigned grid[3], block[3], shared_bytes;
	kwhy_cuda_stream stream;		      /* as the plain forms of calls take it */
	const struct kwhy_cuda_launch_config *config; /* of cuLaunchKernelEx; NULL: of a plain launch */
	void **arguments, **extra;
	struct kwhy_probe_copy copy; /* instead of a kernel */
	const char *name;
};

/* From what CUPTI tells of cuLaunchKernel, or of cuLaunchKernelEx; of the form for streams of threads or not.
 */
void kwhy_probe_launch_read(struct kwhy_probe_launch *out, const struct kwhy_cupti_callback *data,
	bool is_with, bool is_of_thread);

/* For calls of the plain form, which take NULL for the stream that waits for others. */
kwhy_cuda_stream kwhy_probe_stream_of(kwhy_cuda_stream stream, bool is_of_thread);

/* Why such a launch is not to be repeated, by its attributes. */
enum kwhy_probe_reason kwhy_probe_launch_refuse(
	const struct kwhy_cuda_probe *driver, const struct kwhy_probe_launch *launch);

/* The same kernel again; of its attributes those that tie it to other work are left out. */
enum kwhy_cuda_result kwhy_probe_launch_repeat(
	const struct kwhy_cuda_probe *driver, const struct kwhy_probe_launch *launch);

enum { KWHY_PROBE_RANGES = 256, KWHY_PROBE_POINTERS = 1024 };

struct kwhy_probe_range {
	kwhy_cuda_address address;
	size_t bytes;
};

/* A word of the parameters that is an address, and which word it is: the same in all launches of a kernel. */
struct kwhy_probe_pointer {
	kwhy_cuda_address address;
	uint32_t slot;
};

/* The allocations that the parameters of a launch point into. */
struct kwhy_probe_reach {
	size_t count, pointer_count;
	bool has_lost_pointers; /* there are more */
	uint64_t bytes;
	uint64_t signature; /* of all words that are no addresses */
	struct kwhy_probe_range ranges[KWHY_PROBE_RANGES];
	struct kwhy_probe_pointer pointers[KWHY_PROBE_POINTERS];
};

/*
 * Every aligned word of the parameters that the driver knows as an address counts, also inside structs. Any
 * reason but NONE: the kernel may reach what cannot be copied and put back.
 */
enum kwhy_probe_reason kwhy_probe_reach_read(const struct kwhy_cuda_probe *driver,
	struct kwhy_probe_memory *memory, const struct kwhy_probe_context *probe_context,
	const struct kwhy_probe_launch *launch, struct kwhy_probe_reach *out);

bool kwhy_probe_reach_holds(const struct kwhy_probe_reach *reach, kwhy_cuda_address address);

#endif
