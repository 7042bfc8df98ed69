/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_TRAIN_DEVICE_H
#define KWHY_LAB_TRAIN_DEVICE_H

#include "gpu/gpu.h"
#include "lab/train/train.h"

/* What all kernels of `train` are given, by value; as struct args of kernels/train/args.cu. */
struct kwhy_train_args {
	uint64_t weights, first, second, gradients; /* float, as kwhy_train_weight_count() */
	uint64_t copies;     /* of the matrices in bf16; in fp32 the weights themselves */
	uint64_t inputs;     /* [samples][width] */
	uint64_t labels;     /* uint32 [samples] */
	uint64_t hidden;     /* [slots][rows of a part][width] */
	uint64_t errors;     /* [2][rows of a part][width] */
	uint64_t logits;     /* float [rows of a part][width] */
	uint64_t row_losses; /* float [batch] */
	uint64_t losses;     /* float [steps] */
	uint64_t pace;	     /* struct kwhy_train_clock */
	uint32_t width, layers, batch, parts, samples;
	uint32_t half; /* inputs, copies, hidden and errors are bf16; else float */
};

/* What a launch does, as struct call of kernels/train/args.cu. */
struct kwhy_train_call {
	uint32_t layer, part;
	uint32_t in, out; /* slots of hidden or errors */
	uint32_t kept;	  /* slot of the layer's inputs */
	uint32_t mode;
};

enum { KWHY_TRAIN_PEERS_MOST = 8 };

/* What a GPU reaches of all others and itself, as struct peers of kernels/train/args.cu. */
struct kwhy_train_peers {
	uint64_t gradients[KWHY_TRAIN_PEERS_MOST], weights[KWHY_TRAIN_PEERS_MOST],
		copies[KWHY_TRAIN_PEERS_MOST];
	uint64_t first, end; /* places of this one's share, both even */
	uint32_t count, unused;
};

/* As struct pace of kernels/train/args.cu. */
struct kwhy_train_clock {
	float power1, power2, rate, root;
	uint32_t step, unused;
};

#define KWHY_TRAIN_INPUTS UINT32_MAX /* instead of a slot: the samples */

/* A layer's products; the first two are modes of kwhy_train_finish, too. */
enum kwhy_train_product { KWHY_TRAIN_FORWARD, KWHY_TRAIN_BACKWARD, KWHY_TRAIN_UPDATE };

/* Modes of gradients: onto those of the parts before; AdamW at once. */
enum { KWHY_TRAIN_ADD = 1, KWHY_TRAIN_APPLY = 2 };

/* Tiles of the kernels' products, and what else their launches need. */
enum {
	KWHY_TRAIN_SINGLE_M = 64,
	KWHY_TRAIN_SINGLE_N = 32,
	KWHY_TRAIN_SINGLE_THREADS = 128,
	KWHY_TRAIN_SMALL_M = 64,
	KWHY_TRAIN_SMALL_N = 32,
	KWHY_TRAIN_SMALL_SHARED_BYTES = 6 * 2 * (64 * 72 + 64 * 40),
	KWHY_TRAIN_LARGE = 128,
	KWHY_TRAIN_LARGE_SHARED_BYTES = 3 * 2 * (2 * 128 * 72),
	KWHY_TRAIN_THREADS = 256,
	KWHY_TRAIN_BIAS_COLUMNS = 64
};

/* The kernels for the host. */
extern const struct kwhy_gpu_host_kernel kwhy_train_host_kernels[];

#endif
