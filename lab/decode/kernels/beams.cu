/* SPDX-License-Identifier: Apache-2.0 */
/* --- Beams: of each sequence the likeliest ways on, several slots of one --- */

#if BEAM
/* The largest key of this thread's tokens that is below `most`. */
static __device__ u64 next_key(const struct args *a, const float *logits, u64 most)
{
	u64 best = 0;

	for (u32 i = threadIdx.x; i < a->vocabulary; i += blockDim.x) {
		u64 key = key_of(logits[i], i);

		best = key > best && key < most ? key : best;
	}
	return best;
}

/* A block a slot: its likeliest tokens, each with the logarithm of the probability of all up to it. */
KERNEL void __launch_bounds__(CHOOSING_THREADS) kwhy_decode_beam_rank(const struct args a)
{
	u32 slot = blockIdx.x;
	const float *logits = a.logits + (u64)slot * a.vocabulary;
	float most, sum = 0, none = 0;
	u64 mine = 0, best;

	await_previous();
	most = logits[~(u32) * (volatile u64 *)(a.best + slot)];
	for (u32 i = threadIdx.x; i < a.vocabulary; i += blockDim.x) {
		u64 key = key_of(logits[i], i);

		mine = key > mine ? key : mine;
		sum += exp_two((logits[i] - most) * 1.44269504f);
	}
	sum_of_block(&sum, &none);
	for (u32 k = 0; k < a.beams; k++) {
		best = most_of_block(mine);
		if (threadIdx.x == 0)
			a.candidates[slot * BEAMS_MOST + k] = key_of(
				a.scores[slot] + logits[~(u32)best] - most - logf(sum), ~(u32)best);
		if (mine == best)
			mine = next_key(&a, logits, best);
	}
}

static __device__ float score_of(u64 key)
{
	u32 order = (u32)(key >> 32);

	return __uint_as_float(order & 0x80000000u ? order ^ 0x80000000u : ~order);
}

/* What comes from a beam, of all of its sequence: slot `k * sequences + sequence` goes on with winners[k]. */
static __device__ void take_over(const struct args *a, u32 sequence, u32 position, const u32 *winners)
{
	u64 half = (u64)a->cache_slots * a->room;
	const u32 *from = a->sources + position % 2 * half;
	u32 *to = a->sources + (position + 1) % 2 * half;

	for (u32 k = 0; k < a->beams; k++) {
		u32 slot = k * a->sequences + sequence,
		    parent = winners[k] / a->beams * a->sequences + sequence;

		for (u32 i = threadIdx.x; i <= position; i += blockDim.x)
			to[(u64)slot * a->room + i] = from[(u64)parent * a->room + i];
		if (threadIdx.x == 0 && position + 1 < a->room)
			to[(u64)slot * a->room + position + 1] = slot;
	}
}

/* A block a sequence: the best of what `live` of its beams have found. */
KERNEL void kwhy_decode_beam_choose(const struct args a, u32 live)
{
	__shared__ u64 keys[BEAMS_MOST * BEAMS_MOST];
	__shared__ u32 winners[BEAMS_MOST];
	u32 sequence = blockIdx.x, count = live * a.beams, c = threadIdx.x, rank = 0;

	await_previous();
	if (c < count)
		keys[c] = a.candidates[(c / a.beams * a.sequences + sequence) * BEAMS_MOST + c % a.beams];
	__syncthreads();
	for (u32 i = 0; c < count && i < count; i++)
		rank += keys[i] > keys[c] || (keys[i] == keys[c] && i < c);
	if (c < count && rank < a.beams)
		winners[rank] = c;
	__syncthreads();
	if (c < a.beams) {
		a.best[c * a.sequences + sequence] = keys[winners[c]];
		a.scores[c * a.sequences + sequence] = score_of(keys[winners[c]]);
	}
	if (a.each == 1)
		take_over(&a, sequence, a.at[sequence], winners);
}
#else
KERNEL void kwhy_decode_beam_rank(const struct args a)
{
	(void)a;
}

KERNEL void kwhy_decode_beam_choose(const struct args a, u32 live)
{
	(void)a;
	(void)live;
}
#endif
