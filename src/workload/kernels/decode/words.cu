/* SPDX-License-Identifier: Apache-2.0 */
/* --- The vocabulary, of as many tokens as the compiler knows of: a warp takes two tiles with all columns ---
 */

#if HAS_FEW || HAS_CROWDS
enum {
	IS_EARLY = ACT_BYTES == 2, /* registers hold more that is asked for before its time */
	TILE_BYTES = WIDTH / CHUNK * 512,
	GROUP = 8, /* tokens that the tensor instruction takes */
	GROUPS = (FEW_SLOTS + GROUP - 1) / GROUP,
	WORD_CHUNKS = WIDTH / CHUNK % 12 == 0 && IS_EARLY ? 6
		: WIDTH / CHUNK % 8 == 0		  ? 4
							  : 1,	  /* on their way at once */
	WORD_PIECES = WIDTH / CHUNK / WORD_CHUNKS /* an even number */
};

struct words {
	struct four of[2][WORD_CHUNKS];
};

static __device__ void words_load(const u8 *weights, u32 tile, u32 piece, u32 count, struct words *w)
{
#pragma unroll
	for (u32 t = 0; t < 2; t++) {
		const u8 *from = weights + (u64)(tile + t < count ? tile + t : 0) * TILE_BYTES +
			(piece * WORD_CHUNKS * 32 + threadIdx.x % 32) * 16;

#pragma unroll
		for (u32 k = 0; k < WORD_CHUNKS; k++)
			w->of[t][k] = load_weights(from + k * 512);
	}
}

/* The token of a lane's sum k of a row. */
static __device__ u32 token_of(u32 k)
{
	return k / 2 * 8 + threadIdx.x % 4 * 2 + k % 2;
}

static __device__ void words_choose(const struct args *a, u32 tile, float c[GROUPS][4], u64 best[GROUPS * 2])
{
	float *logits = meet_logits(a);

#pragma unroll
	for (u32 i = 0; i < 2; i++) {
		u32 row = a->first_word + (tile + i) * 8 + threadIdx.x % 32 / 4;
		float scale = row < a->vocabulary ? word_scale(a, row) : 0;

#pragma unroll
		for (u32 k = 0; k < GROUPS * 2; k++) {
			float sum = c[k / 2][i * 2 + k % 2] * scale;

			if (token_of(k) >= FEW_SLOTS || row >= a->vocabulary)
				continue;
			best[k] = key_of(sum, row) > best[k] ? key_of(sum, row) : best[k];
			if (logits)
				logits[(u64)token_of(k) * a->vocabulary + row] = sum;
		}
	}
}

/* The likeliest of the warp's. */
static __device__ void words_end(const struct args *a, u64 best[GROUPS * 2])
{
#pragma unroll
	for (u32 k = 0; k < GROUPS * 2; k++) {
		for (int distance = 4; distance < 32; distance *= 2)
			best[k] = key_of_lane(best[k], distance);
		if (threadIdx.x % 32 < 4 && token_of(k) < FEW_SLOTS)
			atomicMax(a->best + token_of(k), best[k]);
	}
}
#endif
