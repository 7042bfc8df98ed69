/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --- What the clusters of crowds.cu multiply: x, and what comes of it ---
 *
 * x goes into a product as it is, as in folded.cu. A block of a cluster takes an eighth of its columns, and
 * of the cluster's rows all; every eighth token is its own: of it the others send it their sums, together
 * with those that tell mean and deviation.
 */
#if HAS_CROWDS
enum {
	CROWD_THREADS = 256,
	CROWD_BLOCKS = FEW_SLOTS > 32 ? 1 : 2, /* that a multiprocessor holds */
	CROWD_DEPTH = 4,		       /* steps of attention that are on their way */
	CROWD_WARPS = CROWD_THREADS / 32,
	CROWD_GROUPS = (FEW_SLOTS + 15) / 16, /* of tokens that the tensor instruction takes */
	CROWD_OWN = 2 * CROWD_GROUPS,	      /* tokens of a block */
	CROWD_STRIPS = (WIDTH / STRIP + CLUSTER - 1) / CLUSTER, /* of x, of a block */
	CROWD_TILES = INNER_COLUMNS / 8 > 3 * HEAD / 8 ? INNER_COLUMNS / 8 : 3 * HEAD / 8, /* of a cluster */
	CROWD_TURNS = (CROWD_TILES + CROWD_WARPS - 1) / CROWD_WARPS, /* tiles of a warp */
	CROWD_SETS = (CROWD_GROUPS + 1) / 2,			     /* two groups go together */
	CROWD_PLACES = (CROWD_TILES * CROWD_SETS * 4 + CROWD_THREADS - 1) / CROWD_THREADS, /* of a thread */
	CROWD_TOKENS = 4,								   /* of a place */
	CROWD_SUMS = CROWD_TOKENS * 2,					    /* of two rows each */
	CROWD_PASSES = (FEW_SLOTS * 8 + CROWD_THREADS - 1) / CROWD_THREADS, /* 8 lanes take a token's x */
	CROWD_SHARES = CROWD_WARPS / 4, /* warps that share a tile's columns of a matrix that adds to x */
	CROWD_SLICE_TURNS = (SLICE_TILES + 3) / 4,
	CROWD_SLICE_STRIPS = (INNER_COLUMNS / STRIP + CROWD_SHARES - 1) / CROWD_SHARES,
	/* Shared memory: so many times 16 bytes. */
	CROWD_X = CROWD_GROUPS * 16 * ((CROWD_STRIPS > 2 ? CROWD_STRIPS : 2) * 4 + 1), /* or a head, mixed */
	CROWD_MOMENTS = CLUSTER * CROWD_GROUPS,
	CROWD_MINE = CROWD_OWN * INNER_COLUMNS / UNIT,
	CROWD_HALVES = CROWD_WARPS >= 2 * CROWD_OWN ? 2 : 1, /* warps that attend for a token */
	CROWD_AT = CROWD_X + CROWD_MOMENTS + CROWD_MINE	     /* where sums come to */
};

/* Times 16 bytes of what comes there: sums of so many tiles; then of warps that share columns. */
static __device__ u32 crowd_inbox(u32 tiles)
{
	u32 sums = CLUSTER * tiles * CROWD_SETS * 4, joined = CROWD_SLICE_TURNS * CROWD_GROUPS * 128;

	return sums > joined ? sums : joined;
}

/* Of a token in shared memory, of so many strips: for its banks 16 bytes more. */
static __device__ u32 crowd_stride(u32 strips)
{
	return strips * STRIP + UNIT;
}

/* A warp's tiles of a matrix that takes x, and what ends the sums of a thread's places. */
struct crowd {
	struct codes weights[CROWD_TURNS][CROWD_STRIPS];
	float scales[CROWD_TURNS][2]; /* of the lane's rows */
	float sums[CROWD_PLACES][2], biases[CROWD_PLACES][2];
};

/* What the lane's two rows of a tile are multiplied with, whose row of all is `first`. */
static __device__ void crowd_scales(const struct args *a, u32 layer, u32 first, float out[2])
{
	for (u32 j = 0; j < 2; j++)
		out[j] = CODE_MOST > 0 ? a->scales[(u64)layer * ROWS + first + threadIdx.x % 4 * 2 + j] : 1;
}

/* Eight sums: two neighbouring rows of a tile, of two tokens of each of two groups, from `group` on. */
struct crowd_place {
	u32 tile, group, row;
};

static __device__ struct crowd_place crowd_place_of(u32 i)
{
	u32 here = threadIdx.x + i * CROWD_THREADS;
	struct crowd_place place = {here / 4 / CROWD_SETS, here / 4 % CROWD_SETS * 2, here % 4 * 2};

	return place;
}

/* Whether so many are all there: the compiler knows, and nothing else is asked. */
static __device__ int all_there(u32 most, u32 count)
{
	return most <= count;
}

/* Whether a matrix of so many tiles has a thread's place i. */
static __device__ int crowd_has_place(u32 i, u32 tiles)
{
	return all_there((i + 1) * CROWD_THREADS, tiles * CROWD_SETS * 4) || crowd_place_of(i).tile < tiles;
}

/* A block's token. */
static __device__ u32 crowd_token(u32 own)
{
	return own * CLUSTER + blockIdx.x % CLUSTER;
}

/* A cluster's tile among those of the matrix. */
static __device__ u32 crowd_tile(int matrix, u32 tile)
{
	u32 cluster = blockIdx.x / CLUSTER;

	return matrix == ATTENTION
		? tile / (HEAD / 8) * (MIXED / 8) + cluster * (HEAD / 8) + tile % (HEAD / 8)
		: cluster * (INNER_COLUMNS / 8) + tile;
}

static __device__ int crowd_has(u32 k)
{
	return WIDTH / STRIP % CLUSTER == 0 || blockIdx.x % CLUSTER * CROWD_STRIPS + k < WIDTH / STRIP;
}

/* What ends the sums of a thread's places. */
static __device__ void crowd_load_ends(
	const struct args *a, u32 layer, int matrix, u32 count, struct crowd *c)
{
#pragma unroll
	for (u32 i = 0; i < CROWD_PLACES; i++) {
		struct crowd_place place = crowd_place_of(i);
		u64 row = (u64)layer * ROWS + first_row(matrix) + crowd_tile(matrix, place.tile) * 8 +
			place.row;

		for (u32 j = 0; j < 2; j++) {
			int is_there = crowd_has_place(i, count);

			c->sums[i][j] = is_there ? a->row_sums[row + j] : 0;
			c->biases[i][j] = is_there ? a->biases[row + j] : 0;
		}
	}
}

/* A matrix of `count` tiles a cluster. */
static __device__ void crowd_load(const struct args *a, u32 layer, int matrix, u32 count, struct crowd *c)
{
	const u8 *weights = weights_of(a, layer, matrix);

#pragma unroll
	for (u32 i = 0; i < CROWD_TURNS; i++) {
		u32 tile = threadIdx.x / 32 + i * CROWD_WARPS;

		if (!all_there((i + 1) * CROWD_WARPS, count) && tile >= count)
			continue;
		tile = crowd_tile(matrix, tile);
		crowd_scales(a, layer, first_row(matrix) + tile * 8, c->scales[i]);
#pragma unroll
		for (u32 k = 0; k < CROWD_STRIPS; k++)
			if (crowd_has(k))
				c->weights[i][k] = codes_load(
					weights + tile * TILE_BYTES, blockIdx.x % CLUSTER * CROWD_STRIPS + k);
	}
	crowd_load_ends(a, layer, matrix, count, c);
}

/* What a lane has of the x of a token: 4 columns of every strip. */
struct crowd_x {
	float of[CROWD_STRIPS][4], biases[CROWD_STRIPS][4];
};

static __device__ u32 crowd_x_token(u32 pass)
{
	return pass * (CROWD_THREADS / 8) + threadIdx.x / 8;
}

static __device__ u32 crowd_x_column(u32 k)
{
	return (blockIdx.x % CLUSTER * CROWD_STRIPS + k) * STRIP + threadIdx.x % 8 * 4;
}

/* Who leaves a token's x for the next kernel. */
static __device__ int crowd_leaves(u32 token)
{
	return token / CLUSTER % (gridDim.x / CLUSTER) == blockIdx.x / CLUSTER;
}

static __device__ void crowd_quad(const float *from, float v[4])
{
	struct four quad = load_fresh(from);

	for (int j = 0; j < 4; j++)
		v[j] = __uint_as_float(quad.of[j]);
}

static __device__ void crowd_x_load(const struct args *a, u32 kernel, u32 token, struct crowd_x *x)
{
	const float *biases = a->biases + (u64)(kernel / 2) * ROWS +
		first_row(kernel % 2 ? NARROWING : PROJECTION);

#pragma unroll
	for (u32 k = 0; k < CROWD_STRIPS; k++)
		if (token < FEW_SLOTS && crowd_has(k)) {
			crowd_quad(joint_sum(a, kernel) + token * WIDTH + crowd_x_column(k), x->of[k]);
			if (crowd_leaves(token))
				crowd_quad(biases + crowd_x_column(k), x->biases[k]);
		}
}

/* x and the biases of what is added to it. */
static __device__ void crowd_x_leave(const struct args *a, u32 kernel, u32 token, const struct crowd_x *x)
{
#pragma unroll
	for (u32 k = 0; k < CROWD_STRIPS; k++) {
		const struct four none = {{0, 0, 0, 0}};
		u32 here = token * WIDTH + crowd_x_column(k);
		float v[4];

		if (!crowd_has(k))
			continue;
		for (u32 j = 0; j < 4; j++)
			v[j] = x->of[k][j] + x->biases[k][j];
		add_four(joint_sum(a, kernel + 1) + here, v);
		*(struct four *)(void *)(joint_sum(a, kernel + 2) + here) = none;
	}
}

/* As acts into shared memory; what the columns have of its moments to the block whose token it is. */
static __device__ void crowd_x_keep(u32 token, const struct crowd_x *x, struct four *all)
{
	act *to = (act *)(void *)all + token * crowd_stride(CROWD_STRIPS);
	float sum = 0, squares = 0;

#pragma unroll
	for (u32 k = 0; k < CROWD_STRIPS; k++) {
		if (!crowd_has(k))
			continue;
		for (u32 j = 0; j < 4; j++) {
			sum += x->of[k][j];
			squares += x->of[k][j] * x->of[k][j];
		}
		if (token < CROWD_GROUPS * 16)
			for (u32 j = 0; j < 4; j += 2)
				store_two(to + k * STRIP + turned(threadIdx.x % 8 * 4 + j), x->of[k][j],
					x->of[k][j + 1]);
	}
	for (int distance = 1; distance < 8; distance *= 2) {
		sum += __shfl_xor_sync(0xffffffffu, sum, distance);
		squares += __shfl_xor_sync(0xffffffffu, squares, distance);
	}
	if (threadIdx.x % 8 == 0 && token < FEW_SLOTS)
		store_near_two((u64 *)(void *)(all + CROWD_X) +
				(blockIdx.x % CLUSTER * CROWD_GROUPS * 2 + token / CLUSTER),
			token % CLUSTER, (u64)__float_as_uint(squares) << 32 | __float_as_uint(sum));
}

/* The block's columns of all tokens. */
static __device__ void crowd_stage(const struct args *a, u32 kernel, struct four *all)
{
	struct crowd_x x[CROWD_PASSES] = {{{{0}}, {{0}}}};

#pragma unroll
	for (u32 i = 0; i < CROWD_PASSES; i++)
		crowd_x_load(a, kernel, crowd_x_token(i), &x[i]);
	cluster_ready();
#pragma unroll
	for (u32 i = 0; i < CROWD_PASSES; i++) {
		u32 token = crowd_x_token(i);

		crowd_x_keep(token, &x[i], all);
		if (token < FEW_SLOTS && crowd_leaves(token))
			crowd_x_leave(a, kernel, token, &x[i]);
	}
	__syncthreads();
}

/* A strip of 16 tokens as two tensor instructions take it. */
struct crowd_piece {
	u32 of[2][4];
};

/* Of the tokens 16 * m to 16 * m + 15. */
static __device__ void crowd_tokens(const act *room, u32 stride, u32 m, u32 strip, struct crowd_piece *piece)
{
	const act *from = room + (m * 16 + threadIdx.x % 16) * stride + strip * STRIP +
		threadIdx.x % 32 / 16 * 8;

	load_matrices(from, piece->of[0]);
	load_matrices(from + 16, piece->of[1]);
}

static __device__ void crowd_product(float c[4], const struct crowd_piece *piece, const u32 b[4])
{
	for (u32 i = 0; i < 2; i++)
		product(c, piece->of[i], b[2 * i], b[2 * i + 1]);
}

/* What a warp's tile has made of two groups, as fp16: each token's sums go to the block whose token it is. */
static __device__ void crowd_send(
	float sums[CROWD_GROUPS][4], const float scales[2], u32 set, struct four *to)
{
	struct four quad = {{0, 0, 0, 0}};

#pragma unroll
	for (u32 j = 0; j < 4; j++) {
		u32 group = set * 2 + j / 2, pair = j % 2 * 2;

		if (group < CROWD_GROUPS)
			quad.of[j] = pack_halves(
				sums[group][pair] * scales[0], sums[group][pair + 1] * scales[1]);
	}
	store_near(to + threadIdx.x % 4, threadIdx.x % 32 / 4, quad);
}

/* Products of the block's columns, and where they go. */
static __device__ void crowd_multiply(const struct crowd *c, struct four *all, u32 count)
{
	float sums[CROWD_TURNS][CROWD_GROUPS][4] = {{{0}}};

#pragma unroll
	for (u32 k = 0; k < CROWD_STRIPS; k++) {
		u32 b[CROWD_TURNS][4] = {{0}};

		if (!crowd_has(k))
			continue;
#pragma unroll
		for (u32 i = 0; i < CROWD_TURNS; i++)
			if (i * CROWD_WARPS < count)
				codes_spread(&c->weights[i][k], b[i]);
#pragma unroll
		for (u32 m = 0; m < CROWD_GROUPS; m++) {
			struct crowd_piece piece;

			crowd_tokens(
				(const act *)(const void *)all, crowd_stride(CROWD_STRIPS), m, k, &piece);
#pragma unroll
			for (u32 i = 0; i < CROWD_TURNS; i++)
				if (i * CROWD_WARPS < count)
					crowd_product(sums[i][m], &piece, b[i]);
		}
	}
#pragma unroll
	for (u32 i = 0; i < CROWD_TURNS; i++)
#pragma unroll
		for (u32 m = 0; m < CROWD_SETS; m++) {
			u32 tile = threadIdx.x / 32 + i * CROWD_WARPS;

			if (all_there((i + 1) * CROWD_WARPS, count) || tile < count)
				crowd_send(sums[i], c->scales[i], m,
					all + CROWD_AT +
						((blockIdx.x % CLUSTER * count + tile) * CROWD_SETS + m) * 4);
		}
}

/* Mean and one over the deviation of a group's two tokens. */
struct crowd_moments {
	float mean[2], scale[2];
};

static __device__ struct crowd_moments crowd_moments_of(const struct four *all, u32 group)
{
	float told[4] = {0, 0, 0, 0};
	struct crowd_moments moments;

#pragma unroll
	for (u32 s = 0; s < CLUSTER; s++) {
		struct four quad = load_shared(all + CROWD_X + s * CROWD_GROUPS + group);

		for (int j = 0; j < 4; j++)
			told[j] += __uint_as_float(quad.of[j]);
	}
	for (int h = 0; h < 2; h++) {
		moments.mean[h] = told[2 * h] * (1.0f / WIDTH);
		moments.scale[h] = root_under_one(
			fmaxf(told[2 * h + 1] * (1.0f / WIDTH) - moments.mean[h] * moments.mean[h], 0) +
			1e-5f);
	}
	return moments;
}

/* What all blocks have sent of a place: of four as fp16, of both four as fp32. */
static __device__ void crowd_add_up(const struct four *all, u32 count, u32 here, float out[CROWD_SUMS])
{
	const struct four *from = all + CROWD_AT + here;

	for (u32 j = 0; j < CROWD_SUMS; j++)
		out[j] = 0;
#pragma unroll
	for (u32 s = 0; s < CLUSTER; s += 4) {
		struct four quad[4];

#pragma unroll
		for (u32 i = 0; i < 4; i++)
			quad[i] = load_shared(from + (s + i) * count * CROWD_SETS * 4);
#pragma unroll
		for (u32 j = 0; j < 4; j++) {
			float two[2];

			floats_of_halves(add_halves(add_halves(quad[0].of[j], quad[1].of[j]),
						 add_halves(quad[2].of[j], quad[3].of[j])),
				two);
			out[j * 2] += two[0];
			out[j * 2 + 1] += two[1];
		}
	}
}

/* The sums of this thread's places, whole: two rows of one token, then of another; so of each group. */
static __device__ void crowd_sums(
	const struct crowd *c, const struct four *all, u32 count, float out[CROWD_PLACES][CROWD_SUMS])
{
	struct crowd_moments moments[2];

#pragma unroll
	for (u32 i = 0; i < CROWD_PLACES; i++) {
		u32 group = crowd_place_of(i).group;

		for (u32 e = 0; e < 2; e++)
			if (i == 0 || CROWD_THREADS / 4 % CROWD_SETS)
				moments[e] = crowd_moments_of(
					all, group + e < CROWD_GROUPS ? group + e : CROWD_GROUPS - 1);
		for (u32 j = 0; j < CROWD_SUMS; j++)
			out[i][j] = 0;
		if (!crowd_has_place(i, count))
			continue;
		crowd_add_up(all, count, threadIdx.x + i * CROWD_THREADS, out[i]);
		for (u32 j = 0; j < CROWD_SUMS; j++)
			out[i][j] = (out[i][j] - moments[j / 4].mean[j / 2 % 2] * c->sums[i][j % 2]) *
					moments[j / 4].scale[j / 2 % 2] +
				c->biases[i][j % 2];
	}
}

/* --- A matrix that adds to x: a block's rows, a cluster's columns --- */

struct crowd_slice {
	struct codes weights[CROWD_SLICE_TURNS][CROWD_SLICE_STRIPS];
	float scales[CROWD_SLICE_TURNS][2]; /* of the lane's rows */
};

/* The tile of a turn among the block's. */
static __device__ u32 crowd_slice_tile(u32 turn)
{
	return threadIdx.x / 32 % 4 + turn * 4;
}

static __device__ int crowd_slice_has(u32 turn)
{
	return all_there((turn + 1) * 4, SLICE_TILES) || crowd_slice_tile(turn) < SLICE_TILES;
}

/* The first row of a turn's tile. */
static __device__ u32 crowd_slice_row(u32 turn)
{
	return (blockIdx.x % CLUSTER * SLICE_TILES + crowd_slice_tile(turn)) * 8;
}

/* Whether a warp takes a strip j of so many. */
static __device__ int crowd_slice_has_strip(u32 j, u32 strips)
{
	return all_there((j + 1) * CROWD_SHARES, strips) || j * CROWD_SHARES + threadIdx.x / 128 < strips;
}

static __device__ void crowd_slice_load(const struct args *a, u32 layer, int matrix, struct crowd_slice *s,
	u32 columns, u32 first, u32 strips)
{
	const u8 *weights = weights_of(a, layer, matrix);

#pragma unroll
	for (u32 i = 0; i < CROWD_SLICE_TURNS; i++) {
		if (!crowd_slice_has(i))
			continue;
		crowd_scales(a, layer, first_row(matrix) + crowd_slice_row(i), s->scales[i]);
#pragma unroll
		for (u32 j = 0; j < CROWD_SLICE_STRIPS; j++)
			if (crowd_slice_has_strip(j, strips))
				s->weights[i][j] = codes_load(
					weights + crowd_slice_row(i) / 8 * (columns / CHUNK * 512),
					first + j * CROWD_SHARES + threadIdx.x / 128);
	}
}

/* Of two warps that share a tile each ends the sums of every second group. */
static __device__ void crowd_slice_join(struct four *room, float c[CROWD_SLICE_TURNS][CROWD_GROUPS][4])
{
	u32 share = threadIdx.x / 128;

#pragma unroll
	for (u32 i = 0; i < CROWD_SLICE_TURNS; i++)
#pragma unroll
		for (u32 m = 0; m < CROWD_GROUPS; m++) {
			struct four quad;

			for (int j = 0; j < 4; j++)
				quad.of[j] = __float_as_uint(c[i][m][j]);
			if (m % 2 != share)
				room[(i * CROWD_GROUPS + m) * 128 + threadIdx.x % 128] = quad;
		}
	__syncthreads();
#pragma unroll
	for (u32 i = 0; i < CROWD_SLICE_TURNS; i++)
#pragma unroll
		for (u32 m = 0; m < CROWD_GROUPS; m++)
			if (m % 2 == share) {
				struct four quad = load_shared(
					room + (i * CROWD_GROUPS + m) * 128 + threadIdx.x % 128);

				for (int j = 0; j < 4; j++)
					c[i][m][j] += __uint_as_float(quad.of[j]);
			}
}

/* Their products with the cluster's columns of all tokens are added to sums. */
static __device__ void crowd_slice_add(
	const struct crowd_slice *s, const act *room, u32 strips, struct four *inbox, float *sums)
{
	u32 share = threadIdx.x / 128, lane = threadIdx.x % 32;
	float c[CROWD_SLICE_TURNS][CROWD_GROUPS][4] = {{{0}}};

#pragma unroll
	for (u32 j = 0; j < CROWD_SLICE_STRIPS; j++) {
		u32 b[CROWD_SLICE_TURNS][4] = {{0}};

		if (!crowd_slice_has_strip(j, strips))
			continue;
#pragma unroll
		for (u32 i = 0; i < CROWD_SLICE_TURNS; i++)
			if (crowd_slice_has(i))
				codes_spread(&s->weights[i][j], b[i]);
#pragma unroll
		for (u32 m = 0; m < CROWD_GROUPS; m++) {
			struct crowd_piece piece;

			crowd_tokens(room, crowd_stride(strips), m, j * CROWD_SHARES + share, &piece);
#pragma unroll
			for (u32 i = 0; i < CROWD_SLICE_TURNS; i++)
				if (crowd_slice_has(i))
					crowd_product(c[i][m], &piece, b[i]);
		}
	}
	crowd_slice_join(inbox, c);
#pragma unroll
	for (u32 i = 0; i < CROWD_SLICE_TURNS; i++)
#pragma unroll
		for (u32 m = 0; m < CROWD_GROUPS; m++)
#pragma unroll
			for (u32 h = 0; h < 2; h++) {
				u32 token = m * 16 + h * 8 + lane / 4,
				    row = crowd_slice_row(i) + lane % 4 * 2;

				if ((all_there(m * 16 + h * 8 + 8, FEW_SLOTS) || token < FEW_SLOTS) &&
					crowd_slice_has(i) && m % 2 == share)
					add_two(sums + token * WIDTH + row, c[i][m][2 * h] * s->scales[i][0],
						c[i][m][2 * h + 1] * s->scales[i][1]);
			}
}
#endif
