/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_GPU_GENERATION_H
#define KWHY_MODEL_GPU_GENERATION_H

#include "model/recording.h"

/* What a GPU can do at most, by its generation; for bounds where no machine profile has a measurement. */

/* Matrix products that its tensor cores take beside FP16. */
enum kwhy_tensor_cores {
	KWHY_TENSOR_UNKNOWN, /* which GPU it is */
	KWHY_TENSOR_NONE,    /* it has no tensor cores */
	KWHY_TENSOR_FP16,    /* FP16 alone */
	KWHY_TENSOR_TF32     /* TF32 and BF16, too */
};

struct kwhy_gpu_generation {
	const char *link; /* to the host: "PCIe 4.0 x16" */
	/* Of that link in one direction, as its specification has it: no copy is faster. */
	double link_bytes_per_s;
	enum kwhy_tensor_cores tensor_cores;
};

/* By the compute capability, else by the name; an unknown GPU has the fastest of the usual links. */
const struct kwhy_gpu_generation *kwhy_gpu_generation_of(const struct kwhy_device *device);

#endif
