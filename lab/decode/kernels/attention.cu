/* SPDX-License-Identifier: Apache-2.0 */
/* --- Attention, fused: scores, their softmax as they come, and the mixing of values --- */

/* One head of one token. */
struct query {
	u32 token, head, count; /* count: positions that it attends to */
	const kept *keys, *values;
};

static __device__ struct query query_of(const struct lab_decode_args *a, u32 layer, u32 unit)
{
	u32 slot = unit / (a->heads * a->each), head = unit / a->each % a->heads, place = unit % a->each;
	u64 cache = (((u64)layer * a->cache_slots + slot) * a->heads + head) * a->positions * HEAD;
	struct query q = {slot * a->each + place, head, (a->each == 1 ? a->at[slot] : place) + 1, a->keys + cache,
		a->values + cache};

	return q;
}

/* Of 8 bits the scale of a token's acts comes of all its heads. */
static __device__ void store_mixed(const struct lab_decode_args *a, const struct query *q, u32 column, float value)
{
	u64 place = ((u64)q->token * a->heads + q->head) * HEAD + column;

	if (IS_SCALED)
		a->sums[place] = value;
	else
		a->acts[place] = act_of(value);
}

/* A number of a query in powers of 2, over the root of a head's width. */
static __device__ float query_at(const struct lab_decode_args *a, const struct query *q, u32 column)
{
	return a->queries[((u64)q->token * a->heads + q->head) * HEAD + column] * 0.125f * 1.44269504f;
}

#if BY_WARPS
/* What a lane has mixed: of 8 columns of a head, of every fourth position. */
struct mixture {
	float most, weight, sums[8];
};

struct __attribute__((aligned(16))) eight {
	kept of[8];
};

static __device__ void mixture_scale(struct mixture *m, float most)
{
	float factor = exp2f(m->most - most);

	m->most = most;
	m->weight *= factor;
	for (int i = 0; i < 8; i++)
		m->sums[i] *= factor;
}

/* With that of another lane. */
static __device__ void mixture_join(struct mixture *m, int distance)
{
	mixture_scale(m, fmaxf(m->most, __shfl_xor_sync(0xffffffffu, m->most, distance)));
	m->weight += __shfl_xor_sync(0xffffffffu, m->weight, distance);
	for (int i = 0; i < 8; i++)
		m->sums[i] += __shfl_xor_sync(0xffffffffu, m->sums[i], distance);
}

/* SPAN * 4 positions from `first` on, of which there are `count` in all. Eight lanes have a position. */
static __device__ void mix_span(
	struct mixture *m, const float query[8], const kept *keys, const kept *values, u32 first, u32 count)
{
	struct eight key[SPAN], value[SPAN];
	float scores[SPAN], most = m->most;
	u32 quarter = threadIdx.x % 32 / 8, column = threadIdx.x % 8 * 8;

	for (u32 i = 0; i < SPAN; i++) {
		u32 position = first + 4 * i + quarter;
		u64 place = (u64)(position < count ? position : count - 1) * HEAD + column;

		key[i] = *(const struct eight *)(const void *)(keys + place);
		value[i] = *(const struct eight *)(const void *)(values + place);
	}
	for (u32 i = 0; i < SPAN; i++) {
		scores[i] = 0;
		for (int j = 0; j < 8; j++)
			scores[i] += query[j] * float_of_kept(key[i].of[j]);
		for (int distance = 1; distance < 8; distance *= 2)
			scores[i] += __shfl_xor_sync(0xffffffffu, scores[i], distance);
		most = first + 4 * i + quarter < count ? fmaxf(most, scores[i]) : most;
	}
	mixture_scale(m, most);
	for (u32 i = 0; i < SPAN; i++) {
		float share = first + 4 * i + quarter < count ? exp2f(scores[i] - most) : 0;

		m->weight += share;
		for (int j = 0; j < 8; j++)
			m->sums[j] += share * float_of_kept(value[i].of[j]);
	}
}

/* The mixtures of a query's warps become one number of the output. */
static __device__ float join_pieces(float (*pieces)[PIECE], u32 warps, u32 column)
{
	float most = pieces[0][HEAD + 1], sum = 0, weight = 0;

	for (u32 i = 1; i < warps; i++)
		most = fmaxf(most, pieces[i][HEAD + 1]);
	for (u32 i = 0; i < warps; i++) {
		float factor = exp2f(pieces[i][HEAD + 1] - most);

		sum += factor * pieces[i][column];
		weight += factor * pieces[i][HEAD];
	}
	return sum / weight;
}

/*
 * warps: of a block that take a query. Of tokens that are written all of them do; of prompts each takes one,
 * and neighbours share keys and values in the cache of their multiprocessor.
 */
KERNEL void __launch_bounds__(THREADS) lab_decode_attend(const struct lab_decode_args a, u32 layer, u32 warps)
{
	__shared__ float pieces[WARPS][PIECE];
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, own = warp % warps,
	    unit = blockIdx.x * (WARPS / warps) + warp / warps, all = a.tokens * a.heads;
	struct query q = query_of(&a, layer, unit < all ? unit : all - 1);
	struct mixture m = {-1e30f, 0, {0}};
	float query[8];

	for (u32 i = 0; i < 8; i++)
		query[i] = query_at(&a, &q, lane % 8 * 8 + i);
	for (u32 first = own * SPAN * 4; first < q.count; first += warps * SPAN * 4)
		mix_span(&m, query, q.keys, q.values, first, q.count);
	mixture_join(&m, 8);
	mixture_join(&m, 16);
	for (u32 i = 0; lane < 8 && i < 8; i++)
		pieces[warp][lane * 8 + i] = m.sums[i];
	if (lane == 0) {
		pieces[warp][HEAD] = m.weight;
		pieces[warp][HEAD + 1] = m.most;
	}
	__syncthreads();
	for (u32 i = own * 32 + lane; unit < all && i < HEAD; i += warps * 32)
		store_mixed(&a, &q, i, join_pieces(pieces + warp / warps * warps, warps, i));
}
#else
static void attend_alone(const struct lab_decode_args *a, const struct query *q)
{
	float sums[HEAD] = {0}, weight = 0, most = -1e30f;

	for (u32 position = 0; position < q->count; position++) {
		const kept *key = q->keys + (u64)position * HEAD, *value = q->values + (u64)position * HEAD;
		float score = 0, factor, share;

		for (u32 i = 0; i < HEAD; i++)
			score += query_at(a, q, i) * float_of_kept(key[i]);
		factor = exp2f(most - fmaxf(most, score));
		most = fmaxf(most, score);
		share = exp2f(score - most);
		weight = weight * factor + share;
		for (u32 i = 0; i < HEAD; i++)
			sums[i] = sums[i] * factor + share * float_of_kept(value[i]);
	}
	for (u32 i = 0; i < HEAD; i++)
		store_mixed(a, q, i, sums[i] / weight);
}

KERNEL void lab_decode_attend(const struct lab_decode_args a, u32 layer, u32 warps)
{
	for (u32 unit = 0; unit < a.tokens * a.heads; unit++) {
		struct query q = query_of(&a, layer, unit);

		attend_alone(&a, &q);
	}
}
#endif
