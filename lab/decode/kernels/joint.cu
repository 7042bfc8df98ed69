/* SPDX-License-Identifier: Apache-2.0 */
/* --- The kernels of few tokens by clusters of blocks (clusters.cu) --- */

#if HAS_FEW
enum {
	NEAR_PIECE = (PIECE + 3) / 4 * 4, /* of attention, in shared memory */
	PIECES_ROOM = SHARES > 1 ? CLUSTER *NEAR_PIECE * 4 / ACT_BYTES : 0,
	TILE_UNITS = 8 / UNIT,
	IS_SHARED = FEW_SLOTS > GROUP /* blocks of a cluster normalise some tokens each */
};

/* --- Tokens --- */

static __device__ void joint_normalise(float v[QUADS][4], act *to)
{
	float sums[4] = {0, 0, 0, 0}, squares[4] = {0, 0, 0, 0}, mean, scale;

#pragma unroll
	for (u32 i = 0; i < QUADS; i++)
		for (u32 j = 0; j < 4; j++)
			sums[j] += v[i][j];
	mean = sum_of_warp((sums[0] + sums[1]) + (sums[2] + sums[3])) * (1.0f / WIDTH);
#pragma unroll
	for (u32 i = 0; i < QUADS; i++)
		for (u32 j = 0; j < 4; j++) {
			v[i][j] -= mean;
			squares[j] += v[i][j] * v[i][j];
		}
	scale = root_under_one(
		sum_of_warp((squares[0] + squares[1]) + (squares[2] + squares[3])) * (1.0f / WIDTH) + 1e-5f);
#pragma unroll
	for (u32 i = 0; i < QUADS; i++)
		for (u32 j = 0; j < 4; j += 2)
			store_two(to + i * 128 + threadIdx.x % 32 * 4 + j, v[i][j] * scale,
				v[i][j + 1] * scale);
}

/* All tokens, normalised, by every block: a warp takes two at a time. leaves: x, for a next kernel. */
static __device__ void joint_tokens(const struct args *a, u32 kernel, int leaves, act *room)
{
	columns_end(room, STRIDE, WIDTH);
	for (u32 token = threadIdx.x / 32; token < FEW_SLOTS; token += 2 * PAIR_WARPS) {
		u32 other = token + PAIR_WARPS;
		float v[2][QUADS][4];

		joint_row(a, kernel, token, leaves && blockIdx.x == token, v[0]);
		if (other < FEW_SLOTS)
			joint_row(a, kernel, other, leaves && blockIdx.x == other, v[1]);
		joint_normalise(v[0], room + token * STRIDE);
		if (other < FEW_SLOTS)
			joint_normalise(v[1], room + other * STRIDE);
	}
	__syncthreads();
}

/* A warp's row comes to all other blocks of the cluster. */
static __device__ void row_send_near(act *row)
{
	__syncwarp();
#pragma unroll
	for (u32 i = 0; i < (WIDTH / UNIT + 31) / 32; i++) {
		u32 at = (i * 32 + threadIdx.x % 32) * UNIT;

		if (WIDTH / UNIT % 32 && at >= WIDTH)
			continue;
#pragma unroll
		for (u32 k = 1; k < CLUSTER; k++)
			store_near(row + at, (blockIdx.x + k) % CLUSTER,
				load_shared((const struct four *)(const void *)(row + at)));
	}
}

/* The same, where the blocks of a cluster share the tokens. */
static __device__ void joint_share_tokens(const struct args *a, u32 kernel, act *room)
{
	columns_end(room, STRIDE, WIDTH);
	cluster_ready();
	for (u32 token = threadIdx.x / 32 * CLUSTER + blockIdx.x % CLUSTER; token < FEW_SLOTS;
		token += CLUSTER * PAIR_WARPS) {
		float v[QUADS][4];

		joint_row(a, kernel, token, blockIdx.x < CLUSTER, v);
		joint_normalise(v, room + token * STRIDE);
		row_send_near(room + token * STRIDE);
	}
	cluster_meet();
}

/* Afterwards all blocks of the cluster are known to run. */
static __device__ void joint_stage(const struct args *a, u32 kernel, act *room)
{
	if (IS_SHARED) {
		joint_share_tokens(a, kernel, room);
		return;
	}
	joint_tokens(a, kernel, 1, room);
	cluster_ready();
}

/* What a block's threads have left in its memory comes to all blocks of the cluster: so many times 16 bytes.
 */
static __device__ void send_near(act *to, const struct four *from, u32 count)
{
	for (u32 i = threadIdx.x; i < count * CLUSTER; i += PAIR_THREADS)
		store_near(to + i / CLUSTER * UNIT, i % CLUSTER, load_shared(from + i / CLUSTER));
}

/* --- Attention --- */

/* Of a head of a token what a warp begins with, which is asked for before the newest position is there. */
struct begun {
	struct history h;
	u32 first, step;
	struct span span;
};

static __device__ void begun_load(const struct args *a, struct begun *b, u32 layer, u32 head, u32 unit)
{
	u32 token = unit / SHARES;
	const struct history h = {layer, token, head, position_of(a, token) + 1, 0};

	b->h = h;
	b->first = (unit % SHARES * PAIR_WARPS + threadIdx.x / 32) * SPAN * 4;
	b->step = SHARES * PAIR_WARPS * SPAN * 4;
	if (b->first < h.count)
		span_load(&b->span, a, &h, b->first);
}

/* The newest position is there now. */
static __device__ void begun_renew(const struct args *a, struct begun *b)
{
	u32 lane = threadIdx.x % 32;
	u64 from = cache_at(a, b->h.layer, b->h.slot, b->h.head, b->h.count - 1) + lane % 8 * 8;

#pragma unroll
	for (u32 i = 0; i < SPAN; i++)
		if (b->first < b->h.count && b->first + i * 4 + lane / 8 >= b->h.count - 1) {
			b->span.keys[i] = load_span_eight(a->keys + from);
			b->span.values[i] = load_span_eight(a->values + from);
		}
}

static __device__ void begun_mix(const struct args *a, struct begun *b, struct mixture *m)
{
	float query[8];
	struct span next;

	load_eight(a->queries + b->h.slot * MIXED + b->h.head * HEAD + threadIdx.x % 8 * 8, query);
	for (int i = 0; i < 8; i++)
		query[i] *= 0.125f * 1.44269504f; /* of the head's width; to powers of 2 */
	for (; b->first < b->h.count; b->first += b->step) {
		if (b->first + b->step < b->h.count)
			span_load(&next, a, &b->h, b->first + b->step);
		mix_span(m, query, &b->span, b->h.count - b->first);
		b->span = next;
	}
	mixture_join(m, 8);
	mixture_join(m, 16);
}

/* A head's columns of a token, or a share's piece of them, come to all blocks of the cluster. */
static __device__ void joint_mix(const struct args *a, struct begun *b, u32 unit, act *room)
{
	__shared__ float every[PAIR_WARPS][PIECE];
	__shared__ struct four mine[NEAR_PIECE / 4];
	struct mixture m = {-1e30f, 0, {0}};
	float most;

	begun_mix(a, b, &m);
	join_warps(&m, every);
	most = most_of_pieces(every[0], PAIR_WARPS);
	for (u32 i = threadIdx.x; i < (SHARES > 1 ? PIECE : HEAD); i += PAIR_THREADS) {
		float sum = i <= HEAD ? join_pieces(every[0], PAIR_WARPS, i, most) : most;

		if (SHARES > 1)
			((float *)(void *)mine)[i] = sum;
		else
			((act *)(void *)mine)[i] = act_of(
				sum / join_pieces(every[0], PAIR_WARPS, HEAD, most));
	}
	__syncthreads();
	if (SHARES > 1)
		send_near(room + unit * NEAR_PIECE * 4 / ACT_BYTES, mine, NEAR_PIECE / 4);
	else
		send_near(room + unit * (HEAD + PAD), mine, HEAD / UNIT);
	__syncthreads();
}

/* A head's columns of all tokens, where their pieces are before them. */
static __device__ void joint_join(const act *pieces, act *room)
{
	columns_end(room, HEAD + PAD, HEAD);
	for (u32 i = threadIdx.x; SHARES > 1 && i < FEW_SLOTS * HEAD; i += PAIR_THREADS)
		room[i / HEAD * (HEAD + PAD) + i % HEAD] = act_of(shares_column(SHARES,
			(const float *)(const void *)pieces + i / HEAD * SHARES * NEAR_PIECE, NEAR_PIECE,
			i % HEAD));
	__syncthreads();
}

/* Queries, keys and values of the head, where they belong. */
static __device__ void joint_keep(const struct args *a, u32 layer, const struct broad *broad,
	const u32 positions[BROAD_SUMS], const float sums[BROAD_SUMS])
{
#pragma unroll
	for (u32 i = 0; i < BROAD_SUMS; i++) {
		u32 token = broad_place(i) / 8 % FEW_SLOTS;

		if (broad_place(i) < 3 * FEW_SLOTS * 8) {
			const struct place place = {token, token, positions[i]};

			store_state(a, layer, &place, broad_row(broad, i), sums[i]);
		}
	}
}

static __device__ void joint_attend(const struct args *a, u32 layer, act *room)
{
	u32 head = blockIdx.x / CLUSTER, rank = blockIdx.x % CLUSTER;
	struct slice slice;
	struct broad broad;
	struct begun begun;
	u32 positions[BROAD_SUMS];
	float sums[BROAD_SUMS];

	cluster_open(room);
	broad_load(a, layer, ATTENTION, blockIdx.x, HEADS * CLUSTER, 3, &broad);
	slice_load(a, layer, PROJECTION, &slice, MIXED, head * (HEAD / CHUNK), HEAD / CHUNK);
	await_previous();
	if (IS_EARLY)
		begun_load(a, &begun, layer, head, rank < FEW_SLOTS * SHARES ? rank : 0);
#pragma unroll
	for (u32 i = 0; i < BROAD_SUMS; i++)
		positions[i] = position_of(a, broad_place(i) / 8 % FEW_SLOTS);
	joint_stage(a, 2 * layer, room);
	broad_sums(&broad, room, 3, sums);
	joint_keep(a, layer, &broad, positions, sums);
	cluster_meet();
	if (IS_EARLY)
		begun_renew(a, &begun);
	for (u32 unit = rank; unit < FEW_SLOTS * SHARES; unit += CLUSTER) {
		if (!IS_EARLY || unit != rank)
			begun_load(a, &begun, layer, head, unit);
		joint_mix(a, &begun, unit, room);
	}
	cluster_meet();
	joint_join(room, room + PIECES_ROOM);
	slice_add(&slice, room + PIECES_ROOM, HEAD + PAD, HEAD / CHUNK, joint_sum(a, 2 * layer + 1));
}

/* --- The inner layer --- */

/* A block's columns come to all blocks of the cluster. */
static __device__ void joint_spread(const float sums[BROAD_SUMS], act *room)
{
	__shared__ struct four mine[INNER_TILES * FEW_SLOTS * TILE_UNITS];

#pragma unroll
	for (u32 i = 0; i < BROAD_SUMS; i++)
		if (broad_place(i) < INNER_TILES * FEW_SLOTS * 8)
			((act *)(void *)mine)[broad_place(i)] = act_of(fmaxf(sums[i], 0));
	columns_end(room, INNER_COLUMNS + PAD, INNER_COLUMNS);
	__syncthreads();
	for (u32 i = threadIdx.x; i < INNER_TILES * FEW_SLOTS * TILE_UNITS * CLUSTER; i += PAIR_THREADS) {
		u32 unit = i / CLUSTER, tile = unit / TILE_UNITS / FEW_SLOTS,
		    token = unit / TILE_UNITS % FEW_SLOTS;

		store_near(room + token * (INNER_COLUMNS + PAD) +
				(tile * CLUSTER + blockIdx.x % CLUSTER) * 8 + unit % TILE_UNITS * UNIT,
			i % CLUSTER, load_shared(mine + unit));
	}
	cluster_meet();
}

static __device__ void joint_inner(const struct args *a, u32 layer, act *room)
{
	u32 first = blockIdx.x / CLUSTER * INNER_COLUMNS;
	struct slice slice;
	struct broad broad;
	float sums[BROAD_SUMS];

	cluster_open(room);
	broad_load(a, layer, WIDENING, first / 8 + blockIdx.x % CLUSTER, CLUSTER, INNER_TILES, &broad);
	if (IS_EARLY)
		slice_load(a, layer, NARROWING, &slice, INNER, first / CHUNK, INNER_COLUMNS / CHUNK);
	for (u32 unit = blockIdx.x; unit < FEW_SLOTS * HEADS && layer + 1 < a->layer_count;
		unit += INNER_CLUSTERS * CLUSTER)
		if (threadIdx.x < 2)
			ask_past(a, layer + 1, unit / HEADS, a->room, unit % HEADS * 2 + threadIdx.x);
	await_previous();
	joint_stage(a, 2 * layer + 1, room);
	broad_sums(&broad, room, INNER_TILES, sums);
	if (!IS_EARLY)
		slice_load(a, layer, NARROWING, &slice, INNER, first / CHUNK, INNER_COLUMNS / CHUNK);
	room += TOKENS_ROOM; /* others still read the tokens */
	joint_spread(sums, room);
	slice_add(&slice, room, INNER_COLUMNS + PAD, INNER_COLUMNS / CHUNK, joint_sum(a, 2 * layer + 2));
}

/* --- The vocabulary (words.cu). While a piece is multiplied, the next one is on its way, of the next tiles
 * too --- */
static __device__ void words_multiply(const struct columns *columns, const u8 *weights, u32 tile, u32 next,
	u32 count, struct words w[2], float c[GROUPS][4])
{
	float more[GROUPS][4] = {{0}};

#pragma unroll
	for (u32 p = 0; p < WORD_PIECES; p++) {
		int is_last = p + 1 == WORD_PIECES;

		words_load(weights, is_last ? next : tile, is_last ? 0 : p + 1, count, &w[(p + 1) % 2]);
#pragma unroll
		for (u32 k = 0; k < WORD_CHUNKS; k++) {
			struct piece piece;

			piece_load(columns, p * WORD_CHUNKS + k, &piece);
			multiply_tiles(k % 2 ? more : c, &piece, &w[p % 2].of[0][k], &w[p % 2].of[1][k]);
		}
	}
#pragma unroll
	for (u32 g = 0; g < GROUPS; g++)
		for (u32 i = 0; i < 4; i++)
			c[g][i] += more[g][i];
}

static __device__ void joint_head(const struct args *a, act *room)
{
	const u8 *weights = weights_of(a, 0, WORDS);
	u32 step = PAIR_WARPS * gridDim.x * 2, count = (a->word_count + 7) / 8,
	    tile = (threadIdx.x / 32 * gridDim.x + blockIdx.x) * 2;
	struct columns columns;
	struct words w[2];
	struct best best;

	best_begin(&best);
	words_load(weights, tile, 0, count, &w[0]);
	await_previous();
	joint_tokens(a, 2 * a->layer_count, 0, room);
	columns = columns_of(room, STRIDE, 0);
	for (; tile < count; tile += step) {
		float c[GROUPS][4] = {{0}};

		words_multiply(&columns, weights, tile, tile + step, count, w, c);
		words_choose(a, tile, c, &best);
	}
	words_end(a, &best);
}

/* What the compiler may know of single tokens. */
static __device__ struct args joint_args(const struct args *a)
{
	struct args known = *a;

	known.tokens = known.slots = FEW_SLOTS;
	known.each = 1;
	return known;
}
#else
#define PAIR_THREADS 128
#define joint_args(a) (*(a))
#define joint_attend(a, layer, room) ((void)(a), (void)(layer), (void)(room))
#define joint_inner(a, layer, room) ((void)(a), (void)(layer), (void)(room))
#define joint_head(a, room) ((void)(a), (void)(room))
#endif

KERNEL void CLUSTERED __launch_bounds__(PAIR_THREADS, 2)
	kwhy_decode_joint_attend(const struct args a, u32 layer)
{
	ROOM(room);
	const struct args known = joint_args(&a);

	joint_attend(&known, layer, (act *)(void *)room);
}

KERNEL void CLUSTERED __launch_bounds__(PAIR_THREADS, 2)
	kwhy_decode_joint_inner(const struct args a, u32 layer)
{
	ROOM(room);
	const struct args known = joint_args(&a);

	joint_inner(&known, layer, (act *)(void *)room);
}

KERNEL void __launch_bounds__(PAIR_THREADS, 2) kwhy_decode_joint_head(const struct args a)
{
	ROOM(room);
	const struct args known = joint_args(&a);

	joint_head(&known, (act *)(void *)room);
}
