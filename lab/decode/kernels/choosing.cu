/* SPDX-License-Identifier: Apache-2.0 */
/* --- Choice of tokens: a block processes one slot --- */

/*
 * order_of() converts a float to an unsigned integer with the same order. key_of() combines the order of a token's
 * logit (upper half) with ~token (lower half): of tokens with equal logits the one with the lowest number has the
 * largest key.
 */
static __device__ u32 order_of(float value)
{
	u32 bits = __float_as_uint(value);

	return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static __device__ u64 key_of(float value, u32 token)
{
	return (u64)order_of(value) << 32 | (u32)~token;
}

/* Largest value, or with is_sum the sum, over all threads of a block. All threads get the result. */
static __device__ u64 reduce_whole(u64 mine, u32 is_sum)
{
	__shared__ u64 all;

	__syncthreads();
	if (threadIdx.x == 0)
		all = 0;
	__syncthreads();
	if (is_sum)
		atomicAdd(&all, mine);
	else
		atomicMax(&all, mine);
	__syncthreads();
	return all;
}

/*
 * Logit of this GPU's token i for a slot. With 8-bit weights, the stored result of the product is first multiplied
 * by its scales.
 */
static __device__ float size_logit(const struct lab_decode_args *a, u32 slot, u32 i)
{
	u64 place = (u64)slot * a->word_count + i;

	if (IS_SCALED(a))
		a->logits[place] = get(ACT(a) == LAB_INT8 ? LAB_INT32 : LAB_FP32, a->logits, place) *
			a->last_scales[slot] * a->word_scales[a->first_word + i];
	return a->logits[place];
}

/* Finds the likeliest of this GPU's tokens for each slot. */
KERNEL void __launch_bounds__(1024) lab_decode_pick(const struct lab_decode_args a, const struct lab_decode_call c)
{
	for (u32 slot = blockIdx.x; slot < a.slots; slot += gridDim.x) {
		u64 best = 0;

		for (u32 i = threadIdx.x; i < a.word_count; i += blockDim.x) {
			float logit = size_logit(&a, slot, i);
			u64 key = a.first_word + i < a.vocabulary ? key_of(logit, a.first_word + i) : 0;

			best = key > best ? key : best;
		}
		best = reduce_whole(best, 0);
		if (threadIdx.x == 0)
			a.best[slot] = best;
	}
}

static __device__ float logit_at(const struct lab_decode_args *a, u32 slot, u32 token)
{
	return a->all_logits[((u64)(token / a->word_count) * a->slots + slot) * a->word_count +
		token % a->word_count];
}

/*
 * Counts the tokens whose order_of() is at least `least`. With by_share it adds up their probabilities
 * instead, in units of 2^-24 of the likeliest token's probability.
 */
static __device__ u64 sum_of_parts(const struct lab_decode_args *a, u32 slot, u32 least, float most, u32 by_share)
{
	float scale = 1.44269504f / a->temperature;
	u64 mine = 0;

	for (u32 i = threadIdx.x; i < a->vocabulary; i += blockDim.x) {
		float logit = logit_at(a, slot, i);

		if (order_of(logit) >= least)
			mine += by_share ? (u64)(exp2f((logit - most) * scale) * 16777216.0f) : 1;
	}
	return reduce_whole(mine, 1);
}

/*
 * Finds the largest limit, at least `least`, such that the tokens whose order_of() is at least the limit number
 * `wanted` or more (with by_share: their probabilities add up to `wanted` or more). Tries the limit's bits from the
 * highest to the lowest.
 */
static __device__ u32 least_kept(
	const struct lab_decode_args *a, u32 slot, u32 least, float most, u64 wanted, u32 by_share)
{
	u32 kept = 0;

	for (u32 bit = 1u << 31; bit; bit >>= 1) {
		u32 tried = kept | bit;

		if (tried <= least || sum_of_parts(a, slot, tried, most, by_share) >= wanted)
			kept = tried;
	}
	return kept > least ? kept : least;
}

/*
 * Random number with a Gumbel distribution. If one is added to each token's logit (divided by the temperature),
 * each token has the largest sum with the probability that softmax gives it.
 */
static __device__ float luck_of(const struct lab_decode_args *a, u32 slot, u32 token)
{
	u32 hash = mix(a->seed ^ mix(slot ^ mix(a->at[slot])));
	/* 23 bits: with 24, adding 0.5 would round the largest number up to 1, whose luck is infinite */
	float even = ((float)(mix(token ^ hash) >> 9) + 0.5f) * (1.0f / 8388608.0f);

	return -logf(-logf(even));
}

static __device__ void choose(const struct lab_decode_args *a, u32 slot)
{
	u32 least = 0;
	float most = logit_at(a, slot, ~(u32)a->best[slot]);
	u64 best = 0;

	if (a->top_k && a->top_k < a->vocabulary)
		least = least_kept(a, slot, 0, most, a->top_k, 0);
	if (a->top_p < 1)
		least = least_kept(a, slot, least, most,
			1 + (u64)(a->top_p * (float)sum_of_parts(a, slot, least, most, 1)), 1);
	for (u32 i = threadIdx.x; i < a->vocabulary; i += blockDim.x) {
		float logit = logit_at(a, slot, i);
		u64 key = order_of(logit) >= least ? key_of(logit / a->temperature + luck_of(a, slot, i), i) : 0;

		best = key > best ? key : best;
	}
	best = reduce_whole(best, 0);
	if (threadIdx.x == 0)
		a->best[slot] = best;
}

/*
 * Samples the next token of each slot: from the top_k likeliest tokens, and among these from the smallest number of
 * likeliest tokens whose probabilities add up to top_p or more.
 */
KERNEL void __launch_bounds__(512) lab_decode_choose(const struct lab_decode_args a, const struct lab_decode_call c)
{
	for (u32 slot = blockIdx.x; slot < a.slots; slot += gridDim.x)
		choose(&a, slot);
}
