/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WORKLOAD_TRAIN_INSIDE_H
#define KWHY_WORKLOAD_TRAIN_INSIDE_H

#include "workload/train_device.h"
#include "workload/train_run.h"

/* The inside of a variant that is open, for train_*.c. */

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
	KWHY_TRAIN_SOFTEN,
	KWHY_TRAIN_BIAS,
	KWHY_TRAIN_APPLY_ALL,
	KWHY_TRAIN_ADVANCE,
	KWHY_TRAIN_KERNEL_COUNT
};

struct kwhy_train {
	struct kwhy_gpu *gpu;
	const struct kwhy_train_variant *variant;
	struct kwhy_train_shape shape; /* parts 1 where the variant has none */
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *kernels[KWHY_TRAIN_KERNEL_COUNT];
	struct kwhy_gpu_stream *stream;
	uint64_t memory; /* all of it */
	size_t bytes;
	struct kwhy_train_args args;
	uint32_t segment; /* layers from one whose inputs are kept to the next */
	uint32_t slots;	  /* of hidden */
	bool has_large_tiles;
	struct kwhy_gpu_graph *graph;
	struct kwhy_train_tally tally, graph_tally; /* of a run; of a launch of the graph */
};

/* Queues them. */
KWHY_MUST_USE enum kwhy_status kwhy_train_launch(struct kwhy_train *train, enum kwhy_train_kernel kernel,
	const struct kwhy_train_call *call, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_train_queue_step(struct kwhy_train *train, struct kwhy_error *error);

/* Which slot of hidden has what goes into a layer; KWHY_TRAIN_INPUTS: the samples. */
uint32_t kwhy_train_slot(const struct kwhy_train *train, uint32_t layer);

#endif
