/* SPDX-License-Identifier: Apache-2.0 */
/* --- Several GPUs: what their products leave is added up --- */

#ifndef WAIT
#define WAIT
#endif

#if RANKS == 1
#define meet_at(a, here, peer) (here)
#define meet_best(a, slot) (*(volatile u64 *)((a)->best + (slot)))
#define meet_begin(a, layer) ((void)0)
#define meet_send(a, layer, matrix, here, value) ((void)0)
#define meet_settle(a, layer, what) ((void)0)
#define meet_logits(a) ((a)->logits)
#define meet_row(a, layer, matrix, token, v) \
	((void)(layer), (void)(matrix), load_row((a)->x + (u64)(token)*WIDTH, v))
#else
/*
 * Every GPU keeps all of x, and makes a part of each sum. Of few tokens it sends its part to all as words: a
 * number and a flag in 8 bytes, written at once, so that who finds the flag has the number. Of many tokens
 * each reads the others' parts where they lie, once their flag has come. A flag is of the pass and the layer.
 * What is sent twice a layer has two places by turns: nobody sends what goes to the same place again before
 * all have sent what they make of it.
 */
enum meet {
	MEET_PASSES,	/* so many have begun; all GPUs make the same */
	MEET_ALONE,	/* not 0: everything stays here, as if it came from the others; sums are wrong */
	MEET_LOST,	/* not 0: somebody has waited for 2 s; nobody waits any more */
	MEET_FLAGS = 8, /* [2][RANKS_MOST] */
	MEET_GROUP = QUADS < 8 ? QUADS : 4
};

static __device__ u32 meet_flag(const struct args *a, u32 layer)
{
	return *(volatile u32 *)(a->meet + MEET_PASSES) * 128 + layer + 1;
}

/* The same place in the memory of a peer. */
static __device__ void *meet_at(const struct args *a, const void *here, u32 peer)
{
	return (u8 *)(u64)here + (a->meet[MEET_ALONE] ? 0 : a->apart[peer]);
}

/* Under which number a peer finds what comes from here. */
static __device__ u32 meet_number(const struct args *a, u32 peer)
{
	return a->meet[MEET_ALONE] ? peer : a->rank;
}

static __device__ int meet_gives_up(const struct args *a, u32 *turns, u64 *start)
{
	WAIT;
	if (++*turns % 256)
		return 0;
	if (*start == 0)
		*start = now_ns();
	if (now_ns() - *start > 2000000000ull)
		*(volatile u32 *)(a->meet + MEET_LOST) = 1;
	return *(volatile u32 *)(a->meet + MEET_LOST) != 0;
}

static __device__ u32 meet_take(const struct args *a, const u64 *from, u32 flag)
{
	u64 word = load_far(from), start = 0;
	u32 turns = 0;

	while ((u32)(word >> 32) != flag && !meet_gives_up(a, &turns, &start))
		word = load_far(from);
	return (u32)word;
}

/* --- Of few tokens --- */

static __device__ u64 *meet_words(const struct args *a, const void *inbox, int matrix, u32 number)
{
	(void)a;
	return (u64 *)(u64)inbox + ((matrix == NARROWING ? RANKS : 0) + number) * (u64)FEW * WIDTH;
}

/* A row's sum of a token; `here`: its place in x. */
static __device__ void meet_send(const struct args *a, u32 layer, int matrix, u64 here, float value)
{
	u64 word = (u64)meet_flag(a, layer) << 32 | __float_as_uint(value);

#pragma unroll
	for (u32 peer = 0; peer < RANKS; peer++)
		store_far(
			meet_words(a, meet_at(a, a->inbox, peer), matrix, meet_number(a, peer)) + here, word);
}

/* All loads are on their way before the first flag is looked at. */
static __device__ void meet_add(const struct args *a, const u64 *from, u32 flag, float v[QUADS][4])
{
	from += threadIdx.x % 32 * 4;
#pragma unroll
	for (u32 first = 0; first < QUADS; first += MEET_GROUP) {
		u64 words[MEET_GROUP][4];

#pragma unroll
		for (u32 i = 0; i < MEET_GROUP; i++)
#pragma unroll
			for (u32 j = 0; j < 4; j += 2)
				load_far_two(from + (first + i) * 128 + j, words[i] + j);
#pragma unroll
		for (u32 i = 0; i < MEET_GROUP; i++)
#pragma unroll
			for (u32 j = 0; j < 4; j++)
				v[first + i][j] += __uint_as_float((u32)(words[i][j] >> 32) == flag
						? (u32)words[i][j]
						: meet_take(a, from + (first + i) * 128 + j, flag));
	}
}

/*
 * A token's x as it comes to a matrix, or WORDS: what was there and what all have sent since. Everybody reads
 * one x and the first block writes another.
 */
static __device__ void meet_row(const struct args *a, u32 layer, int matrix, u32 token, float v[QUADS][4])
{
	int is_between = matrix == WIDENING;
	u64 row = (u64)token * WIDTH;
	float *after = (is_between ? a->x_between : a->x) + row + threadIdx.x % 32 * 4;
	u32 flag = meet_flag(a, is_between ? layer : layer - 1);

	load_row((is_between || layer == 0 ? a->x : a->x_between) + row, v);
	if (matrix == ATTENTION && layer == 0)
		return;
	for (u32 rank = 0; rank < RANKS; rank++)
		meet_add(
			a, meet_words(a, a->inbox, is_between ? PROJECTION : NARROWING, rank) + row, flag, v);
	if (blockIdx.x != 0)
		return;
#pragma unroll
	for (u32 i = 0; i < QUADS; i++)
#pragma unroll
		for (u32 j = 0; j < 4; j++)
			after[i * 128 + j] = v[i][j];
}

/* --- Of many --- */

/* All parts of one kind are there, of all GPUs. */
static __device__ void meet_settle(const struct args *a, u32 layer, u32 what)
{
	u32 *flags = a->meet + MEET_FLAGS + (what == 1 ? 0 : RANKS_MOST), flag = meet_flag(a, layer),
	    rank = threadIdx.x, turns = 0;
	u64 start = 0;

	if (blockIdx.x == 0 && rank < RANKS)
		store_flag((u32 *)meet_at(a, flags, rank) + meet_number(a, rank), flag);
	__syncthreads();
	while (rank < RANKS && load_flag(flags + rank) != flag && !meet_gives_up(a, &turns, &start))
		;
	__syncthreads();
}

/* --- Of either --- */

/* Once a pass, before anything of a layer is sent. */
static __device__ void meet_begin(const struct args *a, u32 layer)
{
	if (layer == 0 && blockIdx.x == 0 && threadIdx.x == 0)
		a->meet[MEET_PASSES]++;
}

/* The likeliest token of a slot among those of all GPUs; of all threads of a block at once. */
static __device__ u64 meet_best(const struct args *a, u32 slot)
{
	u64 best = *(volatile u64 *)(a->best + slot), flag = meet_flag(a, 126);
	u32 peer = threadIdx.x;

	if (peer < RANKS) {
		u64 *to = (u64 *)meet_at(a, a->bests, peer) + (meet_number(a, peer) * a->slots + slot) * 2;

		store_far(to, flag << 32 | best >> 32);
		store_far(to + 1, flag << 32 | (u32)best);
	}
	__syncthreads();
	for (u32 rank = 0; rank < RANKS; rank++) {
		const u64 *from = a->bests + (rank * a->slots + slot) * 2;
		u64 other = (u64)meet_take(a, from, (u32)flag) << 32 | meet_take(a, from + 1, (u32)flag);

		best = other > best ? other : best;
	}
	return best;
}

/* The first GPU has the logits of all. */
static __device__ float *meet_logits(const struct args *a)
{
	return a->logits ? (float *)meet_at(a, a->logits, 0) : 0;
}
#endif
