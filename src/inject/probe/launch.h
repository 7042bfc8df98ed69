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
	size_t bytes;	       /* 0: the launch is neither copy nor memset */
	unsigned value, width; /* value and element bytes of a memset; width 0: a copy */
};

/* A launch by the program; valid during its call. */
struct kwhy_probe_launch {
	kwhy_cuda_context context;
	uint32_t context_id, correlation;
	kwhy_cuda_function function;
	unsigned grid[3], block[3], shared_bytes;
	kwhy_cuda_stream stream; /* as the forms of calls without _ptsz take it */
	const struct kwhy_cuda_launch_config
		*config; /* configuration of cuLaunchKernelEx; NULL: cuLaunchKernel */
	void **arguments, **extra;
	struct kwhy_probe_copy copy; /* valid if the launch is a copy or memset, not a kernel */
	const char *name;
};

/*
 * Reads the parameters that CUPTI reports of cuLaunchKernel or, with `is_with`, of cuLaunchKernelEx;
 * `is_of_thread`: of their forms whose stream NULL is the thread's.
 */
void kwhy_probe_launch_read(struct kwhy_probe_launch *out, const struct kwhy_cupti_callback *data,
	bool is_with, bool is_of_thread);

/* Converts a stream for calls without _ptsz, which take NULL as the legacy default stream. */
kwhy_cuda_stream kwhy_probe_stream_of(kwhy_cuda_stream stream, bool is_of_thread);

/* Why a launch cannot be repeated, judged by its attributes; NONE: it can. */
enum kwhy_probe_reason kwhy_probe_launch_refuse(
	const struct kwhy_cuda_probe *driver, const struct kwhy_probe_launch *launch);

/* Launches the same kernel again, without the attributes that tie it to other work. */
enum kwhy_cuda_result kwhy_probe_launch_repeat(
	const struct kwhy_cuda_probe *driver, const struct kwhy_probe_launch *launch);

enum { KWHY_PROBE_RANGES = 256, KWHY_PROBE_POINTERS = 1024 };

struct kwhy_probe_range {
	kwhy_cuda_address address;
	size_t bytes;
};

/*
 * A word of the parameters that is an address, and the word's index, which is the same in all launches of a
 * kernel.
 */
struct kwhy_probe_pointer {
	kwhy_cuda_address address;
	uint32_t slot;
};

/* The allocations that the parameters of a launch point into. */
struct kwhy_probe_reach {
	size_t count, pointer_count;
	bool has_lost_pointers; /* there were more than fit */
	uint64_t bytes;
	uint64_t signature; /* hash of all words that are not addresses */
	struct kwhy_probe_range ranges[KWHY_PROBE_RANGES];
	struct kwhy_probe_pointer pointers[KWHY_PROBE_POINTERS];
};

/*
 * Treats every aligned word of the parameters that the driver knows as an address as a pointer, also inside
 * structs. A reason other than NONE: the kernel may reach memory that cannot be copied and restored.
 */
enum kwhy_probe_reason kwhy_probe_reach_read(const struct kwhy_cuda_probe *driver,
	struct kwhy_probe_memory *memory, const struct kwhy_probe_context *probe_context,
	const struct kwhy_probe_launch *launch, struct kwhy_probe_reach *out);

bool kwhy_probe_reach_holds(const struct kwhy_probe_reach *reach, kwhy_cuda_address address);

#endif
