/* SPDX-License-Identifier: Apache-2.0 */
/* --- Waiting --- */

#ifndef WAIT
#define WAIT
#endif

/* All blocks run at once. */
static __device__ void barrier(const struct args *a, u32 *round)
{
	__syncthreads();
	++*round;
	if (threadIdx.x == 0) {
		__threadfence();
		atomicAdd(a->arrived, 1);
		while (*(volatile u32 *)a->arrived < *round * gridDim.x)
			WAIT;
		__threadfence();
	}
	__syncthreads();
}

/*
 * Kernels begin while the one before them still runs. What they do before this is the same whatever that
 * does: they load weights. In one launch of all steps (`round` is not 0) blocks meet here instead.
 */
static __device__ void await(const struct args *a, u32 *round)
{
	if (round)
		barrier(a, round);
	else
		await_previous();
}

/* --- Where a token is --- */

static __device__ u32 slot_of(const struct args *a, u32 token)
{
	return token / a->each;
}

static __device__ u32 position_of(const struct args *a, u32 token)
{
	return a->each == 1 ? *(volatile u32 *)(a->at + token) : token % a->each;
}

/* What begins a run of tokens: each slot is at `at`, and its next token is `first`, as a key. */
KERNEL void kwhy_decode_reset(const struct args a, u32 at, const u64 *first)
{
	u32 slot = blockIdx.x * blockDim.x + threadIdx.x;

	if (slot == 0)
		*a.arrived = 0;
	if (slot >= a.slots)
		return;
	a.at[slot] = at;
	a.best[slot] = first ? first[slot] : 0;
}

static __device__ void begin_token(const struct args *a, u32 token)
{
	u32 slot = slot_of(a, token), word, position;

	if (a->each == 1) {
		word = ~(u32) * (volatile u64 *)(a->best + slot);
		position = *(volatile u32 *)(a->at + slot) + 1;
		__syncthreads();
		if (threadIdx.x == 0) {
			a->best[slot] = 0;
			a->at[slot] = position;
			if (token == 0)
				a->times[position] = now_ns();
		}
	} else {
		word = a->prompt[token];
		position = token % a->each;
	}
	if (threadIdx.x == 0)
		a->chosen[(u64)slot * a->room + position] = word;
	for (u32 k = threadIdx.x; k < WIDTH; k += blockDim.x)
		a->x[(u64)token * WIDTH + k] = word_of(a, word, k) + a->places[(u64)position * WIDTH + k];
	__syncthreads();
}

static __device__ void begin_all(const struct args *a, u32 *round)
{
	ask_for(a, 0, ATTENTION);
	await(a, round);
	for (u32 token = blockIdx.x; token < a->tokens; token += gridDim.x)
		begin_token(a, token);
}

KERNEL void kwhy_decode_begin(const struct args a)
{
	let_next_begin();
	begin_all(&a, 0);
}

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

static __device__ void normalise(float v[QUADS][4], act *to)
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
			store_two(to + i * 128 + lane * 4 + j, (v[i][j] - sum) * scale,
				(v[i][j + 1] - sum) * scale);
}
