/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends bytes back and forth between two GPUs, with one block on each. Each block writes the bytes and then a
 * flag to the other GPU's memory, and waits for the other GPU's flag. Each GPU must be able to access the
 * other's memory.
 */
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned char u8;

#ifndef KERNEL
#define KERNEL extern "C" __global__
#endif

#define WAIT_CYCLES 4000000000ull /* longest wait for a flag, 2 s at 2 GHz; then the kernel sets *late to 1 and ends */

/*
 * Sends bytes to the other GPU in each of `rounds` rounds, numbered from `first` + 1. my_flag, which the
 * other GPU writes, and their_flag, which this one writes, hold the number of the last round whose bytes were
 * sent. The block with `leads` set sends first in each round.
 */
KERNEL void kwhy_pair_put(u64 to, u64 from, u64 bytes, u64 their_flag, u64 my_flag, u64 first, u32 rounds,
	u32 leads, u64 late)
{
	volatile u64 *mine = (volatile u64 *)my_flag, *theirs = (volatile u64 *)their_flag;
	u64 quads = (to | from) % 16 == 0 ? bytes / 16 : 0;
	__shared__ u32 is_late;

	if (threadIdx.x == 0)
		is_late = 0;
	for (u32 round = 0; round < rounds; round++) {
		__syncthreads();
		if (threadIdx.x == 0 && (!leads || round > 0)) {
			u64 wanted = first + round + (leads ? 0 : 1);
			long long start = clock64();

			while (*mine < wanted && !is_late)
				is_late = (u64)(clock64() - start) > WAIT_CYCLES;
			__threadfence_system();
		}
		__syncthreads();
		if (is_late)
			break;
		for (u64 i = threadIdx.x; i < quads; i += blockDim.x)
			((uint4 *)to)[i] = ((const uint4 *)from)[i];
		for (u64 i = 16 * quads + threadIdx.x; i < bytes; i += blockDim.x)
			((u8 *)to)[i] = ((const u8 *)from)[i];
		__threadfence_system();
		__syncthreads();
		if (threadIdx.x == 0)
			*theirs = first + round + 1;
	}
	if (leads && threadIdx.x == 0 && !is_late) {
		long long start = clock64();

		while (*mine < first + rounds && !is_late)
			is_late = (u64)(clock64() - start) > WAIT_CYCLES;
	}
	if (threadIdx.x == 0 && is_late)
		*(u64 *)late = 1;
}
