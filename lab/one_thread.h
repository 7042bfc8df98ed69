/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_ONE_THREAD_H
#define LAB_ONE_THREAD_H

#include "base/clock.h"
#include "gpu/gpu.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/*
 * Makes kernels in CUDA C compile as C and run as a grid of one block with one thread, so that the host back
 * end runs the GPU's code. Include this before the kernels. They use only what both languages have, KERNEL in
 * place of `extern "C" __global__`, and loops with strides of blockDim.x and gridDim.x.
 */
#pragma GCC diagnostic ignored "-Wunused-parameter" /* parameters that only code for warps uses */

#define KERNEL static __attribute__((unused))
#define __device__ __attribute__((unused))
#define __shared__ static _Thread_local
#define __launch_bounds__(...)
#define BY_WARPS 0
#define NOW_NS() ((u64)kwhy_clock_mono_ns())
#define SIGNAL(place, value) __atomic_store_n((place), (value), __ATOMIC_RELEASE)

static const struct {
	unsigned x;
} threadIdx = {0}, blockIdx = {0}, blockDim = {1}, gridDim = {1};

#define __syncthreads() ((void)0)
#define __threadfence() ((void)0)
#define __threadfence_system() ((void)0)
#define __float2int_rn(value) ((int)lrintf(value))

static inline unsigned __float_as_uint(float value)
{
	unsigned bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* CUDA's atomic operations for a single thread, so they need not be atomic; each returns the old value. */
#define LAB_ATOMIC(place, value, is_new)              \
	__extension__({                               \
		__typeof__(*(place)) was_ = *(place); \
		__typeof__(was_) given_ = (value);    \
                                                      \
		*(place) = (is_new) ? given_ : was_;  \
		was_;                                 \
	})
#define atomicAdd(place, value) LAB_ATOMIC(place, was_ + (value), true)
#define atomicMax(place, value) LAB_ATOMIC(place, value, given_ > was_)
#define atomicMin(place, value) LAB_ATOMIC(place, value, given_ < was_)
#define atomicExch(place, value) LAB_ATOMIC(place, value, true)

#endif
