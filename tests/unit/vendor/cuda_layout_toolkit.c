/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA driver and NVRTC as the toolkit's headers declare them. */
#include "cuda_layout.h"

#include <cuda.h>
#include <nvrtc.h>

#define T(ours, theirs) {#theirs, sizeof(theirs)},
#define C(ours, theirs) {#theirs, (size_t)(theirs)},

const struct cuda_layout_row cuda_layout_of_toolkit[] = {CUDA_LAYOUT(T, C)};
