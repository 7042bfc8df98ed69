/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_TRAIN_INSIDE_H
#define LAB_TRAIN_INSIDE_H

#include "gpu/collectives.h"
#include "lab/blaslt.h"
#include "lab/train/device.h"
#include "lab/train/train.h"

/* The inside of a training that is open, for the files of this folder. */

enum lab_train_kernel {
	LAB_TRAIN_BEGIN,
	LAB_TRAIN_TAKE,
	LAB_TRAIN_BIAS,
	LAB_TRAIN_LOSS,
	LAB_TRAIN_MASK,
	LAB_TRAIN_BIAS_GRADIENT,
	LAB_TRAIN_TALLY,
	LAB_TRAIN_ADAMW,
	LAB_TRAIN_ADVANCE,
	LAB_TRAIN_KERNEL_COUNT
};

enum lab_train_product {
	LAB_TRAIN_FORWARD,
	LAB_TRAIN_FORWARD_LAST,
	LAB_TRAIN_BACKWARD,
	LAB_TRAIN_UPDATE,
	LAB_TRAIN_UPDATE_MORE, /* onto the gradients of the parts before */
	LAB_TRAIN_PRODUCT_COUNT
};

/* What one GPU has of a training. */
struct lab_train_rank {
	struct lab_train *train;
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *kernels[LAB_TRAIN_KERNEL_COUNT];
	struct lab_blaslt *blaslt;
	const struct lab_blaslt_plan *plans[LAB_TRAIN_PRODUCT_COUNT];
	struct kwhy_gpu_stream *stream, *copies;
	struct kwhy_gpu_event *arrived[2], *done[2]; /* a batch, and the step that takes it */
	struct kwhy_gpu_host samples;		     /* [samples / batch] blocks as `staged` has them */
	uint64_t memory;			     /* all of the device's */
	size_t bytes;
	struct lab_train_args args;
};

struct lab_train {
	const struct lab_train_variant *variant;
	struct lab_train_shape shape; /* parts 1 where the variant has none */
	struct lab_train_rank ranks[LAB_TRAIN_RANKS_MOST];
	uint32_t rank_count, opened;
	uint32_t segment;		/* layers from one whose inputs are kept to the next */
	uint32_t slots;			/* of hidden */
	struct kwhy_collectives *group; /* NULL: one GPU alone */
	struct kwhy_gpu_graph *graph;	/* of a step; NULL: none */
	struct lab_train_tally tally;	/* of a run */
};

#define LAB_TRAIN_INPUTS UINT32_MAX /* instead of a slot of hidden: the batch */

/* Which slot of hidden has what goes into a layer; LAB_TRAIN_INPUTS: the batch. */
uint32_t lab_train_slot(const struct lab_train *train, uint32_t layer);

/* Addresses of what goes into a layer, of errors and of a layer's matrix. */
uint64_t lab_train_inputs_at(const struct lab_train_rank *rank, uint32_t slot, uint32_t part);
uint64_t lab_train_errors_at(const struct lab_train_rank *rank, uint32_t slot);
uint64_t lab_train_matrix_at(const struct lab_train_rank *rank, uint32_t layer);
uint64_t lab_train_gradient_at(const struct lab_train_rank *rank, uint32_t layer);

/* Bytes of a batch as the host sends it to one GPU. */
size_t lab_train_staged_bytes(const struct lab_train_args *args);

/* Queues the step that comes next, after its batch. */
KWHY_MUST_USE enum kwhy_status lab_train_queue_step(struct lab_train *train, struct kwhy_error *error);

#endif
