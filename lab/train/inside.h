/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_TRAIN_INSIDE_H
#define KWHY_LAB_TRAIN_INSIDE_H

#include "lab/train/device.h"
#include "lab/train/run.h"
#include "vendor/cublas.h"

/* The inside of a variant that is open, for the files of this folder. */

enum kwhy_train_kernel {
	KWHY_TRAIN_BEGIN,
	KWHY_TRAIN_DATA,
	KWHY_TRAIN_FORWARD_SINGLE,
	KWHY_TRAIN_BACKWARD_SINGLE,
	KWHY_TRAIN_UPDATE_SINGLE,
	KWHY_TRAIN_FORWARD_SMALL,
	KWHY_TRAIN_BACKWARD_SMALL,
	KWHY_TRAIN_FORWARD_LARGE,
	KWHY_TRAIN_BACKWARD_LARGE,
	KWHY_TRAIN_UPDATE_LARGE,
	KWHY_TRAIN_FINISH,
	KWHY_TRAIN_SOFTEN,
	KWHY_TRAIN_BIAS,
	KWHY_TRAIN_APPLY_ALL,
	KWHY_TRAIN_SHARE,
	KWHY_TRAIN_ADVANCE,
	KWHY_TRAIN_KERNEL_COUNT
};

/* What one GPU has of a training. */
struct kwhy_train_rank {
	struct kwhy_train *train;
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *kernels[KWHY_TRAIN_KERNEL_COUNT];
	struct kwhy_gpu_stream *stream;
	uint64_t memory; /* all of it */
	size_t bytes;
	struct kwhy_train_args args;
	/* Gradients are made, and weights handed out; or activations sent on, and errors back. NULL: alone.
	 */
	struct kwhy_gpu_event *ready, *done;
};

struct kwhy_train {
	const struct kwhy_train_variant *variant;
	struct kwhy_train_shape shape; /* parts 1 where the variant has none */
	struct kwhy_train_rank ranks[KWHY_TRAIN_RANKS_MOST];
	uint32_t rank_count, opened;
	uint32_t segment;	     /* layers from one whose inputs are kept to the next */
	uint32_t slots, error_slots; /* of hidden and of errors */
	bool has_large_tiles;
	uint32_t step; /* that is queued, for what is not told by the device's clock */
	struct kwhy_cublas cublas;
	kwhy_cublas_handle blas; /* NULL: own kernels */
	uint64_t blas_memory;
	char products[32];
	struct kwhy_gpu_graph *graph;  /* of one rank alone */
	struct kwhy_train_tally tally; /* of a run */
};

/* cuBLAS, opened where the variant is the library's; else nothing. */
KWHY_MUST_USE enum kwhy_status kwhy_train_blas_open(struct kwhy_train *train, struct kwhy_error *error);
void kwhy_train_blas_close(struct kwhy_train *train);
KWHY_MUST_USE enum kwhy_status kwhy_train_blas_multiply(struct kwhy_train *train,
	enum kwhy_train_product what, const struct kwhy_train_call *call, struct kwhy_error *error);

/* Queues them. */
KWHY_MUST_USE enum kwhy_status kwhy_train_launch(struct kwhy_train_rank *rank, enum kwhy_train_kernel kernel,
	const struct kwhy_train_call *call, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_train_queue_step(struct kwhy_train *train, struct kwhy_error *error);

/* Access to each other's memory, and events; then, in a step, AdamW by shares once all gradients are made. */
KWHY_MUST_USE enum kwhy_status kwhy_train_join(struct kwhy_train *train, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_train_share(struct kwhy_train *train, struct kwhy_error *error);

/* Behind all ranks' events of one kind, every rank's stream goes on. */
KWHY_MUST_USE enum kwhy_status kwhy_train_meet(
	struct kwhy_train *train, bool is_done, struct kwhy_error *error);

/* A step of a pipeline: parts go forward through all ranks, then back. */
KWHY_MUST_USE enum kwhy_status kwhy_train_queue_pipeline(struct kwhy_train *train, struct kwhy_error *error);
/* The layers of a rank: from *first up to *end. */
void kwhy_train_layers_of(const struct kwhy_train *train, uint32_t rank, uint32_t *first, uint32_t *end);

/* A layer's product and what follows it, by the variant's kernels or its library. */
KWHY_MUST_USE enum kwhy_status kwhy_train_multiply(struct kwhy_train_rank *rank, enum kwhy_train_product what,
	const struct kwhy_train_call *call, struct kwhy_error *error);

/* The pairs of weights that a rank has the moments of: from *first up to *end. */
void kwhy_train_share_of(const struct kwhy_train *train, uint32_t rank, uint64_t *first, uint64_t *end);

#endif
