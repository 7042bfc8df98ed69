/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --- More tokens than few, with normalising folded into the products: five kernels a layer ---
 *
 * A row's product with a normalised token is (w x - mean sum(w)) / deviation. So x goes into a product as it
 * is, rounded to an act, and who adds to x adds up its numbers and their squares for each token, too. A block
 * takes 64 tokens, some rows and FOLD_COLUMNS columns; the blocks of a cluster have all columns of the same
 * rows, and each ends some of their sums. Weights come before the tokens are there.
 */
#if HAS_FOLD
enum {
	FOLD_THREADS = 256,
	FOLD_SHARES = 4,		      /* warps of a block share the columns, two have other rows */
	FOLD_SUMS = FOLD_SHARES * 8 * 3 * 32, /* times 16 bytes: of the warps, in the place of the tokens */
	FOLD_QUADS = MANY * FOLD_COLUMNS / UNIT > FOLD_SUMS ? MANY *FOLD_COLUMNS / UNIT : FOLD_SUMS,
	FOLD_WIDE = WIDTH / FOLD_COLUMNS, /* blocks of a cluster */
	FOLD_INNER = INNER / FOLD_COLUMNS
};

#define FOLD_TILES(rows) ((rows) % 48 == 0 ? 3 : (rows) % 32 == 0 ? 2 : 1) /* of 8 rows, of a warp */

/* What a block makes. */
struct fold {
	u32 layer, cluster, rank; /* blocks, and which one of them */
	u32 token, count, row;	  /* its first token, so many, and its first row */
};

/* A tile of 16 tokens and 8 rows, of which a lane has two neighbouring rows of two tokens. */
struct fold_place {
	u32 token, row;
};

static __device__ struct fold fold_of(const struct args *a, u32 layer, u32 cluster, u32 tiles)
{
	u32 groups = (a->tokens + MANY - 1) / MANY, unit = blockIdx.x / cluster;
	struct fold f = {
		layer, cluster, blockIdx.x % cluster, unit % groups * MANY, MANY, unit / groups * tiles * 16};

	f.count = a->tokens - f.token < MANY ? a->tokens - f.token : MANY;
	return f;
}

static __device__ struct fold_place fold_place_of(const struct fold *f, u32 tile, u32 tiles)
{
	u32 lane = threadIdx.x % 32;
	struct fold_place place = {f->token + tile / (2 * tiles) * 16 + lane / 4,
		f->row + tile % (2 * tiles) * 8 + lane % 4 * 2};

	return place;
}

/* A warp's weights: every FOLD_SHARES-th of the block's chunks. */
static __device__ void fold_load(const struct args *a, const struct fold *f, int matrix, u32 columns,
	u32 tiles, struct four weights[3][FOLD_CHUNKS])
{
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const u8 *from = weights_of(a, f->layer, matrix);

#pragma unroll
	for (u32 n = 0; n < tiles; n++)
#pragma unroll
		for (u32 j = 0; j < FOLD_CHUNKS; j++) {
			u32 chunk = f->rank * (FOLD_COLUMNS / CHUNK) + j * FOLD_SHARES + warp / 2;

			weights[n][j] = load_weights(
				tile_of(from, f->row / 8 + warp % 2 * tiles + n, columns) +
				((u64)chunk * 32 + lane) * 16);
		}
}

/* Where 16 bytes of a token lie: of the odd chunks neighbours change places, for the banks. */
static __device__ u32 fold_quad(u32 chunk, u32 token, u32 piece)
{
	return (chunk * MANY + (token ^ (chunk & 1))) * 4 + piece;
}

/* Tokens come in as many steps as a warp has chunks. */
static __device__ void fold_copy(const struct fold *f, const act *input, u32 columns, struct four *room)
{
	const act *from = input + (u64)f->token * columns + f->rank * FOLD_COLUMNS;
	u32 tokens = (f->count + 15) / 16 * 16;

#pragma unroll
	for (u32 j = 0; j < FOLD_CHUNKS; j++) {
#pragma unroll
		for (u32 i = 0; i < MANY * FOLD_SHARES * 4 / FOLD_THREADS; i++) {
			u32 here = threadIdx.x + i * FOLD_THREADS, piece = here % 4,
			    chunk = j * FOLD_SHARES + here / 4 % FOLD_SHARES, token = here / 4 / FOLD_SHARES;

			if (token < tokens)
				copy_async(room + fold_quad(chunk, token, piece),
					from + (u64)token * columns + chunk * CHUNK + piece * UNIT);
		}
		copy_end_stage();
	}
}

/* Of 16 tokens `groups` times. */
static __device__ void fold_chunk(const struct four *room, u32 chunk, u32 groups, u32 tiles,
	struct four weights[3][FOLD_CHUNKS], u32 j, float c[4][3][4])
{
	u32 lane = threadIdx.x % 32;

#pragma unroll
	for (u32 m = 0; m < groups; m++) {
		struct four low = load_shared(room + fold_quad(chunk, m * 16 + lane / 4, lane % 4)),
			    high = load_shared(room + fold_quad(chunk, m * 16 + 8 + lane / 4, lane % 4));

#pragma unroll
		for (u32 n = 0; n < tiles; n++)
			multiply(c[m][n], &low, &high, weights[n][j].of);
	}
}

static __device__ void fold_multiply(
	const struct four *room, u32 groups, u32 tiles, struct four weights[3][FOLD_CHUNKS], float c[4][3][4])
{
#pragma unroll
	for (u32 j = 0; j < FOLD_CHUNKS; j++) {
		if (FOLD_CHUNKS - 1 - j == 2)
			copy_await_but(2);
		else if (FOLD_CHUNKS - 1 - j == 1)
			copy_await_but(1);
		else
			copy_await_but(0);
		__syncthreads();
		fold_chunk(room, j * FOLD_SHARES + threadIdx.x / 64, groups, tiles, weights, j, c);
	}
}

/* The warps' sums come together in the room of the tokens; of a block's tiles the cluster's blocks get as
 * many each. */
static __device__ void fold_join(const struct fold *f, struct four *room, u32 tiles, float c[4][3][4])
{
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, all = 8 * tiles, each = all / f->cluster;
	struct four *inbox = room + FOLD_QUADS;

	__syncthreads();
#pragma unroll
	for (u32 m = 0; m < 4; m++)
#pragma unroll
		for (u32 n = 0; n < tiles; n++) {
			struct four quad;

			for (int i = 0; i < 4; i++)
				quad.of[i] = __float_as_uint(c[m][n][i]);
			room[(warp / 2 * all + m * 2 * tiles + warp % 2 * tiles + n) * 32 + lane] = quad;
		}
	__syncthreads();
	cluster_wait(f->cluster);
#pragma unroll
	for (u32 i = 0; i < tiles; i++) {
		u32 tile = warp + i * 8;
		float sums[4] = {0, 0, 0, 0};
		struct four quad;

#pragma unroll
		for (u32 s = 0; s < FOLD_SHARES; s++) {
			quad = load_shared(room + (s * all + tile) * 32 + lane);
			for (int j = 0; j < 4; j++)
				sums[j] += __uint_as_float(quad.of[j]);
		}
		for (int j = 0; j < 4; j++)
			quad.of[j] = __float_as_uint(sums[j]);
		cluster_store(room, inbox + (f->rank * each + tile % each) * 32 + lane, tile / each, quad,
			f->cluster);
	}
	cluster_arrive(room, f->cluster);
	cluster_wait(f->cluster);
	if (f->cluster == 1)
		__syncthreads(); /* all warps have read the sums: their room is free */
}

/* All sums of the block; of few tokens half of the tiles are left out. */
static __device__ void fold_make(
	const struct fold *f, struct four *room, u32 tiles, struct four weights[3][FOLD_CHUNKS])
{
	float c[4][3][4] = {{{0}}};

	if (f->count <= MANY / 2)
		fold_multiply(room, 2, tiles, weights, c);
	else
		fold_multiply(room, 4, tiles, weights, c);
	fold_join(f, room, tiles, c);
}

/* A tile of the block's own, whole. */
static __device__ void fold_sum(const struct four *room, u32 tile, u32 tiles, u32 cluster, float out[4])
{
	for (int j = 0; j < 4; j++)
		out[j] = 0;
#pragma unroll
	for (u32 s = 0; s < cluster; s++) {
		struct four quad = load_shared(
			room + FOLD_QUADS + (s * (8 * tiles / cluster) + tile) * 32 + threadIdx.x % 32);

		for (int j = 0; j < 4; j++)
			out[j] += __uint_as_float(quad.of[j]);
	}
}

/* What ends the sums of two rows: of the weights, and biases. */
struct fold_ends {
	float sums[2], biases[2];
};

static __device__ struct fold_ends fold_ends_of(const struct args *a, u32 layer, int matrix, u32 row)
{
	u64 place = (u64)layer * ROWS + first_row(matrix) + row;
	struct fold_ends ends = {
		{a->row_sums[place], a->row_sums[place + 1]}, {a->biases[place], a->biases[place + 1]}};

	return ends;
}

/* Mean and one over the deviation, of a token's sums of x and of its squares. */
static __device__ void fold_moments(u64 told, float out[2])
{
	float squares = __uint_as_float((u32)(told >> 32)) * (1.0f / WIDTH);

	out[0] = __uint_as_float((u32)told) * (1.0f / WIDTH);
	out[1] = root_under_one(fmaxf(squares - out[0] * out[0], 0) + 1e-5f);
}

/* Queries, keys and values, or the inner layer. */
static __device__ void fold_store(const struct args *a, const struct fold *f, int matrix,
	const struct place *place, u32 row, u64 told, const struct fold_ends *ends, const float sums[2])
{
	float out[2], moments[2];

	if (place->token >= a->tokens)
		return;
	fold_moments(told, moments);
	for (int i = 0; i < 2; i++)
		out[i] = (sums[i] - moments[0] * ends->sums[i]) * moments[1] + ends->biases[i];
	if (matrix == WIDENING)
		store_two(a->inner + (u64)place->token * INNER + row, fmaxf(out[0], 0), fmaxf(out[1], 0));
	else
		store_state_two(a, f->layer, place, row, out[0], out[1]);
}

#define FOLD_TURNS(tiles, cluster) (((tiles) + (cluster)-1) / (cluster)) /* own tiles of a warp */

/* Turn i of a warp's own tiles; if there is none, one that another warp has: it is loaded for, too. */
static __device__ u32 fold_own(u32 i, u32 each)
{
	u32 tile = threadIdx.x / 32 + i * 8;

	return tile < each ? tile : each - 1;
}

/* A product with x. */
static __device__ void fold_from_x(const struct args *a, u32 layer, int matrix, u32 tiles, struct four *room)
{
	const u32 each = 8 * tiles / FOLD_WIDE;
	struct fold f = fold_of(a, layer, FOLD_WIDE, tiles);
	u32 warp = threadIdx.x / 32, stage = 2 * layer + (matrix == WIDENING);
	struct four weights[3][FOLD_CHUNKS];
	struct fold_ends ends[3];
	u64 told[3][2];
	u32 positions[3][2];

	cluster_arrive(room, FOLD_WIDE);
	fold_load(a, &f, matrix, WIDTH, tiles, weights);
#pragma unroll
	for (u32 i = 0; i < FOLD_TURNS(tiles, FOLD_WIDE); i++)
		ends[i] = fold_ends_of(
			a, layer, matrix, fold_place_of(&f, f.rank * each + fold_own(i, each), tiles).row);
	await_previous();
	fold_copy(&f, a->normal, WIDTH, room);
#pragma unroll
	for (u32 i = 0; i < FOLD_TURNS(tiles, FOLD_WIDE); i++)
#pragma unroll
		for (u32 h = 0; h < 2; h++) {
			u32 token = fold_place_of(&f, f.rank * each + fold_own(i, each), tiles).token + h * 8;

			token = token < a->tokens ? token : f.token;
			told[i][h] = load_fresh_two(a->moments + ((u64)stage * a->slots + token) * 2);
			positions[i][h] = matrix == ATTENTION ? position_of(a, token) : 0;
		}
	fold_make(&f, room, tiles, weights);
#pragma unroll
	for (u32 i = 0; i < FOLD_TURNS(tiles, FOLD_WIDE); i++) {
		struct fold_place place = fold_place_of(&f, f.rank * each + warp + i * 8, tiles);
		float sums[4];

		if (warp + i * 8 >= each)
			continue;
		fold_sum(room, warp + i * 8, tiles, FOLD_WIDE, sums);
#pragma unroll
		for (u32 h = 0; h < 2; h++) {
			u32 token = place.token + h * 8;
			const struct place here = {token, token, positions[i][h]};

			fold_store(a, &f, matrix, &here, place.row, told[i][h], &ends[i], sums + 2 * h);
		}
	}
}

/* Two rows' sums are added to a token's x. Gives what x then has, and its squares, of a tile's 8 rows. */
static __device__ void fold_add(const struct args *a, u32 token, u32 row, u64 old, const float biases[2],
	const float sums[2], float out[2])
{
	float x[2] = {__uint_as_float((u32)old) + biases[0] + sums[0],
		__uint_as_float((u32)(old >> 32)) + biases[1] + sums[1]};
	u64 place = (u64)token * WIDTH + row;

	if (token < a->tokens) {
		a->x[place] = x[0];
		a->x[place + 1] = x[1];
		store_two(a->normal + place, x[0], x[1]);
	}
	out[0] = x[0] + x[1];
	out[1] = x[0] * x[0] + x[1] * x[1];
	for (int distance = 1; distance < 4; distance *= 2) {
		out[0] += __shfl_xor_sync(0xffffffffu, out[0], distance);
		out[1] += __shfl_xor_sync(0xffffffffu, out[1], distance);
	}
}

/* What the block's tiles have of each of its tokens is added to the token's moments. */
static __device__ void fold_tell(
	const struct args *a, const struct fold *f, u32 stage, u32 tiles, const float *parts)
{
	u32 each = 8 * tiles / f->cluster, most = each < 2 * tiles ? each : 2 * tiles, i = threadIdx.x / 16,
	    token = f->token + (f->rank * each / (2 * tiles) + i) * 16 + threadIdx.x % 16;
	float sum = 0, squares = 0;

	__syncthreads();
	if (i * most >= each || token >= a->tokens)
		return;
	for (u32 n = 0; n < most; n++) {
		sum += parts[((i * most + n) * 16 + threadIdx.x % 16) * 2];
		squares += parts[((i * most + n) * 16 + threadIdx.x % 16) * 2 + 1];
	}
	add_two(a->moments + ((u64)stage * a->slots + token) * 2, sum, squares);
}

/* A product that is added to x. */
static __device__ void fold_to_x(const struct args *a, u32 layer, int matrix, u32 tiles, struct four *room)
{
	const u32 cluster = matrix == PROJECTION ? FOLD_WIDE : FOLD_INNER,
		  columns = matrix == PROJECTION ? WIDTH : INNER, each = 8 * tiles / cluster;
	struct fold f = fold_of(a, layer, cluster, tiles);
	u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	struct four weights[3][FOLD_CHUNKS];
	float biases[3][2], *parts = (float *)(void *)room;
	u64 old[3][2];

	cluster_arrive(room, cluster);
	fold_load(a, &f, matrix, columns, tiles, weights);
	await_previous();
	fold_copy(&f, matrix == PROJECTION ? a->mixed : a->inner, columns, room);
#pragma unroll
	for (u32 i = 0; i < FOLD_TURNS(tiles, cluster); i++) {
		struct fold_place place = fold_place_of(&f, f.rank * each + fold_own(i, each), tiles);

#pragma unroll
		for (u32 h = 0; h < 2; h++) {
			u32 token = place.token + h * 8 < a->tokens ? place.token + h * 8 : f.token;

			old[i][h] = load_fresh_two(a->x + (u64)token * WIDTH + place.row);
			biases[i][h] = a->biases[(u64)layer * ROWS + first_row(matrix) + place.row + h];
		}
	}
	fold_make(&f, room, tiles, weights);
#pragma unroll
	for (u32 i = 0; i < FOLD_TURNS(tiles, cluster); i++) {
		struct fold_place place = fold_place_of(&f, f.rank * each + warp + i * 8, tiles);
		float sums[4];

		if (warp + i * 8 >= each)
			continue;
		fold_sum(room, warp + i * 8, tiles, cluster, sums);
#pragma unroll
		for (u32 h = 0; h < 2; h++) {
			float own[2];

			fold_add(a, place.token + h * 8, place.row, old[i][h], biases[i], sums + 2 * h, own);
			if (lane % 4 < 2)
				parts[((warp + i * 8) * 16 + h * 8 + lane / 4) * 2 + lane % 4] = lane % 4
					? own[1]
					: own[0];
		}
	}
	fold_tell(a, &f, 2 * layer + (matrix == PROJECTION ? 1 : 2), tiles, parts);
}

/* A block begins a token: its x, as an act, too, and the moments of all stages. */
static __device__ void fold_begin(const struct args *a)
{
	u32 token = blockIdx.x, place = token * WIDTH + threadIdx.x * 4;
	float v[4], sum = 0, squares = 0;

	ask_for(a, 0, ATTENTION);
	await_previous();
	begin_token(a, token, 0);
	load_quad(a->x + place, v);
	store_two(a->normal + place, v[0], v[1]);
	store_two(a->normal + place + 2, v[2], v[3]);
	for (int i = 0; i < 4; i++) {
		sum += v[i];
		squares += v[i] * v[i];
	}
	sum_of_block(&sum, &squares);
	for (u32 i = threadIdx.x; i < 2 * a->layer_count + 1; i += blockDim.x) {
		float *moments = a->moments + ((u64)i * a->slots + token) * 2;

		moments[0] = i ? 0 : sum;
		moments[1] = i ? 0 : squares;
	}
}
#else
#define FOLD_THREADS 256
#define FOLD_WIDE 1
#define FOLD_INNER 1
#define FOLD_TILES(rows) 1
#define fold_from_x(a, layer, matrix, tiles, room) ((void)(a), (void)(layer), (void)(room))
#define fold_to_x(a, layer, matrix, tiles, room) ((void)(a), (void)(layer), (void)(room))
#define fold_begin(a) ((void)(a))
#endif

#if defined(__cplusplus) && HAS_FOLD
#define BY_CLUSTERS(blocks) __cluster_dims__(blocks, 1, 1)
#else
#define BY_CLUSTERS(blocks)
#endif

#if HAS_SUMS
/* A warp adds up the weights of a row of the matrices that take x. */
static __device__ void fold_add_up(const struct args *a, u32 unit)
{
	u32 rows = 3 * MIXED + INNER, layer = unit / rows, row = unit % rows, lane = threadIdx.x % 32;
	int matrix = row < 3 * MIXED ? ATTENTION : WIDENING;
	const u8 *tile;
	float sum = 0;

	row -= matrix == ATTENTION ? 0 : 3 * MIXED;
	tile = tile_of(weights_of(a, layer, matrix), row / 8, WIDTH);
	for (u32 i = lane; i < WIDTH / EACH; i += 32) {
		struct four codes = load_weights(tile + ((u64)(i / 4) * 32 + row % 8 * 4 + i % 4) * 16);

		for (int j = 0; j < UNITS * 4; j++) {
			u32 pairs[4];
			float two[2];

			spread(codes, j / 4, pairs);
			unpack(pairs[j % 4], two);
			sum += two[0] + two[1];
		}
	}
	sum = sum_of_warp(sum) * ends_of(a, layer, matrix, row).scale;
	if (lane == 0)
		a->row_sums[(u64)layer * ROWS + first_row(matrix) + row] = sum;
}
#else
#define fold_add_up(a, unit) ((void)(a), (void)(unit))
#endif

KERNEL void kwhy_decode_fold_sums(const struct args a)
{
	u32 unit = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;

	await_previous();
	if (unit < a.layer_count * (3 * MIXED + INNER))
		fold_add_up(&a, unit);
}

KERNEL void __launch_bounds__(WIDTH / 4) kwhy_decode_fold_begin(const struct args a)
{
	fold_begin(&a);
}

KERNEL void BY_CLUSTERS(FOLD_WIDE) __launch_bounds__(FOLD_THREADS, 2)
	kwhy_decode_fold_attention(const struct args a, u32 layer)
{
	ROOM(room);

	fold_from_x(&a, layer, ATTENTION, FOLD_TILES(3 * MIXED), room);
}

KERNEL void BY_CLUSTERS(FOLD_WIDE) __launch_bounds__(FOLD_THREADS, 2)
	kwhy_decode_fold_project(const struct args a, u32 layer)
{
	ROOM(room);

	fold_to_x(&a, layer, PROJECTION, 1, room);
}

KERNEL void BY_CLUSTERS(FOLD_WIDE) __launch_bounds__(FOLD_THREADS, 2)
	kwhy_decode_fold_widen(const struct args a, u32 layer)
{
	ROOM(room);

	fold_from_x(&a, layer, WIDENING, FOLD_TILES(INNER), room);
}

KERNEL void BY_CLUSTERS(FOLD_INNER) __launch_bounds__(FOLD_THREADS, 2)
	kwhy_decode_fold_narrow(const struct args a, u32 layer)
{
	ROOM(room);

	fold_to_x(&a, layer, NARROWING, FOLD_TILES(WIDTH), room);
}
#endif
