/* SPDX-License-Identifier: Apache-2.0 */
/* --- Choosing: a block takes a slot --- */

/* A logit of this GPU's; of 8 bits it comes to its size. */
static __device__ float size_logit(const struct lab_decode_args *a, u32 slot, u32 i)
{
	float *logits = a->logits + (u64)slot * a->word_count;

#if IS_SCALED
	float scale = a->last_scales[slot] * a->word_scales[a->first_word + i];
#if KIND == INT8
	logits[i] = (float)((const int *)(const void *)logits)[i] * scale;
#else
	logits[i] *= scale;
#endif
#endif
	return logits[i];
}

/* The likeliest token of this GPU's words. */
KERNEL void __launch_bounds__(1024) lab_decode_pick(const struct lab_decode_args a)
{
	for (u32 slot = blockIdx.x; slot < a.slots; slot += gridDim.x) {
		u64 best = 0;

		for (u32 i = threadIdx.x; i < a.word_count; i += blockDim.x) {
			float logit = size_logit(&a, slot, i);
			u64 key = a.first_word + i < a.vocabulary ? key_of(logit, a.first_word + i) : 0;

			best = key > best ? key : best;
		}
		best = best_of_block(best);
		if (threadIdx.x == 0)
			a.best[slot] = best;
	}
}

static __device__ float logit_at(const struct lab_decode_args *a, u32 slot, u32 token)
{
	return a->all_logits[((u64)(token / a->word_count) * a->slots + slot) * a->word_count +
		token % a->word_count];
}

/* A token's part of all: of their number or of their probability, in 2^24ths of the likeliest's. */
static __device__ u64 part_of(float logit, float most, float scale, int by_share)
{
	return by_share ? (u64)(exp2f((logit - most) * scale) * 16777216.0f) : 1;
}

/* A digit of what is kept: the parts of the digits from it on reach `wanted`; *wanted is what is left of it.
 */
static __device__ u32 choose_digit(const u64 *sums, u64 *wanted)
{
	u32 digit = 255;

	while (digit && sums[digit] < *wanted)
		*wanted -= sums[digit--];
	return digit;
}

/*
 * The least order that is kept, of those from `least` on: the largest parts that together reach `wanted`. A
 * digit of 8 bits at a time.
 */
static __device__ u32 least_kept(
	const struct lab_decode_args *a, u32 slot, u32 least, float most, u64 wanted, int by_share)
{
	__shared__ u64 sums[256];
	__shared__ u32 found;
	float scale = 1.44269504f / a->temperature;
	u32 prefix = 0;

	for (int shift = 24; shift >= 0; shift -= 8) {
		u32 known = shift == 24 ? 0 : ~0u << (shift + 8);

		for (u32 i = threadIdx.x; i < 256; i += blockDim.x)
			sums[i] = 0;
		__syncthreads();
		for (u32 i = threadIdx.x; i < a->vocabulary; i += blockDim.x) {
			float logit = logit_at(a, slot, i);
			u32 order = order_of(logit);

			if (order >= least && (order & known) == prefix)
				atomicAdd(&sums[order >> shift & 255], part_of(logit, most, scale, by_share));
		}
		__syncthreads();
		if (threadIdx.x == 0)
			found = choose_digit(sums, &wanted);
		__syncthreads();
		prefix |= found << shift;
	}
	return prefix;
}

static __device__ u64 sum_of_parts(const struct lab_decode_args *a, u32 slot, u32 least, float most)
{
	__shared__ u64 sum;
	u64 mine = 0;

	if (threadIdx.x == 0)
		sum = 0;
	__syncthreads();
	for (u32 i = threadIdx.x; i < a->vocabulary; i += blockDim.x) {
		float logit = logit_at(a, slot, i);

		if (order_of(logit) >= least)
			mine += part_of(logit, most, 1.44269504f / a->temperature, 1);
	}
	atomicAdd(&sum, mine);
	__syncthreads();
	return sum;
}

/* Added to logits, it makes the largest one a draw by their probabilities (Gumbel). */
static __device__ float luck_of(const struct lab_decode_args *a, u32 slot, u32 token)
{
	u32 hash = mix(a->seed ^ mix(slot ^ mix(a->at[slot])));
	float even = ((float)(mix(token ^ hash) >> 8) + 0.5f) * (1.0f / 16777216.0f);

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
		least = least_kept(
			a, slot, least, most, 1 + (u64)(a->top_p * (float)sum_of_parts(a, slot, least, most)), 1);
	for (u32 i = threadIdx.x; i < a->vocabulary; i += blockDim.x) {
		float logit = logit_at(a, slot, i);
		u64 key = order_of(logit) >= least ? key_of(logit / a->temperature + luck_of(a, slot, i), i) : 0;

		best = key > best ? key : best;
	}
	best = best_of_block(best);
	if (threadIdx.x == 0)
		a->best[slot] = best;
}

/* Draws a token: of the likeliest top_k, of which as few as have the share top_p together. */
KERNEL void __launch_bounds__(512) lab_decode_choose(const struct lab_decode_args a)
{
	for (u32 slot = blockIdx.x; slot < a.slots; slot += gridDim.x)
		choose(&a, slot);
}
