/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_GPU_COLLECTIVES_H
#define KWHY_GPU_COLLECTIVES_H

#include "gpu/gpu.h"

/*
 * What the members of a group do together: each has a GPU, a stream and memory of its own. All calls only
 * queue; each is done for a member when its stream gets there. One thread drives all members. Arrays of
 * addresses have one for each member, in their order.
 */
enum { KWHY_COLLECTIVES_MEMBERS_MAX = 8 };

struct kwhy_collectives_member {
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_stream *stream; /* members of one GPU share one */
};

/* Of a member: addresses of one row each. */
struct kwhy_collectives_edges {
	uint64_t from_first, from_last, to_above, to_below;
};

struct kwhy_collectives;

struct kwhy_collectives_ops {
	const char *name; /* "own", "nccl" */
	void (*free)(struct kwhy_collectives *group);
	/* Of `count` uint64 each, in place; the sum is modulo 2^64. */
	enum kwhy_status (*sum)(struct kwhy_collectives *group, const uint64_t *places, uint32_t count,
		struct kwhy_error *error);
	enum kwhy_status (*max)(struct kwhy_collectives *group, const uint64_t *places, uint32_t count,
		struct kwhy_error *error);
	/* Of `count` floats each, in place; all get the same bits. */
	enum kwhy_status (*sum_floats)(struct kwhy_collectives *group, const uint64_t *places, uint32_t count,
		struct kwhy_error *error);
	/* Of floats, from member 0 to all. */
	enum kwhy_status (*broadcast)(struct kwhy_collectives *group, const uint64_t *places, uint32_t count,
		struct kwhy_error *error);
	/* Of floats around the ring: each member's `from_last` to the next one's `to_above`, its `from_first`
	 * to the `to_below` of the one before. */
	enum kwhy_status (*exchange)(struct kwhy_collectives *group,
		const struct kwhy_collectives_edges *edges, uint32_t count, struct kwhy_error *error);
	/* Everybody's `count` uint64 to everybody, in the order of members. */
	enum kwhy_status (*gather)(struct kwhy_collectives *group, const uint64_t *from, const uint64_t *to,
		uint32_t count, struct kwhy_error *error);
};

struct kwhy_collectives {
	const struct kwhy_collectives_ops *ops;
	struct kwhy_collectives_member members[KWHY_COLLECTIVES_MEMBERS_MAX];
	uint32_t count;
};

/* The kernels of our own, for the host. */
extern const struct kwhy_gpu_host_kernel kwhy_collectives_host_kernels[];

/* By a kernel of our own on the first member's GPU, which must reach the memory of all others. */
KWHY_MUST_USE enum kwhy_status kwhy_collectives_own_new(const struct kwhy_collectives_member *members,
	uint32_t count, struct kwhy_collectives **out, struct kwhy_error *error);

/* By NCCL, found at run time: CUDA alone, one member a GPU; else KWHY_E_UNSUPPORTED with the cure. */
KWHY_MUST_USE enum kwhy_status kwhy_collectives_nccl_new(const struct kwhy_collectives_member *members,
	uint32_t count, struct kwhy_collectives **out, struct kwhy_error *error);

#endif
