/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --- Some tokens: blocks take 64 of them and 32 rows, and their warps share the columns: all that a block
 * loads is on its way at once, where a wide one waits for stage after stage ---
 */
enum { SOME_ROWS = 32, SOME_EIGHTS = SOME_ROWS / 8, SOME_TILES = MANY / 16 * SOME_EIGHTS };

static __device__ void some_load_weights(const struct wide *w, u32 chunk, struct four weights[SOME_EIGHTS])
{
#pragma unroll
	for (u32 n = 0; n < SOME_EIGHTS; n++)
		weights[n] = load_weights(w->weights +
			(((u64)(w->row / 8 + n) * (w->columns / CHUNK) + chunk) * 32 + threadIdx.x % 32) *
				16);
}

/* Of the tokens g and g + 8 of every 16. */
static __device__ void some_load_tokens(
	const struct wide *w, u32 chunk, u32 unit, struct four low[4], struct four high[4])
{
	u32 lane = threadIdx.x % 32;
	const act *from = w->input + (u64)(w->token + lane / 4) * w->columns + chunk * CHUNK +
		lane % 4 * EACH + unit * UNIT;

#pragma unroll
	for (u32 m = 0; m < 4; m++) {
		low[m] = load_fresh(from + (u64)(m * 16) * w->columns);
		high[m] = load_fresh(from + (u64)(m * 16 + 8) * w->columns);
	}
}

static __device__ void some_multiply(const struct four weights[SOME_EIGHTS], u32 unit,
	const struct four low[4], const struct four high[4], float c[4][SOME_EIGHTS][4])
{
	u32 codes[SOME_EIGHTS][4];

#pragma unroll
	for (u32 n = 0; n < SOME_EIGHTS; n++)
		spread(weights[n], (int)unit, codes[n]);
#pragma unroll
	for (u32 m = 0; m < 4; m++)
#pragma unroll
		for (u32 n = 0; n < SOME_EIGHTS; n++)
			multiply(c[m][n], &low[m], &high[m], codes[n]);
}

/* A warp's sums. The first weights are there; what comes next is always on its way. */
static __device__ void some_sum(
	const struct wide *w, struct four weights[SOME_EIGHTS], float c[4][SOME_EIGHTS][4])
{
	u32 chunk = w->from + threadIdx.x / 32;
	struct four low[2][4], high[2][4], more[SOME_EIGHTS];

	if (chunk < w->to)
		some_load_tokens(w, chunk, 0, low[0], high[0]);
	for (; chunk < w->to; chunk += FEW_THREADS / 32) {
		u32 next = chunk + FEW_THREADS / 32;

		if (next < w->to)
			some_load_weights(w, next, more);
#pragma unroll
		for (u32 u = 0; u < UNITS; u++) {
			if (u + 1 < UNITS)
				some_load_tokens(w, chunk, u + 1, low[1], high[1]);
			else if (next < w->to)
				some_load_tokens(w, next, 0, low[1], high[1]);
			some_multiply(weights, u, low[0], high[0], c);
#pragma unroll
			for (u32 m = 0; m < 4; m++) {
				low[0][m] = low[1][m];
				high[0][m] = high[1][m];
			}
		}
#pragma unroll
		for (u32 n = 0; n < SOME_EIGHTS; n++)
			weights[n] = more[n];
	}
}

/* The warps' sums together: of a tile of 16 tokens and 8 rows a warp, as its tensor instruction has them. */
static __device__ void some_join(float c[4][2][4], float out[4])
{
	__shared__ struct four sums[FEW_THREADS / 32][MANY / 8][32];
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;

#pragma unroll
	for (u32 i = 0; i < MANY / 8; i++) {
		struct four quad;

		for (int j = 0; j < 4; j++)
			quad.of[j] = __float_as_uint(c[i / 2][i % 2][j]);
		sums[warp][i][lane] = quad;
	}
	__syncthreads();
	for (int j = 0; j < 4; j++)
		out[j] = 0;
#pragma unroll
	for (u32 i = 0; i < FEW_THREADS / 32; i++) {
		struct four quad = load_shared(&sums[i][warp][lane]);

		for (int j = 0; j < 4; j++)
			out[j] += __uint_as_float(quad.of[j]);
	}
}

/* The weights of a product that comes later are asked for. */
static __device__ void some_ask(const struct args *a, u32 layer, int matrix)
{
	if (matrix == ATTENTION)
		ask_for(a, layer, PROJECTION);
	else if (matrix == PROJECTION)
		ask_for(a, layer, NARROWING);
	else if (matrix == WIDENING)
		ask_for(a, layer + 1, ATTENTION);
}

KERNEL void __launch_bounds__(FEW_THREADS) kwhy_decode_some(const struct args a, u32 layer, u32 matrix)
{
	struct wide w = wide_of(&a, layer, (int)matrix, SOME_ROWS, CHUNK);
	u32 lane = threadIdx.x % 32, tile = threadIdx.x / 32, row = w.row + tile % 2 * 8 + lane % 4 * 2;
	struct ends ends[SOME_EIGHTS];
	float c[4][SOME_EIGHTS][4] = {{{0}}}, sums[4], pair[4][2][4];
	struct four weights[SOME_EIGHTS];

	for (u32 i = 0; i < SOME_EIGHTS; i++)
		ends[i] = wide_ends(&a, layer, (int)matrix, row + i / 2 * 16 + i % 2);

	if (w.from + tile < w.to)
		some_load_weights(&w, w.from + tile, weights);
	some_ask(&a, layer, (int)matrix);
	await_previous();
	some_sum(&w, weights, c);
#pragma unroll
	for (u32 i = 0; i < SOME_EIGHTS; i += 2) {
#pragma unroll
		for (u32 j = 0; j < 32; j++)
			pair[j / 8][j / 4 % 2][j % 4] = c[j / 8][i + j / 4 % 2][j % 4];
		if (i)
			__syncthreads();
		some_join(pair, sums);
		for (u32 h = 0; h < 2; h++) {
			u32 token = w.token + tile / 2 * 16 + lane / 4 + h * 8;
			struct place place;

			if (token >= a.tokens)
				continue;
			place = place_of(&a, token);
			wide_store(&a, layer, (int)matrix, &w, &place, row + i * 8,
				sums[2 * h] * ends[i].scale + ends[i].bias,
				sums[2 * h + 1] * ends[i + 1].scale + ends[i + 1].bias);
		}
	}
}
