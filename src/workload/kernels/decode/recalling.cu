/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --- Attention of single tokens, of which there are more than a few: a warp takes a head of a token, 16
 * positions at a time, by the tensor instruction, while those that follow are being copied. Which columns the
 * instruction takes as neighbours is free, as it is for prompts (reading.cu). Keys and values of earlier
 * tokens are there before the kernel before has ended, so that their first copies do not wait for it ---
 */
#if ACT_BYTES == 2
enum { RECALL_STEP = 16, RECALL_QUADS = 2 * RECALL_STEP * PIECES, RECALL_RAW = 2 };

/* A head of a token: what a lane has of its query, and of its sums 8 columns. */
struct recall {
	u32 layer, token, head, count; /* at position count - 1 */
	const act *keys, *values;      /* of position 0 */
	const act *state; /* what a product of all three has left of the last one; 0: it is there */
	struct four query[2];
	float most, weight, sums[4][4];
};

static __device__ struct recall recall_of(const struct args *a, u32 layer, u32 token, u32 head, u32 joined)
{
	u64 cache = cache_at(a, layer, token, head, 0);
	struct recall r = {layer, token, head, position_of(a, token) + 1, a->keys + cache, a->values + cache,
		joined ? a->inner + (u64)token * 3 * MIXED + head * HEAD : 0, {{{0}}}, -1e30f, 0, {{0}}};

	return r;
}

/* What would be behind the last position is the last. */
static __device__ void recall_copy(const struct recall *r, u32 first, struct four *stage)
{
	u32 lane = threadIdx.x % 32, piece = lane % PIECES;

#pragma unroll
	for (u32 j = 0; j < RECALL_STEP / 4; j++) {
		u32 row = j * 4 + lane / PIECES, place = first + row < r->count ? first + row : r->count - 1;
		int is_new = r->state && place == r->count - 1;
		const act *keys = is_new ? r->state + MIXED : r->keys + (u64)place * HEAD,
			  *values = is_new ? r->state + 2 * MIXED : r->values + (u64)place * HEAD;

		copy_async(stage + key_place(row, piece), keys + piece * UNIT);
		copy_async(stage + RECALL_STEP * PIECES + value_place(row, piece), values + piece * UNIT);
	}
}

/* Of the positions lane / 4 and 8 more, to powers of 2. left: positions that there are. */
static __device__ void recall_scores(
	const struct recall *r, const struct four *keys, u32 left, float scores[2])
{
	u32 lane = threadIdx.x % 32, row = lane / 4;
	float c[4] = {0, 0, 0, 0};

#pragma unroll
	for (u32 i = 0; i < 2; i++) {
		struct four low = load_shared(keys + key_place(row, i * 4 + lane % 4)),
			    high = load_shared(keys + key_place(row + 8, i * 4 + lane % 4));

		multiply(c, &low, &high, r->query[i].of);
	}
	scores[0] = row < left ? c[0] * (0.125f * 1.44269504f) : -1e30f;
	scores[1] = row + 8 < left ? c[2] * (0.125f * 1.44269504f) : -1e30f;
}

static __device__ void recall_shares(struct recall *r, float scores[2])
{
	float most = fmaxf(r->most, fmaxf(scores[0], scores[1])), factor;

	for (int distance = 4; distance < 32; distance *= 2)
		most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, distance));
	factor = exp_two(r->most - most);
	r->most = most;
	scores[0] = exp_two(scores[0] - most);
	scores[1] = exp_two(scores[1] - most);
	r->weight = r->weight * factor + scores[0] + scores[1];
#pragma unroll
	for (u32 i = 0; i < 4; i++) {
		r->sums[i][0] *= factor;
		r->sums[i][2] *= factor;
	}
}

/* The instruction's rows are columns of the values, of which a lane has 8 of 4 positions; all its columns are
 * the same. */
static __device__ void recall_values(struct recall *r, const struct four *values, const float shares[2])
{
	u32 lane = threadIdx.x % 32, row = lane % 4 * 2, piece = lane / 4, both = pack(shares[0], shares[1]),
	    first = __shfl_sync(0xffffffffu, both, row * 4),
	    second = __shfl_sync(0xffffffffu, both, row * 4 + 4);
	struct four a = load_shared(values + value_place(row, piece)),
		    b = load_shared(values + value_place(row + 8, piece)),
		    c = load_shared(values + value_place(row + 1, piece)),
		    d = load_shared(values + value_place(row + 9, piece));

#pragma unroll
	for (u32 i = 0; i < 4; i++) {
		const u32 rows[4] = {__byte_perm(a.of[i], b.of[i], 0x5410),
			__byte_perm(a.of[i], b.of[i], 0x7632), __byte_perm(c.of[i], d.of[i], 0x5410),
			__byte_perm(c.of[i], d.of[i], 0x7632)};

		tensor(r->sums[i], rows, first, second);
	}
}

static __device__ void recall_end(const struct recall *r, act *to)
{
	u32 lane = threadIdx.x % 32;
	float weight = r->weight;
	struct four eight;

	for (int distance = 4; distance < 32; distance *= 2)
		weight += __shfl_xor_sync(0xffffffffu, weight, distance);
#pragma unroll
	for (u32 i = 0; i < 4; i++)
		eight.of[i] = pack(r->sums[i][0] / weight, r->sums[i][2] / weight);
	if (lane % 4 == 0)
		*(struct four *)(void *)(to + lane / 4 * UNIT) = eight;
}

/* Mean and one over the deviation of a token's x, which is of acts. */
static __device__ void recall_moments(const struct args *a, u32 token, float *mean, float *scale)
{
	const act *x = (const act *)(const void *)a->x + (u64)token * WIDTH;
	float sum = 0, squares = 0;

#pragma unroll
	for (u32 i = 0; i < WIDTH / UNIT; i += 32) {
		u32 piece = i + threadIdx.x % 32;
		float v[8];

		if (piece >= WIDTH / UNIT)
			continue;
		load_eight(x + piece * UNIT, v);
		for (int j = 0; j < 8; j++) {
			sum += v[j];
			squares += v[j] * v[j];
		}
	}
	*mean = sum_of_warp(sum) / WIDTH;
	*scale = 1 / sqrtf(fmaxf(sum_of_warp(squares) / WIDTH - *mean * *mean, 0) + 1e-5f);
}

/* What a product has made of x as it is becomes what it makes of x normalised: a lane has 8 numbers of the
 * query, the key or the value (folded.cu). Key and value come to where the copies then find them. */
static __device__ void recall_correct(const struct args *a, struct recall *r)
{
	u32 lane = threadIdx.x % 32, part = lane / PIECES % 3, column = r->head * HEAD + lane % PIECES * UNIT;
	u64 row = (u64)r->layer * ROWS + part * MIXED + column, last = (u64)(r->count - 1) * HEAD;
	struct four eight;
	float v[8], mean, scale;

	load_eight(r->state + part * MIXED + lane % PIECES * UNIT, v);
	recall_moments(a, r->token, &mean, &scale);
	for (int i = 0; i < 8; i++)
		v[i] = (v[i] - mean * a->row_sums[row + i]) * scale + a->biases[row + i];
	for (int i = 0; i < 4; i++)
		eight.of[i] = pack(v[2 * i], v[2 * i + 1]);
#pragma unroll
	for (u32 i = 0; i < 4; i++) {
		r->query[0].of[i] = __shfl_sync(0xffffffffu, eight.of[i], lane % 4);
		r->query[1].of[i] = __shfl_sync(0xffffffffu, eight.of[i], lane % 4 + 4);
	}
	if (lane / PIECES == 1)
		*(struct four *)(void *)((act *)(u64)r->keys + last + lane % PIECES * UNIT) = eight;
	if (lane / PIECES == 2)
		*(struct four *)(void *)((act *)(u64)r->values + last + lane % PIECES * UNIT) = eight;
	r->state = 0;
	__syncwarp();
}

/* The query; and the key and the value that are new come to where later tokens find them. */
static __device__ void recall_begin(const struct args *a, struct recall *r)
{
	const struct history h = {r->layer, r->token, r->head, r->count, r->state};
	const act *query = (r->state ? r->state : a->queries + (u64)r->token * MIXED + r->head * HEAD) +
		threadIdx.x % 4 * UNIT;

	r->query[0] = load_fresh(query);
	r->query[1] = load_fresh(query + 4 * UNIT);
	if (r->state)
		keep_state(a, &h, threadIdx.x % 32);
}

/* All steps but so many of those that are on their way are there. */
static __device__ void recall_await(u32 count)
{
	switch (count) {
	case 0:
		copy_await_but(0);
		break;
	case 1:
		copy_await_but(1);
		break;
	case 2:
		copy_await_but(2);
		break;
	case 3:
		copy_await_but(3);
		break;
	case 4:
		copy_await_but(4);
		break;
	case 5:
		copy_await_but(5);
		break;
	case 6:
		copy_await_but(6);
		break;
	default:
		copy_await_but(7);
	}
}

/* Copies run `depth` steps ahead. The last step has what is new: it waits. */
static __device__ void recall_past(const struct recall *r, struct four *stages, u32 depth)
{
	u32 last = (r->count - 1) / RECALL_STEP;

	for (u32 i = 0; i < depth; i++) {
		if (i < last)
			recall_copy(r, i * RECALL_STEP, stages + i * RECALL_QUADS);
		copy_end_stage();
	}
}

static __device__ void recall_all(struct recall *r, struct four *stages, u32 depth)
{
	u32 last = (r->count - 1) / RECALL_STEP, stage = 0;

	if (last < depth)
		recall_copy(r, last * RECALL_STEP, stages + last * RECALL_QUADS);
	copy_end_stage();
	for (u32 i = 0; i <= last; i++) {
		float scores[2];

		recall_await(i == last ? 0 : depth - 1);
		__syncwarp();
		recall_scores(r, stages + stage * RECALL_QUADS, r->count - i * RECALL_STEP, scores);
		recall_shares(r, scores);
		recall_values(r, stages + stage * RECALL_QUADS + RECALL_STEP * PIECES, scores);
		__syncwarp();
		if (i + depth <= last)
			recall_copy(r, (i + depth) * RECALL_STEP, stages + stage * RECALL_QUADS);
		copy_end_stage();
		stage = stage + 1 < depth ? stage + 1 : 0;
	}
}

static __device__ void recall(const struct args *a, u32 layer, u32 joined, struct four *room, u32 depth)
{
	u32 warp = threadIdx.x / 32, unit = blockIdx.x * (blockDim.x / 32) + warp,
	    is_one = unit < a->tokens * HEADS, one = is_one ? unit : 0;
	struct recall r = recall_of(a, layer, one / HEADS, one % HEADS, joined);

	room += warp * depth * RECALL_QUADS;
	if (is_one)
		recall_past(&r, room, depth);
	if (!joined)
		ask_for(a, layer, WIDENING);
	await_previous();
	if (!is_one)
		return;
	if (joined == RECALL_RAW)
		recall_correct(a, &r);
	else
		recall_begin(a, &r);
	recall_all(&r, room, depth);
	recall_end(&r, a->mixed + (u64)r.token * MIXED + r.head * HEAD);
}
#else
#define recall(a, layer, joined, room, depth) \
	((void)(a), (void)(layer), (void)(joined), (void)(room), (void)(depth))
#endif

/* joined: queries, keys and values of a token lie together; RECALL_RAW: and are of x as it is. */
KERNEL void __launch_bounds__(RECALL_THREADS, 12)
	kwhy_decode_recall(const struct args a, u32 layer, u32 joined, u32 depth)
{
	ROOM(room);

	recall(&a, layer, joined, room, depth);
}
