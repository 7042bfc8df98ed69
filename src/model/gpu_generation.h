/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_GPU_GENERATION_H
#define KWHY_MODEL_GPU_GENERATION_H

#include "model/recording.h"

/*
 * What a GPU of each generation can do at most with its tensor cores and its link to the host. These limits
 * serve as bounds where no machine profile has a measured value.
 */

/* Precisions of the matrix products that tensor cores support. */
enum kwhy_tensor_cores {
	KWHY_TENSOR_UNKNOWN, /* the GPU is unknown */
	KWHY_TENSOR_NONE,    /* no tensor cores */
	KWHY_TENSOR_FP16,    /* FP16 only */
	KWHY_TENSOR_TF32     /* FP16, BF16 and TF32 */
};

/*
 * Ratio of the speed of a dense matrix product on tensor cores to that on FP32 units, from data sheets:
 * A100 156 / 19.5 TFLOP/s (TF32), V100 125 / 15.7 (FP16).
 */
#define KWHY_TENSOR_SPEEDUP 8.0

struct kwhy_gpu_generation {
	const char *link; /* link to the host: "PCIe 4.0 x16" */
	/* Rate of the link in one direction by its specification, which no copy exceeds. */
	double link_bytes_per_s;
	enum kwhy_tensor_cores tensor_cores;
};

/*
 * Generation of a device: by its name for superchips and the GTX 16 series, else by its CUDA compute
 * capability, else by its name. An unknown GPU gets PCIe 5.0 x16, the fastest link in common use.
 */
const struct kwhy_gpu_generation *kwhy_gpu_generation_of(const struct kwhy_device *device);

#endif
