/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that stand for others: they take a given time, and draw more or less power meanwhile. `ticks` are
 * those of the clock that every multiprocessor has, or nanoseconds of the device's own clock where `by_time`:
 * the first has a fine grain, the second one rate. Of its time a kernel works `busy` parts of 1024; blocks do so in turn.
 * `sink` is never written; it keeps the compiler from leaving work out.
 */
typedef unsigned long long u64;
typedef unsigned int u32;

#define KERNEL extern "C" __global__ __launch_bounds__(1024)
#define ARGUMENTS u64 ticks, u32 by_time, u32 busy, float *sink, const uint4 *from, uint4 *to, u64 words

/* Turns of work and rest, in ticks. */
#define TURN 8192
/* A block naps where it has more than that left. */
#define NAP 4096

#ifdef __AMDGCN__
__device__ static u64 now(u32 by_time)
{
	return by_time ? 10 * wall_clock64() : wall_clock64();
}

__device__ static void nap()
{
	__builtin_amdgcn_s_sleep(2);
}
#else
__device__ static u64 now(u32 by_time)
{
	u64 time;

	if (by_time)
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
	else
		time = clock64();
	return time;
}

__device__ static void nap()
{
#if __CUDA_ARCH__ >= 700
	asm volatile("nanosleep.u32 200;");
#endif
}
#endif

__device__ static u32 mix(u32 x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ (x >> 16);
}

/* Whether a block works at that moment of its time. */
__device__ static bool works(u64 elapsed, u32 busy)
{
	return (u32)((elapsed + blockIdx.x * 1613ull) & (TURN - 1)) < busy * (TURN / 1024);
}

KERNEL void kwhy_standin_wait(ARGUMENTS)
{
	u64 start, elapsed;

	if (!ticks)
		return;
	/* one thread looks at the clock, the others are parked: all of them would draw what a busy kernel does */
	if (threadIdx.x == 0) {
		start = now(by_time);
		while ((elapsed = now(by_time) - start) < ticks)
			if (ticks - elapsed > NAP)
				nap();
	}
	__syncthreads();
}

/* Points that turn on circles, so that values neither grow nor settle. */
KERNEL void kwhy_standin_fma(ARGUMENTS)
{
	u64 start = now(by_time), elapsed;
	u32 bits = mix(blockIdx.x * blockDim.x + threadIdx.x);
	float x[4], y[4], step = 0.5f + 1e-6f * (bits & 0xffff), sum = 0;

	for (int i = 0; i < 4; i++) {
		x[i] = 1e-9f * mix(bits + i);
		y[i] = 1e-9f * mix(bits - i);
	}
	while ((elapsed = now(by_time) - start) < ticks) {
		if (!works(elapsed, busy)) {
			nap();
			continue;
		}
#pragma unroll
		for (int k = 0; k < 16; k++) {
			x[k % 4] = x[k % 4] - step * y[k % 4];
			y[k % 4] = y[k % 4] + step * x[k % 4];
		}
	}
	for (int i = 0; i < 4; i++)
		sum += x[i] * y[i];
	if (sum == 123.456f)
		sink[0] = sum;
}

/* A thread copies every (threads of the grid)th of the words, which are more, again and again. */
KERNEL void kwhy_standin_memory(ARGUMENTS)
{
	u64 start = now(by_time), step = (u64)gridDim.x * blockDim.x,
	    place = ((u64)blockIdx.x * blockDim.x + threadIdx.x) % words, elapsed;

	while ((elapsed = now(by_time) - start) < ticks) {
		if (!works(elapsed, busy)) {
			nap();
			continue;
		}
#pragma unroll
		for (int k = 0; k < 2; k++) {
			to[place] = from[place];
			place += step;
			if (place >= words)
				place -= words;
		}
	}
}

/* Random bits. */
KERNEL void kwhy_standin_fill(u32 seed, u32 *out, u64 count)
{
	for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (u64)gridDim.x * blockDim.x)
		out[i] = mix(seed ^ mix((u32)i));
}
