/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_RANK_H
#define LAB_RANK_H

#include "gpu/collectives.h"
#include "lab/blaslt.h"

/* Status of a sequence of calls made with TRY(), which makes no call after the first failure. */
struct lab_tries {
	enum kwhy_status status;
	struct kwhy_error *error; /* describes the first failure */
};

#define TRY(tries, function, ...) \
	((tries)->status = (tries)->status ? (tries)->status : function(__VA_ARGS__, (tries)->error))

enum { LAB_RANK_KERNELS_MAX = 24 };

/*
 * One GPU of a workload: its kernels, a stream and, if the workload needs them, the implementation of matrix
 * products and a block of device memory.
 */
struct lab_rank {
	struct lab_tries *tries;
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_stream *stream;
	struct kwhy_gpu_module *module;
	/* in the order of `on_host` in the struct kwhy_gpu_source that was given to lab_rank_open() */
	const struct kwhy_gpu_kernel *kernels[LAB_RANK_KERNELS_MAX];
	/* NULL: the workload multiplies no matrices */
	struct lab_blaslt *blaslt;
	uint64_t memory;
};

/*
 * Launch of the kernel with index `kernel`, which has two arguments: the struct `args` of the workload and
 * the struct `call` of this launch. Both are passed by value.
 */
struct lab_rank_launch {
	uint32_t kernel, blocks, threads;
	const void *args, *call;
};

void lab_rank_open(struct lab_rank *rank, struct lab_tries *tries, struct kwhy_gpu *gpu,
	const struct kwhy_gpu_source *source);
/*
 * Allocates device memory and sets all of its bytes to `value`. *out: its address. lab_rank_close() frees
 * only the memory whose address is in rank->memory.
 */
void lab_rank_fill(const struct lab_rank *rank, uint64_t bytes, uint8_t value, uint64_t *out);
void lab_rank_enter(const struct lab_rank *rank);
void lab_rank_launch(const struct lab_rank *rank, const struct lab_rank_launch *launch);
/* copies within or between host and device, whichever the addresses are of, and waits for the copy */
void lab_rank_copy(const struct lab_rank *rank, uint64_t to, uint64_t from, size_t bytes);
void lab_rank_wait(const struct lab_rank *rank);
/*
 * Waits for all queued work of a rank, even if tries->status is a failure. Call it for all ranks before
 * lab_rank_close() of the first, which frees memory that work of others may use.
 */
void lab_rank_settle(const struct lab_rank *rank);
void lab_rank_close(const struct lab_rank *rank);

/*
 * Opens collectives over several GPUs: NCCL if it is found, otherwise kernels of kwhy-lab. With one member,
 * *out becomes NULL.
 */
KWHY_MUST_USE enum kwhy_status lab_group_open(const struct kwhy_collectives_member *members, uint32_t count,
	struct kwhy_collectives **out, struct kwhy_error *error);

#endif
