/* SPDX-License-Identifier: Apache-2.0 */
/* --- The gates --- */

/* A block's shared memory. */
struct wide {
	const u16 *gates, *outputs;
	const float *biases; /* [UNITS / 2][4][2] */
	u16 *ring;	     /* [RING] images */
	u64 *full, *empty;   /* [RING] */
	u64 *weights;
};

static __device__ INLINE struct wide wide_in(char *memory)
{
	struct wide wide;

	wide.gates = (const u16 *)memory;
	wide.outputs = wide.gates + SHARE_GATES;
	wide.biases = (const float *)(wide.outputs + SHARE_OUT);
	wide.ring = (u16 *)(memory + WIDE_RING);
	wide.full = (u64 *)(memory + WIDE_BARRIERS);
	wide.empty = wide.full + RING;
	wide.weights = wide.empty + RING;
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
			u32 image = turn * IMAGES + i, slot = image % RING;

			if (image >= RING)
				barrier_wait(&wide->empty[slot], image / RING % 2 ^ 1);
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

static __device__ INLINE void hold_sums(struct wide_sums *sums)
{
	hold(sums->r, 32);
	hold(sums->z, 32);
	hold(sums->in, 32);
	hold(sums->hidden, 32);
}

/* The products of an image, the how manieth to come, are asked for; which of a tile's it is says what they are added to. */
static __device__ INLINE void multiply_image(const struct wide *wide, u32 image, u32 i, struct wide_sums *sums)
{
	u32 slot = image % RING;
	u64 rows = place_of(wide->ring) + slot * (IMAGE_BYTES / 16), weights = place_of(wide->gates + i * SHARE * 64);

	barrier_wait(&wide->full[slot], image / RING % 2);
	begin_products();
#pragma unroll
	for (u32 k = 0; k < 4; k++)
		if (i) {
			multiply_thrice(sums->r, sums->z, sums->hidden, rows + 2 * k, weights + 2 * k, 1);
		} else {
			multiply_twice(sums->r, sums->z, rows + 2 * k, weights + 2 * k, k);
			multiply_once(sums->in, rows + 2 * k, weights + 2 * k + 2 * UNITS * 128 / 16, k);
		}
	end_products();
}

/* The first products of a tile, when it is this group's turn. */
static __device__ INLINE void begin_tile(const struct wide *wide, u32 group, u32 image, struct wide_sums *sums)
{
#pragma unroll
	for (u32 i = 0; i < 32; i++)
		sums->hidden[i] = 0;
	hold(sums->hidden, 32);
	meet_some(1 + group, GROUPS * GROUP);
	multiply_image(wide, image, 0, sums);
}

/*
 * The others, and what the state of the block's own units was. An image is given back when it has been multiplied, but for that one: the copy
 * engine may write to it before loads have ended that were asked for before it was given back.
 */
static __device__ INLINE void end_tile(const struct wide *wide, u32 group, u32 image, u32 own, struct wide_sums *sums, u32 state[16])
{
#pragma unroll
	for (u32 i = 1; i < IMAGES; i++) {
		multiply_image(wide, image + i, i, sums);
		if (i == own)
#pragma unroll
			for (u32 k = 0; k < 4; k++)
				load_image_rows(state + k * 4, wide->ring + (image + i) % RING * IMAGE, threadIdx.x % GROUP / 32 * 16, k);
		await_but(1);
		if (i - 1 != own)
			barrier_leave(&wide->empty[(image + i - 1) % RING]);
	}
	let_go(2 - group, GROUPS * GROUP);
	await_products();
	hold_sums(sums);
	if (IMAGES - 1 != own)
		barrier_leave(&wide->empty[(image + IMAGES - 1) % RING]);
}

/* Of a unit: r and z came as half of what they are sigmoids of. */
static __device__ INLINE float gate_of(float r, float z, float in, float hidden, float old)
{
	float n = swift_tanh(in + (0.5f + 0.5f * swift_tanh(r)) * hidden);

	return n + (0.5f + 0.5f * swift_tanh(z)) * (old - n);
}

/* The new state of the old in `state`: for each 8 units, two beside each other in a row, and in the eighth after it. */
static __device__ INLINE void make_state(const struct wide *wide, const struct wide_sums *sums, u32 state[16])
{
	const float *biases = wide->biases + threadIdx.x % 4 * 8;

#pragma unroll
	for (u32 g = 0; g < 8; g++) {
		float b[8];

		take_four(b, biases + g * 32);
		take_four(b + 4, biases + g * 32 + 4);
#pragma unroll
		for (u32 i = 0; i < 2; i++) {
			u32 old = state[g * 2 + i];
			float h[2];

#pragma unroll
			for (u32 j = 0; j < 2; j++) {
				u32 k = g * 4 + i * 2 + j;

				h[j] = gate_of(sums->r[k] + b[j], sums->z[k] + b[2 + j], sums->in[k] + b[4 + j], sums->hidden[k] + b[6 + j],
					unpack(j ? old >> 16 : old & 0xffff));
			}
			state[g * 2 + i] = pack(h[0], h[1]);
		}
	}
}

/* Of four lanes, each with words of four times 8 units: a lane gets all of its 8. */
static __device__ INLINE uint4 gather_words(u32 w0, u32 w1, u32 w2, u32 w3)
{
	u32 lane = threadIdx.x % 4;
	bool odd = lane & 1, high = lane & 2;
	u32 first = __shfl_xor_sync(~0u, odd ? w0 : w1, 1), second = __shfl_xor_sync(~0u, odd ? w2 : w3, 1);
	uint4 words;

	w0 = odd ? first : w0;
	w1 = odd ? w1 : first;
	w2 = odd ? second : w2;
	w3 = odd ? w3 : second;
	first = __shfl_xor_sync(~0u, high ? w0 : w2, 2);
	second = __shfl_xor_sync(~0u, high ? w1 : w3, 2);
	words.x = high ? first : w0;
	words.y = high ? second : w1;
	words.z = high ? w2 : first;
	words.w = high ? w3 : second;
	return words;
}

/* A thread's part of an image of 64 units, in memory; of who goes, who comes finds zeros. */
static __device__ INLINE void send_state(const u32 state[16], const u32 masks[2], u16 *image)
{
	u32 lane = threadIdx.x % 32, row = threadIdx.x % GROUP / 32 * 16 + lane / 4;

#pragma unroll
	for (u32 i = 0; i < 2; i++)
#pragma unroll
		for (u32 c = 0; c < 2; c++) {
			const uint4 words = gather_words(state[c * 8 + i], state[c * 8 + 2 + i], state[c * 8 + 4 + i], state[c * 8 + 6 + i]);

			put_four(&image[image_place(row + i * 8, (c * 4 + lane % 4) * 8)], words.x & masks[i], words.y & masks[i],
				words.z & masks[i], words.w & masks[i]);
		}
}

/* Sums of the outputs of a tile are asked for, of the state as lanes have it: the operands of 16 rows. */
static __device__ INLINE void ask_out(const struct wide *wide, const u32 state[16], float out[OUT / 8 * 4])
{
#pragma unroll
	for (u32 i = 0; i < OUT / 8 * 4; i++)
		out[i] = 0;
	hold(out, OUT / 8 * 4);
	begin_products();
#pragma unroll
	for (u32 k = 0; k < UNITS / 16; k++)
		multiply_out(out, state + k * 4, place_of(wide->outputs) + 2 * k);
	end_products();
}

/* Energies and logits of a tile, whose sums are there. */
static __device__ INLINE void keep_out(const struct args *a, const float sums[OUT / 8 * 4], u32 number, u32 quarter)
{
	u32 lane = threadIdx.x % 32, row = number * ROWS + threadIdx.x % GROUP / 32 * 16 + lane / 4;

#pragma unroll
	for (u32 i = 0; i < 2; i++) {
		float *logits = logit_row(a, quarter, row + i * 8) + lane % 4 * 2;

		put_four(part_row(a, quarter, row + i * 8) + lane % 4 * 8, pack(sums[i * 2], sums[i * 2 + 1]),
			pack(sums[4 + i * 2], sums[4 + i * 2 + 1]), pack(sums[8 + i * 2], sums[8 + i * 2 + 1]),
			pack(sums[12 + i * 2], sums[12 + i * 2 + 1]));
		if (a->by_argmax) {
			logits[0] = sums[16 + i * 2];
			logits[1] = sums[16 + i * 2 + 1];
		}
	}
}

/* When a thread's two rows were last given away. */
struct leaving {
	u32 steps[2];
};

static __device__ INLINE struct leaving find_leaving(const struct args *a, u32 step, u32 number)
{
	u32 row = number * ROWS + threadIdx.x % GROUP / 32 * 16 + threadIdx.x % 32 / 4;
	struct leaving leaving;

#pragma unroll
	for (u32 i = 0; i < 2; i++)
		leaving.steps[i] = ((const u32 *)(a->fresh + step % 2 * a->flows + (row + i * 8 < a->flows ? row + i * 8 : 0)))[1];
	return leaving;
}

/* The warps that neither multiply nor ask for images, meanwhile: the books of the next step, which need no number that a flow carries. */
static __device__ INLINE void keep_next_books(const struct args *a, u32 step)
{
	u32 warp = threadIdx.x / 32 - GROUPS * GROUP / 32 - 1, warps = GROUP / 32 - 1;

	await_before();
	for (u32 row = (blockIdx.x * warps + warp) * 32 + threadIdx.x % 32; row < tile_count(a) * ROWS; row += gridDim.x * warps * 32)
		keep_books(a, step + 1, row);
}

/* A group of warps: every other tile of the team's. Its outputs are made while the first image of the next is multiplied. */
static __device__ INLINE void work(const struct args *a, const struct wide *wide, u32 step, u32 group)
{
	u32 quarter = blockIdx.x % TEAM, teams = gridDim.x / TEAM, count = tile_count(a), image = group * IMAGES;
	u32 number = blockIdx.x / TEAM + group * teams;
	struct wide_sums sums;

	await_before();
	barrier_wait(wide->weights, 0);
	if (group)
		let_go(1, GROUPS * GROUP);
	if (number >= count)
		return;
	begin_tile(wide, group, image, &sums);
	for (;;) {
		const struct leaving leaving = find_leaving(a, step, number);
		u32 state[16], masks[2], tile = number;
		float out[OUT / 8 * 4];

		end_tile(wide, group, image, 1 + quarter, &sums, state);
		make_state(wide, &sums, state);
		barrier_leave(&wide->empty[(image + 1 + quarter) % RING]);
		ask_out(wide, state, out);
#pragma unroll
		for (u32 i = 0; i < 2; i++)
			masks[i] = leaving.steps[i] == step + 1 && !a->by_argmax ? 0 : ~0u;
		send_state(state, masks, state_images(a, step % 2, tile) + quarter * IMAGE);
		number += GROUPS * teams;
		image += GROUPS * IMAGES;
		if (number >= count) {
			await_products();
			hold(out, OUT / 8 * 4);
			keep_out(a, out, tile, quarter);
			break;
		}
		begin_tile(wide, group, image, &sums);
		await_but(1);
		hold(out, OUT / 8 * 4);
		keep_out(a, out, tile, quarter);
	}
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
		for (u32 i = 0; i < RING; i++) {
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
