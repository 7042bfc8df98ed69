/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --- Few tokens, by clusters of blocks: two kernels a layer ---
 *
 * A cluster takes a head from its queries, keys and values through attention to its part of the projection,
 * another one some columns of the inner layer from the first matrix to their part of the second. What blocks
 * of a cluster make for each other goes through memory, and they meet. Parts are added to a sum that nobody
 * reads meanwhile: kernel k of a token, 2 a layer, finds x as the sum of X[k % 2] and D[k % 3], leaves that
 * in X[(k + 1) % 2], adds its parts to D[(k + 1) % 3], and clears D[(k + 2) % 3] for the next one.
 */
#if HAS_JOINT
enum {
	CLUSTER = 8,
	INNER_CLUSTERS = INNER / 64 < 16 ? INNER / 64 : 16,
	INNER_COLUMNS = INNER / INNER_CLUSTERS, /* of a cluster */
	SLICE_TILES = WIDTH / 8 / CLUSTER,	/* of 8 rows of x, of a block */
	SLICE_SHARES = SLICE_TILES % 8 ? 2 : 1, /* warps that share a tile's columns */
	SLICE_STEP = 8 / SLICE_SHARES,		/* tiles that are in hand at once */
	SLICE_TURNS = (SLICE_TILES + SLICE_STEP - 1) / SLICE_STEP,
	SLICE_CHUNKS = (INNER_COLUMNS / CHUNK + SLICE_SHARES - 1) / SLICE_SHARES,
	INNER_TILES = INNER_COLUMNS / 8 / CLUSTER,	     /* of a block */
	JOINT_TILES = INNER_TILES > 3 ? INNER_TILES : 3,     /* queries, keys and values */
	JOINT_CHUNKS = (WIDTH / CHUNK + 7) / 8,		     /* of a warp */
	JOINT_SUMS = JOINT_TILES * FEW * 8 / FEW_THREADS + 1 /* of a thread */
};

/* A block's rows of x and a cluster's columns: what a lane holds of their weights. */
struct slice {
	u32 chunks;
	struct four held[SLICE_TURNS][SLICE_CHUNKS];
	struct ends ends[SLICE_TURNS][2];
};

/* Of `columns` columns, of which the cluster's begin with chunk `first`. */
static __device__ void slice_load(
	const struct args *a, u32 layer, int matrix, struct slice *s, u32 columns, u32 first, u32 chunks)
{
	const struct ends none = {1, 0};
	const u8 *weights = weights_of(a, layer, matrix);
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, rank = blockIdx.x % CLUSTER;
	int is_first = blockIdx.x / CLUSTER == 0 && warp % SLICE_SHARES == 0; /* it adds the biases */

	s->chunks = chunks;
#pragma unroll
	for (u32 i = 0; i < SLICE_TURNS; i++) {
		u32 tile = warp / SLICE_SHARES + i * SLICE_STEP,
		    row = (rank * SLICE_TILES + tile) * 8 + lane % 4 * 2;

#pragma unroll
		for (u32 j = 0; j < 2; j++) {
			s->ends[i][j] = tile < SLICE_TILES && (CODE_MOST > 0 || is_first)
				? ends_of(a, layer, matrix, row + j)
				: none;
			s->ends[i][j].bias = is_first ? s->ends[i][j].bias : 0;
		}
#pragma unroll
		for (u32 j = 0; j < SLICE_CHUNKS; j++) {
			u32 chunk = warp % SLICE_SHARES + j * SLICE_SHARES;

			if (tile < SLICE_TILES && chunk < chunks)
				s->held[i][j] = load_weights(
					tile_of(weights, rank * SLICE_TILES + tile, columns) +
					((u64)(first + chunk) * 32 + lane) * 16);
		}
	}
}

/* Their products with the cluster's columns of all tokens are added to sums. */
static __device__ void slice_add(
	const struct args *a, const struct slice *s, const struct thin *t, float *sums)
{
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, rank = blockIdx.x % CLUSTER;

#pragma unroll
	for (u32 i = 0; i < SLICE_TURNS; i++) {
		u32 tile = warp / SLICE_SHARES + i * SLICE_STEP,
		    row = (rank * SLICE_TILES + tile) * 8 + lane % 4 * 2;
		const struct ends one = s->ends[i][0], two = s->ends[i][1];
		float c[4] = {0, 0, 0, 0};

		if (tile >= SLICE_TILES)
			continue;
#pragma unroll
		for (u32 j = 0; j < SLICE_CHUNKS; j++) {
			u32 chunk = warp % SLICE_SHARES + j * SLICE_SHARES;
			struct four low[UNITS], high[UNITS];

			if (chunk >= s->chunks)
				continue;
			load_tokens(t, chunk, low, high);
#pragma unroll
			for (u32 u = 0; u < UNITS; u++) {
				u32 codes[4];

				spread(s->held[i][j], (int)u, codes);
				multiply(c, &low[u], &high[u], codes);
			}
		}
		for (u32 h = 0; h < 2; h++) {
			u32 token = lane / 4 + h * 8;

			if (token < a->tokens)
				add_two(sums + (u64)token * WIDTH + row, c[2 * h] * one.scale + one.bias,
					c[2 * h + 1] * two.scale + two.bias);
		}
	}
}

/* Columns that other blocks of the cluster have made of all tokens. */
static __device__ void joint_take(const struct args *a, const act *from, u32 stride, u32 columns, act *room)
{
	u32 each = columns / UNIT;

	for (u32 i = threadIdx.x; i < a->tokens * each; i += blockDim.x)
		*(struct four *)(void *)(room + i / each * (columns + PAD) + i % each * UNIT) = load_fresh(
			from + (u64)(i / each) * stride + i % each * UNIT);
	__syncthreads();
}

static __device__ void joint_take_pieces(const struct args *a, u32 head, act *room)
{
	for (u32 i = threadIdx.x; i < a->tokens * HEAD; i += blockDim.x)
		room[i / HEAD * (HEAD + PAD) + i % HEAD] = act_of(shares_column(
			a, a->pieces + ((u64)(i / HEAD) * HEADS + head) * a->shares * PIECE, i % HEAD));
	__syncthreads();
}

/* A block's tiles of a matrix that takes x: a lane's weights of all of them, and what ends their sums. */
struct joint {
	u32 first, step; /* tiles */
	struct four weights[JOINT_TILES][JOINT_CHUNKS];
	struct ends ends[JOINT_SUMS];
};

static __device__ u32 joint_row_of(const struct joint *j, u32 i)
{
	return (j->first + i / (FEW * 8) * j->step) * 8 + i % 8;
}

/* `count` tiles from `first` on, every step-th. All is asked for before the tokens are there. */
static __device__ void joint_load(
	const struct args *a, u32 layer, int matrix, u32 first, u32 step, u32 count, struct joint *j)
{
	const u8 *weights = weights_of(a, layer, matrix);
	const struct ends none = {0, 0};

	j->first = first;
	j->step = step;
#pragma unroll
	for (u32 i = 0; i < JOINT_TILES; i++)
#pragma unroll
		for (u32 k = 0; k < JOINT_CHUNKS; k++) {
			u32 chunk = threadIdx.x / 32 + k * (FEW_THREADS / 32);

			if (i < count && chunk < WIDTH / CHUNK)
				j->weights[i][k] = load_weights(tile_of(weights, first + i * step, WIDTH) +
					((u64)chunk * 32 + threadIdx.x % 32) * 16);
		}
#pragma unroll
	for (u32 i = 0; i < JOINT_SUMS; i++) {
		u32 here = threadIdx.x + i * FEW_THREADS;

		j->ends[i] = here < count * FEW * 8 && here / 8 % FEW < a->tokens
			? ends_of(a, layer, matrix, joint_row_of(j, here))
			: none;
	}
}

/* Their products with all tokens; sums[i] is of the token threadIdx.x / 8 % FEW. */
static __device__ void joint_sums(
	const struct joint *j, const struct thin *t, u32 count, float sums[JOINT_SUMS])
{
	__shared__ float parts[FEW_THREADS / 32][JOINT_TILES * FEW * 8];
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	float c[JOINT_TILES][4] = {{0}};

#pragma unroll
	for (u32 k = 0; k < JOINT_CHUNKS; k++) {
		u32 chunk = warp + k * (FEW_THREADS / 32);
		struct four low[UNITS], high[UNITS];

		if (chunk >= WIDTH / CHUNK)
			continue;
		load_tokens(t, chunk, low, high);
#pragma unroll
		for (u32 i = 0; i < JOINT_TILES; i++)
#pragma unroll
			for (u32 u = 0; i < count && u < UNITS; u++) {
				u32 codes[4];

				spread(j->weights[i][k], (int)u, codes);
				multiply(c[i], &low[u], &high[u], codes);
			}
	}
#pragma unroll
	for (u32 i = 0; i < JOINT_TILES; i++)
#pragma unroll
		for (u32 h = 0; h < 2; h++)
			if (i < count && lane / 4 + h * 8 < t->tokens) {
				float *part = parts[warp] + i * FEW * 8 + (lane / 4 + h * 8) * 8 +
					lane % 4 * 2;

				part[0] = c[i][2 * h];
				part[1] = c[i][2 * h + 1];
			}
	__syncthreads();
#pragma unroll
	for (u32 i = 0; i < JOINT_SUMS; i++) {
		u32 here = threadIdx.x + i * FEW_THREADS;

		sums[i] = 0;
		if (here >= count * FEW * 8 || here / 8 % FEW >= t->tokens)
			continue;
#pragma unroll
		for (u32 w = 0; w < FEW_THREADS / 32; w++)
			sums[i] += parts[w][here];
		sums[i] = sums[i] * j->ends[i].scale + j->ends[i].bias;
	}
}

static __device__ void joint_attend(const struct args *a, u32 layer, act *room)
{
	u32 head = blockIdx.x / CLUSTER, count;
	struct place place;
	const struct thin t = {room, STRIDE, a->tokens, WIDTH, 1},
			  mixed = {room, HEAD + PAD, a->tokens, HEAD, 1};
	struct slice slice;
	struct joint joint;
	float sums[JOINT_SUMS];

	joint_load(a, layer, ATTENTION, blockIdx.x, gridDim.x, 3, &joint);
	ask_for(a, layer, WIDENING);
	ask_for(a, layer, NARROWING);
	slice_load(a, layer, PROJECTION, &slice, MIXED, head * (HEAD / CHUNK), HEAD / CHUNK);
	await_previous();
	count = position_of(a, blockIdx.x % CLUSTER / a->shares % a->tokens) + 1;
	place = place_of(a, threadIdx.x / 8 % FEW % a->tokens);
	joint_stage(a, 2 * layer, room);
	joint_sums(&joint, &t, 3, sums);
#pragma unroll
	for (u32 i = 0; i < JOINT_SUMS; i++) {
		u32 here = threadIdx.x + i * FEW_THREADS;

		if (here < 3 * FEW * 8 && here / 8 % FEW < a->tokens)
			*state_at(a, layer, &place, joint_row_of(&joint, here)) = act_of(sums[i]);
	}
	cluster_meet();
	for (u32 unit = blockIdx.x % CLUSTER; unit < a->tokens * a->shares;
		unit += CLUSTER, count = position_of(a, unit % a->tokens) + 1)
		attend(a, layer, unit / a->shares, head, unit % a->shares, 0, FEW_THREADS / 32, count);
	cluster_meet();
	if (a->shares > 1)
		joint_take_pieces(a, head, room);
	else
		joint_take(a, a->mixed + head * HEAD, MIXED, HEAD, room);
	slice_add(a, &slice, &mixed, joint_sum(a, 2 * layer + 1));
}

static __device__ void joint_inner(const struct args *a, u32 layer, act *room)
{
	u32 first = blockIdx.x / CLUSTER * INNER_COLUMNS;
	const struct thin t = {room, STRIDE, a->tokens, WIDTH, 1},
			  inner = {room, INNER_COLUMNS + PAD, a->tokens, INNER_COLUMNS, 1};
	struct slice slice;
	struct joint joint;
	float sums[JOINT_SUMS];

	joint_load(a, layer, WIDENING, first / 8 + blockIdx.x % CLUSTER, CLUSTER, INNER_TILES, &joint);
	ask_for(a, layer + 1, ATTENTION);
	if (layer + 1 < a->layer_count)
		ask_for(a, layer + 1, PROJECTION);
	for (u32 unit = blockIdx.x; unit < a->tokens * HEADS && layer + 1 < a->layer_count; unit += gridDim.x)
		if (threadIdx.x < 2)
			ask_past(a, layer + 1, unit / HEADS, a->room, unit % HEADS * 2 + threadIdx.x);
	await_previous();
	joint_stage(a, 2 * layer + 1, room);
	joint_sums(&joint, &t, INNER_TILES, sums);
#pragma unroll
	for (u32 i = 0; i < JOINT_SUMS; i++) {
		u32 here = threadIdx.x + i * FEW_THREADS, token = here / 8 % FEW;

		if (here < INNER_TILES * FEW * 8 && token < a->tokens)
			a->inner[(u64)token * INNER + joint_row_of(&joint, here)] = act_of(fmaxf(sums[i], 0));
	}
	slice_load(a, layer, NARROWING, &slice, INNER, first / CHUNK, INNER_COLUMNS / CHUNK);
	cluster_meet();
	joint_take(a, a->inner + first, INNER, INNER_COLUMNS, room);
	slice_add(a, &slice, &inner, joint_sum(a, 2 * layer + 2));
}

#ifdef __cplusplus
#define CLUSTERED __cluster_dims__(8, 1, 1)
#else
#define CLUSTERED
#endif
#else
#define CLUSTERED
#define joint_attend(a, layer, room) ((void)(a), (void)(layer), (void)(room))
#define joint_inner(a, layer, room) ((void)(a), (void)(layer), (void)(room))
#endif

KERNEL void CLUSTERED __launch_bounds__(FEW_THREADS, 2)
	kwhy_decode_joint_attend(const struct args a, u32 layer)
{
	ROOM(room);

	joint_attend(&a, layer, (act *)(void *)room);
}

KERNEL void CLUSTERED __launch_bounds__(FEW_THREADS, 2)
	kwhy_decode_joint_inner(const struct args a, u32 layer)
{
	ROOM(room);

	joint_inner(&a, layer, (act *)(void *)room);
}
