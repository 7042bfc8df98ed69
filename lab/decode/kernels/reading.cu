/* SPDX-License-Identifier: Apache-2.0 */
/* --- Prompts, and what products of a library want --- */

#if ACT_BYTES == 2
static __device__ void load_short_row(const act *from, float v[QUADS][4])
{
#pragma unroll
	for (int i = 0; i < QUADS; i++) {
		u64 both = load_fresh_two(from + i * 128 + threadIdx.x % 32 * 4);

		unpack((u32)both, v[i]);
		unpack((u32)(both >> 32), v[i] + 2);
	}
}
#else
#define load_short_row(from, v) load_row(from, v)
#endif

/* A warp normalises a token, whose x is of acts. last: of each slot its last token alone. */
KERNEL void __launch_bounds__(FEW_THREADS) kwhy_decode_normalise(const struct args a, u32 last)
{
	u32 i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, count = last ? a.slots : a.tokens,
	    token = last ? (i + 1) * a.each - 1 : i;
	float v[QUADS][4];

	await_previous();
	if (i >= count)
		return;
	load_short_row((const act *)(const void *)a.x + (u64)token * WIDTH, v);
	normalise(v, a.normal + (u64)i * WIDTH);
}

#if ACT_BYTES == 2
static __device__ void scale_pairs(u32 pairs[4], float scale)
{
	for (int i = 0; CODE_MOST > 0 && i < 4; i++) {
		float two[2];

		unpack(pairs[i], two);
		pairs[i] = pack(two[0] * scale, two[1] * scale);
	}
}
#else
#define scale_pairs(pairs, scale) ((void)(scale))
#endif

/* Weights row by row, as activations, with their scales in them; a warp makes a row. */
KERNEL void kwhy_decode_plain(const u8 *from, const float *scales, act *to, u32 rows, u32 columns, u32 kind)
{
	u32 lane = threadIdx.x % 32, row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;

	(void)kind; /* for the host */
	if (row >= rows)
		return;
	for (u32 k = lane * EACH; k < columns; k += 32 * EACH) {
		u64 place = ((u64)(row / 8) * (columns / CHUNK) + k / CHUNK) * 32 + row % 8 * 4 +
			k % CHUNK / EACH;
		struct four *out = (struct four *)(void *)(to + (u64)row * columns + k);

		for (int unit = 0; unit < UNITS; unit++) {
			spread(load_weights((const struct four *)(const void *)from + place), unit,
				out[unit].of);
			scale_pairs(out[unit].of, scales[row]);
		}
	}
}

KERNEL void kwhy_decode_plain_floats(const float *from, act *to, u32 count, u32 kind)
{
	(void)kind;
	for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
		to[i] = act_of(from[i]);
}

#if ACT_BYTES == 4
/* Of fp32 activations prompts are attended to as single tokens are. */
KERNEL void __launch_bounds__(FEW_THREADS) kwhy_decode_read(const struct args a, u32 layer, u32 joined)
{
	(void)joined;
	attend_all(&a, layer, 0, blockDim.x / 32, 0);
}
#else
/*
 * A block attends for 128 neighbouring queries of a head, 16 a warp, to 64 keys at a time, while the next
 * ones are copied. Which columns of queries and keys a tensor instruction takes as neighbours is free, as it
 * is for weights; so is which columns of the values it gives, so that a lane has 16 neighbours of them in the
 * end.
 */
enum { TILE = 64, PIECES = HEAD / UNIT, QUERIES = FEW_THREADS / 32 * 16 };

/* One head of one slot. joined: queries, keys and values of a token lie together. */
struct passage {
	const act *queries, *keys, *values; /* keys 0: they are read as they are kept */
	u64 query_step, step;		    /* from a position to the next */
	cached *kept_keys, *kept_values;
};

/* 16 queries of a warp: rows lane / 4 and 8 more. */
struct reading {
	struct four low[2], high[2];
	float most[2], weight[2], sums[8][4];
};

static __device__ struct passage passage_of(const struct args *a, u32 layer, u32 slot, u32 head, u32 joined)
{
	u64 cache = cache_at(a, layer, slot, head, 0);
	const act *state = a->inner + (u64)slot * a->each * 3 * MIXED + head * HEAD;
	struct passage p = {a->queries + (u64)slot * a->each * MIXED + head * HEAD, 0, 0, MIXED, HEAD,
		a->keys + cache, a->values + cache};

	if (joined) {
		struct passage own = {state, state + MIXED, state + 2 * MIXED, 3 * MIXED, 3 * MIXED,
			a->keys + cache, a->values + cache};

		p = own;
	}
	return p;
}

/* Where a tile's page has them: as if all positions lay before and behind it. */
static __device__ void passage_turn(
	struct passage *p, const struct args *a, u32 layer, u32 slot, u32 head, u32 first)
{
#if PAGE
	u64 cache = (cache_at(a, layer, slot, head, first) - (u64)first * HEAD) * sizeof(cached);

	p->kept_keys = (cached *)((u64)a->keys + cache);
	p->kept_values = (cached *)((u64)a->values + cache);
#else
	(void)p, (void)a, (void)layer, (void)slot, (void)head, (void)first;
#endif
}

/* Keys and values of a tile, in such places that no two lanes that read at once want the same bank. */
struct state {
	struct four keys[TILE * PIECES], values[TILE * PIECES];
};

static __device__ u32 key_place(u32 row, u32 piece)
{
	return row * PIECES + (piece ^ row % 2 * 4);
}

static __device__ u32 value_place(u32 row, u32 piece)
{
	return row * PIECES + (piece ^ (row & 6));
}

/* 16 bytes of activations, of what is kept. */
static __device__ void copy_kept(struct four *to, const cached *from)
{
#if SHORT_CACHE
	struct eight_kept kept = load_kept(from);

	*to = acts_of_kept(&kept);
#else
	copy_async(to, from);
#endif
}

static __device__ void read_copy(const struct passage *p, u32 first, u32 count, struct state *state)
{
#pragma unroll
	for (u32 i = threadIdx.x; i < TILE * PIECES; i += FEW_THREADS) {
		u32 row = i / PIECES, piece = i % PIECES,
		    place = first + row < count ? first + row : count - 1;
		u64 at = place * p->step + piece * UNIT;

		if (p->keys) {
			copy_async(&state->keys[key_place(row, piece)], p->keys + at);
			copy_async(&state->values[value_place(row, piece)], p->values + at);
		} else {
			copy_kept(&state->keys[key_place(row, piece)], p->kept_keys + at);
			copy_kept(&state->values[value_place(row, piece)], p->kept_values + at);
		}
	}
}

/* What this thread has copied comes to where later tokens find it. */
static __device__ void read_keep(const struct passage *p, u32 first, u32 count, const struct state *state)
{
#pragma unroll
	for (u32 i = threadIdx.x; i < TILE * PIECES; i += FEW_THREADS) {
		u32 row = i / PIECES, piece = i % PIECES;
		u64 kept = (u64)(first + row) * HEAD + piece * UNIT;

		if (first + row >= count)
			continue;
		keep_acts(p->kept_keys + kept, load_shared(&state->keys[key_place(row, piece)]));
		keep_acts(p->kept_values + kept, load_shared(&state->values[value_place(row, piece)]));
	}
}

static __device__ void read_scores(const struct reading *r, const struct four *keys, float scores[8][4])
{
	u32 lane = threadIdx.x % 32, row = lane / 4;

#pragma unroll
	for (u32 n = 0; n < 8; n++) {
#pragma unroll
		for (u32 i = 0; i < 4; i++)
			scores[n][i] = 0;
#pragma unroll
		for (u32 c = 0; c < 2; c++) {
			struct four key = load_shared(keys + key_place(n * 8 + row, c * 4 + lane % 4));

			multiply(scores[n], &r->low[c], &r->high[c], key.of);
		}
	}
}

/* To powers of 2; keys behind a query are none to it. `ahead`: by how many the first query of a lane is
 * ahead of the tile's first key. */
static __device__ void read_mask(float scores[8][4], int ahead)
{
	int column = (int)(threadIdx.x % 4 * 2);

#pragma unroll
	for (int n = 0; n < 8; n++)
#pragma unroll
		for (int i = 0; i < 4; i++)
			scores[n][i] = n * 8 + column + i % 2 <= ahead + i / 2 * 8
				? scores[n][i] * (0.125f * 1.44269504f)
				: -1e30f;
}

static __device__ void read_shares(struct reading *r, float scores[8][4])
{
#pragma unroll
	for (u32 h = 0; h < 2; h++) {
		float most = r->most[h], factor;

#pragma unroll
		for (u32 n = 0; n < 8; n++)
			most = fmaxf(most, fmaxf(scores[n][2 * h], scores[n][2 * h + 1]));
		most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1));
		most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 2));
		factor = exp_two(r->most[h] - most);
		r->most[h] = most;
		r->weight[h] *= factor;
#pragma unroll
		for (u32 n = 0; n < 8; n++) {
			r->sums[n][2 * h] *= factor;
			r->sums[n][2 * h + 1] *= factor;
			scores[n][2 * h] = exp_two(scores[n][2 * h] - most);
			scores[n][2 * h + 1] = exp_two(scores[n][2 * h + 1] - most);
			r->weight[h] += scores[n][2 * h] + scores[n][2 * h + 1];
		}
	}
}

/* Sums of what the tensor instruction has just given are what it takes: 16 keys of them at once. */
static __device__ void read_values(struct reading *r, const float shares[8][4], const struct four *values)
{
	u32 lane = threadIdx.x % 32;

#pragma unroll
	for (u32 k = 0; k < 4; k++) {
		const u32 two[4] = {pack(shares[2 * k][0], shares[2 * k][1]),
			pack(shares[2 * k][2], shares[2 * k][3]),
			pack(shares[2 * k + 1][0], shares[2 * k + 1][1]),
			pack(shares[2 * k + 1][2], shares[2 * k + 1][3])};
		u32 row = k * 16 + lane % 4 * 2;
		struct four a = load_shared(values + value_place(row, lane / 4)),
			    b = load_shared(values + value_place(row + 1, lane / 4)),
			    c = load_shared(values + value_place(row + 8, lane / 4)),
			    d = load_shared(values + value_place(row + 9, lane / 4));

#pragma unroll
		for (u32 n = 0; n < 8; n++) {
			u32 halves = n % 2 ? 0x7632 : 0x5410;

			tensor(r->sums[n], two, __byte_perm(a.of[n / 2], b.of[n / 2], halves),
				__byte_perm(c.of[n / 2], d.of[n / 2], halves));
		}
	}
}

static __device__ void read_begin(struct reading *r, const struct passage *p, u32 query, u32 count)
{
	u32 low = query < count ? query : count - 1, high = query + 8 < count ? query + 8 : count - 1;

#pragma unroll
	for (u32 c = 0; c < 2; c++) {
		u32 column = (c * 4 + threadIdx.x % 4) * UNIT;

		r->low[c] = load_fresh(p->queries + low * p->query_step + column);
		r->high[c] = load_fresh(p->queries + high * p->query_step + column);
	}
#pragma unroll
	for (u32 n = 0; n < 8; n++)
#pragma unroll
		for (u32 i = 0; i < 4; i++)
			r->sums[n][i] = 0;
	for (u32 h = 0; h < 2; h++) {
		r->most[h] = -1e30f;
		r->weight[h] = 0;
	}
}

/* to: of the query's token. */
static __device__ void read_end(const struct reading *r, act *to, u32 h)
{
	struct four *out = (struct four *)(void *)(to + threadIdx.x % 4 * 16);
	float weight = r->weight[h];

	weight += __shfl_xor_sync(0xffffffffu, weight, 1);
	weight += __shfl_xor_sync(0xffffffffu, weight, 2);
#pragma unroll
	for (u32 e = 0; e < 2; e++) {
		struct four eight;

#pragma unroll
		for (u32 i = 0; i < 4; i++)
			eight.of[i] = pack(
				r->sums[2 * i][2 * h + e] / weight, r->sums[2 * i + 1][2 * h + e] / weight);
		if (to)
			out[e] = eight;
	}
}

static __device__ void read_step(struct reading *r, const struct state *state, int ahead)
{
	float scores[8][4];

	read_scores(r, state->keys, scores);
	read_mask(scores, ahead);
	read_shares(r, scores);
	read_values(r, scores, state->values);
}

static __device__ void read_tile(
	const struct args *a, u32 layer, u32 slot, u32 head, u32 tile, struct passage *p)
{
	__shared__ struct state state[2];
	u32 begin = tile * QUERIES, end = begin + QUERIES < a->each ? begin + QUERIES : a->each,
	    first = begin + threadIdx.x / 32 * 16, query = first + threadIdx.x % 32 / 4;
	act *to = a->mixed + (u64)slot * a->each * MIXED + head * HEAD;
	struct reading r;

	__syncthreads();
	passage_turn(p, a, layer, slot, head, 0);
	read_copy(p, 0, a->each, &state[0]);
	copy_end_stage();
	read_begin(&r, p, query, a->each);
	for (u32 i = 0; i * TILE < end; i++) {
		if ((i + 1) * TILE < end) {
			passage_turn(p, a, layer, slot, head, (i + 1) * TILE);
			read_copy(p, (i + 1) * TILE, a->each, &state[(i + 1) % 2]);
		}
		copy_end_stage();
		copy_await_but_one();
		if (p->keys && i * TILE >= begin) {
			passage_turn(p, a, layer, slot, head, i * TILE);
			read_keep(p, i * TILE, a->each, &state[i % 2]);
		}
		__syncthreads();
		if (i * TILE < first + 16)
			read_step(&r, &state[i % 2], (int)(query - i * TILE));
		__syncthreads();
	}
	for (u32 h = 0; h < 2; h++)
		read_end(&r, query + 8 * h < a->each ? to + (u64)(query + 8 * h) * MIXED : 0, h);
}

/* The longest first. */
KERNEL void __launch_bounds__(FEW_THREADS, 2) kwhy_decode_read(const struct args a, u32 layer, u32 joined)
{
	u32 tiles = (a.each + QUERIES - 1) / QUERIES, heads = a.slots * HEADS;

	await_previous();
	meet_begin(&a, layer);
	for (u32 unit = blockIdx.x; unit < heads * tiles; unit += gridDim.x) {
		u32 slot = unit % heads / HEADS, head = unit % HEADS;
		struct passage p = passage_of(&a, layer, slot, head, joined);

		read_tile(&a, layer, slot, head, tiles - 1 - unit / heads, &p);
	}
}
#endif
