/* SPDX-License-Identifier: Apache-2.0 */
/* --- Attention --- */

/* What a lane has summed up: of 8 columns of a head. */
struct mixture {
	float most, weight, sums[8];
};

static __device__ void mixture_scale(struct mixture *m, float most)
{
	float factor = exp_two(m->most - most);

	m->most = most;
	m->weight *= factor;
	for (int i = 0; i < 8; i++)
		m->sums[i] *= factor;
}

static __device__ void mixture_join(struct mixture *m, int distance)
{
	float most = fmaxf(m->most, __shfl_xor_sync(0xffffffffu, m->most, distance));

	mixture_scale(m, most);
	m->weight += __shfl_xor_sync(0xffffffffu, m->weight, distance);
	for (int i = 0; i < 8; i++)
		m->sums[i] += __shfl_xor_sync(0xffffffffu, m->sums[i], distance);
}

/* Where a head's keys and values of a position lie. */
static __device__ u64 cache_at(const struct args *a, u32 layer, u32 slot, u32 head, u32 position)
{
#if PAGE
	u32 page = a->pages[slot * a->pages_each + position / PAGE];

	return ((((u64)layer * a->page_count + page) * HEADS + head) * PAGE + position % PAGE) * HEAD;
#else
	return ((((u64)layer * a->cache_slots + slot) * HEADS + head) * a->room + position) * HEAD;
#endif
}

/*
 * A head of a slot that is at position count - 1. state: what a product of queries, keys and values together
 * has left of that position, the head's queries first; 0: all of it is where it belongs.
 */
struct history {
	u32 layer, slot, head, count;
	const act *state;
};

/* Where its keys and values of a place are, if those of `first` are at `cache`. */
static __device__ u64 past_at(const struct args *a, const struct history *h, u64 cache, u32 first, u32 place)
{
#if BEAM
	if (a->each == 1)
		return cache_at(a, h->layer,
			a->sources[((u64)(h->count - 1) % 2 * a->cache_slots + h->slot) * a->room + place],
			h->head, place);
#else
	(void)a;
	(void)h;
#endif
	return cache + (u64)(place - first) * HEAD;
}

/* Keys and values of SPAN * 4 positions, SPAN for each quarter of a warp: of a lane 8 columns. */
enum { SPAN = FEW_SLOTS > 8 && ACT_BYTES == 2 ? 4 : 2, EIGHT = 8 / UNIT };

#if SHORT_CACHE
struct span_eight {
	struct eight_kept kept;
};
#else
struct span_eight {
	struct four acts[EIGHT];
};
#endif

struct span {
	struct span_eight keys[SPAN], values[SPAN];
};

static __device__ void floats_of(const struct span_eight *eight, float out[8])
{
#if SHORT_CACHE
	floats_of_kept(&eight->kept, out);
#elif ACT_BYTES == 4
	for (int i = 0; i < 8; i++)
		out[i] = __uint_as_float(eight->acts[i / 4].of[i % 4]);
#else
	for (int i = 0; i < 4; i++)
		unpack(eight->acts[0].of[i], out + 2 * i);
#endif
}

/* Of a key or a value that is kept. */
static __device__ struct span_eight load_span_eight(const cached *from)
{
	struct span_eight eight;

#if SHORT_CACHE
	eight.kept = load_kept(from);
#else
#pragma unroll
	for (u32 j = 0; j < EIGHT; j++)
		eight.acts[j] = load_fresh(from + j * UNIT);
#endif
	return eight;
}

/* Of one that is still an activation. */
static __device__ struct span_eight span_eight_of(const act *from)
{
	struct span_eight eight;

#if SHORT_CACHE
	struct four acts = load_fresh(from);

	eight.kept = kept_of_acts(&acts);
#else
	eight = load_span_eight(from);
#endif
	return eight;
}

/* From `first` on; what would be behind the last is the last. */
static __device__ void span_load(struct span *s, const struct args *a, const struct history *h, u32 first)
{
	u64 cache = cache_at(a, h->layer, h->slot, h->head, first);
	u32 lane = threadIdx.x % 32;

#pragma unroll
	for (u32 i = 0; i < SPAN; i++) {
		u32 place = first + i * 4 + lane / 8, known = place < h->count ? place : h->count - 1;
		u64 from = past_at(a, h, cache, first, known) + lane % 8 * 8;

		if (h->state && known == h->count - 1) {
			s->keys[i] = span_eight_of(h->state + MIXED + lane % 8 * 8);
			s->values[i] = span_eight_of(h->state + 2 * MIXED + lane % 8 * 8);
		} else {
			s->keys[i] = load_span_eight(a->keys + from);
			s->values[i] = load_span_eight(a->values + from);
		}
	}
}

/* `count`: how many of the span's positions there are. */
static __device__ void mix_span(struct mixture *m, const float query[8], const struct span *s, u32 count)
{
	u32 quarter = threadIdx.x % 32 / 8;
	float scores[SPAN], eight[8], most = m->most;

#pragma unroll
	for (u32 i = 0; i < SPAN; i++) {
		floats_of(&s->keys[i], eight);
		scores[i] = 0;
		for (int j = 0; j < 8; j++)
			scores[i] += query[j] * eight[j];
		for (int distance = 1; distance < 8; distance *= 2)
			scores[i] += __shfl_xor_sync(0xffffffffu, scores[i], distance);
		most = i * 4 + quarter < count ? fmaxf(most, scores[i]) : most;
	}
	mixture_scale(m, most);
#pragma unroll
	for (u32 i = 0; i < SPAN; i++) {
		float share = i * 4 + quarter < count ? exp_two(scores[i] - most) : 0;

		floats_of(&s->values[i], eight);
		m->weight += share;
		for (int j = 0; j < 8; j++)
			m->sums[j] += share * eight[j];
	}
}

/* A warp takes every step-th span, and loads the next while it mixes one. */
static __device__ void mix_spans(struct mixture *m, const float query[8], const struct args *a,
	const struct history *h, u32 first, u32 step)
{
	struct span span, next;

	if (first < h->count)
		span_load(&span, a, h, first);
	for (; first < h->count; first += step) {
		if (first + step < h->count)
			span_load(&next, a, h, first + step);
		mix_span(m, query, &span, h->count - first);
		span = next;
	}
}

/*
 * Keys and values of a token's first `most` positions are asked for into the second cache, while the kernels
 * before the attention to them leave memory idle. By a thread for each head's keys and each head's values.
 */
static __device__ void ask_past(const struct args *a, u32 layer, u32 token, u32 most, u32 thread)
{
	u32 count, head = thread / 2;

	if (thread >= 2 * HEADS || BEAM || a->each > 1)
		return;
	count = position_of(a, token);
	count = count < most ? count : most;
	count = PAGE && count > PAGE ? PAGE : count;
	if (count)
		ask_piece((thread % 2 ? a->values : a->keys) + cache_at(a, layer, slot_of(a, token), head, 0),
			count * HEAD * (u32)sizeof(cached));
}

/* The mixtures of a block's warps become one: out[HEAD] sums, then their weight and the most. */
static __device__ void join_warps(const struct mixture *m, float (*all)[PIECE])
{
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;

	__syncthreads();
	if (lane < 8)
		for (int i = 0; i < 8; i++)
			all[warp][lane * 8 + i] = m->sums[i];
	if (lane == 0) {
		all[warp][HEAD] = m->weight;
		all[warp][HEAD + 1] = m->most;
	}
	__syncthreads();
}

/* Column `column` of `count` pieces together; column HEAD: their weight. */
static __device__ float join_pieces(const float *pieces, u32 count, u32 column, float most)
{
	float sum = 0;

	for (u32 i = 0; i < count; i++)
		sum += pieces[i * PIECE + column] * exp_two(pieces[i * PIECE + HEAD + 1] - most);
	return sum;
}

static __device__ float most_of_pieces(const float *pieces, u32 count)
{
	float most = pieces[HEAD + 1];

	for (u32 i = 1; i < count; i++)
		most = fmaxf(most, pieces[i * PIECE + HEAD + 1]);
	return most;
}

/* The key and the value of the position that a history ends at come to where later tokens find them. */
static __device__ void keep_state(const struct args *a, const struct history *h, u32 thread)
{
	u32 part = thread / (HEAD / UNIT), column = thread % (HEAD / UNIT) * UNIT;

	if (part < 2)
		keep_acts((part ? a->values : a->keys) +
				cache_at(a, h->layer, h->slot, h->head, h->count - 1) + column,
			load_fresh(h->state + (1 + part) * MIXED + column));
}

/*
 * A share of one head of one token at position count - 1, by `warps` of a block; its others take others.
 * joined: its queries, keys and values lie together.
 */
static __device__ void attend(
	const struct args *a, u32 layer, u32 token, u32 head, u32 share, u32 joined, u32 warps, u32 count)
{
	__shared__ float every[WARPS_MOST][PIECE];
	u32 warp = threadIdx.x / 32 % warps, thread = warp * 32 + threadIdx.x % 32, lane = threadIdx.x % 32,
	    slot = slot_of(a, token);
	float(*all)[PIECE] = every + threadIdx.x / 32 / warps * warps;
	const act *state = joined ? a->inner + (u64)token * 3 * MIXED + head * HEAD : 0;
	const struct history h = {layer, slot, head, count, state};
	struct mixture m = {-1e30f, 0, {0}};
	float query[8], most;

	load_eight((state ? state : a->queries + (u64)token * MIXED + head * HEAD) + lane % 8 * 8, query);
	if (state)
		keep_state(a, &h, thread);
	for (int i = 0; i < 8; i++)
		query[i] *= 0.125f * 1.44269504f; /* of the head's width; to powers of 2 */
	mix_spans(&m, query, a, &h, (share * warps + warp) * SPAN * 4, a->shares * warps * SPAN * 4);
	mixture_join(&m, 8);
	mixture_join(&m, 16);
	join_warps(&m, every);
	most = most_of_pieces(all[0], warps);
	if (a->shares == 1)
		for (u32 i = thread; i < HEAD; i += warps * 32)
			a->mixed[(u64)token * MIXED + head * HEAD + i] = act_of(
				join_pieces(all[0], warps, i, most) / join_pieces(all[0], warps, HEAD, most));
	else
		for (u32 i = thread; i < PIECE; i += warps * 32)
			a->pieces[(((u64)token * HEADS + head) * a->shares + share) * PIECE + i] = i <= HEAD
				? join_pieces(all[0], warps, i, most)
				: most;
}

static __device__ void attend_all(const struct args *a, u32 layer, u32 joined, u32 warps, u32 *round)
{
	u32 units = a->tokens * HEADS * a->shares, each = blockDim.x / 32 / warps;

	ask_for(a, layer, WIDENING);
	await(a, round);
	meet_begin(a, layer);
	for (u32 first = blockIdx.x * each; first < units; first += gridDim.x * each) {
		u32 unit = first + threadIdx.x / 32 / warps;

		unit = unit < units ? unit : units - 1;
		attend(a, layer, unit / a->shares / HEADS, unit / a->shares % HEADS, unit % a->shares, joined,
			warps, position_of(a, unit / a->shares / HEADS) + 1);
	}
}

/* warps: of a block that take a head of a token, or a share of it. */
KERNEL void __launch_bounds__(FEW_THREADS)
	kwhy_decode_attend(const struct args a, u32 layer, u32 joined, u32 warps)
{
	attend_all(&a, layer, joined, warps, 0);
}

/* A token's place among keys and values. */
struct place {
	u32 token, slot, position;
};

static __device__ struct place place_of(const struct args *a, u32 token)
{
	struct place place = {token, slot_of(a, token), position_of(a, token)};

	return place;
}

/* Where a number of keys and values goes, of row MIXED and more. */
static __device__ cached *kept_at(const struct args *a, u32 layer, const struct place *place, u32 row)
{
	u32 column = row % MIXED;

	return (row < 2 * MIXED ? a->keys : a->values) +
		cache_at(a, layer, place->slot, column / HEAD, place->position) + column % HEAD;
}

/* A number of queries, keys and values comes to where it belongs; two neighbours of them. */
static __device__ void store_state(
	const struct args *a, u32 layer, const struct place *place, u32 row, float one)
{
	if (row < MIXED)
		a->queries[(u64)place->token * MIXED + row] = act_of(one);
	else
		keep_one(kept_at(a, layer, place, row), one);
}

static __device__ void store_state_two(
	const struct args *a, u32 layer, const struct place *place, u32 row, float one, float two)
{
	if (row < MIXED)
		store_two(a->queries + (u64)place->token * MIXED + row, one, two);
	else
		keep_two(kept_at(a, layer, place, row), one, two);
}

/* What ends a row's sums. */
struct ends {
	float scale, bias;
};

static __device__ struct ends ends_of(const struct args *a, u32 layer, int matrix, u32 row)
{
	u64 place = (u64)layer * ROWS + first_row(matrix) + row;
	struct ends ends = {CODE_MOST > 0 ? a->scales[place] : 1, a->biases[place]};

	return ends;
}

static __device__ float word_scale(const struct args *a, u32 word)
{
	return CODE_MOST > 0 ? a->word_scales[word] : 1;
}
