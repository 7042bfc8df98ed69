/* SPDX-License-Identifier: Apache-2.0 */
/* --- Waiting --- */

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
#if BEAM
	a.scores[slot] = first ? a.first_scores[slot] : 0;
	for (u32 i = 0; i < a.room; i++)
		a.sources[((u64)(at + 1) % 2 * a.cache_slots + slot) * a.room + i] = i <= at && a.beams > 1
			? slot % a.sequences
			: slot;
#endif
}

/* Where kernel k of a token finds x (clusters.cu). */
static __device__ float *joint_sum(const struct args *a, u32 kernel)
{
	return a->x_between + (u64)(kernel % 3) * CROWD * WIDTH;
}

/* From `column` on, as many as activations are in 16 bytes. */
static __device__ void begin_columns(
	const struct args *a, u32 token, u32 word, u32 position, u32 column, float *x)
{
	u64 here = (u64)token * WIDTH + column;
	const struct four *places = (const struct four *)(const void *)(a->places + (u64)position * WIDTH +
		column);
	float v[UNIT];

	load_word(a, word, column, v);
	for (int i = 0; i < UNIT / 4; i++) {
		struct four place = load_weights(places + i), sum;

		for (int j = 0; j < 4; j++) {
			v[4 * i + j] += __uint_as_float(place.of[j]);
			sum.of[j] = __float_as_uint(v[4 * i + j]);
		}
		if (!a->has_short_x)
			*(struct four *)(void *)(x + here + 4 * i) = sum;
	}
	for (int i = 0; a->has_short_x && i < UNIT; i += 2)
		store_two((act *)(void *)a->x + here + i, v[i], v[i + 1]);
}

static __device__ void begin_token(const struct args *a, u32 token, u32 joint)
{
	u32 slot = slot_of(a, token), word, position;

	if (a->each == 1) {
		word = ~(u32)meet_best(a, slot);
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
	for (u32 k = threadIdx.x * UNIT; k < WIDTH; k += blockDim.x * UNIT)
		begin_columns(a, token, word, position, k, joint ? joint_sum(a, 0) : a->x);
	for (u32 k = threadIdx.x; joint && k < WIDTH; k += blockDim.x)
		joint_sum(a, 1)[(u64)token * WIDTH + k] = 0;
	__syncthreads();
}

static __device__ void begin_all(const struct args *a, u32 joint, u32 *round)
{
	/* One block takes 18 us to ask for a matrix, longer than it saves. */
	if (gridDim.x >= FEW)
		ask_for(a, 0, ATTENTION);
	await(a, round);
	for (u32 token = blockIdx.x; token < a->tokens; token += gridDim.x)
		begin_token(a, token, joint);
}

/* joint: kernels of clusters follow. */
KERNEL void kwhy_decode_begin(const struct args a, u32 joint)
{
	begin_all(&a, joint, 0);
}
