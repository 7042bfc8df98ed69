/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --- Attention of single tokens, of which there are more than a few: a warp takes a head of a token, 16
 * positions at a time, by the tensor instruction, while those that follow are being copied. Which columns the
 * instruction takes as neighbours is free, as it is for prompts (reading.cu). Keys and values of earlier
 * tokens are there before the kernel before has ended, so that their first copies do not wait for it ---
 */
#if ACT_BYTES == 2
enum {
	RECALL_STEP = 16,
	RECALL_PIECES = HEAD * sizeof(cached) / 16,  /* of 16 bytes, of a key or a value */
	RECALL_VALUES = RECALL_STEP * RECALL_PIECES, /* begin behind as many of keys */
	RECALL_QUADS = 2 * RECALL_VALUES,
	RECALL_RAW = 2
};

/* A head of a token: what a lane has of its query, and of its sums 8 columns. */
struct recall {
	u32 layer, token, head, count; /* at position count - 1 */
	const cached *keys, *values;   /* of position 0 */
	const act *state; /* what a product of all three has left of the last one; 0: it is there */
	struct four query[2];
	float most, weight, sums[4][4];
};

static __device__ struct recall recall_of(const struct args *a, u32 layer, u32 token, u32 head, u32 joined)
{
	u64 cache = cache_at(a, layer, token, head, 0);
	struct recall r = {layer, token, head, position_of(a, token) + 1, a->keys + cache, a->values + cache,
		joined ? a->inner + (u64)token * 3 * MIXED + head * HEAD : 0, {{{0}}}, -1e30f, 0, {{0}}};

	return r;
}

/* In such places that lanes that read at once want different banks; of 8 bits rows 2 apart lie together. */
static __device__ u32 recall_key_place(u32 row, u32 piece)
{
	return SHORT_CACHE ? row * RECALL_PIECES + piece : key_place(row, piece);
}

static __device__ u32 recall_value_place(u32 row, u32 piece)
{
	u32 place = row / 8 * 8 + row % 2 * 4 + row % 8 / 2;

	return SHORT_CACHE ? place * RECALL_PIECES + (piece ^ (place & 2)) : value_place(row, piece);
}

/* Of a step whose positions are all there: from and to advance by the same everywhere. */
static __device__ void recall_copy_whole(const struct recall *r, u32 first, struct four *stage)
{
	enum { ROWS_AT_ONCE = 32 / RECALL_PIECES };
	u32 lane = threadIdx.x % 32, piece = lane % RECALL_PIECES;
	u64 at = (u64)(first * HEAD * (u32)sizeof(cached) + lane * 16);
	const u8 *keys = (const u8 *)r->keys + at, *values = (const u8 *)r->values + at;

#pragma unroll
	for (u32 j = 0; j < RECALL_STEP / ROWS_AT_ONCE; j++) {
		u32 row = j * ROWS_AT_ONCE + lane / RECALL_PIECES;

		copy_async(stage + recall_key_place(row, piece), keys + j * 512);
		copy_async(stage + RECALL_VALUES + recall_value_place(row, piece), values + j * 512);
	}
}

/* What would be behind the last position is the last. */
static __device__ void recall_copy(const struct recall *r, u32 first, struct four *stage)
{
	enum { ROWS_AT_ONCE = 32 / RECALL_PIECES };
	u32 lane = threadIdx.x % 32, piece = lane % RECALL_PIECES;

#pragma unroll
	for (u32 j = 0; j < RECALL_STEP / ROWS_AT_ONCE; j++) {
		u32 row = j * ROWS_AT_ONCE + lane / RECALL_PIECES,
		    place = first + row < r->count ? first + row : r->count - 1;
		const void *keys = (const u8 *)(r->keys + (u64)place * HEAD) + piece * 16,
			   *values = (const u8 *)(r->values + (u64)place * HEAD) + piece * 16;

#if !SHORT_CACHE
		if (r->state && place == r->count - 1) {
			keys = r->state + MIXED + piece * UNIT;
			values = r->state + 2 * MIXED + piece * UNIT;
		}
#endif
		copy_async(stage + recall_key_place(row, piece), keys);
		copy_async(stage + RECALL_VALUES + recall_value_place(row, piece), values);
	}
}

#if SHORT_CACHE
/* A lane has 16 neighbours of a row, which four instructions take. */
static __device__ void recall_products(const struct recall *r, const struct four *keys, float c[4])
{
	u32 lane = threadIdx.x % 32, row = lane / 4;
	struct four low = load_shared(keys + recall_key_place(row, lane % 4)),
		    high = load_shared(keys + recall_key_place(row + 8, lane % 4));
	float more[4] = {0, 0, 0, 0}; /* so that not all of them wait for each other */

#pragma unroll
	for (u32 i = 0; i < 4; i++) {
		u32 rows[4];

		halves_of_four(low.of[i], &rows[0], &rows[2]);
		halves_of_four(high.of[i], &rows[1], &rows[3]);
		tensor_halves(i % 2 ? more : c, rows, r->query[i / 2].of[i % 2 * 2],
			r->query[i / 2].of[i % 2 * 2 + 1]);
	}
	c[0] += more[0];
	c[2] += more[2];
}
#else
static __device__ void recall_products(const struct recall *r, const struct four *keys, float c[4])
{
	u32 lane = threadIdx.x % 32, row = lane / 4;

#pragma unroll
	for (u32 i = 0; i < 2; i++) {
		struct four low = load_shared(keys + key_place(row, i * 4 + lane % 4)),
			    high = load_shared(keys + key_place(row + 8, i * 4 + lane % 4));

		multiply(c, &low, &high, r->query[i].of);
	}
}
#endif

/* Of the positions lane / 4 and 8 more, to powers of 2. left: positions that there are. */
static __device__ void recall_scores(
	const struct recall *r, const struct four *keys, u32 left, float scores[2])
{
	u32 row = threadIdx.x % 32 / 4;
	float c[4] = {0, 0, 0, 0};

	recall_products(r, keys, c);
	scores[0] = row < left ? c[0] * (0.125f * 1.44269504f) : -1e30f;
	scores[1] = row + 8 < left ? c[2] * (0.125f * 1.44269504f) : -1e30f;
}

static __device__ void recall_shares(struct recall *r, float scores[2])
{
	float most = fmaxf(r->most, fmaxf(scores[0], scores[1])), factor;

	for (int distance = 4; distance < 32; distance *= 2)
		most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, distance));
	factor = exp_two(r->most - most);
	r->most = most;
	scores[0] = exp_two(scores[0] - most);
	scores[1] = exp_two(scores[1] - most);
	r->weight = r->weight * factor + scores[0] + scores[1];
#pragma unroll
	for (u32 i = 0; i < 4; i++) {
		r->sums[i][0] *= factor;
		r->sums[i][2] *= factor;
	}
}

#if SHORT_CACHE
static __device__ struct eight_kept recall_eight(const struct four *values, u32 row, u32 piece)
{
	return ((const struct eight_kept *)(const void *)(values +
		recall_value_place(row, piece / 2)))[piece % 2];
}

/* The instruction's rows are columns of the values, of which a lane has 8 of 4 positions; all its columns are
 * the same. Positions 8 apart are neighbours to it. */
static __device__ void recall_values(struct recall *r, const struct four *values, const float shares[2])
{
	u32 lane = threadIdx.x % 32, row = lane % 4 * 2, piece = lane / 4,
	    both = pack_halves(shares[0], shares[1]), first = __shfl_sync(0xffffffffu, both, row * 4),
	    second = __shfl_sync(0xffffffffu, both, row * 4 + 4);
	struct eight_kept a = recall_eight(values, row, piece), b = recall_eight(values, row + 8, piece),
			  c = recall_eight(values, row + 1, piece), d = recall_eight(values, row + 9, piece);

#pragma unroll
	for (u32 i = 0; i < 4; i++) {
		u32 bytes = i % 2 ? 0x7362 : 0x5140, near = __byte_perm(a.of[i / 2], b.of[i / 2], bytes),
		    far = __byte_perm(c.of[i / 2], d.of[i / 2], bytes);
		u32 rows[4];

		halves_of_four(near, &rows[0], &rows[1]);
		halves_of_four(far, &rows[2], &rows[3]);

		tensor_halves(r->sums[i], rows, first, second);
	}
}
#else
/* The instruction's rows are columns of the values, of which a lane has 8 of 4 positions; all its columns are
 * the same. */
static __device__ void recall_values(struct recall *r, const struct four *values, const float shares[2])
{
	u32 lane = threadIdx.x % 32, row = lane % 4 * 2, piece = lane / 4, both = pack(shares[0], shares[1]),
	    first = __shfl_sync(0xffffffffu, both, row * 4),
	    second = __shfl_sync(0xffffffffu, both, row * 4 + 4);
	struct four a = load_shared(values + value_place(row, piece)),
		    b = load_shared(values + value_place(row + 8, piece)),
		    c = load_shared(values + value_place(row + 1, piece)),
		    d = load_shared(values + value_place(row + 9, piece));

#pragma unroll
	for (u32 i = 0; i < 4; i++) {
		const u32 rows[4] = {__byte_perm(a.of[i], b.of[i], 0x5410),
			__byte_perm(a.of[i], b.of[i], 0x7632), __byte_perm(c.of[i], d.of[i], 0x5410),
			__byte_perm(c.of[i], d.of[i], 0x7632)};

		tensor(r->sums[i], rows, first, second);
	}
}
#endif

/* One over the weight of all positions. */
static __device__ float recall_scale(const struct recall *r)
{
	float weight = r->weight;

	for (int distance = 4; distance < 32; distance *= 2)
		weight += __shfl_xor_sync(0xffffffffu, weight, distance);
	return 1 / weight;
}

static __device__ void recall_end(const struct recall *r, act *to)
{
	u32 lane = threadIdx.x % 32;
	float scale = recall_scale(r);
	struct four eight;

#pragma unroll
	for (u32 i = 0; i < 4; i++)
		eight.of[i] = pack(r->sums[i][0] * scale, r->sums[i][2] * scale);
	if (lane % 4 == 0)
		*(struct four *)(void *)(to + lane / 4 * UNIT) = eight;
}

/* Mean and one over the deviation of a token's x, which is of acts. */
static __device__ void recall_moments(const struct args *a, u32 token, float *mean, float *scale)
{
	const act *x = (const act *)(const void *)a->x + (u64)token * WIDTH;
	float sum = 0, squares = 0;

#pragma unroll
	for (u32 i = 0; i < WIDTH / UNIT; i += 32) {
		u32 piece = i + threadIdx.x % 32;
		float v[8];

		if (piece >= WIDTH / UNIT)
			continue;
		load_eight(x + piece * UNIT, v);
		for (int j = 0; j < 8; j++) {
			sum += v[j];
			squares += v[j] * v[j];
		}
	}
	*mean = sum_of_warp(sum) / WIDTH;
	*scale = 1 / sqrtf(fmaxf(sum_of_warp(squares) / WIDTH - *mean * *mean, 0) + 1e-5f);
}

/* Which 8 columns of the query a lane has as its first, or second. */
static __device__ u32 recall_query_piece(u32 i)
{
	u32 lane = threadIdx.x % 32;

	return SHORT_CACHE ? lane % 4 * 2 + i : lane % 4 + i * 4;
}

/* The query as the instruction takes it. */
static __device__ void recall_turn_query(struct recall *r)
{
#if SHORT_CACHE
#pragma unroll
	for (u32 i = 0; i < 8; i++) {
		u32 *pair = &r->query[i / 4].of[i % 4];
		float two[2];

		unpack(*pair, two);
		*pair = pack_halves(two[0], two[1]);
	}
#else
	(void)r;
#endif
}

/* What a product has made of x as it is becomes what it makes of x normalised: a lane has 8 numbers of the
 * query, the key or the value (folded.cu). Key and value come to where the copies then find them. */
static __device__ void recall_correct(const struct args *a, struct recall *r)
{
	u32 lane = threadIdx.x % 32, part = lane / PIECES % 3, column = r->head * HEAD + lane % PIECES * UNIT;
	u64 row = (u64)r->layer * ROWS + part * MIXED + column, last = (u64)(r->count - 1) * HEAD;
	struct four eight;
	float v[8], mean, scale;

	load_eight(r->state + part * MIXED + lane % PIECES * UNIT, v);
	recall_moments(a, r->token, &mean, &scale);
	for (int i = 0; i < 8; i++)
		v[i] = (v[i] - mean * a->row_sums[row + i]) * scale + a->biases[row + i];
	for (int i = 0; i < 4; i++)
		eight.of[i] = pack(v[2 * i], v[2 * i + 1]);
#pragma unroll
	for (u32 i = 0; i < 4; i++) {
		r->query[0].of[i] = __shfl_sync(0xffffffffu, eight.of[i], recall_query_piece(0));
		r->query[1].of[i] = __shfl_sync(0xffffffffu, eight.of[i], recall_query_piece(1));
	}
	recall_turn_query(r);
	if (lane / PIECES == 1)
		keep_acts((cached *)(u64)r->keys + last + lane % PIECES * UNIT, eight);
	if (lane / PIECES == 2)
		keep_acts((cached *)(u64)r->values + last + lane % PIECES * UNIT, eight);
	r->state = 0;
	__syncwarp();
}

/* The query; and the key and the value that are new come to where later tokens find them. */
static __device__ void recall_begin(const struct args *a, struct recall *r)
{
	const struct history h = {r->layer, r->token, r->head, r->count, r->state};
	const act *query = r->state ? r->state : a->queries + (u64)r->token * MIXED + r->head * HEAD;

	r->query[0] = load_fresh(query + recall_query_piece(0) * UNIT);
	r->query[1] = load_fresh(query + recall_query_piece(1) * UNIT);
	recall_turn_query(r);
	if (r->state)
		keep_state(a, &h, threadIdx.x % 32);
#if SHORT_CACHE
	__syncwarp(); /* and is read from there */
#endif
}

/* All steps but so many of those that are on their way are there. */
static __device__ void recall_await(u32 count)
{
	switch (count) {
	case 0:
		copy_await_but(0);
		break;
	case 1:
		copy_await_but(1);
		break;
	case 2:
		copy_await_but(2);
		break;
	case 3:
		copy_await_but(3);
		break;
	case 4:
		copy_await_but(4);
		break;
	case 5:
		copy_await_but(5);
		break;
	case 6:
		copy_await_but(6);
		break;
	default:
		copy_await_but(7);
	}
}

/* Copies run `depth` steps ahead. The last step has what is new: it waits. */
static __device__ void recall_past(const struct recall *r, struct four *stages, u32 depth)
{
	u32 last = (r->count - 1) / RECALL_STEP;

	for (u32 i = 0; i < depth; i++) {
		if (i < last)
			recall_copy_whole(r, i * RECALL_STEP, stages + i * RECALL_QUADS);
		copy_end_stage();
	}
}

#if SHORT_CACHE
/* Of the positions of two steps. The most that shares are relative to is raised, and what has been added up
 * scaled, only where a share would be more than 2^8 otherwise: fp16 holds them. */
static __device__ void recall_shares_of_two(struct recall *r, float scores[4])
{
	float most = fmaxf(fmaxf(scores[0], scores[1]), fmaxf(scores[2], scores[3]));

	if (any_of_warp(most > r->most + 8)) {
		float factor;

		for (int distance = 4; distance < 32; distance *= 2)
			most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, distance));
		most = fmaxf(most, r->most);
		factor = exp_two(r->most - most);
		r->most = most;
		r->weight *= factor;
#pragma unroll
		for (u32 i = 0; i < 4; i++) {
			r->sums[i][0] *= factor;
			r->sums[i][2] *= factor;
		}
	}
#pragma unroll
	for (u32 i = 0; i < 4; i++)
		scores[i] = exp_two(scores[i] - r->most);
	r->weight += (scores[0] + scores[1]) + (scores[2] + scores[3]);
}

/* As recall_all(), two steps at a time; depth is even. */
static __device__ void recall_by_two(struct recall *r, struct four *stages, u32 depth)
{
	u32 last = (r->count - 1) / RECALL_STEP, stage = 0;

	if (last < depth)
		recall_copy(r, last * RECALL_STEP, stages + last * RECALL_QUADS);
	copy_end_stage();
	for (u32 i = 0; i <= last; i += 2) {
		struct four *one = stages + stage * RECALL_QUADS, *two = one + RECALL_QUADS;
		float scores[4] = {0, 0, -1e30f, -1e30f};
		int has_two = i < last;

		recall_await(i + 1 >= last ? 0 : depth - 2);
		__syncwarp();
		recall_scores(r, one, r->count - i * RECALL_STEP, scores);
		if (has_two)
			recall_scores(r, two, r->count - (i + 1) * RECALL_STEP, scores + 2);
		recall_shares_of_two(r, scores);
		recall_values(r, one + RECALL_VALUES, scores);
		if (has_two)
			recall_values(r, two + RECALL_VALUES, scores + 2);
		__syncwarp();
		for (u32 j = 0; j < 2; j++) {
			u32 next = i + j + depth;

			if (next < last)
				recall_copy_whole(r, next * RECALL_STEP, j ? two : one);
			else if (next == last)
				recall_copy(r, next * RECALL_STEP, j ? two : one);
			copy_end_stage();
		}
		stage = stage + 2 < depth ? stage + 2 : 0;
	}
}
#endif

static __device__ void recall_all(struct recall *r, struct four *stages, u32 depth)
{
	u32 last = (r->count - 1) / RECALL_STEP, stage = 0;

	if (last < depth)
		recall_copy(r, last * RECALL_STEP, stages + last * RECALL_QUADS);
	copy_end_stage();
	for (u32 i = 0; i <= last; i++) {
		float scores[2];

		recall_await(i == last ? 0 : depth - 1);
		__syncwarp();
		recall_scores(r, stages + stage * RECALL_QUADS, r->count - i * RECALL_STEP, scores);
		recall_shares(r, scores);
		recall_values(r, stages + stage * RECALL_QUADS + RECALL_VALUES, scores);
		__syncwarp();
		if (i + depth < last)
			recall_copy_whole(r, (i + depth) * RECALL_STEP, stages + stage * RECALL_QUADS);
		else if (i + depth <= last)
			recall_copy(r, (i + depth) * RECALL_STEP, stages + stage * RECALL_QUADS);
		copy_end_stage();
		stage = stage + 1 < depth ? stage + 1 : 0;
	}
}

static __device__ void recall(const struct args *a, u32 layer, u32 joined, struct four *room, u32 depth)
{
	u32 warp = threadIdx.x / 32, unit = blockIdx.x * (blockDim.x / 32) + warp,
	    is_one = unit < a->tokens * HEADS, one = is_one ? unit : 0;
	struct recall r = recall_of(a, layer, one / HEADS, one % HEADS, joined);

	room += warp * depth * RECALL_QUADS;
	if (is_one)
		recall_past(&r, room, depth);
	if (!joined)
		ask_for(a, layer, WIDENING);
	await_previous();
	if (!is_one)
		return;
	if (joined == RECALL_RAW)
		recall_correct(a, &r);
	else
		recall_begin(a, &r);
	recall_all(&r, room, depth);
	recall_end(&r, a->mixed + (u64)r.token * MIXED + r.head * HEAD);
}
#else
#define recall(a, layer, joined, room, depth) \
	((void)(a), (void)(layer), (void)(joined), (void)(room), (void)(depth))
#endif

/* joined: queries, keys and values of a token lie together; RECALL_RAW: and are of x as it is. */
KERNEL void __launch_bounds__(RECALL_THREADS, 12)
	kwhy_decode_recall(const struct args a, u32 layer, u32 joined, u32 depth)
{
	ROOM(room);

	recall(&a, layer, joined, room, depth);
}
