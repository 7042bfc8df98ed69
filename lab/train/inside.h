/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_TRAIN_INSIDE_H
#define LAB_TRAIN_INSIDE_H

#include "lab/rank.h"
#include "lab/train/rules.h"

#define AT(type) uint64_t
#include "lab/train/kernels/args.cu"

/* Internals of an open training, for the files of this folder. */

#define LAB_TRAIN_KERNEL(upper, lower) LAB_TRAIN_##upper,
enum lab_train_kernel { LAB_TRAIN_KERNELS(LAB_TRAIN_KERNEL) LAB_TRAIN_KERNEL_COUNT };

/*
 * The matrix products of a layer: FORWARD its outputs; FORWARD_LAST those of the last layer, in fp32;
 * BACKWARD the gradients of its inputs; UPDATE the gradients of its weights; UPDATE_MORE the same, added to
 * those of earlier parts of the batch.
 */
enum product { FORWARD, FORWARD_LAST, BACKWARD, UPDATE, UPDATE_MORE, PRODUCT_COUNT };

/* One GPU of a training. */
struct lab_train_rank {
	struct lab_rank base;
	struct lab_train *train;
	const struct lab_blaslt_plan *plans[PRODUCT_COUNT];
	struct kwhy_gpu_stream *copies;
	/*
	 * events: arrived[step % 2]: the copy of that step's batch has ended; before: recorded in the main
	 * stream when the next batch's copy is queued, so that the copy waits for the work queued until
	 * then
	 */
	struct kwhy_gpu_event *arrived[2], *before;
	/* [samples / batch] batches, each as `staged` stores it */
	struct kwhy_gpu_host samples;
	/* bytes: of this GPU's arrays in device memory; staged_bytes: of this GPU's share of one batch */
	size_t bytes, staged_bytes;
	struct lab_train_args args;
};

struct lab_train {
	const struct lab_train_variant *variant;
	struct lab_train_shape shape; /* `parts` is 1 if the variant has no parts */
	struct lab_train_rank ranks[LAB_TRAIN_RANKS_MAX];
	uint32_t rank_count, opened;
	/*
	 * number of layers of a segment; the inputs of each segment's first layer are kept, those of its
	 * other layers are computed again
	 */
	uint32_t segment;
	uint32_t slots;			/* number of arrays [batch / parts][width] in `hidden` */
	struct kwhy_collectives *group; /* NULL: one GPU is used */
	struct kwhy_gpu_graph *graph;	/* graph of a step; NULL: no graph */
	/* State of the current run, or of opening: */
	uint32_t step;
	struct lab_tries tries;
};

/*
 * Queues the kernels, products and collectives of a step on all GPUs, once its batch is in `staged`. Also
 * called to capture a graph.
 */
void lab_train_queue_step(struct lab_train *train);

#endif
