/* SPDX-License-Identifier: Apache-2.0 */
/* --- What goes in --- */

/* Rows of those in one cell after a step, as many as there is room for; and how many they are: step + 1 << 32 | count. */
static __device__ INLINE u32 *members_of(const struct args *a, u32 step, u64 at)
{
	return a->members + ((u64)(step % 2) * a->width * a->height * a->depth + cell_of(a, at)) * MEMBERS;
}

static __device__ INLINE u64 *count_of(const struct args *a, u32 step, u64 at)
{
	return a->counts + (u64)(step % 2) * a->width * a->height * a->depth + cell_of(a, at);
}

/* Of those in a cell, the how manieth comes in. */
static __device__ INLINE u32 count_in(const struct args *a, u32 step, u64 moved)
{
	u64 *count = count_of(a, step, moved);

	atomicMax(count, (u64)(step + 1) << 32);
	return (u32)atomicAdd(count, 1);
}

/* A flow that claims its cell is one of its members. */
static __device__ INLINE struct claim join_cell(const struct args *a, u32 step, u32 row, u64 moved)
{
	struct claim claim = claim_begin(a, step, row, moved);
	u32 place;

	if (!claim.key)
		return claim;
	place = count_in(a, step, moved);
	if (place < MEMBERS)
		members_of(a, step, moved)[place] = row;
	return claim;
}

/* As claim_end(), by whole warps: one of them asks for all. */
static __device__ INLINE void claims_end(const struct args *a, u32 step, const struct claim *claim)
{
	u32 lane = threadIdx.x % 32, number = 0, row = claim->row;
	bool valid = row != NONE, exits = valid && !claim->key;
	bool merges = valid && claim->key && claim->lowest >> 52 == STEP_OF_KEY(step);
	u32 gone = __ballot_sync(~0u, exits || merges), left = __ballot_sync(~0u, exits);

	if (lane == 0 && gone) {
		number = atomicAdd(&a->numbers[0], (u32)__popc(gone));
		atomicAdd(&a->records[step].merged, (u32)__popc(gone & ~left));
		atomicAdd(&a->records[step].exited, (u32)__popc(left));
	}
	number = __shfl_sync(~0u, number, 0) + (u32)__popc(gone & ((1u << lane) - 1));
	if (valid && claim->key)
		a->next[step % 2 * a->flows + row] = claim->head >> 32 == step + 1 ? (u32)claim->head : NONE;
	if (merges)
		row = (u32)(claim->lowest > claim->key ? claim->lowest : claim->key) & 0xfffff;
	if (exits || merges)
		a->fresh[step % 2 * a->flows + row] = (u64)(step + 1) << 32 | number;
}

/* What the kernels below need to know of a row. */
struct facts {
	u64 at;
	u32 count; /* of those that merged, with who is left; 0: another flow begins here */
	u32 left;  /* and the one before it has left the lattice */
};

static __device__ INLINE struct facts *facts_of(const struct args *a, u32 step, u32 row)
{
	return (struct facts *)a->facts + (u64)(step % 2) * tile_count(a) * ROWS + row;
}

/* The numbers of a cell, on their way. */
struct numbers {
	float4 of[PLACE / 4];
};

static __device__ INLINE void take_numbers(const struct args *a, u64 at, struct numbers *numbers)
{
	const float4 *cell = (const float4 *)&a->cells[(u64)cell_of(a, at) * PLACE];

#pragma unroll
	for (u32 k = 0; k < PLACE / 4; k++)
		numbers->of[k] = cell[k];
}

/* The inputs that a place has: those and 16 sines. */
static __device__ INLINE void keep_place(const struct args *a, u32 row, u64 at, const struct numbers *numbers)
{
	uint4 *to = (uint4 *)(a->places + (u64)row * (IN - E));

#pragma unroll
	for (u32 k = 0; k < 2; k++) {
		const float4 low = numbers->of[2 * k], high = numbers->of[2 * k + 1];
		const uint4 four = {pack(low.x, low.y), pack(low.z, low.w), pack(high.x, high.y), pack(high.z, high.w)};

		to[k] = four;
	}
	for (u32 k = 0; k < 2; k++) {
		const float *sines = a->weights + SINES + 2 * k * 1024, *cosines = a->weights + COSINES + 2 * k * 1024;
		u32 x = x_of(at), y = y_of(at), z = z_of(at);
		const uint4 four = {pack(sines[x], cosines[x]), pack(sines[y], sines[z]), pack(sines[1024 + x], cosines[1024 + x]),
			pack(sines[1024 + y], sines[1024 + z])};

		to[2 + k] = four;
	}
}

/* Who is where at the start of a step, and on the fixed path where they go; a thread has a row, rows that are not there included. All that
 * depends on the place alone is asked for at once. */
static __device__ INLINE void keep_books(const struct args *a, u32 step, u32 row)
{
	const struct tenant who = find_tenant(a, step, row);
	struct facts facts = {who.at, !who.fresh, who.left};
	bool goes_on = step < a->steps, moves = goes_on && row < a->flows && !a->by_argmax;
	struct claim claim = {0, 0, 0, NONE};
	struct numbers numbers;
	u64 moved = moves ? move_fixed(a, who.at, step) : 0;
	u32 place = NONE;

	if (goes_on)
		take_numbers(a, who.at, &numbers);
	if (!who.fresh)
		facts.count = (u32)new_word(count_of(a, step - 1, who.at));
	if (moves) {
		claim = claim_begin(a, step, row, moved);
		if (claim.key)
			place = count_in(a, step, moved);
	}
	if (row < a->flows)
		a->at[row] = who.at;
	if (goes_on)
		keep_place(a, row, who.at, &numbers);
	*facts_of(a, step, row) = facts;
	if (place < MEMBERS)
		members_of(a, step, moved)[place] = row;
	if (step) {
		u64 places = warp_sum(who.places);

		if (threadIdx.x % 32 == 0)
			atomicAdd(&a->records[step - 1].places, places);
	}
	if (goes_on && !a->by_argmax)
		claims_end(a, step, &claim);
}

KERNEL void __launch_bounds__(256) kwhy_flows_books(const struct args a, u32 step, u32 first, u32 count)
{
	(void)first, (void)count;
	for (u32 row = thread_index(); row < tile_count(&a) * ROWS; row += thread_count())
		keep_books(&a, step, row);
}

/* What a row's four blocks put out of eight energies, 16 bits each. */
struct parts {
	uint4 of[TEAM];
};

static __device__ INLINE struct parts take_parts(const struct args *a, u32 row, u32 lane)
{
	struct parts parts;

#pragma unroll
	for (u32 q = 0; q < TEAM; q++)
		parts.of[q] = *(const uint4 *)(part_row(a, q, row) + lane * 8);
	return parts;
}

static __device__ INLINE void add_parts(const struct parts *parts, float sums[8])
{
#pragma unroll
	for (u32 i = 0; i < 8; i++)
		sums[i] = 0;
#pragma unroll
	for (u32 q = 0; q < TEAM; q++) {
		const u32 pairs[4] = {parts->of[q].x, parts->of[q].y, parts->of[q].z, parts->of[q].w};

#pragma unroll
		for (u32 i = 0; i < 8; i++)
			sums[i] += unpack(i % 2 ? pairs[i / 2] >> 16 : pairs[i / 2] & 0xffff);
	}
}

/* Of those eight, the place among 32. */
static __device__ INLINE u32 energy_of(u32 lane, u32 i)
{
	return i / 2 * 8 + lane * 2 + i % 2;
}

/* What left takes along, of a warp's rows. */
static __device__ INLINE void add_left(const struct args *a, bool left, const float sums[8])
{
	u64 sum = 0;

	if (!__ballot_sync(~0u, left))
		return;
#pragma unroll
	for (u32 i = 0; i < 8; i++)
		sum += left ? fixed(swift_tanh(sums[i])) : 0;
	sum = warp_sum(sum);
	if (threadIdx.x % 32 == 0)
		atomicAdd(a->out, sum);
}

/* Energies of a row, of its parts. */
static __device__ INLINE void add_energies(const struct parts *parts, float energies[8])
{
	float sums[8];

	add_parts(parts, sums);
#pragma unroll
	for (u32 j = 0; j < 8; j++)
		energies[j] += swift_tanh(sums[j]);
}

/* The further rows of a cell: two at a time where they are kept together. */
static __device__ INLINE void add_others(const struct args *a, u32 step, u64 at, u32 count, u32 first, u32 lane, float energies[8])
{
	const u32 *rows = members_of(a, step - 1, at);

	if (count > MEMBERS) {
		while ((first = next_of(a, step - 1, first)) != NONE) {
			const struct parts parts = take_parts(a, first, lane);

			add_energies(&parts, energies);
		}
		return;
	}
	for (u32 j = 2; j < count; j += 2) {
		const uint2 two = *(const uint2 *)(rows + j);
		const struct parts one = take_parts(a, two.x, lane), other = take_parts(a, j + 1 < count ? two.y : two.x, lane);

		add_energies(&one, energies);
		if (j + 1 < count)
			add_energies(&other, energies);
	}
}

/* The mean of those that merged, or what a flow begins with, which is worked out while the parts are on their way. */
static __device__ INLINE void settle_row(const struct args *a, const struct facts *facts, u32 step, u32 row, u32 lane, float energies[8])
{
	u32 count = facts->count;
	bool fresh = !count, left = facts->left, several = count > 1 && count <= MEMBERS;
	uint2 two = {row, row};
	struct parts one, other;
	float sums[8];

	if (several)
		two = *(const uint2 *)members_of(a, step - 1, facts->at);
	else if (count > MEMBERS)
		two.x = first_of(a, step - 1, row, facts->at);
	if (!fresh || left)
		one = take_parts(a, two.x, lane);
	if (several)
		other = take_parts(a, two.y, lane);
#pragma unroll
	for (u32 j = 0; j < 8; j++)
		energies[j] = fresh ? start_energy((u32)(facts->at >> 32), energy_of(lane, j)) : 0.0f;
	if (left)
		add_parts(&one, sums);
	add_left(a, left, sums);
	if (!fresh)
		add_energies(&one, energies);
	if (several)
		add_energies(&other, energies);
	if (count > 2)
		add_others(a, step, facts->at, count, two.x, lane, energies);
	if (count > 1)
#pragma unroll
		for (u32 j = 0; j < 8; j++)
			energies[j] /= (float)count;
}

/* What a run ends with, as floats: energies of a row, of which four lanes have 8 each; and a tile's state, whose lines a warp writes whole. */
static __device__ INLINE void give_energies(const struct args *a, u32 row, u32 lane, const float energies[8])
{
	for (u32 j = 0; row < a->flows && j < 8; j++)
		a->e[(u64)row * E + energy_of(lane, j)] = energies[j];
}

static __device__ INLINE void give_tile(const struct args *a, u32 step, u32 number)
{
	const u16 *images = state_images(a, (step + 1) % 2, number);

	for (u32 i = threadIdx.x; i < ROWS * H; i += THREADS) {
		u32 row = number * ROWS + i / H, k = i % H;
		float value = unpack(images[k / 64 * IMAGE + image_place(i / H, k % 64)]);

		if (row < a->flows)
			a->h_rows[(u64)row * H + k] = facts_of(a, step, row)->count ? value : 0.0f;
	}
}

/* The state of a flow that begins is zeros: a lane has a quarter. The gates leave them for who comes after the first step, unless flows choose
 * their way. */
static __device__ INLINE void clear_state(const struct args *a, u32 step, u32 number, u32 i, u32 lane)
{
	uint4 *to = (uint4 *)(state_images(a, (step + 1) % 2, number) + lane * IMAGE + i * 64);
	const uint4 zeros = {0, 0, 0, 0};

#pragma unroll
	for (u32 k = 0; k < 8; k++)
		to[k] = zeros;
}

/* Energies and inputs of a tile; four lanes have a row. */
static __device__ INLINE void take_tile(const struct args *a, const struct tile *tile, u32 step, u32 number, u16 *image)
{
	u32 i = threadIdx.x / 4, lane = threadIdx.x % 4, row = number * ROWS + i;
	const struct facts facts = *facts_of(a, step, row);
	bool fresh = !facts.count;
	float energies[8];

	*(uint4 *)&tile->in[i * S_STRIDE + E + lane * 8] = ((const uint4 *)(a->places + (u64)row * (IN - E)))[lane];
	settle_row(a, &facts, step, row, lane, energies);
	if (fresh && (!step || a->by_argmax))
		clear_state(a, step, number, i, lane);
	if (step == a->steps) {
		give_energies(a, row, lane, energies);
		give_tile(a, step, number);
		return;
	}
#pragma unroll
	for (u32 j = 0; j < 8; j += 2) {
		u32 k = energy_of(lane, j), pair = pack(energies[j], energies[j + 1]);

		*(u32 *)&tile->in[i * S_STRIDE + k] = pair;
		*(u32 *)&image[image_place(i, E + k)] = pair;
	}
}

/* The first layer: a warp has 8 of its outputs. */
static __device__ INLINE void first_of_tile(const struct args *a, const struct tile *tile, const u32 (*weights)[2])
{
	u32 lane = threadIdx.x % 32, column = threadIdx.x / 32 * 8 + lane % 4 * 2;
	float low = a->weights[B1 + column], high = a->weights[B1 + column + 1];

#pragma unroll
	for (u32 m = 0; m < ROWS; m += 16) {
		float sums[4] = {low, high, low, high};
		u16 *to = tile->u + (m + lane / 4) * S_STRIDE + column;

		multiply_layer(sums, tile->in + m * S_STRIDE, weights);
		*(u32 *)to = pack(fmaxf(sums[0], 0.0f), fmaxf(sums[1], 0.0f));
		*(u32 *)(to + 8 * S_STRIDE) = pack(fmaxf(sums[2], 0.0f), fmaxf(sums[3], 0.0f));
	}
}

/* The second: a warp has every other 16 rows of 8 of its 32 outputs. */
static __device__ INLINE void second_of_tile(const struct args *a, const struct tile *tile, const u32 (*weights)[2], u16 *image)
{
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, column = warp % 4 * 8 + lane % 4 * 2;
	float low = a->weights[B2 + column], high = a->weights[B2 + column + 1];

#pragma unroll
	for (u32 m = 0; m < ROWS; m += 32) {
		u32 row = m + warp / 4 * 16 + lane / 4;
		float sums[4] = {low, high, low, high};

		multiply_layer(sums, tile->u + (m + warp / 4 * 16) * S_STRIDE, weights);
		*(u32 *)&image[image_place(row, column)] = pack(sums[0], sums[1]);
		*(u32 *)&image[image_place(row + 8, column)] = pack(sums[2], sums[3]);
	}
}

KERNEL void __launch_bounds__(256) kwhy_flows_begin(const struct args a, u32 step, u32 first, u32 count)
{
	__shared__ uint4 memory[ROWS * (64 + 2 * S_STRIDE) * 2 / 16];
	u16 *image = (u16 *)memory;
	struct tile tile;
	u32 number = blockIdx.x, low[IN / 16][2], high[IN / 16][2];

	(void)first, (void)count;
	tile.in = image + IMAGE;
	tile.u = tile.in + ROWS * S_STRIDE;
	await_before();
	if (thread_index() == 0)
		a.times[step] = now_ns();
	take_tile(&a, &tile, step, number, image);
	if (step == a.steps)
		return;
	load_layer(low, a.halves + HALF_W1 + threadIdx.x / 32 * 8 * IN, IN);
	load_layer(high, a.halves + HALF_W2 + threadIdx.x / 32 % 4 * 8 * IN, IN);
	__syncthreads();
	first_of_tile(&a, &tile, low);
	__syncthreads();
	second_of_tile(&a, &tile, high, image);
	__syncthreads();
	for (u32 i = threadIdx.x; i < IMAGE / 8; i += THREADS)
		((uint4 *)(a.in_images + (u64)number * IMAGE))[i] = memory[i];
}
