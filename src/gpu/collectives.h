/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_GPU_COLLECTIVES_H
#define KWHY_GPU_COLLECTIVES_H

#include "gpu/gpu.h"

/*
 * Collective operations (all-reduce and so on) of a group of members in this process. A member is a stream of
 * a GPU with buffers of its own. All calls only queue work; a member's part is complete when its stream has
 * run the work queued so far. One thread makes the calls for all members. Arrays of addresses have one device
 * address for each member, in the order of the members.
 */
enum { KWHY_COLLECTIVES_MEMBERS_MAX = 8 };

struct kwhy_collectives_member {
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_stream *stream; /* stream of the member; members on the same GPU must share one */
};

/* Device addresses of the rows of floats that a member sends (from_) and receives (to_) in exchange(). */
struct kwhy_collectives_edges {
	uint64_t from_first, from_last, to_above, to_below;
};

struct kwhy_collectives;

struct kwhy_collectives_ops {
	const char *name; /* name of the implementation: "own" or "nccl" */
	void (*free)(struct kwhy_collectives *group);
	/*
	 * Adds up `count` uint64 element by element over all members, modulo 2^64. The sums replace the
	 * values of each member.
	 */
	enum kwhy_status (*sum)(struct kwhy_collectives *group, const uint64_t *places, uint32_t count,
		struct kwhy_error *error);
	enum kwhy_status (*max)(struct kwhy_collectives *group, const uint64_t *places, uint32_t count,
		struct kwhy_error *error);
	/*
	 * Adds up `count` floats element by element over all members. The sums, which are bitwise equal on
	 * all members, replace the values of each member.
	 */
	enum kwhy_status (*sum_floats)(struct kwhy_collectives *group, const uint64_t *places, uint32_t count,
		struct kwhy_error *error);
	/* Copies `count` floats from member 0 to all others. */
	enum kwhy_status (*broadcast)(struct kwhy_collectives *group, const uint64_t *places, uint32_t count,
		struct kwhy_error *error);
	/*
	 * Copies rows of `count` floats around the ring of members: each member's `from_last` to the next
	 * member's `to_above`, and its `from_first` to the previous member's `to_below`.
	 */
	enum kwhy_status (*exchange)(struct kwhy_collectives *group,
		const struct kwhy_collectives_edges *edges, uint32_t count, struct kwhy_error *error);
	/*
	 * Copies the `count` uint64 at `from` of every member to `to` of each member, where they lie in the
	 * order of the members (all-gather).
	 */
	enum kwhy_status (*gather)(struct kwhy_collectives *group, const uint64_t *from, const uint64_t *to,
		uint32_t count, struct kwhy_error *error);
};

struct kwhy_collectives {
	const struct kwhy_collectives_ops *ops;
	struct kwhy_collectives_member members[KWHY_COLLECTIVES_MEMBERS_MAX];
	uint32_t count;
};

/* C versions, for the host back end, of the kernels that kwhy_collectives_own_new() uses. */
extern const struct kwhy_gpu_host_kernel kwhy_collectives_host_kernels[];

/*
 * Makes a group whose operations are kernels of kwhy. They run on the first member's GPU, which must be able
 * to access the memory of all other members' GPUs directly.
 */
KWHY_MUST_USE enum kwhy_status kwhy_collectives_own_new(const struct kwhy_collectives_member *members,
	uint32_t count, struct kwhy_collectives **out, struct kwhy_error *error);

/*
 * Makes a group that uses NCCL, which is loaded at run time. It works with CUDA only, and with one member on
 * each GPU. KWHY_E_UNSUPPORTED: it cannot be used; the message says what to do.
 */
KWHY_MUST_USE enum kwhy_status kwhy_collectives_nccl_new(const struct kwhy_collectives_member *members,
	uint32_t count, struct kwhy_collectives **out, struct kwhy_error *error);

#endif
