/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --- Few tokens, by clusters of blocks: two kernels a layer ---
 *
 * A cluster takes a head from its queries, keys and values through attention to its part of the projection,
 * another one some columns of the inner layer from the first matrix to their part of the second. Parts are
 * added to a sum that nobody reads meanwhile: kernel k of a token, 2 a layer, finds x in D[k % 3], adds it
 * and its parts to D[(k + 1) % 3], and clears D[(k + 2) % 3] for the next one.
 *
 * Up to 16 tokens (FEW_SLOTS, so that the compiler knows how many) blocks send what they make for each other
 * into each other's shared memory. All weights of a kernel are on their way before it waits, and nothing of
 * them is asked for twice. Instructions beside the products cost joules: a warp has many weights, so that
 * there are few warps, and addresses are constants but for one.
 */
#if HAS_JOINT
enum {
	CLUSTER = 8,
	INNER_CLUSTERS = INNER / 64 < 16	  ? INNER / 64
		: FEW_SLOTS > 32 && INNER == 3072 ? 12
						  : 16,
	INNER_COLUMNS = INNER / INNER_CLUSTERS,		/* of a cluster */
	INNER_TILES = INNER_COLUMNS / 8 / CLUSTER,	/* of 8 rows, of a block */
	SLICE_TILES = WIDTH / 8 / CLUSTER,		/* of x, of a block */
	JOINT_TILES = INNER_TILES > 3 ? INNER_TILES : 3 /* queries, keys and values */
};

/* x as a kernel of clusters finds it; who leaves it, for the next one. */
static __device__ void joint_row(const struct args *a, u32 kernel, u32 token, int leaves, float v[QUADS][4])
{
	u32 here = token * WIDTH + threadIdx.x % 32 * 4;

	load_row(joint_sum(a, kernel) + token * WIDTH, v);
#pragma unroll
	for (u32 i = 0; i < QUADS; i++) {
		const struct four none = {{0, 0, 0, 0}};

		if (!leaves)
			continue;
		add_two(joint_sum(a, kernel + 1) + here + i * 128, v[i][0], v[i][1]);
		add_two(joint_sum(a, kernel + 1) + here + i * 128 + 2, v[i][2], v[i][3]);
		*(struct four *)(void *)(joint_sum(a, kernel + 2) + here + i * 128) = none;
	}
}

#ifdef __cplusplus
#define CLUSTERED __cluster_dims__(8, 1, 1)
#else
#define CLUSTERED
#endif
#else
#define CLUSTERED
#endif

#if HAS_FEW
enum {
	PAIR_THREADS = ACT_BYTES == 4 ? 256 : 128, /* of a block */
	PAIR_WARPS = PAIR_THREADS / 32,
	PAIR_TILES = (JOINT_TILES + 1) / 2,
	BROAD_CHUNKS = (WIDTH / CHUNK + PAIR_WARPS - 1) / PAIR_WARPS,		      /* of a warp */
	BROAD_SUMS = (JOINT_TILES * FEW_SLOTS * 8 + PAIR_THREADS - 1) / PAIR_THREADS, /* of a thread */
	SLICE_SHARES = SLICE_TILES % PAIR_WARPS ? 2 : 1, /* warps that share a tile's columns */
	SLICE_STEP = PAIR_WARPS / SLICE_SHARES,		 /* tiles that are in hand at once */
	SLICE_TURNS = (SLICE_TILES + SLICE_STEP - 1) / SLICE_STEP,
	SLICE_CHUNKS = (INNER_COLUMNS / CHUNK + SLICE_SHARES - 1) / SLICE_SHARES,
	SHARES = FEW_SLOTS < CLUSTER ? CLUSTER / FEW_SLOTS : 1 /* blocks that share a head of a token */
};

/* Shared memory begins with the tokens; behind the last there are zeros. A kernel's second part comes next.
 */
#define TOKENS_ROOM ((FEW_SLOTS + 1) * STRIDE)

/* --- Products: two tiles of 8 rows, and 8 tokens, an instruction --- */

/* Where a lane finds its columns of the tokens lane / 4 and lane / 4 + 8. */
struct columns {
	const act *of[GROUPS];
};

static __device__ struct columns columns_of(const act *room, u32 stride, u32 chunk)
{
	u32 lane = threadIdx.x % 32;
	struct columns c;

	for (u32 g = 0; g < GROUPS; g++) {
		u32 token = g * 8 + lane / 4;

		c.of[g] = room + (token < FEW_SLOTS ? token : FEW_SLOTS) * stride + chunk * CHUNK +
			lane % 4 * EACH;
	}
	return c;
}

static __device__ void columns_end(act *room, u32 stride, u32 columns)
{
	const struct four none = {{0, 0, 0, 0}};

	if (FEW_SLOTS % 8)
		for (u32 i = threadIdx.x; i < columns / UNIT; i += PAIR_THREADS)
			*(struct four *)(void *)(room + FEW_SLOTS * stride + i * UNIT) = none;
}

/* A chunk of all tokens. */
struct piece {
	struct four of[GROUPS][UNITS];
};

static __device__ void piece_load(const struct columns *c, u32 chunk, struct piece *piece)
{
#pragma unroll
	for (u32 g = 0; g < GROUPS; g++)
#pragma unroll
		for (u32 u = 0; u < UNITS; u++)
			piece->of[g][u] = load_shared(
				(const struct four *)(const void *)(c->of[g] + chunk * CHUNK + u * UNIT));
}

/* With it a chunk of two tiles; two: 0: there is no second. Sums of a lane: of the row lane / 4 of the first
 * tile the tokens lane % 4 * 2 and 1 more, then of the second; with 8 more tokens the same again. */
static __device__ void multiply_tiles(
	float c[GROUPS][4], const struct piece *piece, const struct four *one, const struct four *two)
{
#pragma unroll
	for (u32 u = 0; u < UNITS; u++) {
		u32 first[4], second[4] = {0, 0, 0, 0};

		spread(*one, (int)u, first);
		if (two)
			spread(*two, (int)u, second);
#pragma unroll
		for (u32 g = 0; g < GROUPS; g++)
			multiply_rows(c[g], &piece->of[g][u], first, second);
	}
}

/* --- A matrix that takes x: a block's tiles, whose columns its warps share --- */

struct broad {
	u32 first, step; /* tiles */
	struct four weights[JOINT_TILES][BROAD_CHUNKS];
	struct ends ends[BROAD_SUMS];
};

static __device__ int broad_has(u32 i)
{
	return WIDTH / CHUNK % PAIR_WARPS == 0 || threadIdx.x / 32 + i * PAIR_WARPS < WIDTH / CHUNK;
}

/* A thread's sum i is that of a tile, a token and a row. */
static __device__ u32 broad_place(u32 i)
{
	return threadIdx.x + i * PAIR_THREADS;
}

static __device__ u32 broad_row(const struct broad *b, u32 i)
{
	u32 place = broad_place(i);

	return (b->first + place / (FEW_SLOTS * 8) * b->step) * 8 + place % 8;
}

/* `count` tiles from `first` on, every step-th. */
static __device__ void broad_load(
	const struct args *a, u32 layer, int matrix, u32 first, u32 step, u32 count, struct broad *b)
{
	const u8 *from = weights_of(a, layer, matrix) + first * TILE_BYTES + threadIdx.x * 16;
	const struct ends none = {0, 0};

	b->first = first;
	b->step = step;
#pragma unroll
	for (u32 i = 0; i < JOINT_TILES; i++)
#pragma unroll
		for (u32 k = 0; k < BROAD_CHUNKS; k++)
			if (i < count && broad_has(k))
				b->weights[i][k] = load_weights(
					from + i * step * TILE_BYTES + k * PAIR_WARPS * 512);
#pragma unroll
	for (u32 i = 0; i < BROAD_SUMS; i++)
		b->ends[i] = broad_place(i) < count * FEW_SLOTS * 8
			? ends_of(a, layer, matrix, broad_row(b, i))
			: none;
}

static __device__ void broad_multiply(
	const struct broad *b, const act *room, u32 count, float c[PAIR_TILES][GROUPS][4])
{
	const struct columns columns = columns_of(room, STRIDE, threadIdx.x / 32);

#pragma unroll
	for (u32 k = 0; k < BROAD_CHUNKS; k++) {
		struct piece piece;

		if (!broad_has(k))
			continue;
		piece_load(&columns, k * PAIR_WARPS, &piece);
#pragma unroll
		for (u32 p = 0; p < PAIR_TILES; p++)
			if (2 * p < count)
				multiply_tiles(c[p], &piece, &b->weights[2 * p][k],
					2 * p + 1 < count
						? &b->weights[2 * p + 1 < JOINT_TILES ? 2 * p + 1 : 0][k]
						: 0);
	}
}

/* Their products with all tokens. */
static __device__ void broad_sums(const struct broad *b, const act *room, u32 count, float sums[BROAD_SUMS])
{
	__shared__ float parts[PAIR_WARPS][JOINT_TILES * FEW_SLOTS * 8];
	float c[PAIR_TILES][GROUPS][4] = {{{0}}};

	broad_multiply(b, room, count, c);
#pragma unroll
	for (u32 i = 0; i < JOINT_TILES; i++)
#pragma unroll
		for (u32 k = 0; k < GROUPS * 2; k++)
			if (i < count && token_of(k) < FEW_SLOTS)
				parts[threadIdx.x / 32][(i * FEW_SLOTS + token_of(k)) * 8 +
					threadIdx.x % 32 / 4] = c[i / 2][k / 2][i % 2 * 2 + k % 2];
	__syncthreads();
#pragma unroll
	for (u32 i = 0; i < BROAD_SUMS; i++) {
		sums[i] = 0;
		if (broad_place(i) >= count * FEW_SLOTS * 8)
			continue;
#pragma unroll
		for (u32 warp = 0; warp < PAIR_WARPS; warp++)
			sums[i] += parts[warp][broad_place(i)];
		sums[i] = sums[i] * b->ends[i].scale + b->ends[i].bias;
	}
}

/* --- A matrix that adds to x: a block's rows, a cluster's columns --- */

struct slice {
	struct four weights[SLICE_TURNS][SLICE_CHUNKS];
	struct ends ends[SLICE_TURNS];
};

static __device__ int slice_has(u32 turn)
{
	return SLICE_TILES % SLICE_STEP == 0 ||
		threadIdx.x / 32 / SLICE_SHARES + turn * SLICE_STEP < SLICE_TILES;
}

static __device__ int slice_has_chunk(u32 i, u32 chunks)
{
	return i * SLICE_SHARES < chunks &&
		(chunks % SLICE_SHARES == 0 || threadIdx.x / 32 % SLICE_SHARES + i * SLICE_SHARES < chunks);
}

static __device__ u32 slice_tile(u32 turn)
{
	return blockIdx.x % CLUSTER * SLICE_TILES + threadIdx.x / 32 / SLICE_SHARES + turn * SLICE_STEP;
}

static __device__ u32 slice_row(u32 turn)
{
	return slice_tile(turn) * 8 + threadIdx.x % 32 / 4;
}

/* Of `columns` columns, of which the cluster's begin with chunk `first`. */
static __device__ void slice_load(
	const struct args *a, u32 layer, int matrix, struct slice *s, u32 columns, u32 first, u32 chunks)
{
	u32 share = threadIdx.x / 32 % SLICE_SHARES, each = columns / CHUNK;
	const u8 *from = weights_of(a, layer, matrix) + (slice_tile(0) * each + first + share) * 512 +
		threadIdx.x % 32 * 16;
	int is_first = blockIdx.x < CLUSTER && share == 0; /* it adds the biases */

#pragma unroll
	for (u32 i = 0; i < SLICE_TURNS; i++)
#pragma unroll
		for (u32 j = 0; j < SLICE_CHUNKS; j++)
			if (slice_has(i) && slice_has_chunk(j, chunks))
				s->weights[i][j] = load_weights(
					from + (i * SLICE_STEP * each + j * SLICE_SHARES) * 512);
#pragma unroll
	for (u32 i = 0; i < SLICE_TURNS; i++) {
		const struct ends none = {1, 0};

		s->ends[i] = slice_has(i) && (CODE_MOST > 0 || is_first)
			? ends_of(a, layer, matrix, slice_row(i))
			: none;
		s->ends[i].bias = is_first ? s->ends[i].bias : 0;
	}
}

/* Their products with the cluster's columns of all tokens are added to sums. */
static __device__ void slice_add(const struct slice *s, const act *room, u32 stride, u32 chunks, float *sums)
{
	const struct columns columns = columns_of(room, stride, threadIdx.x / 32 % SLICE_SHARES);
	float c[(SLICE_TURNS + 1) / 2][GROUPS][4] = {{{0}}};

#pragma unroll
	for (u32 j = 0; j < SLICE_CHUNKS; j++) {
		struct piece piece;

		if (!slice_has_chunk(j, chunks))
			continue;
		piece_load(&columns, j * SLICE_SHARES, &piece);
#pragma unroll
		for (u32 i = 0; i < SLICE_TURNS; i += 2)
			multiply_tiles(c[i / 2], &piece, &s->weights[i][j],
				i + 1 < SLICE_TURNS ? &s->weights[i + 1 < SLICE_TURNS ? i + 1 : 0][j] : 0);
	}
#pragma unroll
	for (u32 i = 0; i < SLICE_TURNS; i++)
#pragma unroll
		for (u32 k = 0; k < GROUPS * 2; k++)
			if (slice_has(i) && token_of(k) < FEW_SLOTS)
				add_one(sums + token_of(k) * WIDTH + slice_row(i),
					c[i / 2][k / 2][i % 2 * 2 + k % 2] * s->ends[i].scale +
						s->ends[i].bias);
}
#endif
