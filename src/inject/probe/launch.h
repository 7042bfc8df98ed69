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
	size_t bytes;	       /* size in bytes; 0: the launch is neither a copy nor a memset */
	unsigned value, width; /* value and element bytes of a memset; width 0: the launch is a copy */
};

/*
 * A launch, copy or memset by the program, as the prober repeats it. Its pointers are valid only during the
 * program's call.
 */
struct kwhy_probe_launch {
	kwhy_cuda_context context;
	uint32_t context_id, correlation;
	kwhy_cuda_function function;
	unsigned grid[3], block[3], shared_bytes;
	kwhy_cuda_stream stream;		      /* the stream, converted by kwhy_probe_stream_of() */
	const struct kwhy_cuda_launch_config *config; /* configuration that the program passed to
							 cuLaunchKernelEx; NULL: it called cuLaunchKernel */
	void **arguments, **extra;
	struct kwhy_probe_copy copy; /* the copy or memset, if the launch is no kernel */
	const char *name;
};

/*
 * Reads a launch from the parameters that CUPTI reports for cuLaunchKernel or, with `is_with`, for
 * cuLaunchKernelEx. `is_of_thread`: the call takes stream NULL as the calling thread's own default stream.
 */
void kwhy_probe_launch_read(struct kwhy_probe_launch *out, const struct kwhy_cupti_callback *data,
	bool is_with, bool is_of_thread);

/*
 * Converts the stream of the program's call for the prober's calls, which take NULL as the legacy default
 * stream: if `is_of_thread`, NULL becomes the handle of the thread's own default stream.
 */
kwhy_cuda_stream kwhy_probe_stream_of(kwhy_cuda_stream stream, bool is_of_thread);

/*
 * The reason why a launch cannot be repeated, judged by its attributes; KWHY_PROBE_NONE: it can be repeated.
 */
enum kwhy_probe_reason kwhy_probe_launch_refuse(
	const struct kwhy_cuda_probe *driver, const struct kwhy_probe_launch *launch);

/*
 * Launches the same kernel, copy or memset again, without those launch attributes that refer to other work,
 * such as programmatic dependent launch and events.
 */
enum kwhy_cuda_result kwhy_probe_launch_repeat(
	const struct kwhy_cuda_probe *driver, const struct kwhy_probe_launch *launch);

enum { KWHY_PROBE_RANGES = 256, KWHY_PROBE_POINTERS = 1024 };

struct kwhy_probe_range {
	kwhy_cuda_address address;
	size_t bytes;
};

/*
 * An aligned 8-byte word in a kernel's parameters that is a device address. `slot` says where in the
 * parameters it is, and is the same in all launches of the kernel.
 */
struct kwhy_probe_pointer {
	kwhy_cuda_address address;
	uint32_t slot;
};

/*
 * The memory that a launch reaches: the allocations into which words of its parameters point (ranges), and
 * these words (pointers).
 */
struct kwhy_probe_reach {
	size_t count, pointer_count;
	bool has_lost_pointers; /* the parameters have more addresses than fit in `pointers` */
	uint64_t bytes;
	uint64_t signature; /* hash of all words of the parameters that are no addresses; launches with equal
			       signatures probably access memory alike */
	struct kwhy_probe_range ranges[KWHY_PROBE_RANGES];
	struct kwhy_probe_pointer pointers[KWHY_PROBE_POINTERS];
};

/*
 * Finds the allocations that a launch may reach. Every aligned word of its parameters, also inside structs,
 * counts as an address if it lies in an allocation that the driver or `memory` knows. Any result other than
 * KWHY_PROBE_NONE says why the reached memory cannot be copied and restored.
 */
enum kwhy_probe_reason kwhy_probe_reach_read(const struct kwhy_cuda_probe *driver,
	struct kwhy_probe_memory *memory, const struct kwhy_probe_context *probe_context,
	const struct kwhy_probe_launch *launch, struct kwhy_probe_reach *out);

/*
 * Whether the device may read and write the memory. Memory from cuMemAlloc() always counts as accessible.
 * Memory that was mapped (cuMemMap()) may belong to another device, or have no access rights yet.
 */
bool kwhy_probe_reach_may_read(const struct kwhy_cuda_probe *driver,
	const struct kwhy_probe_allocation *allocation, kwhy_cuda_device device);

bool kwhy_probe_reach_holds(const struct kwhy_probe_reach *reach, kwhy_cuda_address address);

#endif
