/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_TRAIN_OPTIONS_H
#define LAB_TRAIN_OPTIONS_H

#include "lab/workload.h"

/* Of the command; counts that are KWHY_COUNT_NOT_GIVEN are as in the guide, or small on the host. */
struct lab_train_options {
	struct lab_options shared;
	const char *collectives; /* NULL: nccl on CUDA, own elsewhere */
	uint64_t dp, width, layers, batch, parts, samples, steps, check_width;
};

#endif
