/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_RANK_H
#define LAB_RANK_H

#include "gpu/collectives.h"
#include "lab/blaslt.h"

/* Result of a sequence of calls. After the first failure no further calls are made. */
struct lab_tries {
	enum kwhy_status status;
	struct kwhy_error *error; /* describes the first failure */
};

#define TRY(tries, function, ...) \
	((tries)->status = (tries)->status ? (tries)->status : function(__VA_ARGS__, (tries)->error))

enum { LAB_RANK_KERNELS_MAX = 24 };

/*
 * One GPU of a workload: its kernels, a stream and, if the workload uses them, the library of products and a
 * block of memory.
 */
struct lab_rank {
	struct lab_tries *tries;
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_stream *stream;
	struct kwhy_gpu_module *module;
	/* in the order of the kernels in the source's on_host */
	const struct kwhy_gpu_kernel *kernels[LAB_RANK_KERNELS_MAX];
	/* NULL: the workload multiplies no matrices */
	struct lab_blaslt *blaslt;
	uint64_t memory;
};

/*
 * Launch of a kernel with two structs as arguments: `args` of the workload, and `call`, which describes this
 * launch.
 */
struct lab_rank_launch {
	uint32_t kernel, blocks, threads;
	const void *args, *call;
};

void lab_rank_open(struct lab_rank *rank, struct lab_tries *tries, struct kwhy_gpu *gpu,
	const struct kwhy_gpu_source *source);
/*
 * Allocates a block of memory and sets all of its bytes to `value`. lab_rank_close() frees the block whose
 * address is rank->memory.
 */
void lab_rank_fill(const struct lab_rank *rank, uint64_t bytes, uint8_t value, uint64_t *out);
void lab_rank_enter(const struct lab_rank *rank);
void lab_rank_launch(const struct lab_rank *rank, const struct lab_rank_launch *launch);
/* copies and waits for the copy */
void lab_rank_copy(const struct lab_rank *rank, uint64_t to, uint64_t from, size_t bytes);
void lab_rank_wait(const struct lab_rank *rank);
/*
 * Waits for all work of a rank, also after a failure. Call it for all ranks before one is closed, since
 * queued work must not find its memory freed.
 */
void lab_rank_settle(const struct lab_rank *rank);
void lab_rank_close(const struct lab_rank *rank);

/*
 * Makes the collectives of several GPUs: with NCCL if it is found, otherwise with kernels of kwhy-lab. *out
 * is NULL for one member.
 */
KWHY_MUST_USE enum kwhy_status lab_group_open(const struct kwhy_collectives_member *members, uint32_t count,
	struct kwhy_collectives **out, struct kwhy_error *error);

#endif
