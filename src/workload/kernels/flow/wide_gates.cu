/* SPDX-License-Identifier: Apache-2.0 */
/* --- The gates --- */

/* A block's shared memory. */
struct wide {
	const u16 *gates, *outputs;
	const float *biases; /* [4][UNITS] */
	u16 *ring, *state;   /* [GROUPS][IMAGES] images; [GROUPS] */
	u64 *full, *empty;   /* [GROUPS][IMAGES] */
	u64 *weights;
	u32 *over;	     /* not 0: no wait of this block has sense any more */
	/* Where all blocks say that they gave up waiting; 0: none does. And the step. */
	u32 *gave_up, step;
};

enum { BEGUN = 2 * GROUPS * IMAGES + 1, TRIES = 8 };

#define LONGEST_WAIT_NS 2000000000ull

static __device__ INLINE struct wide wide_in(char *memory, u32 *gave_up, u32 step)
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
	wide.over = (u32 *)(wide.weights + 1);
	wide.gave_up = gave_up;
	wide.step = step;
	return wide;
}

/* A wait by tries. */
struct wait {
	u64 since;
	u32 tries;
};

/*
 * Another try was in vain. A wait that takes too long is given up, and all others with it: whatever is waited for is taken as there, so that the
 * run ends. Its numbers are wrong, which the host is told, with the first wait that was given up: 1 + what << 24 | block << 12 | step. `what` is a
 * barrier, from the first of `full` on, or BEGUN: what other blocks begin.
 */
static __device__ INLINE bool gives_up(const struct wide *wide, struct wait *wait, u32 what)
{
	u64 now;

	if (!wide->gave_up || ++wait->tries % TRIES)
		return false;
	now = now_ns();
	if (!wait->since)
		wait->since = now;
	if (now - wait->since > LONGEST_WAIT_NS)
		atomicCAS(wide->gave_up, 0, (1 + what) << 24 | blockIdx.x << 12 | wide->step);
	if (!new_number(wide->gave_up))
		return false;
	*(volatile u32 *)wide->over = 1;
	return true;
}

/* Of those that multiply: how long they wait is for the thread that asks for images to see, which waits until they are taken. */
static __device__ INLINE void await_image(const struct wide *wide, u64 *barrier, u32 parity)
{
	while (!barrier_passed(barrier, parity) && !(wide->gave_up && new_number(wide->over)))
		;
}

static __device__ INLINE void await_room(const struct wide *wide, u32 slot, u32 parity)
{
	struct wait wait = {0, 0};

	while (!barrier_passed(&wide->empty[slot], parity) && !gives_up(wide, &wait, GROUPS * IMAGES + slot))
		;
}

/* What comes into a tile has been made, where that is made beside: by warps that have 8 rows each. */
static __device__ INLINE void await_begun(const struct args *a, const struct wide *wide, u32 number)
{
	struct wait wait = {0, 0};

	while (!is_told(a->begun + number, ROWS / 8 * (wide->step + 1)) && !gives_up(wide, &wait, BEGUN))
		;
	show_engine_told();
}

/* Asks for weights once, and for the images of all tiles of the team, one after the other, from the `first` of each on. Where that is one of
 * the state, what comes in is being made meanwhile: it is waited for. Gives the number of tiles. */
static __device__ INLINE u32 feed(const struct args *a, const struct wide *wide, u32 step, const u32 first)
{
	u32 team = blockIdx.x / TEAM, teams = gridDim.x / TEAM, count = tile_count(a), turn = 0;

	barrier_expect(wide->weights, SHARE_ALL * 2);
	copy_in((void *)wide->gates, a->shares + blockIdx.x % TEAM * SHARE_ALL, SHARE_ALL * 2, wide->weights);
	await_before();
	for (u32 number = team; number < count; number += teams, turn++) {
		const u16 *state = state_images(a, (step + 1) % 2, number), *in = a->in_images + (u64)number * IMAGE;

		for (u32 j = 0; j < IMAGES; j++) {
			u32 i = (first + j) % IMAGES, slot = turn % GROUPS * IMAGES + i;

			if (first && !i)
				await_begun(a, wide, number);
			if (turn >= GROUPS)
				await_room(wide, slot, turn / GROUPS % 2 ^ 1);
			barrier_expect(&wide->full[slot], IMAGE_BYTES);
			copy_in(wide->ring + slot * IMAGE, i ? state + (i - 1) * IMAGE : in, IMAGE_BYTES, &wide->full[slot]);
		}
	}
	return turn;
}

/* The last images of each group have been taken. */
static __device__ INLINE void await_taken(const struct wide *wide, u32 tiles)
{
	for (u32 slot = 0; slot < GROUPS * IMAGES; slot++)
		if (tiles > slot / IMAGES)
			await_room(wide, slot, (tiles - 1 - slot / IMAGES) / GROUPS % 2);
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

	await_image(wide, &wide->full[slot], round % 2);
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

/* All products of a tile, when it is this group's turn, from the `first` image on; the last are still on their way. Some images are taken
 * before, so that others are on their way in their places. */
static __device__ INLINE void multiply_tile(const struct wide *wide, u32 group, u32 round, const u32 first, const u32 ahead, u32 own,
	const struct old *old, struct wide_sums *sums, u32 state[16])
{
	u32 rows[AHEAD][4][4];

#pragma unroll
	for (u32 i = 0; i < ahead; i++)
		take_image(wide, group, first + i, round, own == first + i, old, rows[i], state);
#pragma unroll
	for (u32 i = 0; i < 32; i++)
		sums->r[i] = sums->z[i] = sums->in[i] = sums->hidden[i] = 0;
	hold_sums(sums);
	meet_some(1 + group, GROUPS * GROUP);
#pragma unroll
	for (u32 i = 0; i < ahead; i++)
		multiply_image(wide, first + i, rows[i], sums);
#pragma unroll
	for (u32 i = ahead; i < IMAGES; i++) {
		u32 image = (first + i) % IMAGES;

		if (ahead == AHEAD)
			await_but(AHEAD - 1);
		else
			await_but(AHEAD - 2);
		take_image(wide, group, image, round, own == image, old, rows[i % ahead], state);
		multiply_image(wide, image, rows[i % ahead], sums);
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
static __device__ INLINE void keep_next_books(const struct args *a, u32 step, const u32 warps)
{
	u32 warp = threadIdx.x / 32 - GROUPS * GROUP / 32 - 1;

	await_before();
	for (u32 row = (blockIdx.x * warps + warp) * 32 + threadIdx.x % 32; row < tile_count(a) * ROWS; row += gridDim.x * warps * 32)
		keep_books(a, step + 1, row);
}

/* A group of warps: every other tile of the team's. */
static __device__ INLINE void work(const struct args *a, const struct wide *wide, u32 step, u32 group, const u32 first, const u32 ahead)
{
	u32 quarter = blockIdx.x % TEAM, teams = gridDim.x / TEAM, count = tile_count(a), round = 0, state[16];
	u32 number = blockIdx.x / TEAM + group * teams;
	u16 *image = wide->state + group * IMAGE;
	bool leads = threadIdx.x % GROUP == 0;
	struct old next;

	await_before();
	next = find_old(a, step, number < count ? number : 0);
	await_image(wide, wide->weights, 0);
	if (group)
		let_go(1, GROUPS * GROUP);
	for (; number < count; number += GROUPS * teams, round++) {
		struct wide_sums sums;

		const struct old old = next;

		if (number + GROUPS * teams < count)
			next = find_old(a, step, number + GROUPS * teams);
		multiply_tile(wide, group, round, first, ahead, 1 + quarter, &old, &sums, state);
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
	struct wide wide = wide_in(start, 0, step);
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
		take_registers(232);
		work(&a, &wide, step, group, 0, AHEAD);
	} else {
		leave_registers(40);
		if (threadIdx.x == GROUPS * GROUP)
			feed(&a, &wide, step, 0);
		if (threadIdx.x >= GROUPS * GROUP + 32 && !a.by_argmax)
			keep_next_books(&a, step, GROUP / 32 - 1);
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
