/* SPDX-License-Identifier: Apache-2.0 */
/* --- The gates --- */

/* A block's shared memory. */
struct wide {
	const u16 *gates, *outputs;
	const float *biases; /* [4][UNITS] */
	u16 *ring, *state;   /* [GROUPS][IMAGES] images; [GROUPS] */
	u64 *full, *empty;   /* [GROUPS][IMAGES] */
	u64 *weights;
};

static __device__ INLINE struct wide wide_in(char *memory)
{
	struct wide wide;

	wide.gates = (const u16 *)memory;
	wide.outputs = wide.gates + SHARE_GATES;
	wide.biases = (const float *)(wide.outputs + SHARE_OUT);
	wide.ring = (u16 *)(memory + WIDE_RING);
	wide.state = (u16 *)(memory + WIDE_STATE);
	wide.full = (u64 *)(memory + WIDE_BARRIERS);
	wide.empty = wide.full + GROUPS * IMAGES;
	wide.weights = wide.empty + GROUPS * IMAGES;
	return wide;
}

/* Asks for weights once, and for the images of all tiles of the team, one after the other. */
static __device__ INLINE void feed(const struct args *a, const struct wide *wide, u32 step)
{
	u32 team = blockIdx.x / TEAM, teams = gridDim.x / TEAM, count = tile_count(a), turn = 0;

	barrier_expect(wide->weights, SHARE_ALL * 2);
	copy_in((void *)wide->gates, a->shares + blockIdx.x % TEAM * SHARE_ALL, SHARE_ALL * 2, wide->weights);
	await_before();
	for (u32 number = team; number < count; number += teams, turn++) {
		const u16 *state = state_images(a, (step + 1) % 2, number), *in = a->in_images + (u64)number * IMAGE;

		for (u32 i = 0; i < IMAGES; i++) {
			u32 slot = turn % GROUPS * IMAGES + i;

			if (turn >= GROUPS)
				barrier_wait(&wide->empty[slot], turn / GROUPS % 2 ^ 1);
			barrier_expect(&wide->full[slot], IMAGE_BYTES);
			copy_in(wide->ring + slot * IMAGE, i ? state + (i - 1) * IMAGE : in, IMAGE_BYTES, &wide->full[slot]);
		}
	}
}

/* Sums of a thread: of each 8 units two beside each other, in a row and in the eighth after it. */
struct wide_sums {
	float r[32], z[32], in[32], hidden[32];
};

/* The compiler may neither make numbers later nor take them for known before. */
static __device__ INLINE void hold(float *numbers, u32 count)
{
#ifdef __CUDA_ARCH__
#pragma unroll
	for (u32 i = 0; i < count; i++)
		asm volatile("" : "+f"(numbers[i])::"memory");
#else
	(void)numbers, (void)count;
#endif
}

static __device__ INLINE void hold_rows(u32 rows[4][4])
{
#ifdef __CUDA_ARCH__
#pragma unroll
	for (u32 k = 0; k < 16; k++)
		asm volatile("" : "+r"(rows[k / 4][k % 4])::"memory");
#else
	(void)rows;
#endif
}

static __device__ INLINE void hold_sums(struct wide_sums *sums)
{
	hold(sums->r, 32);
	hold(sums->z, 32);
	hold(sums->in, 32);
	hold(sums->hidden, 32);
}

/* Whose flows were there before the step, of a thread's two rows: all bits, or none where the state is zeros. */
struct old {
	u32 masks[2];
};

static __device__ INLINE struct old find_old(const struct args *a, u32 step, u32 number)
{
	u32 row = number * ROWS + threadIdx.x % GROUP / 32 * 16 + threadIdx.x % 32 / 4;
	struct old old;

#pragma unroll
	for (u32 i = 0; i < 2; i++)
		old.masks[i] = facts_of(a, step, row + i * 8)->count ? ~0u : 0;
	return old;
}

/* The rows of a warp in an image, as operands; then it is given back. That of the block's own units says what the state was, too. */
static __device__ INLINE void take_image(
	const struct wide *wide, u32 group, u32 i, u32 round, bool own, const struct old *old, u32 rows[4][4], u32 state[16])
{
	u32 slot = group * IMAGES + i, lane = threadIdx.x % 32, row = threadIdx.x % GROUP / 32 * 16;
	const u16 *image = wide->ring + slot * IMAGE;

	barrier_wait(&wide->full[slot], round % 2);
#pragma unroll
	for (u32 k = 0; k < 4; k++)
		load_image_rows(rows[k], image, row, k);
	if (own) {
#pragma unroll
		for (u32 k = 0; k < 16; k++)
			state[k] = *(const u32 *)&image[image_place(row + lane / 4 + k % 2 * 8, k / 2 * 8 + lane % 4 * 2)] &
				old->masks[k % 2];
	}
	barrier_leave(&wide->empty[slot]);
	if (!i)
		return;
#pragma unroll
	for (u32 k = 0; k < 16; k++)
		rows[k / 4][k % 4] &= old->masks[k % 2];
	hold_rows(rows);
}

/* Products of an image. */
static __device__ INLINE void multiply_image(const struct wide *wide, u32 i, u32 rows[4][4], struct wide_sums *sums)
{
	u64 weights = place_of(wide->gates) + i * (SHARE * 128 / 16);

	begin_products();
#pragma unroll
	for (u32 k = 0; k < 4; k++) {
		multiply_twice(sums->r, sums->z, rows[k], weights + 2 * k);
		multiply_wide(i ? sums->hidden : sums->in, rows[k], weights + 2 * k + 2 * UNITS * 128 / 16);
	}
	end_products();
}

/* All products of a tile, when it is this group's turn; the last are still on their way. All images but one are taken before, so that others
 * are on their way in their places. */
static __device__ INLINE void multiply_tile(
	const struct wide *wide, u32 group, u32 round, u32 own, const struct old *old, struct wide_sums *sums, u32 state[16])
{
	u32 rows[AHEAD][4][4];

#pragma unroll
	for (u32 i = 0; i < AHEAD; i++)
		take_image(wide, group, i, round, own == i, old, rows[i], state);
#pragma unroll
	for (u32 i = 0; i < 32; i++)
		sums->r[i] = sums->z[i] = sums->in[i] = sums->hidden[i] = 0;
	hold_sums(sums);
	meet_some(1 + group, GROUPS * GROUP);
#pragma unroll
	for (u32 i = 0; i < AHEAD; i++)
		multiply_image(wide, i, rows[i], sums);
#pragma unroll
	for (u32 i = AHEAD; i < IMAGES; i++) {
		await_but(AHEAD - 1);
		take_image(wide, group, i, round, own == i, old, rows[i % AHEAD], state);
		multiply_image(wide, i, rows[i % AHEAD], sums);
	}
	let_go(2 - group, GROUPS * GROUP);
}

/* Of a unit: r and z came as half of what they are sigmoids of. */
static __device__ INLINE float gate_of(float r, float z, float in, float hidden, float old)
{
	float n = swift_tanh(in + (0.5f + 0.5f * swift_tanh(r)) * hidden);

	return n + (0.5f + 0.5f * swift_tanh(z)) * (old - n);
}

/* The new state, in place of the old in `state`: for each 8 units, two beside each other in a row, and in the eighth after it. */
static __device__ INLINE void gate_tile(const struct wide *wide, const struct wide_sums *sums, u32 state[16])
{
	const float *biases = wide->biases + threadIdx.x % 4 * 2;

#pragma unroll
	for (u32 g = 0; g < 8; g++) {
		float r[2], z[2], in[2], hidden[2];

#pragma unroll
		for (u32 j = 0; j < 2; j++) {
			r[j] = biases[g * 8 + j];
			z[j] = biases[UNITS + g * 8 + j];
			in[j] = biases[2 * UNITS + g * 8 + j];
			hidden[j] = biases[3 * UNITS + g * 8 + j];
		}
#pragma unroll
		for (u32 i = 0; i < 2; i++) {
			u32 old = state[g * 2 + i];
			float h[2];

#pragma unroll
			for (u32 j = 0; j < 2; j++) {
				u32 k = g * 4 + i * 2 + j;

				h[j] = gate_of(sums->r[k] + r[j], sums->z[k] + z[j], sums->in[k] + in[j], sums->hidden[k] + hidden[j],
					unpack(j ? old >> 16 : old & 0xffff));
			}
			state[g * 2 + i] = pack(h[0], h[1]);
		}
	}
}

/* A thread's part of an image of 64 units. */
static __device__ INLINE void keep_state(const u32 state[16], u16 *image)
{
	u32 lane = threadIdx.x % 32, row = threadIdx.x % GROUP / 32 * 16 + lane / 4;

#pragma unroll
	for (u32 k = 0; k < 16; k++)
		*(u32 *)&image[image_place(row + k % 2 * 8, k / 2 * 8 + lane % 4 * 2)] = state[k];
}

/* This block's part of energies and logits, of the state as lanes have it: the operands of 16 rows. */
static __device__ INLINE void put_out(const struct args *a, const struct wide *wide, const u32 state[16], u32 number, u32 quarter)
{
	u32 lane = threadIdx.x % 32, row = number * ROWS + threadIdx.x % GROUP / 32 * 16 + lane / 4;
	u64 weights = place_of(wide->outputs);
	float sums[OUT / 8 * 4];

#pragma unroll
	for (u32 i = 0; i < OUT / 8 * 4; i++)
		sums[i] = 0;
	hold(sums, OUT / 8 * 4);
	begin_products();
#pragma unroll
	for (u32 k = 0; k < UNITS / 16; k++)
		multiply_out(sums, state + k * 4, weights + 2 * k);
	end_products();
	await_products();
	hold(sums, OUT / 8 * 4);
#pragma unroll
	for (u32 i = 0; i < 2; i++) {
		const uint4 parts = {pack(sums[i * 2], sums[i * 2 + 1]), pack(sums[4 + i * 2], sums[4 + i * 2 + 1]),
			pack(sums[8 + i * 2], sums[8 + i * 2 + 1]), pack(sums[12 + i * 2], sums[12 + i * 2 + 1])};
		float *logits = logit_row(a, quarter, row + i * 8) + lane % 4 * 2;

		*(uint4 *)(part_row(a, quarter, row + i * 8) + lane % 4 * 8) = parts;
		if (a->by_argmax) {
			logits[0] = sums[16 + i * 2];
			logits[1] = sums[16 + i * 2 + 1];
		}
	}
}

/* The warps that neither multiply nor ask for images, meanwhile: the books of the next step, which need no number that a flow carries. */
static __device__ INLINE void keep_next_books(const struct args *a, u32 step)
{
	u32 warp = threadIdx.x / 32 - GROUPS * GROUP / 32 - 1, warps = GROUP / 32 - 1;

	await_before();
	for (u32 row = (blockIdx.x * warps + warp) * 32 + threadIdx.x % 32; row < tile_count(a) * ROWS; row += gridDim.x * warps * 32)
		keep_books(a, step + 1, row);
}

/* A group of warps: every other tile of the team's. */
static __device__ INLINE void work(const struct args *a, const struct wide *wide, u32 step, u32 group)
{
	u32 quarter = blockIdx.x % TEAM, teams = gridDim.x / TEAM, count = tile_count(a), round = 0, state[16];
	u32 number = blockIdx.x / TEAM + group * teams;
	u16 *image = wide->state + group * IMAGE;
	bool leads = threadIdx.x % GROUP == 0;
	struct old next;

	await_before();
	next = find_old(a, step, number < count ? number : 0);
	barrier_wait(wide->weights, 0);
	if (group)
		let_go(1, GROUPS * GROUP);
	for (; number < count; number += GROUPS * teams, round++) {
		struct wide_sums sums;

		const struct old old = next;

		if (number + GROUPS * teams < count)
			next = find_old(a, step, number + GROUPS * teams);
		multiply_tile(wide, group, round, 1 + quarter, &old, &sums, state);
		if (leads)
			await_out();
		meet_some(3 + group, GROUP);
		await_products();
		hold_sums(&sums);
		gate_tile(wide, &sums, state);
		keep_state(state, image);
		show_engine();
		meet_some(3 + group, GROUP);
		if (leads)
			image_out(state_images(a, step % 2, number) + quarter * IMAGE, image);
		put_out(a, wide, state, number, quarter);
	}
	if (leads)
		await_written();
}

KERNEL void __launch_bounds__(384, 1) kwhy_flows_wide(const struct args a, u32 step, u32 first, u32 count)
{
#ifdef __CUDA_ARCH__
	extern __shared__ uint4 memory[];
#else
	__shared__ uint4 memory[WIDE_BYTES / 16];
#endif
	char *start = (char *)(((u64)memory + 1023) / 1024 * 1024);
	struct wide wide = wide_in(start);
	u32 group = threadIdx.x / GROUP;

	(void)first, (void)count;
	if (threadIdx.x == 0) {
		for (u32 i = 0; i < GROUPS * IMAGES; i++) {
			barrier_init(&wide.full[i], 1);
			barrier_init(&wide.empty[i], GROUP / 32);
		}
		barrier_init(wide.weights, 1);
		show_engine();
	}
	__syncthreads();
	if (group < GROUPS) {
		take_registers();
		work(&a, &wide, step, group);
	} else {
		leave_registers();
		if (threadIdx.x == GROUPS * GROUP)
			feed(&a, &wide, step);
		if (threadIdx.x >= GROUPS * GROUP + 32 && !a.by_argmax)
			keep_next_books(&a, step);
	}
}

/* Where flows choose their way: once the parts of the logits are there. */
KERNEL void kwhy_flows_choose(const struct args a, u32 step, u32 first, u32 count)
{
	u32 row = thread_index();
	struct claim claim = {0, 0, 0, NONE};

	(void)first, (void)count;
	if (row < a.flows) {
		float logits[6] = {0, 0, 0, 0, 0, 0};

		for (u32 q = 0; q < TEAM; q++)
			for (u32 k = 0; k < 6; k++)
				logits[k] += logit_row(&a, q, row)[k];
		claim = join_cell(&a, step, row, move_by(&a, a.at[row], logits));
	}
	claims_end(&a, step, &claim);
}
#endif
