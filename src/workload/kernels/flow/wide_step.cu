/* SPDX-License-Identifier: Apache-2.0 */
/* --- A step in one kernel: begun behind the products --- */

/*
 * As the two kernels above, but that a step is begun beside its own products. Of a block's 16 warps eight multiply, one asks for images, and seven
 * make what comes in: of each tile of the team a quarter, eight rows at a time, in registers alone. The four blocks' copies of a tile's first image
 * wait until eight warps have said that its rows are there; what those have as state is multiplied before. Then the seven keep the books of the next
 * step. Blocks of a team wait for each other, and no others: a GPU gives them multiprocessors in their order, so that the first teams are whole. Where
 * another kernel keeps a multiprocessor from the last, they wait for its end, or give up.
 */
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(CUDA_TEXT_RUNS)

enum {
	STEP_THREADS = 4 * GROUP,
	STEP_AHEAD = AHEAD - 1, /* images: more would leave the other warps too few registers */
	BEGINNERS = STEP_THREADS / 32 - GROUPS * GROUP / 32 - 1 /* warps */
};

/*
 * What a step begins with is read while the next one's books are kept, and two steps' claims are in the same half of each pair: of what hangs on a
 * cell there are two pairs of halves, of what is put out and of places two halves. `made`: the step whose claims and outputs they are; `begun`: that
 * whose places.
 */
static __device__ INLINE struct args halves_of(const struct args *a, u32 made, u32 begun)
{
	u64 rows = (u64)tile_count(a) * ROWS, pair = made / 2 % 2 * 2, cells = pair * a->width * a->height * a->depth;
	struct args of = *a;

	of.heads += cells;
	of.members += cells * MEMBERS;
	of.next += pair * a->flows;
	of.parts += made % 2 * rows * TEAM * E / 2;
	of.places += begun % 2 * rows * (IN - E);
	return of;
}

/* The energies of the others in a row's cell, one row at a time: there are few registers, and many warps to wait for each other's memory. */
static __device__ INLINE void add_merged(const struct args *a, const struct facts *facts, u32 step, u32 row, u32 lane, float energies[8])
{
	const u32 *rows = members_of(a, step - 1, facts->at);
	bool kept = facts->count <= MEMBERS;
	u32 next = kept ? rows[0] : first_of(a, step - 1, row, facts->at);

	for (u32 j = 1; j <= facts->count; j++) {
		u32 other = next;

		next = kept ? rows[j % MEMBERS] : next_of(a, step - 1, other);
		if (other != row) {
			const struct parts parts = take_parts(a, other, lane);

			add_energies(&parts, energies);
		}
	}
#pragma unroll
	for (u32 j = 0; j < 8; j++)
		energies[j] /= (float)facts->count;
}

/* As settle_row(). A row's own parts are asked for before it is known whether they count: most do. */
static __device__ INLINE void settle_merged(const struct args *a, const struct facts *facts, u32 step, u32 row, u32 lane, float energies[8])
{
	const struct parts parts = take_parts(a, row, lane);
	float sums[8];

	add_parts(&parts, sums);
#pragma unroll
	for (u32 j = 0; j < 8; j++)
		energies[j] = facts->count ? swift_tanh(sums[j]) : start_energy((u32)(facts->at >> 32), energy_of(lane, j));
	add_left(a, facts->left, sums);
	if (facts->count > 1)
		add_merged(a, facts, step, row, lane, energies);
}

/* 16 outputs of a layer, of 16 inputs of 8 rows. */
static __device__ INLINE void multiply_rows(float sums[4], const uint4 *weights, u32 low, u32 high)
{
	const uint4 four = *weights;
	const u32 outputs[4] = {four.x, four.y, four.z, four.w};

	multiply(sums, outputs, low, high);
}

static __device__ INLINE void take_bias(float sums[4], const float *bias)
{
	sums[0] = sums[1] = bias[threadIdx.x % 32 / 4];
	sums[2] = sums[3] = bias[threadIdx.x % 32 / 4 + 8];
}

/* Both small layers of 8 rows. Of a row, four lanes have two numbers of each 8. Outputs are rows of the products, so they are turned over between. */
static __device__ INLINE void make_layers(const struct args *a, const u32 in[8], u32 out[4])
{
	const uint4 *first = (const uint4 *)(a->shares + TEAM * SHARE_ALL) + threadIdx.x % 32, *second = first + IN / 16 * 4 * 32;
	float sums[2][4];

#pragma unroll
	for (u32 n = 0; n < 2; n++)
		take_bias(sums[n], a->weights + B2 + n * 16);
#pragma unroll
	for (u32 m = 0; m < IN / 16; m++) {
		float units[4];
		u32 low, high;

		take_bias(units, a->weights + B1 + m * 16);
#pragma unroll
		for (u32 k = 0; k < 4; k++)
			multiply_rows(units, first + (m * 4 + k) * 32, in[2 * k], in[2 * k + 1]);
		low = turn_over(pack(fmaxf(units[0], 0.0f), fmaxf(units[1], 0.0f)));
		high = turn_over(pack(fmaxf(units[2], 0.0f), fmaxf(units[3], 0.0f)));
#pragma unroll
		for (u32 n = 0; n < 2; n++)
			multiply_rows(sums[n], second + (n * 4 + m) * 32, low, high);
	}
#pragma unroll
	for (u32 n = 0; n < 4; n++)
		out[n] = turn_over(pack(sums[n / 2][n % 2 * 2], sums[n / 2][n % 2 * 2 + 1]));
}

/* What comes into 8 rows of a tile, from the i-th on. */
static __device__ INLINE void begin_rows(const struct args *a, u32 step, u32 number, u32 i)
{
	u32 lane = threadIdx.x % 4, row = i + threadIdx.x % 32 / 4, in[8], out[4];
	u64 at = (u64)number * ROWS + row;
	const struct facts facts = *facts_of(a, step, (u32)at);
	u16 *image = a->in_images + (u64)number * IMAGE;
	float energies[8];

#pragma unroll
	for (u32 k = 0; k < 4; k++)
		in[4 + k] = *(const u32 *)(a->places + at * (IN - E) + k * 8 + lane * 2);
	settle_merged(a, &facts, step, (u32)at, lane, energies);
	__syncwarp(); /* rows had others to wait for: the products below want all lanes */
#pragma unroll
	for (u32 k = 0; k < 4; k++)
		in[k] = pack(energies[2 * k], energies[2 * k + 1]);
	make_layers(a, in, out);
#pragma unroll
	for (u32 k = 0; k < 4; k++) {
		*(u32 *)&image[image_place(row, k * 8 + lane * 2)] = out[k];
		*(u32 *)&image[image_place(row, E + k * 8 + lane * 2)] = in[k];
	}
}

/* Eight rows' own parts, facts and places come to the second cache, if there are such rows. */
static __device__ INLINE void bring_rows(const struct args *a, u32 step, u32 row)
{
	u32 lane = threadIdx.x % 32, i = row + lane % 8;

	if (i >= tile_count(a) * ROWS)
		return;
	bring_near(part_row(a, lane / 8, i));
	if (lane < 8)
		bring_near(a->places + (u64)i * (IN - E));
	else if (lane == 8)
		bring_near(facts_of(a, step, i));
}

/* This block's quarter of all tiles of the team, two times 8 rows of each. */
static __device__ INLINE void begin_tiles(const struct args *a, u32 step)
{
	u32 quarter = blockIdx.x % TEAM, team = blockIdx.x / TEAM, teams = gridDim.x / TEAM, count = tile_count(a);
	u32 turn = threadIdx.x / 32 - GROUPS * GROUP / 32 - 1;

	await_before();
	for (u32 number = team + turn / 2 * teams; number < count;) {
		const struct args now = halves_of(a, step - 1, step);
		u32 i = quarter * (ROWS / TEAM) + turn % 2 * 8, begun = number;

		turn += BEGINNERS;
		number = team + turn / 2 * teams;
		bring_rows(&now, step, number * ROWS + quarter * (ROWS / TEAM) + turn % 2 * 8);
		begin_rows(&now, step, begun, i);
		tell_begun(a->begun + begun);
	}
}

static __device__ INLINE void begin_barriers(const struct wide *wide)
{
	if (threadIdx.x < GROUPS * IMAGES) {
		barrier_init(&wide->full[threadIdx.x], 1);
		barrier_init(&wide->empty[threadIdx.x], GROUP / 32);
	}
	if (threadIdx.x == 0) {
		barrier_init(wide->weights, 1);
		*wide->over = 0;
	}
	show_engine();
	__syncthreads();
}

KERNEL void __launch_bounds__(512, 1) kwhy_flows_step(const struct args a, u32 step, u32 first, u32 count)
{
#ifdef __CUDA_ARCH__
	extern __shared__ uint4 memory[];
#else
	__shared__ uint4 memory[WIDE_BYTES / 16];
#endif
	struct wide wide = wide_in((char *)(((u64)memory + 1023) / 1024 * 1024), a.numbers + 1, step);
	u32 group = threadIdx.x / GROUP;

	(void)first, (void)count;
	if (thread_index() == 0)
		a.times[step] = now_ns();
	begin_barriers(&wide);
	if (group < GROUPS) {
		const struct args now = halves_of(&a, step, step);

		take_registers(208);
		work(&now, &wide, step, group, 1, STEP_AHEAD);
	} else {
		leave_registers(48);
		if (threadIdx.x / 32 > GROUPS * GROUP / 32) {
			const struct args next = halves_of(&a, step + 1, step + 1);

			begin_tiles(&a, step);
			keep_next_books(&next, step, BEGINNERS);
		} else if (threadIdx.x % 32 == 0) {
			await_taken(&wide, feed(&a, &wide, step, 1));
		}
	}
}

/* What a run ends with. */
KERNEL void __launch_bounds__(256) kwhy_flows_end(const struct args a, u32 step, u32 first, u32 count)
{
	const struct args last = halves_of(&a, step - 1, step);
	u32 i = threadIdx.x / 4, lane = threadIdx.x % 4, row = blockIdx.x * ROWS + i;
	const struct facts facts = *facts_of(&a, step, row);
	float energies[8];

	(void)first, (void)count;
	if (thread_index() == 0)
		a.times[step] = now_ns();
	settle_merged(&last, &facts, step, row, lane, energies);
	if (row < a.flows)
		give_row(&a, step, blockIdx.x, i, lane, energies, !facts.count);
}
#endif
