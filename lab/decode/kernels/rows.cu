/* SPDX-License-Identifier: Apache-2.0 */
/* --- Normalising --- */

#define QUADS (WIDTH / 128) /* times 4 numbers that a lane has of a row */

static __device__ void load_row(const float *from, float v[QUADS][4])
{
	u32 lane = threadIdx.x % 32;

#pragma unroll
	for (int i = 0; i < QUADS; i++) {
		struct four quad = load_fresh(from + i * 128 + lane * 4);

		for (int j = 0; j < 4; j++)
			v[i][j] = __uint_as_float(quad.of[j]);
	}
}

/* Where a token's column, an even one, lies: of a strip's words, of two columns each, four neighbours lie 16
 * bytes apart, so that ldmatrix gives a lane what its 8 weights are multiplied with. */
static __device__ u32 turned(u32 column)
{
	u32 word = column % STRIP / 2;

	return column / STRIP * STRIP + (word % 4 * 4 + word / 4) * 2;
}

/* is_turned: columns lie where turned() says. */
static __device__ void normalise_to(float v[QUADS][4], act *to, int is_turned)
{
	u32 lane = threadIdx.x % 32;
	float sum = 0, squares = 0, scale;

#pragma unroll
	for (int i = 0; i < QUADS; i++)
		for (int j = 0; j < 4; j++)
			sum += v[i][j];
	sum = sum_of_warp(sum) / WIDTH;
#pragma unroll
	for (int i = 0; i < QUADS; i++)
		for (int j = 0; j < 4; j++)
			squares += (v[i][j] - sum) * (v[i][j] - sum);
	scale = 1 / sqrtf(sum_of_warp(squares) / WIDTH + 1e-5f);
#pragma unroll
	for (int i = 0; i < QUADS; i++)
		for (int j = 0; j < 4; j += 2)
			store_two(to + (is_turned ? turned(i * 128 + lane * 4 + j) : i * 128 + lane * 4 + j),
				(v[i][j] - sum) * scale, (v[i][j + 1] - sum) * scale);
}

static __device__ void normalise(float v[QUADS][4], act *to)
{
	normalise_to(v, to, 0);
}

/* Both sums of a block's threads. */
static __device__ void sum_of_block(float *one, float *two)
{
	__shared__ float sums[2][32];
	u32 lane = threadIdx.x % 32, warps = blockDim.x / 32;

	*one = sum_of_warp(*one);
	*two = sum_of_warp(*two);
	if (lane == 0) {
		sums[0][threadIdx.x / 32] = *one;
		sums[1][threadIdx.x / 32] = *two;
	}
	__syncthreads();
	*one = sum_of_warp(lane < warps ? sums[0][lane] : 0);
	*two = sum_of_warp(lane < warps ? sums[1][lane] : 0);
}
