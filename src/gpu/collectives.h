/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_GPU_COLLECTIVES_H
#define KWHY_GPU_COLLECTIVES_H

#include "gpu/gpu.h"

/*
 * Collective operations of a group of members, each with a GPU, a stream and memory of its own. All calls
 * only queue work; an operation is complete for a member when its stream has reached that point. One thread
 * drives all members. Arrays of addresses have one address for each member, in their order.
 */
enum { KWHY_COLLECTIVES_MEMBERS_MAX = 8 };

struct kwhy_collectives_member {
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_stream *stream; /* members on one GPU share one stream */
};

/* Addresses of the rows that a member sends and receives. */
struct kwhy_collectives_edges {
	uint64_t from_first, from_last, to_above, to_below;
};

struct kwhy_collectives;

struct kwhy_collectives_ops {
	const char *name; /* "own", "nccl" */
	void (*free)(struct kwhy_collectives *group);
	/* Sums `count` uint64 of each member in place, modulo 2^64. */
	enum kwhy_status (*sum)(struct kwhy_collectives *group, const uint64_t *places, uint32_t count,
		struct kwhy_error *error);
	enum kwhy_status (*max)(struct kwhy_collectives *group, const uint64_t *places, uint32_t count,
		struct kwhy_error *error);
	/* Sums `count` floats of each member in place; all members get the same bits. */
	enum kwhy_status (*sum_floats)(struct kwhy_collectives *group, const uint64_t *places, uint32_t count,
		struct kwhy_error *error);
	/* Copies `count` floats from member 0 to all others. */
	enum kwhy_status (*broadcast)(struct kwhy_collectives *group, const uint64_t *places, uint32_t count,
		struct kwhy_error *error);
	/*
	 * Copies `count` floats around the ring: each member's `from_last` to `to_above` of the next member,
	 * its `from_first` to `to_below` of the previous one.
	 */
	enum kwhy_status (*exchange)(struct kwhy_collectives *group,
		const struct kwhy_collectives_edges *edges, uint32_t count, struct kwhy_error *error);
	/* Copies `count` uint64 of every member to all members, in the order of members. */
	enum kwhy_status (*gather)(struct kwhy_collectives *group, const uint64_t *from, const uint64_t *to,
		uint32_t count, struct kwhy_error *error);
};

struct kwhy_collectives {
	const struct kwhy_collectives_ops *ops;
	struct kwhy_collectives_member members[KWHY_COLLECTIVES_MEMBERS_MAX];
	uint32_t count;
};

/* Our own collective kernels for the host back end. */
extern const struct kwhy_gpu_host_kernel kwhy_collectives_host_kernels[];

/*
 * Makes a group that uses our own kernel on the first member's GPU, which must reach the memory of all
 * others.
 */
KWHY_MUST_USE enum kwhy_status kwhy_collectives_own_new(const struct kwhy_collectives_member *members,
	uint32_t count, struct kwhy_collectives **out, struct kwhy_error *error);

/*
 * Makes a group that uses NCCL, which is loaded at run time. CUDA only, one member on each GPU; otherwise
 * KWHY_E_UNSUPPORTED with what to do.
 */
KWHY_MUST_USE enum kwhy_status kwhy_collectives_nccl_new(const struct kwhy_collectives_member *members,
	uint32_t count, struct kwhy_collectives **out, struct kwhy_error *error);

#endif
