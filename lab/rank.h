/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_RANK_H
#define LAB_RANK_H

#include "gpu/collectives.h"
#include "lab/blaslt.h"

/* Calls of which the first failure stays: later ones are not made. */
struct lab_tries {
	enum kwhy_status status;
	struct kwhy_error *error; /* the words of the first failure */
};

#define TRY(tries, function, ...) \
	((tries)->status = (tries)->status ? (tries)->status : function(__VA_ARGS__, (tries)->error))

enum { LAB_RANK_KERNELS_MAX = 24 };

/* One GPU of a workload: its kernels, a stream, and where it has them the library of products and a block of
 * memory. */
struct lab_rank {
	struct lab_tries *tries;
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_stream *stream;
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *kernels[LAB_RANK_KERNELS_MAX]; /* in the order of source->on_host */
	struct lab_blaslt *blaslt;				     /* NULL: it multiplies no matrices */
	uint64_t memory;
};

/* Of a kernel that takes two structs: the workload's args, and what this launch does. */
struct lab_rank_launch {
	uint32_t kernel, blocks, threads;
	const void *args, *call;
};

void lab_rank_open(struct lab_rank *rank, struct lab_tries *tries, struct kwhy_gpu *gpu,
	const struct kwhy_gpu_source *source);
/* A block of memory, whose bytes all are `value` when it returns; lab_rank_close() frees that at
 * rank->memory. */
void lab_rank_fill(const struct lab_rank *rank, uint64_t bytes, uint8_t value, uint64_t *out);
void lab_rank_enter(const struct lab_rank *rank);
void lab_rank_launch(const struct lab_rank *rank, const struct lab_rank_launch *launch);
void lab_rank_copy(const struct lab_rank *rank, uint64_t to, uint64_t from, size_t bytes); /* at once */
void lab_rank_wait(const struct lab_rank *rank);
/* What is still queued, also after a failure, must not find its memory gone: wait for all ranks before one is
 * closed. */
void lab_rank_settle(const struct lab_rank *rank);
void lab_rank_close(const struct lab_rank *rank);

/* By NCCL where it is found, else by kernels of our own; NULL for one member. */
KWHY_MUST_USE enum kwhy_status lab_group_open(const struct kwhy_collectives_member *members, uint32_t count,
	struct kwhy_collectives **out, struct kwhy_error *error);

#endif
