/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_TESTS_SHUFFLE_H
#define LAB_TESTS_SHUFFLE_H

#include "fakes/cuda_text.h"
#include "lab/numbers.h"

/* C versions of the warp instructions that kernels use. */
static float exchange(float value, int distance)
{
	return lab_float_of(cuda_text_exchange(
		__float_as_uint(value))[(threadIdx.x % CUDA_TEXT_WARP) ^ (unsigned)distance]);
}

#define __shfl_xor_sync(mask, value, distance) exchange(value, distance)

#endif
