/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads of known duration and steady power, with which the meters are tested. Each load runs for length_ns by
 * the device's global timer. stamps[0] becomes the earliest start and stamps[1] the latest end of a block, as
 * minimum and maximum with their old values, so the caller sets stamps[0] to the largest u64 and stamps[1] to
 * 0 before. Values are pseudo-random from `seed`, since power depends on the data. `sink` is written only
 * under a condition that practically never holds, so that the compiler does not remove the work.
 */
typedef unsigned long long u64;
typedef unsigned int u32;

#ifdef __AMDGCN__
/* Time in ns since some start; wall_clock64() counts at 100 MHz. */
__device__ static u64 now_ns()
{
	return 10 * wall_clock64();
}
#else
__device__ static u64 now_ns()
{
	u64 time;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
	return time;
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

__device__ static u64 begin(u64 *stamps)
{
	u64 start = now_ns();

	if (threadIdx.x == 0)
		atomicMin(&stamps[0], start);
	return start;
}

__device__ static void end(u64 *stamps)
{
	__syncthreads();
	if (threadIdx.x == 0)
		atomicMax(&stamps[1], now_ns());
}

/*
 * Moves four points (x, y) on ellipses around the origin, so that values neither grow nor vanish. Each step
 * of a point is two fused multiply-adds.
 */
extern "C" __global__ void kwhy_burn_fma(u64 length_ns, u32 seed, float *sink, u64 *stamps)
{
	u64 start = begin(stamps);
	u32 bits = mix(seed ^ mix(blockIdx.x * blockDim.x + threadIdx.x));
	float x[4], y[4], step = 0.5f + 1e-6f * (bits & 0xffff), sum = 0;

	for (int i = 0; i < 4; i++) {
		x[i] = 1e-9f * mix(bits + i);
		y[i] = 1e-9f * mix(bits - i);
	}
	do {
		for (int i = 0; i < 32; i++) {
#pragma unroll
			for (int k = 0; k < 16; k++) {
				x[k % 4] = x[k % 4] - step * y[k % 4];
				y[k % 4] = y[k % 4] + step * x[k % 4];
			}
		}
	} while (now_ns() - start < length_ns);
	for (int i = 0; i < 4; i++)
		sum += x[i] * y[i];
	if (sum == 123.456f)
		sink[0] = sum;
	end(stamps);
}

extern "C" __global__ void kwhy_burn_integer(u64 length_ns, u32 seed, u32 *sink, u64 *stamps)
{
	u64 start = begin(stamps);
	u32 a = mix(seed ^ mix(blockIdx.x * blockDim.x + threadIdx.x)), b = mix(a + 1), c = mix(a + 2),
	    d = mix(a + 3);

	do {
		for (int i = 0; i < 16; i++) {
#pragma unroll
			for (int k = 0; k < 8; k++) {
				a = a * b + c;
				b ^= a >> 3;
				c = c * d + b;
				d += (c << 5) ^ a;
			}
		}
	} while (now_ns() - start < length_ns);
	if ((a ^ b ^ c ^ d) == 0xdeadbeef && a == b)
		sink[0] = a;
	end(stamps);
}

/*
 * Copies `words` 16-byte values from `from` to `to`, repeatedly. Successive threads copy successive values;
 * each thread advances by the number of threads of the grid, which must be at most `words`.
 */
extern "C" __global__ void kwhy_burn_copy(u64 length_ns, const uint4 *from, uint4 *to, u64 words, u64 *stamps)
{
	u64 start = begin(stamps), step = (u64)gridDim.x * blockDim.x,
	    place = (u64)blockIdx.x * blockDim.x + threadIdx.x;

	do {
#pragma unroll 4
		for (int i = 0; i < 32; i++) {
			to[place] = from[place];
			place += step;
			if (place >= words)
				place -= words;
		}
	} while (now_ns() - start < length_ns);
	end(stamps);
}

/* Fills out[count] with random bits from `seed`. */
extern "C" __global__ void kwhy_fill(u32 seed, u32 *out, u64 count)
{
	for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (u64)gridDim.x * blockDim.x)
		out[i] = mix(seed ^ mix((u32)i));
}

/* Writes the present time of the device's global timer, in ns. */
extern "C" __global__ void kwhy_now(u64 *out)
{
	*out = now_ns();
}

extern "C" __global__ void kwhy_nothing()
{
}
