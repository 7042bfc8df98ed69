/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --- More tokens than few, up to 32, by clusters of blocks: two kernels a layer (clusters.cu) ---
 *
 * A warp normalises a token for all blocks of its cluster. A block then takes some rows of a matrix, of all
 * tokens, and its warps share the columns. To keys and values a warp attends for one of the block's tokens;
 * their first copies are on their way before the kernel before has ended.
 */
#if HAS_CROWDS
enum {
	CROWD_X_CHUNKS = (WIDTH / CHUNK + 7) / 8, /* of one of 8 warps */
	CROWD_EACH = CROWD / CLUSTER,		  /* tokens of a block */
	CROWD_GROUPS = CROWD / 16,		  /* of tokens that the tensor instruction takes */
	CROWD_PARTS = FEW_THREADS / 32 * JOINT_TILES * CROWD_GROUPS * 32, /* times 16 bytes, of sums */
	CROWD_TOKENS = CROWD * WIDTH * ACT_BYTES / 16, /* of normalised tokens, which come before */
	CROWD_ROOM = (CROWD_TOKENS > CROWD_PARTS ? CROWD_TOKENS : CROWD_PARTS) + 1, /* and the barrier */
	CROWD_TURNS = (SLICE_TILES + 7) / 8, /* tiles of a warp, of a block's rows of x */
	CROWD_CHUNKS = INNER_COLUMNS / CHUNK > HEAD / CHUNK ? INNER_COLUMNS / CHUNK : HEAD / CHUNK,
	CROWD_PLACES = (JOINT_TILES * CROWD_GROUPS * 32 + FEW_THREADS - 1) / FEW_THREADS,
	CROWD_DEPTH = 3 /* steps of attention that are on their way */
};

/* A block's tiles of a matrix that takes x: a lane's weights of all of them, and what ends their sums. */
struct crowd {
	u32 first, step; /* tiles */
	struct four weights[JOINT_TILES][CROWD_X_CHUNKS];
	struct ends ends[CROWD_PLACES][2];
};

/* A place of sums: four of them, of a tile of 8 rows and 16 tokens, two rows of two tokens. */
struct crowd_place {
	u32 tile, token, row;
};

static __device__ struct crowd_place crowd_place_of(const struct crowd *c, u32 i)
{
	u32 here = threadIdx.x + i * FEW_THREADS, lane = here % 32;
	struct crowd_place place = {here / 32 / CROWD_GROUPS, here / 32 % CROWD_GROUPS * 16 + lane / 4, 0};

	place.row = (c->first + place.tile * c->step) * 8 + lane % 4 * 2;
	return place;
}

static __device__ void crowd_load(
	const struct args *a, u32 layer, int matrix, u32 first, u32 step, u32 count, struct crowd *c)
{
	const u8 *weights = weights_of(a, layer, matrix);
	const struct ends none = {0, 0};

	c->first = first;
	c->step = step;
#pragma unroll
	for (u32 i = 0; i < JOINT_TILES; i++)
#pragma unroll
		for (u32 k = 0; k < CROWD_X_CHUNKS; k++) {
			u32 chunk = threadIdx.x / 32 + k * (FEW_THREADS / 32);

			if (i < count && chunk < WIDTH / CHUNK)
				c->weights[i][k] = load_weights(tile_of(weights, first + i * step, WIDTH) +
					((u64)chunk * 32 + threadIdx.x % 32) * 16);
		}
#pragma unroll
	for (u32 i = 0; i < CROWD_PLACES; i++) {
		struct crowd_place place = crowd_place_of(c, i);

		for (u32 j = 0; j < 2; j++)
			c->ends[i][j] = place.tile < count ? ends_of(a, layer, matrix, place.row + j) : none;
	}
}

/* The token that a warp takes; if it takes none, one that is not there. */
static __device__ u32 crowd_token(const struct args *a)
{
	u32 warp = threadIdx.x / 32;

	return warp < CROWD_EACH ? blockIdx.x % CLUSTER * CROWD_EACH + warp : a->tokens;
}

/* All tokens, normalised: a warp makes one and sends it to all blocks of the cluster. The first cluster
 * leaves x for the next kernel. */
static __device__ void crowd_stage(const struct args *a, u32 kernel, act *room, u64 *bar)
{
	u32 token = crowd_token(a);
	act *normal = a->normal + (u64)token * WIDTH;
	float v[QUADS][4];

	if (token < a->tokens) {
		joint_row(a, kernel, token, blockIdx.x < CLUSTER, v);
		normalise_turned(v, normal, token % 2);
		row_send(room + token * WIDTH, normal, WIDTH * ACT_BYTES, bar);
	}
	rows_await(bar, a->normal, room);
}

/* Of the tokens g and g + 8 of every 16. */
static __device__ void crowd_tokens(
	const act *room, u32 stride, u32 m, u32 chunk, struct four *low, struct four *high)
{
	u32 row = threadIdx.x % 32 / 4, turned = stride == WIDTH ? row % 2 : 0;
	const act *from = room + (m * 16 + row) * stride +
		((chunk ^ turned) * CHUNK + threadIdx.x % 4 * EACH);

	*low = load_shared((const struct four *)(const void *)from);
	*high = load_shared((const struct four *)(const void *)(from + 8 * stride));
}

static __device__ void crowd_multiply(const struct args *a, const struct crowd *c, const act *room, u32 count,
	float sums[JOINT_TILES][CROWD_GROUPS][4])
{
#pragma unroll
	for (u32 k = 0; k < CROWD_X_CHUNKS; k++) {
		u32 chunk = threadIdx.x / 32 + k * (FEW_THREADS / 32);

		if (chunk >= WIDTH / CHUNK)
			continue;
#pragma unroll
		for (u32 m = 0; m < CROWD_GROUPS; m++) {
			struct four low, high;

			if (m * 16 >= a->tokens)
				continue;
			crowd_tokens(room, WIDTH, m, chunk, &low, &high);
#pragma unroll
			for (u32 i = 0; i < JOINT_TILES; i++)
				if (i < count)
					multiply(sums[i][m], &low, &high, c->weights[i][k].of);
		}
	}
}

/* The sums of this thread's places. Others may still read the room. */
static __device__ void crowd_sums(
	const struct args *a, const struct crowd *c, act *room, u32 count, float out[CROWD_PLACES][4])
{
	struct four *parts = (struct four *)(void *)room;
	float sums[JOINT_TILES][CROWD_GROUPS][4] = {{{0}}};
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;

	crowd_multiply(a, c, room, count, sums);
	__syncthreads();
#pragma unroll
	for (u32 i = 0; i < JOINT_TILES; i++)
#pragma unroll
		for (u32 m = 0; m < CROWD_GROUPS; m++) {
			struct four quad;

			for (int j = 0; j < 4; j++)
				quad.of[j] = __float_as_uint(sums[i][m][j]);
			if (i < count)
				parts[((warp * JOINT_TILES + i) * CROWD_GROUPS + m) * 32 + lane] = quad;
		}
	__syncthreads();
#pragma unroll
	for (u32 i = 0; i < CROWD_PLACES; i++) {
		u32 here = threadIdx.x + i * FEW_THREADS;

		for (int j = 0; j < 4; j++)
			out[i][j] = 0;
#pragma unroll
		for (u32 w = 0; w < FEW_THREADS / 32; w++)
			if (here < count * CROWD_GROUPS * 32) {
				struct four quad = load_shared(
					parts + w * JOINT_TILES * CROWD_GROUPS * 32 + here);

				for (int j = 0; j < 4; j++)
					out[i][j] += __uint_as_float(quad.of[j]);
			}
		for (int j = 0; j < 4; j++)
			out[i][j] = out[i][j] * c->ends[i][j % 2].scale + c->ends[i][j % 2].bias;
	}
}

/* A block's rows of x and a cluster's columns: a warp takes tiles of 8 rows, of all of them. */
struct crowd_slice {
	struct four held[CROWD_TURNS][CROWD_CHUNKS];
	struct ends ends[CROWD_TURNS][2];
};

static __device__ void crowd_slice_load(const struct args *a, u32 layer, int matrix, struct crowd_slice *s,
	u32 columns, u32 first, u32 chunks)
{
	const struct ends none = {1, 0};
	const u8 *weights = weights_of(a, layer, matrix);
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, rank = blockIdx.x % CLUSTER;

#pragma unroll
	for (u32 i = 0; i < CROWD_TURNS; i++) {
		u32 tile = rank * SLICE_TILES + warp + i * 8;

#pragma unroll
		for (u32 j = 0; j < 2; j++)
			s->ends[i][j] = warp + i * 8 < SLICE_TILES && blockIdx.x < CLUSTER
				? ends_of(a, layer, matrix, tile * 8 + lane % 4 * 2 + j)
				: none;
#pragma unroll
		for (u32 j = 0; j < CROWD_CHUNKS; j++)
			if (j < chunks && warp + i * 8 < SLICE_TILES)
				s->held[i][j] = load_weights(tile_of(weights, tile, columns) +
					((u64)(first + j) * 32 + lane) * 16);
	}
}

static __device__ void crowd_slice_add(const struct args *a, const struct crowd_slice *s, const act *room,
	u32 stride, u32 chunks, float *sums)
{
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, rank = blockIdx.x % CLUSTER;
	float c[CROWD_TURNS][CROWD_GROUPS][4] = {{{0}}};

#pragma unroll
	for (u32 j = 0; j < CROWD_CHUNKS; j++)
#pragma unroll
		for (u32 m = 0; m < CROWD_GROUPS; m++) {
			struct four low, high;

			if (j >= chunks || m * 16 >= a->tokens)
				continue;
			crowd_tokens(room, stride, m, j, &low, &high);
#pragma unroll
			for (u32 i = 0; i < CROWD_TURNS; i++)
				if (warp + i * 8 < SLICE_TILES)
					multiply(c[i][m], &low, &high, s->held[i][j].of);
		}
#pragma unroll
	for (u32 i = 0; i < CROWD_TURNS; i++)
#pragma unroll
		for (u32 m = 0; m < CROWD / 8; m++) {
			u32 token = m * 8 + lane / 4,
			    row = (rank * SLICE_TILES + warp + i * 8) * 8 + lane % 4 * 2;

			if (token < a->tokens && warp + i * 8 < SLICE_TILES)
				add_two(sums + (u64)token * WIDTH + row,
					c[i][m / 2][m % 2 * 2] + s->ends[i][0].bias,
					c[i][m / 2][m % 2 * 2 + 1] + s->ends[i][1].bias);
		}
}

/* Queries, keys and values of the head. */
static __device__ void crowd_state(
	const struct args *a, u32 layer, const struct crowd *c, u32 positions[CROWD_PLACES][2], act *room)
{
	float sums[CROWD_PLACES][4];

	crowd_sums(a, c, room, 3, sums);
#pragma unroll
	for (u32 i = 0; i < CROWD_PLACES; i++)
#pragma unroll
		for (u32 h = 0; h < 2; h++) {
			struct crowd_place here = crowd_place_of(c, i);
			const struct place place = {here.token + h * 8, here.token + h * 8, positions[i][h]};

			if (here.tile < 3 && place.token < a->tokens)
				store_two(state_at(a, layer, &place, here.row), sums[i][2 * h],
					sums[i][2 * h + 1]);
		}
}

/* Of the two tokens of every place. */
static __device__ void crowd_positions(
	const struct args *a, const struct crowd *c, u32 positions[CROWD_PLACES][2])
{
#pragma unroll
	for (u32 i = 0; i < CROWD_PLACES; i++)
		for (u32 h = 0; h < 2; h++) {
			u32 token = crowd_place_of(c, i).token + h * 8;

			positions[i][h] = token < a->tokens ? position_of(a, token) : 0;
		}
}

static __device__ void crowd_attend(const struct args *a, u32 layer, struct four *all)
{
	act *room = (act *)(void *)all;
	u64 *bar = (u64 *)(void *)(all + CROWD_ROOM - 1);
	u32 head = blockIdx.x / CLUSTER, token = crowd_token(a), is_one = token < a->tokens,
	    positions[CROWD_PLACES][2];
	struct four *stages = all + CROWD_ROOM + threadIdx.x / 32 * CROWD_DEPTH * RECALL_QUADS;
	struct crowd_slice slice;
	struct crowd crowd;
	struct recall r;

	rows_expect(bar, a->tokens * WIDTH * ACT_BYTES);
	crowd_load(a, layer, ATTENTION, blockIdx.x, gridDim.x, 3, &crowd);
	ask_for(a, layer, WIDENING);
	ask_for(a, layer, NARROWING);
	if (layer == 0)
		await_previous(); /* positions are new */
	r = recall_of(a, layer, is_one ? token : 0, head, 0);
	if (is_one)
		recall_past(&r, stages, CROWD_DEPTH);
	if (layer > 0)
		await_previous();
	crowd_positions(a, &crowd, positions);
	crowd_stage(a, 2 * layer, room, bar);
	crowd_state(a, layer, &crowd, positions, room);
	crowd_slice_load(a, layer, PROJECTION, &slice, MIXED, head * (HEAD / CHUNK), HEAD / CHUNK);
	cluster_meet();
	if (is_one) {
		recall_begin(a, &r);
		recall_all(&r, stages, CROWD_DEPTH);
		recall_end(&r, a->mixed + (u64)token * MIXED + head * HEAD);
	}
	cluster_meet();
	joint_take(a, a->mixed + head * HEAD, MIXED, HEAD, room);
	crowd_slice_add(a, &slice, room, HEAD + PAD, HEAD / CHUNK, joint_sum(a, 2 * layer + 1));
}

static __device__ void crowd_inner(const struct args *a, u32 layer, struct four *all)
{
	act *room = (act *)(void *)all;
	u64 *bar = (u64 *)(void *)(all + CROWD_ROOM - 1);
	u32 first = blockIdx.x / CLUSTER * INNER_COLUMNS;
	struct crowd_slice slice;
	struct crowd crowd;
	float sums[CROWD_PLACES][4];

	rows_expect(bar, a->tokens * WIDTH * ACT_BYTES);
	crowd_load(a, layer, WIDENING, first / 8 + blockIdx.x % CLUSTER, CLUSTER, INNER_TILES, &crowd);
	ask_for(a, layer + 1, ATTENTION);
	if (layer + 1 < a->layer_count)
		ask_for(a, layer + 1, PROJECTION);
	await_previous();
	crowd_stage(a, 2 * layer + 1, room, bar);
	crowd_sums(a, &crowd, room, INNER_TILES, sums);
#pragma unroll
	for (u32 i = 0; i < CROWD_PLACES; i++)
#pragma unroll
		for (u32 h = 0; h < 2; h++) {
			struct crowd_place here = crowd_place_of(&crowd, i);

			if (here.tile < INNER_TILES && here.token + h * 8 < a->tokens)
				store_two(a->inner + (u64)(here.token + h * 8) * INNER + here.row,
					fmaxf(sums[i][2 * h], 0), fmaxf(sums[i][2 * h + 1], 0));
		}
	crowd_slice_load(a, layer, NARROWING, &slice, INNER, first / CHUNK, INNER_COLUMNS / CHUNK);
	cluster_meet();
	joint_take(a, a->inner + first, INNER, INNER_COLUMNS, room);
	crowd_slice_add(
		a, &slice, room, INNER_COLUMNS + PAD, INNER_COLUMNS / CHUNK, joint_sum(a, 2 * layer + 2));
}

/* A warp normalises a token for the vocabulary. */
static __device__ void crowd_end(const struct args *a)
{
	u32 token = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
	float v[QUADS][4];

	await_previous();
	if (token >= a->tokens)
		return;
	joint_row(a, 2 * a->layer_count, token, 0, v);
	normalise(v, a->normal + (u64)token * WIDTH);
}
#else
#define crowd_attend(a, layer, room) ((void)(a), (void)(layer), (void)(room))
#define crowd_inner(a, layer, room) ((void)(a), (void)(layer), (void)(room))
#define crowd_end(a) ((void)(a))
#endif

KERNEL void CLUSTERED __launch_bounds__(FEW_THREADS, 2)
	kwhy_decode_crowd_attend(const struct args a, u32 layer)
{
	ROOM(room);

	crowd_attend(&a, layer, room);
}

KERNEL void CLUSTERED __launch_bounds__(FEW_THREADS, 2)
	kwhy_decode_crowd_inner(const struct args a, u32 layer)
{
	ROOM(room);

	crowd_inner(&a, layer, room);
}

KERNEL void __launch_bounds__(FEW_THREADS) kwhy_decode_crowd_end(const struct args a)
{
	crowd_end(&a);
}
