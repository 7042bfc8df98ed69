/* SPDX-License-Identifier: Apache-2.0 */
/* --- Few tokens: blocks take 8 rows, their warps share the columns --- */

#define DEPTH (UNITS == 1 ? 4 : UNITS == 2 ? 2 : 1) /* loads on their way */
#define STRIDE (WIDTH + PAD)			    /* of tokens in shared memory */

/* Tokens that a thin product takes. */
struct thin {
	const act *input;
	u32 stride, tokens, columns;
	int is_shared; /* else they are in memory */
};

static __device__ struct four load_token(const struct thin *t, u32 token, u32 column)
{
	const act *from = t->input + (u64)token * t->stride + column;
	const struct four none = {{0, 0, 0, 0}};

	if (token >= t->tokens)
		return none;
	return t->is_shared ? load_shared((const struct four *)(const void *)from) : load_fresh(from);
}

/* Of the tokens g and g + 8, as many columns as a lane has weights. */
static __device__ void load_tokens(
	const struct thin *t, u32 chunk, struct four low[UNITS], struct four high[UNITS])
{
	u32 lane = threadIdx.x % 32, column = chunk * CHUNK + lane % 4 * EACH;

#pragma unroll
	for (u32 u = 0; u < UNITS; u++) {
		low[u] = load_token(t, lane / 4, column + u * UNIT);
		high[u] = load_token(t, lane / 4 + 8, column + u * UNIT);
	}
}

/* A lane's weights of the chunks from `first` on, every warps-th. */
static __device__ void thin_load(const u8 *tile, u32 columns, u32 first, struct four weights[DEPTH])
{
	u32 lane = threadIdx.x % 32, warps = blockDim.x / 32;

#pragma unroll
	for (u32 i = 0; i < DEPTH; i++)
		if (first + i * warps < columns / CHUNK)
			weights[i] = load_weights(tile + ((u64)(first + i * warps) * 32 + lane) * 16);
}

static __device__ void thin_chunks(
	const struct thin *t, u32 first, const struct four weights[DEPTH], float c[4])
{
	u32 warps = blockDim.x / 32, count = t->columns / CHUNK;
	struct four low[DEPTH][UNITS], high[DEPTH][UNITS];

#pragma unroll
	for (u32 i = 0; i < DEPTH; i++)
		if (!t->is_shared && first + i * warps < count)
			load_tokens(t, first + i * warps, low[i], high[i]);
#pragma unroll
	for (u32 i = 0; i < DEPTH; i++)
		if (first + i * warps < count) {
			if (t->is_shared)
				load_tokens(t, first + i * warps, low[i], high[i]);
#pragma unroll
			for (u32 u = 0; u < UNITS; u++) {
				u32 codes[4];

				spread(weights[i], (int)u, codes);
				multiply(c, &low[i][u], &high[i][u], codes);
			}
		}
}

/*
 * The sum for this thread's token and row of a tile: token threadIdx.x / 8, row threadIdx.x % 8. The first
 * weights of the tile are there, and then those of `next`; 0: there is none.
 */
static __device__ float thin_tile(
	const struct thin *t, const u8 *tile, const u8 *next, struct four weights[DEPTH])
{
	__shared__ float parts[WARPS_MOST][FEW * 8];
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32, place;
	float c[4] = {0, 0, 0, 0}, sum = 0;

	for (u32 first = warp; first < t->columns / CHUNK; first += warps * DEPTH) {
		if (first != warp)
			thin_load(tile, t->columns, first, weights);
		thin_chunks(t, first, weights, c);
	}
	if (next)
		thin_load(next, t->columns, warp, weights);
	place = lane / 4 * 8 + lane % 4 * 2;
	__syncthreads();
	parts[warp][place] = c[0];
	parts[warp][place + 1] = c[1];
	parts[warp][place + 64] = c[2];
	parts[warp][place + 65] = c[3];
	__syncthreads();
	if (threadIdx.x < FEW * 8)
#pragma unroll
		for (u32 w = 0; w < WARPS_MOST; w++)
			sum += w < warps ? parts[w][threadIdx.x] : 0;
	return sum;
}

/* Does this thread have a token's sum? */
static __device__ int thin_has(const struct args *a)
{
	return threadIdx.x < a->tokens * 8;
}

/* All tokens, normalised, into shared memory, as they come to a matrix of a layer. */
static __device__ void stage_normal(const struct args *a, u32 layer, int matrix, act *room)
{
	for (u32 token = threadIdx.x / 32; token < a->tokens; token += blockDim.x / 32) {
		float v[QUADS][4];

		meet_row(a, layer, matrix, token, v);
		normalise(v, room + token * STRIDE);
	}
	__syncthreads();
}

/* A column of what the shares of a head's attention have found, together; all loads are on their way at once.
 */
static __device__ float shares_column(u32 shares, const volatile float *pieces, u32 stride, u32 column)
{
	float mosts[SHARES_MOST], weights[SHARES_MOST], sums[SHARES_MOST], most = -1e30f, weight = 0, sum = 0;

#pragma unroll
	for (u32 s = 0; s < SHARES_MOST; s++) {
		int is_there = s < shares;

		mosts[s] = is_there ? pieces[s * stride + HEAD + 1] : -1e30f;
		weights[s] = is_there ? pieces[s * stride + HEAD] : 0;
		sums[s] = is_there ? pieces[s * stride + column] : 0;
	}
#pragma unroll
	for (u32 s = 0; s < SHARES_MOST; s++)
		most = fmaxf(most, mosts[s]);
#pragma unroll
	for (u32 s = 0; s < SHARES_MOST; s++) {
		float factor = exp_two(mosts[s] - most);

		weight += weights[s] * factor;
		sum += sums[s] * factor;
	}
	return sum / weight;
}

static __device__ void stage_pieces(const struct args *a, act *room)
{
	for (u32 i = threadIdx.x; i < a->tokens * MIXED; i += blockDim.x) {
		u32 token = i / MIXED, column = i % MIXED;
		const float *pieces = a->pieces + ((u64)token * HEADS + column / HEAD) * a->shares * PIECE;

		room[token * STRIDE + column] = act_of(
			shares_column(a->shares, pieces, PIECE, column % HEAD));
	}
	__syncthreads();
}

/* A block's tiles of a matrix, one after the other. */
struct tiles {
	const u8 *weights;
	u32 count, columns;
	struct four first[DEPTH];
};

/* The first weights of the first tile, before the tokens are there. */
static __device__ void tiles_begin(struct tiles *tiles, const u8 *weights, u32 rows, u32 columns)
{
	tiles->weights = weights;
	tiles->count = rows / 8;
	tiles->columns = columns;
	if (blockIdx.x < tiles->count)
		thin_load(tile_of(weights, blockIdx.x, columns), columns, threadIdx.x / 32, tiles->first);
}

/* This thread's row of a tile. */
static __device__ u32 row_of(u32 tile)
{
	return tile * 8 + threadIdx.x % 8;
}

/* Of the first tile, before the tokens are there, and then of the next. */
static __device__ struct ends tiles_ends(
	const struct args *a, u32 layer, int matrix, const struct tiles *tiles, u32 tile)
{
	const struct ends none = {0, 0};

	return tile < tiles->count ? ends_of(a, layer, matrix, row_of(tile)) : none;
}

static __device__ float tiles_sum(struct tiles *tiles, const struct thin *t, u32 tile)
{
	u32 next = tile + gridDim.x;

	return thin_tile(t, tile_of(tiles->weights, tile, tiles->columns),
		next < tiles->count ? tile_of(tiles->weights, next, tiles->columns) : 0, tiles->first);
}

static __device__ void thin_attention(const struct args *a, u32 layer, act *room, u32 *round)
{
	const struct thin t = {room, STRIDE, a->tokens, WIDTH, 1};
	struct place place = {0, 0, 0};
	struct tiles tiles;
	struct ends ends;

	ask_for(a, layer, PROJECTION);
	tiles_begin(&tiles, weights_of(a, layer, ATTENTION), 3 * MIXED, WIDTH);
	ends = tiles_ends(a, layer, ATTENTION, &tiles, blockIdx.x);
	await(a, round);
	if (thin_has(a))
		place = place_of(a, threadIdx.x / 8);
	stage_normal(a, layer, ATTENTION, room);
	for (u32 tile = blockIdx.x; tile < tiles.count; tile += gridDim.x) {
		float sum = tiles_sum(&tiles, &t, tile);

		if (thin_has(a))
			store_state(a, layer, &place, row_of(tile), sum * ends.scale + ends.bias);
		ends = tiles_ends(a, layer, ATTENTION, &tiles, tile + gridDim.x);
	}
}

static __device__ void thin_add(const struct args *a, u32 layer, int matrix, const struct thin *t,
	struct tiles *tiles, struct ends ends)
{
	for (u32 tile = blockIdx.x; tile < tiles->count; tile += gridDim.x) {
		u64 here = (u64)(threadIdx.x / 8) * WIDTH + row_of(tile);
		volatile float *x = a->x + here;
		float before = RANKS == 1 && thin_has(a) ? *x : 0, sum = tiles_sum(tiles, t, tile);

		if (RANKS > 1 && thin_has(a))
			meet_send(a, layer, matrix, here, sum * ends.scale + (a->rank ? 0 : ends.bias));
		else if (thin_has(a))
			*x = before + (sum * ends.scale + ends.bias);
		ends = tiles_ends(a, layer, matrix, tiles, tile + gridDim.x);
	}
}

static __device__ void thin_project(const struct args *a, u32 layer, act *room, u32 *round)
{
	const struct thin shared = {room, STRIDE, a->tokens, MIXED, 1},
			  direct = {a->mixed, MIXED, a->tokens, MIXED, 0};
	struct tiles tiles;
	struct ends ends;

	ask_for(a, layer, NARROWING);
	tiles_begin(&tiles, weights_of(a, layer, PROJECTION), WIDTH, MIXED);
	ends = tiles_ends(a, layer, PROJECTION, &tiles, blockIdx.x);
	await(a, round);
	if (a->shares > 1) {
		stage_pieces(a, room);
		thin_add(a, layer, PROJECTION, &shared, &tiles, ends);
	} else {
		thin_add(a, layer, PROJECTION, &direct, &tiles, ends);
	}
}

static __device__ void thin_widen(const struct args *a, u32 layer, act *room, u32 *round)
{
	const struct thin t = {room, STRIDE, a->tokens, WIDTH, 1};
	struct tiles tiles;
	struct ends ends;

	ask_for(a, layer + 1, ATTENTION);
	tiles_begin(&tiles, weights_of(a, layer, WIDENING), INNER, WIDTH);
	ends = tiles_ends(a, layer, WIDENING, &tiles, blockIdx.x);
	await(a, round);
	stage_normal(a, layer, WIDENING, room);
	for (u32 tile = blockIdx.x; tile < tiles.count; tile += gridDim.x) {
		float sum = tiles_sum(&tiles, &t, tile);

		if (thin_has(a))
			a->inner[(u64)(threadIdx.x / 8) * INNER + row_of(tile)] = act_of(
				fmaxf(sum * ends.scale + ends.bias, 0));
		ends = tiles_ends(a, layer, WIDENING, &tiles, tile + gridDim.x);
	}
}

static __device__ void thin_narrow(const struct args *a, u32 layer, u32 *round)
{
	const struct thin t = {a->inner, INNER, a->tokens, INNER, 0};
	struct tiles tiles;
	struct ends ends;

	tiles_begin(&tiles, weights_of(a, layer, NARROWING), WIDTH, INNER);
	ends = tiles_ends(a, layer, NARROWING, &tiles, blockIdx.x);
	await(a, round);
	thin_add(a, layer, NARROWING, &t, &tiles, ends);
}

static __device__ void thin_head(const struct args *a, act *room, u32 *round)
{
	const struct thin t = {room, STRIDE, a->tokens, WIDTH, 1};
	u32 token = threadIdx.x / 8;
	struct tiles tiles;
	u64 best = 0;

	float *logits = meet_logits(a);

	tiles_begin(&tiles, weights_of(a, 0, WORDS), (a->word_count + 7) / 8 * 8, WIDTH);
	await(a, round);
	stage_normal(a, a->layer_count, WORDS, room);
	for (u32 tile = blockIdx.x; tile < tiles.count; tile += gridDim.x) {
		u32 row = a->first_word + row_of(tile);
		float sum = tiles_sum(&tiles, &t, tile);

		if (!thin_has(a) || row >= a->vocabulary)
			continue;
		sum *= word_scale(a, row);
		best = key_of(sum, row) > best ? key_of(sum, row) : best;
		if (logits)
			logits[(u64)token * a->vocabulary + row] = sum;
	}
	for (int distance = 1; distance < 8; distance *= 2)
		best = key_of_lane(best, distance);
	if (thin_has(a) && threadIdx.x % 8 == 0)
		atomicMax(a->best + token, best);
}

KERNEL void __launch_bounds__(FEW_THREADS) kwhy_decode_thin_attention(const struct args a, u32 layer)
{
	ROOM(room);

	thin_attention(&a, layer, (act *)(void *)room, 0);
}

KERNEL void __launch_bounds__(FEW_THREADS) kwhy_decode_thin_project(const struct args a, u32 layer)
{
	ROOM(room);

	thin_project(&a, layer, (act *)(void *)room, 0);
}

KERNEL void __launch_bounds__(FEW_THREADS) kwhy_decode_thin_widen(const struct args a, u32 layer)
{
	ROOM(room);

	thin_widen(&a, layer, (act *)(void *)room, 0);
}

KERNEL void __launch_bounds__(NARROW_THREADS) kwhy_decode_thin_narrow(const struct args a, u32 layer)
{
	thin_narrow(&a, layer, 0);
}

KERNEL void __launch_bounds__(FEW_THREADS) kwhy_decode_thin_head(const struct args a)
{
	ROOM(room);

	thin_head(&a, (act *)(void *)room, 0);
}

/* --- All steps in one launch, of few tokens --- */

static __device__ void whole_layer(const struct args *a, u32 layer, act *room, u32 *round)
{
	thin_attention(a, layer, room, round);
	attend_all(a, layer, 0, blockDim.x / 32, round);
	thin_project(a, layer, room, round);
	thin_widen(a, layer, room, round);
	thin_narrow(a, layer, round);
}

KERNEL void __launch_bounds__(FEW_THREADS, 2) kwhy_decode_whole(const struct args a, u32 steps)
{
	ROOM(room);
	u32 round = 0;

	for (u32 step = 0; step < steps; step++) {
		begin_all(&a, 0, &round);
		for (u32 layer = 0; layer < a.layer_count; layer++)
			whole_layer(&a, layer, (act *)(void *)room, &round);
		thin_head(&a, (act *)(void *)room, &round);
	}
}
