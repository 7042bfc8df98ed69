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

/* 16 positions from `first` on, 4 for each quarter of a warp; those from `count` on are none. */
static __device__ void mix_some(
	struct mixture *m, const float query[8], const act *keys, const act *values, u32 first, u32 count)
{
	u32 lane = threadIdx.x % 32, column = lane % 8 * 8;
	float key[4][8], value[4][8], scores[4], most = m->most;

#pragma unroll
	for (u32 i = 0; i < 4; i++) {
		u32 place = first + i * 4 + lane / 8, known = place < count ? place : count - 1;

		load_eight(keys + (u64)known * HEAD + column, key[i]);
		load_eight(values + (u64)known * HEAD + column, value[i]);
	}
#pragma unroll
	for (u32 i = 0; i < 4; i++) {
		scores[i] = 0;
		for (int j = 0; j < 8; j++)
			scores[i] += query[j] * key[i][j];
		for (int distance = 1; distance < 8; distance *= 2)
			scores[i] += __shfl_xor_sync(0xffffffffu, scores[i], distance);
		most = first + i * 4 + lane / 8 < count ? fmaxf(most, scores[i]) : most;
	}
	mixture_scale(m, most);
#pragma unroll
	for (u32 i = 0; i < 4; i++) {
		float share = first + i * 4 + lane / 8 < count ? exp_two(scores[i] - most) : 0;

		m->weight += share;
		for (int j = 0; j < 8; j++)
			m->sums[j] += share * value[i][j];
	}
}

/* The mixtures of a block's warps become one: out[HEAD] sums, then their weight and the most. */
static __device__ void join_warps(const struct mixture *m, float (*all)[PIECE])
{
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;

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

/* A share of one head of one token. */
static __device__ void attend(const struct args *a, u32 layer, u32 token, u32 head, u32 share)
{
	__shared__ float all[WARPS_MOST][PIECE];
	u32 warps = blockDim.x / 32, lane = threadIdx.x % 32, count = position_of(a, token) + 1;
	u64 cache = (((u64)layer * a->cache_slots + slot_of(a, token)) * HEADS + head) * a->room * HEAD;
	struct mixture m = {-1e30f, 0, {0}};
	float query[8], most;

	load_eight(a->queries + (u64)token * WIDTH + head * HEAD + lane % 8 * 8, query);
	for (int i = 0; i < 8; i++)
		query[i] *= 0.125f * 1.44269504f; /* of the head's width; to powers of 2 */
	for (u32 first = (share * warps + threadIdx.x / 32) * 16; first < count;
		first += a->shares * warps * 16)
		mix_some(&m, query, a->keys + cache, a->values + cache, first, count);
	mixture_join(&m, 8);
	mixture_join(&m, 16);
	join_warps(&m, all);
	most = most_of_pieces(all[0], warps);
	if (a->shares == 1 && threadIdx.x < HEAD)
		a->mixed[(u64)token * WIDTH + head * HEAD + threadIdx.x] = act_of(
			join_pieces(all[0], warps, threadIdx.x, most) /
			join_pieces(all[0], warps, HEAD, most));
	else if (a->shares > 1 && threadIdx.x < PIECE)
		a->pieces[(((u64)token * HEADS + head) * a->shares + share) * PIECE + threadIdx.x] =
			threadIdx.x <= HEAD ? join_pieces(all[0], warps, threadIdx.x, most) : most;
	__syncthreads();
}

static __device__ void attend_all(const struct args *a, u32 layer, u32 *round)
{
	u32 units = a->tokens * HEADS * a->shares;

	ask_for(a, layer, WIDENING);
	await(a, round);
	for (u32 unit = blockIdx.x; unit < units; unit += gridDim.x)
		attend(a, layer, unit / a->shares / HEADS, unit / a->shares % HEADS, unit % a->shares);
}

KERNEL void __launch_bounds__(FEW_THREADS) kwhy_decode_attend(const struct args a, u32 layer)
{
	let_next_begin();
	attend_all(&a, layer, 0);
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

/* Where a number of queries, keys and values goes. */
static __device__ act *state_at(const struct args *a, u32 layer, const struct place *place, u32 row)
{
	u32 column = row % WIDTH, head = column / HEAD;
	act *cache = row < 2 * WIDTH ? a->keys : a->values;
	u64 run = ((u64)layer * a->cache_slots + place->slot) * HEADS + head;

	if (row < WIDTH)
		return a->queries + (u64)place->token * WIDTH + column;
	return cache + (run * a->room + place->position) * HEAD + column % HEAD;
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
