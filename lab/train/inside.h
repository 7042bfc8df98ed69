/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_TRAIN_INSIDE_H
#define LAB_TRAIN_INSIDE_H

#include "lab/rank.h"
#include "lab/train/rules.h"

#define AT(type) uint64_t
#include "lab/train/kernels/args.cu"

/* The inside of a training that is open, for the files of this folder. */

#define LAB_TRAIN_KERNEL(upper, lower) LAB_TRAIN_##upper,
enum lab_train_kernel { LAB_TRAIN_KERNELS(LAB_TRAIN_KERNEL) LAB_TRAIN_KERNEL_COUNT };

/* FORWARD_LAST gives fp32, UPDATE_MORE adds to the gradients of the parts before. */
enum product { FORWARD, FORWARD_LAST, BACKWARD, UPDATE, UPDATE_MORE, PRODUCT_COUNT };

/* What one GPU has of a training. */
struct lab_train_rank {
	struct lab_rank base;
	struct lab_train *train;
	const struct lab_blaslt_plan *plans[PRODUCT_COUNT];
	struct kwhy_gpu_stream *copies;
	struct kwhy_gpu_event *arrived[2], *before; /* batches; what was queued before one */
	struct kwhy_gpu_host samples;		    /* [samples / batch] blocks as `staged` has them */
	size_t bytes, staged_bytes;		    /* of the device's memory; of a batch of this GPU */
	struct lab_train_args args;
};

struct lab_train {
	const struct lab_train_variant *variant;
	struct lab_train_shape shape; /* parts 1 where the variant has none */
	struct lab_train_rank ranks[LAB_TRAIN_RANKS_MAX];
	uint32_t rank_count, opened;
	uint32_t segment;		/* layers from one whose inputs are kept to the next */
	uint32_t slots;			/* of hidden */
	struct kwhy_collectives *group; /* NULL: one GPU alone */
	struct kwhy_gpu_graph *graph;	/* of a step; NULL: none */
	/* Of a run, or of opening: */
	uint32_t step;
	struct lab_tries tries;
};

/* Queues a step behind its batch. */
void lab_train_queue_step(struct lab_train *train);

#endif
