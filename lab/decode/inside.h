/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_DECODE_INSIDE_H
#define LAB_DECODE_INSIDE_H

#include "gpu/collectives.h"
#include "lab/blaslt.h"
#include "lab/decode/device.h"
#include "lab/decode/run.h"

/* The inside of a decoder that is open, for the files of this folder. */

/* A GPU, with its part of each layer and of the vocabulary. */
struct lab_decode_rank {
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *kernels[LAB_DECODE_KERNEL_COUNT];
	struct kwhy_gpu_stream *stream;
	struct lab_blaslt *blaslt;
	uint64_t memory;
	uint64_t layers; /* weights, a layer behind the other */
	uint64_t dense;	 /* a matrix, expanded */
	uint64_t first;	 /* uint64 [slots]: the next tokens behind the prompts */
	struct lab_decode_args args;
};

/* A decoder, of one GPU or of several that share it. */
struct lab_decode_replica {
	const struct lab_decode_request *request;
	const struct lab_decode_kind *kind;
	struct lab_decode_shape part; /* what each GPU has of the model */
	uint32_t slots, first_sequence;
	struct lab_decode_rank ranks[LAB_DECODE_GPUS_MOST];
	uint32_t rank_count;
	struct kwhy_collectives *group;	       /* NULL: one GPU */
	struct kwhy_gpu_graph *step, *reading; /* of a token; of the prompts; NULL: calls */
	uint32_t kernel_count;		       /* launched on a GPU since it was set to 0 */
	uint32_t step_kernels;
	uint64_t bytes, weight_bytes; /* of a GPU */
};

struct lab_decode {
	struct lab_decode_request request;
	struct lab_decode_replica replicas[LAB_DECODE_GPUS_MOST];
	uint32_t replica_count;
	bool is_prefilled, is_written;
};

/* Work that is queued on all GPUs of a replica; the first failure stays. */
struct lab_decode_issue {
	struct lab_decode_replica *replica;
	struct kwhy_error *error;
	enum kwhy_status status;
};

/* --- pass.c --- */

KWHY_MUST_USE enum kwhy_status lab_decode_launch(const struct lab_decode_rank *rank,
	enum lab_decode_kernel kernel, const struct kwhy_gpu_grid *grid, void **arguments,
	struct kwhy_error *error);

/* Each slot is at a position; has_first: with the next tokens behind the prompts, else with token 0. */
void lab_decode_issue_reset(struct lab_decode_issue *issue, uint32_t at, bool has_first);
/* The prompts of all slots; each: the tokens of one. */
void lab_decode_issue_prompts(struct lab_decode_issue *issue, uint32_t each);
void lab_decode_issue_step(struct lab_decode_issue *issue); /* by a graph where there is one */
void lab_decode_issue_reading(struct lab_decode_issue *issue);
KWHY_MUST_USE enum kwhy_status lab_decode_capture(
	struct lab_decode_replica *replica, struct kwhy_error *error);

/* Waits for all of a replica's GPUs. */
KWHY_MUST_USE enum kwhy_status lab_decode_await(struct lab_decode_issue *issue);

KWHY_MUST_USE enum kwhy_status lab_decode_enter(
	const struct lab_decode_replica *replica, uint32_t rank, struct kwhy_error *error);

/* To or from a GPU's memory, at once. */
KWHY_MUST_USE enum kwhy_status lab_decode_copy(const struct lab_decode_rank *rank, uint64_t to, uint64_t from,
	size_t bytes, struct kwhy_error *error);
/* The same bytes to all GPUs; `address` is the first one's. */
KWHY_MUST_USE enum kwhy_status lab_decode_send(const struct lab_decode_replica *replica, uint64_t address,
	const void *from, size_t bytes, struct kwhy_error *error);

/* --- run.c --- */

/* The decoder's own prompts, to where those of others lay. */
KWHY_MUST_USE enum kwhy_status lab_decode_send_prompts(
	const struct lab_decode_replica *replica, struct kwhy_error *error);

/* --- weights.c --- */

KWHY_MUST_USE enum kwhy_status lab_decode_weights_fill(
	struct lab_decode_replica *replica, struct kwhy_error *error);

/* --- memory.c --- */

/* Memory of all GPUs, and the args of their kernels. */
KWHY_MUST_USE enum kwhy_status lab_decode_memory_open(
	struct lab_decode_replica *replica, struct kwhy_error *error);
uint64_t lab_decode_cache_bytes(const struct lab_decode_replica *replica, uint64_t tokens);

#endif
