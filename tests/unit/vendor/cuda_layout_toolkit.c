/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA driver and NVRTC as the toolkit's headers declare them. */
#include "cuda_layout.h"

#include <cuda.h>
#include <nvrtc.h>

#define T(ours, theirs) {#theirs, sizeof(theirs)},
#define C(ours, theirs) {#theirs, (size_t)(theirs)},

const struct cuda_layout_row cuda_layout_of_toolkit[] = {CUDA_LAYOUT(T, C)};

#if CUDA_VERSION >= 12080
const struct cuda_layout_row cuda_batch_layout_of_toolkit[] = {CUDA_BATCH_LAYOUT(T, C)};
const size_t cuda_batch_layout_rows = sizeof(cuda_batch_layout_of_toolkit) /
	sizeof(cuda_batch_layout_of_toolkit[0]);
#else
const struct cuda_layout_row cuda_batch_layout_of_toolkit[1];
const size_t cuda_batch_layout_rows;
#endif
