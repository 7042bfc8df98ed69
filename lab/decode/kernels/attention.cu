/* SPDX-License-Identifier: Apache-2.0 */
/* --- Attention in one kernel: scores, softmax computed along with the scores, weighted sums of values --- */

enum {
	LANES = WARP < 8 ? WARP : 8, /* lanes of a warp that share the key and value of one position */
	AT_ONCE = WARP / LANES,	     /* positions that the lanes of a warp process at the same time */
	COLUMNS = HEAD / LANES,	     /* columns of a key or value in each lane */
	/* positions whose keys and values a lane loads before it computes their scores */
	SPAN = 4,
	WARPS = LAB_DECODE_THREADS / WARP,
	PIECE = HEAD + 2
};

/* A query: one head of one token. */
struct query {
	u32 token, head, count; /* count: number of positions that the query attends to */
	u64 cache;		/* index in the cache of its head's first key and value */
};

static __device__ struct query query_of(const struct lab_decode_args *a, u32 layer, u32 unit)
{
	u32 slot = unit / (a->heads * a->each), head = unit / a->each % a->heads,
	    token = slot * a->each + unit % a->each;
	struct query q = {token, head, position_of(a, token) + 1,
		(((u64)layer * a->cache_slots + slot) * a->heads + head) * a->positions * HEAD};

	return q;
}

/*
 * Stores a column of the attention's result. With 8-bit activations it is stored as a float in `sums`, since the
 * scale of a token is only known after all its heads; the kernel `activate` converts it.
 */
static __device__ void store_mixed(const struct lab_decode_args *a, const struct query *q, u32 column, float value)
{
	u64 place = ((u64)q->token * a->heads + q->head) * HEAD + column;

	if (IS_SCALED(a))
		a->sums[place] = value;
	else
		put(ACT(a), a->acts, place, value);
}

/*
 * Loads the columns of a query that belong to a lane. Multiplies them by log2(e), so that exponentials are
 * powers of 2, and divides them by the root of a head's width.
 */
static __device__ void load_query(const struct lab_decode_args *a, const struct query *q, float to[COLUMNS])
{
	u64 place = ((u64)q->token * a->heads + q->head) * HEAD + threadIdx.x % LANES * COLUMNS;

	for (u32 i = 0; i < COLUMNS; i++)
		to[i] = a->queries[place + i] * 0.125f * 1.44269504f;
}

/*
 * The columns of a key or value that belong to a lane, if they have 16 bits: 16 bytes, which one instruction loads.
 */
struct __attribute__((aligned(16))) halves {
	u16 of[COLUMNS];
};

static __device__ void load_columns(u32 type, const void *from, u64 place, float to[COLUMNS])
{
	struct halves halves;

	if (type != LAB_FP32) {
		halves = *(const struct halves *)(const void *)((const u16 *)from + place);
		from = halves.of;
		place = 0;
	}
	for (u32 i = 0; i < COLUMNS; i++)
		to[i] = get(type, from, place + i);
}

/*
 * A lane's weighted sums of values, one for each of its columns, over every AT_ONCE-th position. most: largest
 * score so far; weight: sum of the weights. The weight of a position is 2^(score - most).
 */
struct mixture {
	float most, weight, sums[COLUMNS];
};

static __device__ void mixture_scale(struct mixture *m, float most)
{
	float factor = exp2f(m->most - most);

	m->most = most;
	m->weight *= factor;
	for (u32 i = 0; i < COLUMNS; i++)
		m->sums[i] *= factor;
}

/* Combines a lane's weighted sums with those of the lane whose number differs in the bits of `distance`. */
static __device__ void mixture_join(struct mixture *m, int distance)
{
	mixture_scale(m, fmaxf(m->most, __shfl_xor_sync(0xffffffffu, m->most, distance)));
	m->weight += __shfl_xor_sync(0xffffffffu, m->weight, distance);
	for (u32 i = 0; i < COLUMNS; i++)
		m->sums[i] += __shfl_xor_sync(0xffffffffu, m->sums[i], distance);
}

/* Adds the SPAN * AT_ONCE positions from `first` on to the weighted sums of a warp; each lane adds SPAN of them. */
static __device__ void mix_span(const struct lab_decode_args *a, const struct query *q, const float query[COLUMNS],
	u32 first, struct mixture *m)
{
	float keys[SPAN][COLUMNS], values[SPAN][COLUMNS], scores[SPAN], most = m->most;

	first += threadIdx.x % WARP / LANES;
	for (u32 i = 0; i < SPAN; i++) {
		u32 position = first + AT_ONCE * i;
		u64 place = q->cache + (u64)(position < q->count ? position : q->count - 1) * HEAD +
			threadIdx.x % LANES * COLUMNS;

		load_columns(KEPT(a), a->keys, place, keys[i]);
		load_columns(KEPT(a), a->values, place, values[i]);
	}
	for (u32 i = 0; i < SPAN; i++) {
		scores[i] = 0;
		for (u32 j = 0; j < COLUMNS; j++)
			scores[i] += query[j] * keys[i][j];
		for (int distance = 1; distance < LANES; distance *= 2)
			scores[i] += __shfl_xor_sync(0xffffffffu, scores[i], distance);
		most = first + AT_ONCE * i < q->count ? fmaxf(most, scores[i]) : most;
	}
	mixture_scale(m, most);
	for (u32 i = 0; i < SPAN; i++) {
		float share = first + AT_ONCE * i < q->count ? exp2f(scores[i] - most) : 0;

		m->weight += share;
		for (u32 j = 0; j < COLUMNS; j++)
			m->sums[j] += share * values[i][j];
	}
}

/*
 * Combines the weighted sums that the warps of a query have for one column, and returns the result of attention in
 * that column. pieces[warp]: [0] to [HEAD - 1] sums, [HEAD] weight, [HEAD + 1] largest score.
 */
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
 * Computes a warp's part of a query's weighted sums: warp `own` of `warps` takes every warps-th span of positions.
 * At the end the lanes combine their sums, so that each of the first LANES lanes has the sums of its columns over
 * all positions of the warp.
 */
static __device__ void attend(
	const struct lab_decode_args *a, const struct query *q, u32 own, u32 warps, float piece[PIECE])
{
	struct mixture m = {-1e30f, 0, {0}};
	float query[COLUMNS];
	u32 lane = threadIdx.x % WARP;

	load_query(a, q, query);
	for (u32 first = own * SPAN * AT_ONCE; first < q->count; first += warps * SPAN * AT_ONCE)
		mix_span(a, q, query, first, &m);
	for (int distance = LANES; distance < WARP; distance *= 2)
		mixture_join(&m, distance);
	for (u32 i = 0; lane < LANES && i < COLUMNS; i++)
		piece[lane * COLUMNS + i] = m.sums[i];
	if (lane == 0) {
		piece[HEAD] = m.weight;
		piece[HEAD + 1] = m.most;
	}
}

/*
 * In a step (one token of each slot) all warps of a block work on one query. When prompts are read, each warp has a
 * query of its own; adjacent queries read the same keys and values, which are then in the multiprocessor's cache.
 */
KERNEL void __launch_bounds__(LAB_DECODE_THREADS, 4) lab_decode_attend(
	const struct lab_decode_args a, const struct lab_decode_call c)
{
	__shared__ float pieces[WARPS][PIECE];
	u32 all = blockDim.x / WARP, warps = a.each == 1 ? all : 1, warp = threadIdx.x / WARP, own = warp % warps,
	    units = a.tokens * a.heads, unit;

	for (u32 first = blockIdx.x * (all / warps); first < units; first += gridDim.x * (all / warps)) {
		struct query q;

		unit = first + warp / warps;
		q = query_of(&a, c.layer, unit < units ? unit : units - 1);
		attend(&a, &q, own, warps, pieces[warp]);
		__syncthreads();
		for (u32 i = own * WARP + threadIdx.x % WARP; unit < units && i < HEAD; i += warps * WARP)
			store_mixed(&a, &q, i, join_pieces(pieces + warp / warps * warps, warps, i));
		__syncthreads();
	}
}
