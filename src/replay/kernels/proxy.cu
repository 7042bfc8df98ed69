/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proxy kernels, which take a given time and draw more or less power during it. `ticks` is the length of a
 * kernel. With `by_time`, it is in nanoseconds of the device's global timer, whose rate is constant.
 * Otherwise it is in cycles of each multiprocessor's clock, which has finer steps. `busy` is the share of the
 * multiprocessors that work, in units of 1/1024; blocks on the other multiprocessors wait. `sink` is written
 * only under a condition that practically never holds; it keeps the compiler from removing the work.
 */
typedef unsigned long long u64;
typedef unsigned int u32;

#define KERNEL extern "C" __global__ __launch_bounds__(1024, 2)
#define ARGUMENTS u64 ticks, u32 by_time, u32 busy, float *sink, const uint4 *from, uint4 *to, u64 words

/* number of 16-byte loads that a thread of copy() issues before it stores what they load */
#define COPIES 4
/* A waiting block sleeps while more than this many ticks remain. */
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

/*
 * Whether the blocks of this multiprocessor work. They then work for the whole kernel, because a kernel of a
 * few microseconds is too short to alternate between work and rest. 633 / 1024 is near the golden ratio's
 * fraction, whose multiples modulo 1 are spread evenly, so the working multiprocessors are spread evenly over
 * the GPU.
 */
__device__ static bool works(u32 busy)
{
#ifdef __AMDGCN__
	u32 place = blockIdx.x;
#else
	u32 place;

	asm("mov.u32 %0, %%smid;" : "=r"(place));
#endif
	return (place * 633u & 1023) < busy;
}

/*
 * Waits for `ticks` ticks. One thread reads the clock, and the other threads sleep at the barrier; if all
 * threads of a waiting block read the clock in a loop, it would draw as much power as a working block.
 */
__device__ static void wait(u64 ticks, u32 by_time)
{
	u64 start, elapsed;

	if (!ticks)
		return;
	if (threadIdx.x == 0) {
		start = now(by_time);
		while ((elapsed = now(by_time) - start) < ticks)
			if (ticks - elapsed > NAP)
				nap();
	}
	__syncthreads();
}

KERNEL void kwhy_proxy_wait(ARGUMENTS)
{
	wait(ticks, by_time);
}

/*
 * Multiplies and adds floats for `ticks` ticks. Each pair (x, y) moves on an ellipse around 0, so its values
 * neither grow nor vanish.
 */
__device__ static void turn(u64 ticks, u32 by_time, float *sink)
{
	u64 start = now(by_time);
	u32 bits = mix(blockIdx.x * blockDim.x + threadIdx.x);
	float x[4], y[4], step = 0.5f + 1e-6f * (bits & 0xffff), sum = 0;

	for (int i = 0; i < 4; i++) {
		x[i] = 1e-9f * mix(bits + i);
		y[i] = 1e-9f * mix(bits - i);
	}
	while (now(by_time) - start < ticks) {
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

KERNEL void kwhy_proxy_fma(ARGUMENTS)
{
	if (works(busy))
		turn(ticks, by_time, sink);
	else
		wait(ticks, by_time);
}

/*
 * Copies 16-byte words from `from` to `to`, two buffers of `words` words, until `ticks` ticks have passed.
 * Each thread advances by the number of threads in the grid, which is below `words`, and starts again at the
 * front after the end.
 */
__device__ static void copy(u64 ticks, u32 by_time, const uint4 *from, uint4 *to, u64 words)
{
	u64 start = now(by_time), step = (u64)gridDim.x * blockDim.x,
	    place = ((u64)blockIdx.x * blockDim.x + threadIdx.x) % words;

	while (now(by_time) - start < ticks) {
		uint4 held[COPIES];
		u64 at = place;

#pragma unroll
		for (int k = 0; k < COPIES; k++) {
			held[k] = from[place];
			place += step;
			if (place >= words)
				place -= words;
		}
#pragma unroll
		for (int k = 0; k < COPIES; k++) {
			to[at] = held[k];
			at += step;
			if (at >= words)
				at -= words;
		}
	}
}

KERNEL void kwhy_proxy_memory(ARGUMENTS)
{
	if (works(busy))
		copy(ticks, by_time, from, to, words);
	else
		wait(ticks, by_time);
}

#if __CUDA_ARCH__ >= 800
/*
 * Sums products of 16 x 16 and 16 x 8 matrices on tensor cores for `ticks` ticks. Elements have random signs
 * and absolute values from 0.5 to 2.
 */
__device__ static void multiply(u64 ticks, u32 by_time, float *sink)
{
	u64 start = now(by_time);
	u32 bits = mix(blockIdx.x * blockDim.x + threadIdx.x), a[4];
	float c[4][4] = {}, sum = 0;

	for (int i = 0; i < 4; i++)
		a[i] = (mix(bits + i) & 0x80ff80ffu) | 0x3f003f00u;
	while (now(by_time) - start < ticks) {
#pragma unroll
		for (int k = 0; k < 8; k++) {
			float *d = c[k % 4];

			asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
				     "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
				     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
				     : "r"(a[k % 4]), "r"(a[(k + 1) % 4]), "r"(a[(k + 2) % 4]),
				     "r"(a[(k + 3) % 4]), "r"(a[(k / 4) % 4]), "r"(a[(k / 4 + 2) % 4]));
		}
	}
	for (int i = 0; i < 16; i++)
		sum += c[i / 4][i % 4];
	if (sum == 123.456f)
		sink[0] = sum;
}
#else
#define multiply turn
#endif

/*
 * Multiplies small matrices if all warps of the block are complete; otherwise does the same as
 * kwhy_proxy_fma.
 */
KERNEL void kwhy_proxy_matrix(ARGUMENTS)
{
	if (!works(busy))
		wait(ticks, by_time);
	else if (blockDim.x % 32 == 0)
		multiply(ticks, by_time, sink);
	else
		turn(ticks, by_time, sink);
}

/* Fills memory with random bits. */
KERNEL void kwhy_proxy_fill(u32 seed, u32 *out, u64 count)
{
	for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (u64)gridDim.x * blockDim.x)
		out[i] = mix(seed ^ mix((u32)i));
}
