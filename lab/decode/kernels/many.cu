/* SPDX-License-Identifier: Apache-2.0 */
/* --- Many tokens: blocks take 64 of them and 32 or 64 rows; copies run ahead of the products --- */

/* Of a layer's first half, its second, or of the one before: what is still to be added to x. */
enum settling { SETTLE_NOTHING, SETTLE_PROJECTION, SETTLE_NARROWING };

static __device__ void load_quad(const float *from, float v[4])
{
	struct four quad = load_fresh(from);

	for (int j = 0; j < 4; j++)
		v[j] = __uint_as_float(quad.of[j]);
}

/* Of this GPU or another one. */
static __device__ void load_part(const float *from, float v[4])
{
	struct four quad = load_far_four(from);

	for (int j = 0; j < 4; j++)
		v[j] = __uint_as_float(quad.of[j]);
}

/* What a thread has of a row of x, with the parts that wide products have left for it. */
static __device__ void settle_quad(
	const struct args *a, const float *left, const float *biases, u32 token, u32 splits, float v[4])
{
	u64 place = (u64)token * WIDTH + threadIdx.x * 4;

	load_quad(a->x + place, v);
	for (u32 rank = 0; rank < RANKS; rank++) {
		const float *from = (const float *)meet_at(a, left, rank) + place;
		float parts[SPLITS_MOST][4];

#pragma unroll
		for (u32 s = 0; s < SPLITS_MOST; s++)
			if (s < splits)
				load_part(from + (u64)s * a->tokens * WIDTH, parts[s]);
			else
				for (int j = 0; j < 4; j++)
					parts[s][j] = 0;
#pragma unroll
		for (u32 s = 0; s < SPLITS_MOST; s++)
			for (int j = 0; j < 4; j++)
				v[j] += parts[s][j];
	}
	for (int j = 0; splits && j < 4; j++) {
		v[j] += biases[threadIdx.x * 4 + j];
		a->x[place + j] = v[j];
	}
}

/*
 * A block of WIDTH / 4 threads adds to a token's x what wide products have left in parts, and normalises it.
 * last: of each slot its last token alone.
 */
KERNEL void __launch_bounds__(WIDTH / 4)
	kwhy_decode_settle(const struct args a, u32 layer, u32 what, u32 last)
{
	u32 token = last ? (blockIdx.x + 1) * a.each - 1 : blockIdx.x,
	    splits = what == SETTLE_PROJECTION ? a.project_splits
		: what == SETTLE_NARROWING     ? a.narrow_splits
					       : 0;
	const float *biases = a.biases + (u64)layer * ROWS +
		first_row(what == SETTLE_PROJECTION ? PROJECTION : NARROWING);
	act *to = a.normal + (u64)blockIdx.x * WIDTH + threadIdx.x * 4;
	float v[4], mean = 0, squares = 0, scale;

	await_previous();
	if (splits)
		meet_settle(&a, layer, what);
	settle_quad(&a, what == SETTLE_PROJECTION ? a.parts : a.narrow_parts, biases, token, splits, v);
	for (int j = 0; j < 4; j++) {
		mean += v[j];
		squares += v[j] * v[j];
	}
	sum_of_block(&mean, &squares);
	mean /= WIDTH;
	scale = 1 / sqrtf(fmaxf(squares / WIDTH - mean * mean, 0) + 1e-5f);
	store_two(to, (v[0] - mean) * scale, (v[1] - mean) * scale);
	store_two(to + 2, (v[2] - mean) * scale, (v[3] - mean) * scale);
}

/* A block's part of a product. */
struct wide {
	const u8 *weights;
	const act *input;
	u32 columns;
	u32 token, row, from, to; /* its first ones; stages of its columns */
	u32 split;
};

/* Sums of 32 tokens and a quarter or half of the block's rows: of tiles of 16 tokens and 8 rows. */
#define SUMS(rows) [2][(rows) / 16][4]

#define STAGE_TOKENS (MANY * 4 * UNITS) /* times 16 bytes of a chunk */

static __device__ void wide_copy_weights(const struct wide *w, struct four *stage, u32 step, u32 rows)
{
	u32 chunks = w->columns / CHUNK;

#pragma unroll
	for (u32 c = 0; c < STAGE_CHUNKS; c++) {
		struct four *to = stage + c * (STAGE_TOKENS + rows * 4) + STAGE_TOKENS;
		u32 chunk = step * STAGE_CHUNKS + c;

#pragma unroll
		for (u32 i = threadIdx.x; i < rows * 4; i += MANY_THREADS)
			copy_async(to + i,
				w->weights +
					(((u64)(w->row / 8 + i / 32) * chunks + chunk) * 32 + i % 32) * 16);
	}
}

static __device__ void wide_copy_tokens(const struct wide *w, struct four *stage, u32 step, u32 rows)
{
#pragma unroll
	for (u32 c = 0; c < STAGE_CHUNKS; c++) {
		struct four *to = stage + c * (STAGE_TOKENS + rows * 4);
		u32 chunk = step * STAGE_CHUNKS + c;

#pragma unroll
		for (u32 i = threadIdx.x; i < STAGE_TOKENS; i += MANY_THREADS) {
			u32 token = i / (4 * UNITS), piece = i % (4 * UNITS);

			copy_async(to + (piece % UNITS * MANY + token) * 4 + piece / UNITS,
				w->input + (u64)(w->token + token) * w->columns + chunk * CHUNK +
					piece * UNIT);
		}
	}
}

static __device__ void wide_chunk(
	const struct four *tokens, const struct four *weights, u32 rows, float c SUMS(64))
{
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = warp / 2 * 32 + lane / 4;
	struct four w[4];

#pragma unroll
	for (u32 n = 0; n < rows / 16; n++)
		w[n] = load_shared(weights + (warp % 2 * (rows / 16) + n) * 32 + lane);
#pragma unroll
	for (u32 u = 0; u < UNITS; u++) {
		u32 codes[4][4];

#pragma unroll
		for (u32 n = 0; n < rows / 16; n++)
			spread(w[n], (int)u, codes[n]);
#pragma unroll
		for (u32 m = 0; m < 2; m++) {
			struct four low = load_shared(tokens + (u * MANY + first + m * 16) * 4 + lane % 4),
				    high = load_shared(
					    tokens + (u * MANY + first + m * 16 + 8) * 4 + lane % 4);

#pragma unroll
			for (u32 n = 0; n < rows / 16; n++)
				multiply(c[m][n], &low, &high, codes[n]);
		}
	}
}

/* Weights of the first stages come before the tokens are there. */
static __device__ void wide_begin(const struct wide *w, struct four *room, u32 rows)
{
	u32 size = STAGE_CHUNKS * (STAGE_TOKENS + rows * 4);

	for (u32 i = 0; i < STAGES - 1 && w->from + i < w->to; i++)
		wide_copy_weights(w, room + i * size, w->from + i, rows);
	await_previous();
	for (u32 i = 0; i < STAGES - 1; i++) {
		if (w->from + i < w->to)
			wide_copy_tokens(w, room + i * size, w->from + i, rows);
		copy_end_stage();
	}
}

static __device__ void wide_sum(const struct wide *w, struct four *room, u32 rows, float c SUMS(64))
{
	u32 chunk = STAGE_TOKENS + rows * 4, size = STAGE_CHUNKS * chunk;

	wide_begin(w, room, rows);
	for (u32 step = w->from; step < w->to; step++) {
		const struct four *stage = room + (step - w->from) % STAGES * size;
		struct four *next = room + (step - w->from + STAGES - 1) % STAGES * size;

		copy_await();
		__syncthreads();
		if (step + STAGES - 1 < w->to) {
			wide_copy_weights(w, next, step + STAGES - 1, rows);
			wide_copy_tokens(w, next, step + STAGES - 1, rows);
		}
		copy_end_stage();
#pragma unroll
		for (u32 i = 0; i < STAGE_CHUNKS; i++)
			wide_chunk(stage + i * chunk, stage + i * chunk + STAGE_TOKENS, rows, c);
	}
}

/* Two neighbouring rows of a token, at the end of a product of a layer. */
static __device__ void wide_store(const struct args *a, u32 layer, int matrix, const struct wide *w,
	const struct place *place, u32 row, float one, float two)
{
	float *part = (matrix == PROJECTION ? a->parts : a->narrow_parts) +
		((u64)w->split * a->tokens + place->token) * WIDTH + row;

	if (matrix == ATTENTION) {
		store_state_two(a, layer, place, row, one, two);
	} else if (matrix == WIDENING) {
		store_two(a->inner + (u64)place->token * INNER + row, fmaxf(one, 0), fmaxf(two, 0));
	} else {
		part[0] = one;
		part[1] = two;
	}
}

/* The likeliest of a warp's rows for one of its tokens. Nearly all blocks are below what is known: they need
 * not wait for their turn. */
static __device__ void wide_choose(
	const struct args *a, u32 slot, u32 row, u32 tiles, float c[4][4], int half, u64 known)
{
	float *logits = meet_logits(a);
	u64 best = 0;

#pragma unroll
	for (u32 n = 0; n < tiles; n++)
#pragma unroll
		for (u32 i = 0; i < 2; i++) {
			u32 word = a->first_word + row + n * 8 + i;
			float sum = c[n][half * 2 + i];

			if (slot >= a->slots || word >= a->vocabulary)
				continue;
			sum *= word_scale(a, word);
			best = key_of(sum, word) > best ? key_of(sum, word) : best;
			if (logits)
				logits[(u64)slot * a->vocabulary + word] = sum;
		}
	best = key_of_lane(key_of_lane(best, 1), 2);
	if (slot < a->slots && threadIdx.x % 4 == 0 && best > known)
		atomicMax(a->best + slot, best);
}

static __device__ void wide_end_words(const struct args *a, const struct wide *w, u32 rows, float c SUMS(64))
{
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, slot = w->token + warp / 2 * 32 + lane / 4,
	    row = w->row + warp % 2 * (rows / 2) + lane % 4 * 2;
	u64 known[4];

#pragma unroll
	for (u32 i = 0; i < 4; i++)
		known[i] = slot + i * 8 < a->slots ? *(volatile u64 *)(a->best + slot + i * 8) : 0;
#pragma unroll
	for (u32 i = 0; i < 4; i++)
		wide_choose(a, slot + i * 8, row, rows / 16, c[i / 2], (int)i % 2, known[i]);
}

/* What is added to parts gets its biases with them. */
static __device__ struct ends wide_ends(const struct args *a, u32 layer, int matrix, u32 row)
{
	struct ends ends = ends_of(a, layer, matrix, row);

	if (matrix == PROJECTION || matrix == NARROWING)
		ends.bias = 0;
	return ends;
}

static __device__ void wide_end(
	const struct args *a, u32 layer, int matrix, const struct wide *w, u32 rows, float c SUMS(64))
{
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, token = w->token + warp / 2 * 32 + lane / 4,
	    row = w->row + warp % 2 * (rows / 2) + lane % 4 * 2;
	struct ends ends[4][2];

#pragma unroll
	for (u32 n = 0; n < rows / 16; n++)
#pragma unroll
		for (u32 i = 0; i < 2; i++)
			ends[n][i] = wide_ends(a, layer, matrix, row + n * 8 + i);
#pragma unroll
	for (u32 m = 0; m < 4; m++) {
		u32 here = token + m * 8;
		struct place place;

		if (here >= a->tokens)
			continue;
		place = place_of(a, here);
#pragma unroll
		for (u32 n = 0; n < rows / 16; n++)
			wide_store(a, layer, matrix, w, &place, row + n * 8,
				c[m / 2][n][m % 2 * 2] * ends[n][0].scale + ends[n][0].bias,
				c[m / 2][n][m % 2 * 2 + 1] * ends[n][1].scale + ends[n][1].bias);
	}
}

/* What a block makes, of `rows` rows and columns in steps. Blocks of the same rows are neighbours: they share
 * the weights. */
static __device__ struct wide wide_of(const struct args *a, u32 layer, int matrix, u32 rows, u32 step)
{
	u32 tokens = matrix == WORDS ? a->slots : a->tokens, groups = (tokens + MANY - 1) / MANY,
	    splits = matrix == PROJECTION ? a->project_splits
		: matrix == NARROWING	  ? a->narrow_splits
					  : 1,
	    columns = matrix == NARROWING ? INNER
		: matrix == PROJECTION	  ? MIXED
					  : WIDTH;
	struct wide w = {weights_of(a, layer, matrix),
		matrix == PROJECTION	      ? a->mixed
			: matrix == NARROWING ? a->inner
					      : a->normal,
		columns, blockIdx.x % groups * MANY, blockIdx.x / groups / splits * rows, 0, 0,
		blockIdx.x / groups % splits};

	w.from = columns / step * w.split / splits;
	w.to = columns / step * (w.split + 1) / splits;
	return w;
}

static __device__ void wide(const struct args *a, u32 layer, int matrix, u32 rows, struct four *room)
{
	struct wide w = wide_of(a, layer, matrix, rows, STEP);
	float c SUMS(64) = {{{0}}};

	wide_sum(&w, room, rows, c);
	if (matrix == WORDS)
		wide_end_words(a, &w, rows, c);
	else
		wide_end(a, layer, matrix, &w, rows, c);
}

KERNEL void __launch_bounds__(MANY_THREADS) kwhy_decode_wide32(const struct args a, u32 layer, u32 matrix)
{
	ROOM(room);

	wide(&a, layer, (int)matrix, 32, room);
}

KERNEL void __launch_bounds__(MANY_THREADS) kwhy_decode_wide64(const struct args a, u32 layer, u32 matrix)
{
	ROOM(room);

	wide(&a, layer, (int)matrix, 64, room);
}
