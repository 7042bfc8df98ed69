/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --- More tokens than few, up to 64, by clusters of blocks: two kernels a layer ---
 *
 * As clusters.cu has them, by the products of eighths.cu. A block has the queries, keys and values of its own
 * tokens, of the cluster's head, and attends for them, a warp or two a token (recalling.cu); or their inner
 * columns. What it makes of them all blocks of the cluster get, and each takes some rows of the matrix that
 * adds to x.
 */
#if HAS_CROWDS
/* --- The first half of a layer --- */

/* Queries into shared memory, keys and values where they belong: of the block's tokens, of the head. */
static __device__ void crowd_state(const struct args *a, u32 layer,
	const u32 positions[CROWD_PLACES][CROWD_TOKENS], const float sums[CROWD_PLACES][CROWD_SUMS],
	act *queries)
{
#pragma unroll
	for (u32 i = 0; i < CROWD_PLACES; i++)
#pragma unroll
		for (u32 h = 0; h < CROWD_TOKENS; h++) {
			struct crowd_place here = crowd_place_of(i);
			u32 own = 2 * here.group + h, part = here.tile / (HEAD / 8),
			    column = here.tile % (HEAD / 8) * 8 + here.row;

			if (CROWD_GROUPS % 2 && own >= CROWD_OWN)
				continue;
			if (part == 0)
				store_two(queries + own * HEAD + column, sums[i][2 * h], sums[i][2 * h + 1]);
			else if (part < 3 && crowd_token(own) < FEW_SLOTS)
				keep_two((part == 1 ? a->keys : a->values) +
						cache_at(a, layer, crowd_token(own), blockIdx.x / CLUSTER,
							positions[i][h]) +
						column,
					sums[i][2 * h], sums[i][2 * h + 1]);
		}
	__syncthreads();
}

/* Of a token's positions what a warp takes: all, or a half of them. */
static __device__ struct recall crowd_recall(const struct args *a, u32 layer, u32 token, u32 half)
{
	struct recall r = recall_of(a, layer, token < FEW_SLOTS ? token : 0, blockIdx.x / CLUSTER, 0);
	u32 middle = (r.count + 2 * RECALL_STEP - 1) / (2 * RECALL_STEP) * RECALL_STEP;

	if (token >= FEW_SLOTS)
		r.count = 0;
	if (CROWD_HALVES == 1)
		return r;
	if (half) {
		r.keys += middle * HEAD;
		r.values += middle * HEAD;
		r.count = r.count > middle ? r.count - middle : 0;
	} else {
		r.count = r.count < middle ? r.count : middle;
	}
	return r;
}

static __device__ void crowd_query(struct recall *r, const act *query, struct four *stages)
{
	for (u32 i = 0; i < 2; i++)
		r->query[i] = load_shared(
			(const struct four *)(const void *)(query + recall_query_piece(i) * UNIT));
	recall_turn_query(r);
	if (!r->count)
		return;
#if SHORT_CACHE
	recall_by_two(r, stages, CROWD_DEPTH);
#else
	recall_all(r, stages, CROWD_DEPTH);
#endif
}

/* What the warp of the second half has found comes to that of the first. */
static __device__ void crowd_join(struct recall *r, struct four *stages, u32 half)
{
	struct four *told = stages + threadIdx.x % 32;

	if (half) {
		for (u32 i = 0; i < 2; i++) {
			const struct four quad = {{__float_as_uint(r->sums[2 * i][0]),
				__float_as_uint(r->sums[2 * i][2]), __float_as_uint(r->sums[2 * i + 1][0]),
				__float_as_uint(r->sums[2 * i + 1][2])}};

			told[i * 32] = quad;
		}
		const struct four quad = {{__float_as_uint(r->most), __float_as_uint(r->weight), 0, 0}};

		told[64] = quad;
	}
	__syncthreads();
	if (!half) {
		told += CROWD_OWN * CROWD_DEPTH * RECALL_QUADS;
		struct four other = load_shared(told + 64);
		float most = fmaxf(r->most, __uint_as_float(other.of[0])), mine = exp_two(r->most - most),
		      others = exp_two(__uint_as_float(other.of[0]) - most);

		r->weight = r->weight * mine + __uint_as_float(other.of[1]) * others;
		for (u32 i = 0; i < 2; i++) {
			struct four quad = load_shared(told + i * 32);

			for (u32 j = 0; j < 4; j++)
				r->sums[2 * i + j / 2][j % 2 * 2] = r->sums[2 * i + j / 2][j % 2 * 2] * mine +
					__uint_as_float(quad.of[j]) * others;
		}
	}
}

/* As recall_end(), each lane one word, where turned() says. */
static __device__ void crowd_recall_end(const struct recall *r, act *to)
{
	u32 lane = threadIdx.x % 32, word = 0;
	float scale = recall_scale(r);

#pragma unroll
	for (u32 i = 0; i < 4; i++) {
		u32 one = pack(r->sums[i][0] * scale, r->sums[i][2] * scale);

		word = lane % 4 == i ? one : word;
	}
	*(u32 *)(void *)(to + turned(lane / 4 * UNIT + lane % 4 * 2)) = word;
}

/* A head's columns of a token come to all blocks of the cluster. */
static __device__ void crowd_mix(const struct recall *r, act *room)
{
	act *row = room + r->token * crowd_stride(HEAD / STRIP);
	u32 lane = threadIdx.x % 32;

	crowd_recall_end(r, row);
	__syncwarp();
#pragma unroll
	for (u32 i = lane; i < CLUSTER * PIECES; i += 32)
		if (i / PIECES)
			store_near(row + lane % PIECES * UNIT, (blockIdx.x + i / PIECES) % CLUSTER,
				load_shared((const struct four *)(const void *)(row + lane % PIECES * UNIT)));
}

static __device__ void crowd_attend(const struct args *a, u32 layer, struct four *all)
{
	u32 head = blockIdx.x / CLUSTER, own = threadIdx.x / 32 % CROWD_OWN,
	    half = threadIdx.x / 32 / CROWD_OWN,
	    token = half < CROWD_HALVES && crowd_token(own) < FEW_SLOTS ? crowd_token(own) : FEW_SLOTS,
	    positions[CROWD_PLACES][CROWD_TOKENS];
	act *room = (act *)(void *)all, *queries = (act *)(void *)(all + CROWD_X + CROWD_MOMENTS);
	struct four *stages = all + CROWD_AT + crowd_inbox(3 * HEAD / 8) +
		threadIdx.x / 32 * CROWD_DEPTH * RECALL_QUADS;
	struct crowd_slice slice = {0};
	struct crowd crowd;
	struct recall r;
	float sums[CROWD_PLACES][CROWD_SUMS];

	cluster_open(all);
	crowd_load(a, layer, ATTENTION, 3 * HEAD / 8, &crowd);
	crowd_slice_load(a, layer, PROJECTION, &slice, MIXED, head * (HEAD / STRIP), HEAD / STRIP);
	if (layer == 0)
		await_previous(); /* positions are new */
	r = crowd_recall(a, layer, token, half);
	if (r.count)
		recall_past(&r, stages, CROWD_DEPTH);
	if (layer > 0)
		await_previous();
	crowd_stage(a, 2 * layer, all);
#pragma unroll
	for (u32 i = 0; i < CROWD_PLACES; i++)
		for (u32 h = 0; h < CROWD_TOKENS; h++) {
			u32 one = crowd_token(2 * crowd_place_of(i).group + h);

			positions[i][h] = position_of(a, one < FEW_SLOTS ? one : 0);
		}
	crowd_multiply(&crowd, all, 3 * HEAD / 8);
	cluster_meet();
	crowd_sums(&crowd, all, 3 * HEAD / 8, sums);
	crowd_state(a, layer, positions, sums, queries);
	crowd_query(&r, queries + own * HEAD, stages);
	if (CROWD_HALVES > 1)
		crowd_join(&r, stages, half);
	if (token < FEW_SLOTS && half == 0)
		crowd_mix(&r, room);
	cluster_meet();
	crowd_slice_add(&slice, room, HEAD / STRIP, all + CROWD_AT, joint_sum(a, 2 * layer + 1));
}

/* --- The second half --- */

/* The cluster's inner columns of the block's tokens come to all its blocks. */
static __device__ void crowd_spread(const float sums[CROWD_PLACES][CROWD_SUMS], act *mine, act *room)
{
#pragma unroll
	for (u32 i = 0; i < CROWD_PLACES; i++)
#pragma unroll
		for (u32 h = 0; h < CROWD_TOKENS; h++) {
			struct crowd_place here = crowd_place_of(i);
			u32 own = 2 * here.group + h, column = here.tile * 8 + here.row;

			if (CROWD_GROUPS % 2 && own >= CROWD_OWN)
				continue;
			if (crowd_has_place(i, INNER_COLUMNS / 8))
				store_two(mine + own * INNER_COLUMNS + turned(column),
					fmaxf(sums[i][2 * h], 0), fmaxf(sums[i][2 * h + 1], 0));
		}
	__syncthreads();
	for (u32 i = threadIdx.x; i < CROWD_OWN * (INNER_COLUMNS / UNIT) * CLUSTER; i += CROWD_THREADS) {
		u32 unit = i / CLUSTER, own = unit / (INNER_COLUMNS / UNIT),
		    column = unit % (INNER_COLUMNS / UNIT) * UNIT;

		store_near(room + crowd_token(own) * crowd_stride(INNER_COLUMNS / STRIP) + column,
			i % CLUSTER,
			load_shared(
				(const struct four *)(const void *)(mine + own * INNER_COLUMNS + column)));
	}
	cluster_meet();
}

static __device__ void crowd_inner(const struct args *a, u32 layer, struct four *all)
{
	u32 first = blockIdx.x / CLUSTER * INNER_COLUMNS;
	act *mine = (act *)(void *)(all + CROWD_X + CROWD_MOMENTS),
	    *room = (act *)(void *)(all + CROWD_AT + crowd_inbox(INNER_COLUMNS / 8));
	struct crowd_slice slice = {0};
	struct crowd crowd;
	float sums[CROWD_PLACES][CROWD_SUMS];

	cluster_open(all);
	crowd_load(a, layer, WIDENING, INNER_COLUMNS / 8, &crowd);
	crowd_slice_load(a, layer, NARROWING, &slice, INNER, first / STRIP, INNER_COLUMNS / STRIP);
	await_previous();
	crowd_stage(a, 2 * layer + 1, all);
	crowd_multiply(&crowd, all, INNER_COLUMNS / 8);
	cluster_meet();
	crowd_sums(&crowd, all, INNER_COLUMNS / 8, sums);
	crowd_spread(sums, mine, room);
	crowd_slice_add(&slice, room, INNER_COLUMNS / STRIP, all + CROWD_AT, joint_sum(a, 2 * layer + 2));
}

/* What the compiler may know of single tokens. */
static __device__ struct args crowd_args(const struct args *a)
{
	struct args known = *a;

	known.tokens = known.slots = FEW_SLOTS;
	known.each = 1;
	return known;
}
#else
#define CROWD_THREADS 128
#define CROWD_BLOCKS 1
#define crowd_args(a) (*(a))
#define crowd_attend(a, layer, room) ((void)(a), (void)(layer), (void)(room))
#define crowd_inner(a, layer, room) ((void)(a), (void)(layer), (void)(room))
#endif

KERNEL void CLUSTERED __launch_bounds__(CROWD_THREADS, CROWD_BLOCKS)
	kwhy_decode_crowd_attend(const struct args a, u32 layer)
{
	ROOM(room);
	const struct args known = crowd_args(&a);

	crowd_attend(&known, layer, room);
}

KERNEL void CLUSTERED __launch_bounds__(CROWD_THREADS, CROWD_BLOCKS)
	kwhy_decode_crowd_inner(const struct args a, u32 layer)
{
	ROOM(room);
	const struct args known = crowd_args(&a);

	crowd_inner(&known, layer, room);
}
