/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --- The vocabulary, of more tokens than few, up to 64: a warp takes two tiles with all columns (words.cu)
 * ---
 *
 * A block has all tokens in its shared memory, normalised, as ldmatrix finds them (turned()): tokens are
 * the instruction's rows, 16 at a time, and words its columns.
 */
#if HAS_CROWDS
enum {
	CROWD_WORD_THREADS = 256,
	CROWD_WORD_STRIDE = WIDTH + UNIT /* of a token in shared memory, for its banks */
};

/* A warp normalises a token for the vocabulary. */
static __device__ void crowd_end(const struct args *a)
{
	u32 token = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
	float v[QUADS][4];

	await_previous();
	if (token >= a->tokens)
		return;
	joint_row(a, 2 * a->layer_count, token, 0, v);
	normalise_to(v, a->normal + (u64)token * WIDTH, 1);
}

/* Sums: of a lane's rows two of each tile, of its tokens two of every 16. While a piece is multiplied, the
 * next one is on its way, of the next tiles too. from: the row that the lane tells of the first 16 tokens. */
static __device__ void crowd_word_multiply(const act *from, const u8 *weights, u32 tile, u32 next, u32 count,
	struct words w[2], float c[CROWD_GROUPS][2][4])
{
	const int is_thin = CROWD_GROUPS <=
		2; /* every second chunk has sums of its own: nothing waits for others */
	float more[CROWD_GROUPS][2][4] = {{{0}}};

#pragma unroll
	for (u32 p = 0; p < WORD_PIECES; p++) {
		int is_last = p + 1 == WORD_PIECES;

		words_load(weights, is_last ? next : tile, is_last ? 0 : p + 1, count, &w[(p + 1) % 2]);
#pragma unroll
		for (u32 k = 0; k < WORD_CHUNKS; k++) {
			u32 b[2][4];

			for (u32 t = 0; t < 2; t++)
				codes_spread(&w[p % 2].of[t][k], b[t]);
#pragma unroll
			for (u32 m = 0; m < CROWD_GROUPS; m++)
#pragma unroll
				for (u32 i = 0; i < 2; i++) {
					u32 tokens[4];

					load_matrices(from + m * 16 * CROWD_WORD_STRIDE +
							(p * WORD_CHUNKS + k) * STRIP + i * 16,
						tokens);
#pragma unroll
					for (u32 t = 0; t < 2; t++)
						product(is_thin && k % 2 ? more[m][t] : c[m][t], tokens,
							b[t][2 * i], b[t][2 * i + 1]);
				}
		}
	}
	if (is_thin)
#pragma unroll
		for (u32 m = 0; m < CROWD_GROUPS; m++)
			for (u32 i = 0; i < 8; i++)
				c[m][i / 4][i % 4] += more[m][i / 4][i % 4];
}

/* The token of a lane's sum. */
static __device__ u32 crowd_word_token(u32 k)
{
	return k * 8 + threadIdx.x % 32 / 4;
}

static __device__ void crowd_word_leave(
	const struct args *a, float *logits, u32 tile, float c[CROWD_GROUPS][2][4])
{
#pragma unroll
	for (u32 t = 0; t < 2; t++)
#pragma unroll
		for (u32 e = 0; e < 2; e++) {
			u32 row = a->first_word + (tile + t) * 8 + threadIdx.x % 4 * 2 + e;

#pragma unroll
			for (u32 k = 0; k < BESTS; k++)
				if (crowd_word_token(k) < FEW_SLOTS && row < a->vocabulary)
					logits[(u64)crowd_word_token(k) * a->vocabulary + row] =
						c[k / 2][t][k % 2 * 2 + e];
		}
}

static __device__ void crowd_word_choose(
	const struct args *a, u32 tile, float c[CROWD_GROUPS][2][4], struct best *best)
{
#pragma unroll
	for (u32 t = 0; t < 2; t++)
#pragma unroll
		for (u32 e = 0; e < 2; e++) {
			u32 row = a->first_word + (tile + t) * 8 + threadIdx.x % 4 * 2 + e;
			int is_there = row < a->vocabulary;
			float scale = is_there ? word_scale(a, row) : 0;

#pragma unroll
			for (u32 k = 0; k < BESTS; k++) {
				c[k / 2][t][k % 2 * 2 + e] *= scale;
				best_take(best, k, c[k / 2][t][k % 2 * 2 + e], row, is_there);
			}
		}
	if (meet_logits(a))
		crowd_word_leave(a, meet_logits(a), tile, c);
}

static __device__ void crowd_word_end(const struct args *a, const struct best *best)
{
#pragma unroll
	for (u32 k = 0; k < BESTS; k++) {
		u64 key = key_of(best->sum[k], best->row[k]);

		key = key_of_lane(key, 1);
		key = key_of_lane(key, 2);
		if (threadIdx.x % 4 == 0 && crowd_word_token(k) < FEW_SLOTS)
			atomicMax(a->best + crowd_word_token(k), key);
	}
}

/* Tokens are normalised already, and turned. */
static __device__ void crowd_head(const struct args *a, act *room)
{
	const u8 *weights = weights_of(a, 0, WORDS);
	u32 lane = threadIdx.x % 32, step = CROWD_WORD_THREADS / 32 * gridDim.x * 2,
	    count = (a->word_count + 7) / 8, tile = (threadIdx.x / 32 * gridDim.x + blockIdx.x) * 2;
	struct best best;
	struct words w[2];

	best_begin(&best);
	words_load(weights, tile, 0, count, &w[0]);
	await_previous();
	for (u32 i = threadIdx.x; i < FEW_SLOTS * (WIDTH / UNIT); i += CROWD_WORD_THREADS)
		copy_async((struct four *)(void *)(room + i / (WIDTH / UNIT) * CROWD_WORD_STRIDE +
				   i % (WIDTH / UNIT) * UNIT),
			a->normal + i * UNIT);
	copy_end_stage();
	copy_await_but(0);
	__syncthreads();
	for (; tile < count; tile += step) {
		float c[CROWD_GROUPS][2][4] = {{{0}}};

		crowd_word_multiply(room + lane % 16 * CROWD_WORD_STRIDE + lane / 16 * 8, weights, tile,
			tile + step, count, w, c);
		crowd_word_choose(a, tile, c, &best);
	}
	crowd_word_end(a, &best);
}
#else
#define CROWD_WORD_THREADS 256
#define crowd_end(a) ((void)(a))
#define crowd_head(a, room) ((void)(a), (void)(room))
#endif

KERNEL void __launch_bounds__(FEW_THREADS) kwhy_decode_crowd_end(const struct args a)
{
	crowd_end(&a);
}

KERNEL void __launch_bounds__(CROWD_WORD_THREADS, 1) kwhy_decode_crowd_head(const struct args a)
{
	ROOM(room);
	const struct args known = crowd_args(&a);

	crowd_head(&known, (act *)(void *)room);
}
