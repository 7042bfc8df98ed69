/* SPDX-License-Identifier: Apache-2.0 */
/* --- Choosing: a block a slot, of logits that the last product has left --- */

#define CHOOSING_THREADS 512
#define PICKING_THREADS 256

static __device__ u32 order_of(float logit)
{
	return (u32)(key_of(logit, 0) >> 32);
}

/* What a thread reads at once of logits, to wait for memory once: so often 16 bytes. */
enum { PICKED = 4 };

/* The likeliest so far, by its logit's order. */
struct pick {
	u32 most, likeliest;
};

static __device__ void pick_one(struct pick *p, float logit, u32 token)
{
	u32 order = order_of(logit);

	p->likeliest = order > p->most ? token : p->likeliest;
	p->most = order > p->most ? order : p->most;
}

/* A thread's share of a row of logits; rows are whole 16 bytes. */
static __device__ void pick_fours(struct pick *p, const float *logits, u32 first, u32 step, u32 count)
{
	for (; first < count; first += PICKED * step) {
		struct four some[PICKED];

#pragma unroll
		for (u32 i = 0; i < PICKED; i++)
			if (first + i * step < count)
				some[i] = load_fresh(logits + (u64)(first + i * step) * 4);
#pragma unroll
		for (u32 i = 0; i < PICKED; i++)
			for (u32 j = 0; first + i * step < count && j < 4; j++)
				pick_one(p, __uint_as_float(some[i].of[j]), (first + i * step) * 4 + j);
	}
}

/* The likeliest token, where a library has made the last product. Several blocks share a slot. */
KERNEL void __launch_bounds__(PICKING_THREADS) kwhy_decode_pick(const struct args a, u32 blocks)
{
	u32 slot = blockIdx.x / blocks, step = blocks * blockDim.x,
	    first = blockIdx.x % blocks * blockDim.x + threadIdx.x;
	const float *logits = a.logits + (u64)slot * a.vocabulary;
	struct pick p = {0, ~0u};
	u64 best;

	await_previous();
	if (a.vocabulary % 4 == 0)
		pick_fours(&p, logits, first, step, a.vocabulary / 4);
	else
		for (; first < a.vocabulary; first += step)
			pick_one(&p, logits[first], first);
	best = (u64)p.most << 32 | (u32)~p.likeliest;
	for (int distance = 1; distance < 32; distance *= 2)
		best = key_of_lane(best, distance);
	if (threadIdx.x % 32 == 0)
		atomicMax(a.best + slot, best);
}

/* A token's part of all: of their number or of their probability, in 2^24ths of the likeliest's. */
static __device__ u64 part_of(float logit, float most, float scale, int by_share)
{
	return by_share ? (u64)(exp_two((logit - most) * scale) * 16777216.0f) : 1;
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
	const struct args *a, const float *logits, u32 least, float most, u64 wanted, int by_share)
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
			u32 order = order_of(logits[i]);

			if (order >= least && (order & known) == prefix)
				atomicAdd(&sums[order >> shift & 255],
					part_of(logits[i], most, scale, by_share));
		}
		__syncthreads();
		if (threadIdx.x == 0)
			found = choose_digit(sums, &wanted);
		__syncthreads();
		prefix |= found << shift;
	}
	return prefix;
}

/* Over all threads. */
static __device__ u64 most_of_block(u64 key)
{
	__shared__ u64 most;

	for (int distance = 1; distance < 32; distance *= 2)
		key = key_of_lane(key, distance);
	__syncthreads();
	if (threadIdx.x == 0)
		most = 0;
	__syncthreads();
	if (threadIdx.x % 32 == 0)
		atomicMax(&most, key);
	__syncthreads();
	return most;
}

static __device__ u64 sum_of_parts(const struct args *a, const float *logits, u32 least, float most)
{
	__shared__ u64 sum;
	float scale = 1.44269504f / a->temperature;
	u64 mine = 0;

	if (threadIdx.x == 0)
		sum = 0;
	__syncthreads();
	for (u32 i = threadIdx.x; i < a->vocabulary; i += blockDim.x)
		if (order_of(logits[i]) >= least)
			mine += part_of(logits[i], most, scale, 1);
	atomicAdd(&sum, mine);
	__syncthreads();
	return sum;
}

/* Added to logits, it makes the largest one a draw by their probabilities (Gumbel). */
static __device__ float luck_of(const struct args *a, u32 slot, u32 token)
{
	u32 hash = mix(a->seed ^ mix(slot ^ mix(a->at[slot])));
	float even = ((float)(mix(token ^ hash) >> 8) + 0.5f) * (1.0f / 16777216.0f);

	return -logf(-logf(even));
}

KERNEL void __launch_bounds__(CHOOSING_THREADS) kwhy_decode_choose(const struct args a)
{
	u32 slot = blockIdx.x, least = 0, likeliest;
	const float *logits = a.logits + (u64)slot * a.vocabulary;
	float most;
	u64 best = 0;

	await_previous();
	likeliest = ~(u32) * (volatile u64 *)(a.best + slot);
	most = logits[likeliest];
	if (a.top_k && a.top_k < a.vocabulary)
		least = least_kept(&a, logits, 0, most, a.top_k, 0);
	if (a.top_p < 1)
		least = least_kept(&a, logits, least, most,
			1 + (u64)(a.top_p * (float)sum_of_parts(&a, logits, least, most)), 1);
	for (u32 i = threadIdx.x; i < a.vocabulary; i += blockDim.x) {
		u64 key = order_of(logits[i]) >= least
			? key_of(logits[i] / a.temperature + luck_of(&a, slot, i), i)
			: 0;

		best = key > best ? key : best;
	}
	best = most_of_block(best);
	if (threadIdx.x == 0)
		a.best[slot] = best;
}
