/* SPDX-License-Identifier: Apache-2.0 */
/* --- The vocabulary, of as many tokens as the compiler knows of: a warp takes two tiles with all columns ---
 */

#if HAS_FEW || HAS_CROWDS
enum {
	IS_EARLY = ACT_BYTES == 2, /* registers hold more that is asked for before its time */
	TILE_BYTES = WIDTH / CHUNK * 512,
	GROUP = 8, /* tokens that the tensor instruction takes */
	GROUPS = (FEW_SLOTS + GROUP - 1) / GROUP,
	BESTS = 2 * (HAS_CROWDS ? (FEW_SLOTS + 15) / 16 : GROUPS), /* tokens of a lane */
	WORD_COLUMNS = HAS_CROWDS ? STRIP : CHUNK,
	WORD_CHUNKS = WIDTH / WORD_COLUMNS % 12 == 0 && IS_EARLY ? 6
		: WIDTH / WORD_COLUMNS % 8 == 0			 ? 4
								 : 1,	 /* on their way at once */
	WORD_PIECES = WIDTH / WORD_COLUMNS / WORD_CHUNKS /* an even number */
};

#if HAS_CROWDS
typedef struct codes word_codes;
#else
typedef struct four word_codes;

static __device__ struct four codes_load(const u8 *tile, u32 chunk)
{
	return load_weights(tile + chunk * 512 + threadIdx.x % 32 * 16);
}
#endif

struct words {
	word_codes of[2][WORD_CHUNKS];
};

static __device__ void words_load(const u8 *weights, u32 tile, u32 piece, u32 count, struct words *w)
{
#pragma unroll
	for (u32 t = 0; t < 2; t++) {
		const u8 *from = weights + (u64)(tile + t < count ? tile + t : 0) * TILE_BYTES;

#pragma unroll
		for (u32 k = 0; k < WORD_CHUNKS; k++)
			w->of[t][k] = codes_load(from, piece * WORD_CHUNKS + k);
	}
}

/* A lane's largest sum of each of its tokens, and whose row it is. Rows come in order, so that of equal sums
 * the first stays. */
struct best {
	float sum[BESTS];
	u32 row[BESTS];
};

static __device__ void best_begin(struct best *best)
{
#pragma unroll
	for (u32 k = 0; k < BESTS; k++) {
		best->sum[k] = __uint_as_float(0xff800000u); /* less than any */
		best->row[k] = 0;			     /* a word, even where no sum is a number */
	}
}

static __device__ void best_take(struct best *best, u32 k, float sum, u32 row, int is_there)
{
	int is_better = is_there && sum > best->sum[k];

	best->sum[k] = is_better ? sum : best->sum[k];
	best->row[k] = is_better ? row : best->row[k];
}
#endif

#if HAS_FEW
/* The token of a lane's sum k of a row. */
static __device__ u32 token_of(u32 k)
{
	return k / 2 * 8 + threadIdx.x % 4 * 2 + k % 2;
}

static __device__ void words_leave(const struct args *a, float *logits, u32 tile, float c[GROUPS][4])
{
	for (u32 i = 0; i < 2; i++) {
		u32 row = a->first_word + (tile + i) * 8 + threadIdx.x % 32 / 4;

		for (u32 k = 0; k < BESTS; k++)
			if (token_of(k) < FEW_SLOTS && row < a->vocabulary)
				logits[(u64)token_of(k) * a->vocabulary + row] = c[k / 2][i * 2 + k % 2];
	}
}

static __device__ void words_choose(const struct args *a, u32 tile, float c[GROUPS][4], struct best *best)
{
	float *logits = meet_logits(a);

#pragma unroll
	for (u32 i = 0; i < 2; i++) {
		u32 row = a->first_word + (tile + i) * 8 + threadIdx.x % 32 / 4;
		int is_there = row < a->vocabulary;
		float scale = is_there ? word_scale(a, row) : 0;

#pragma unroll
		for (u32 k = 0; k < BESTS; k++) {
			c[k / 2][i * 2 + k % 2] *= scale;
			best_take(best, k, c[k / 2][i * 2 + k % 2], row, is_there);
		}
	}
	if (logits)
		words_leave(a, logits, tile, c);
}

/* The likeliest of the warp's. */
static __device__ void words_end(const struct args *a, const struct best *best)
{
#pragma unroll
	for (u32 k = 0; k < BESTS; k++) {
		u64 key = key_of(best->sum[k], best->row[k]);

		for (int distance = 4; distance < 32; distance *= 2)
			key = key_of_lane(key, distance);
		if (threadIdx.x % 32 < 4 && token_of(k) < FEW_SLOTS)
			atomicMax(a->best + token_of(k), key);
	}
}
#endif
