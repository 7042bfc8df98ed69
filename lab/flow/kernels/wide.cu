/* SPDX-License-Identifier: Apache-2.0 */
/* --- A step in two kernels, on the tensor instructions of four warps that Hopper has --- */

/*
 * Rows are in tiles of 64, and what goes into the gates is in images of 64 rows of 64 numbers as those instructions read them from
 * shared memory: one of what comes in, four of the state. A copy engine brings them in whole, so all rows of all tiles are there.
 * kwhy_flows_begin() makes the first from what the step before came to; kwhy_flows_wide() makes the new state: four blocks share the
 * gates' weights, as in the kernel above, but each keeps its share in shared memory. Two groups of four warps take turns at the tensor
 * cores: while one multiplies, the other makes state of its sums. A thread of its own asks for images as soon as there is room, and three warps
 * find out who will be where at the start of the next step. Where flows choose their way, that takes kernels of its own.
 */
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(CUDA_TEXT_RUNS)

enum {
	ROWS = 64,	   /* of a tile */
	MEMBERS = 16,	   /* of a cell that are kept together; where there are more, they hang on each other alone */
	IMAGE = ROWS * 64, /* numbers of an image */
	IMAGE_BYTES = IMAGE * 2,
	IMAGES = 5, /* that go into the gates */
	GROUPS = 2,
	RING = 12, /* images that there is room for: two tiles', and what the next begins with */
	GROUP = 128, /* threads */
	WIDE_THREADS = (GROUPS + 1) * GROUP,
	SHARE = 3 * UNITS, /* rows of weights that a block has */
	/* Its weights, in this order, in 16 bits and bytes. */
	SHARE_GATES = IMAGES * SHARE * 64,
	SHARE_OUT = OUT * UNITS,
	SHARE_BIASES = 4 * UNITS * 2,
	SHARE_ALL = SHARE_GATES + SHARE_OUT + SHARE_BIASES,
	/* Shared memory, in bytes; what tensor instructions read begins at multiples of 1024. */
	WIDE_RING = (SHARE_ALL * 2 + 1023) / 1024 * 1024,
	WIDE_BARRIERS = WIDE_RING + RING * IMAGE_BYTES,
	WIDE_BYTES = WIDE_BARRIERS + 256 + 1024
};

/* Where a number of an image is: 16 bytes of a row change places with others, so that a column's are in different banks. */
static __device__ INLINE u32 image_place(u32 row, u32 column)
{
	return row * 64 + ((column / 8 ^ row % 8) * 8 | column % 8);
}

static __device__ INLINE u32 tile_count(const struct args *a)
{
	return (a->flows + ROWS - 1) / ROWS;
}

/* The images of a tile's state before a step, or after it. */
static __device__ INLINE u16 *state_images(const struct args *a, u32 half, u32 tile)
{
	return a->h_halves + ((u64)half * tile_count(a) + tile) * 4 * IMAGE;
}

/* Of energies after a step: [TEAM][rows][E] of 16 bits. A row's are in the order in which lanes have them. */
static __device__ INLINE u16 *part_row(const struct args *a, u32 quarter, u32 row)
{
	return (u16 *)a->parts + ((u64)quarter * tile_count(a) * ROWS + row) * E;
}

/* Of logits: [TEAM][rows][8], behind those. */
static __device__ INLINE float *logit_row(const struct args *a, u32 quarter, u32 row)
{
	u64 rows = (u64)tile_count(a) * ROWS;

	return a->parts + rows * TEAM * E / 2 + (quarter * rows + row) * 8;
}

/* A kernel of a step may begin before the one before it has ended: what it left is there after this. The next may begin as well. */
static __device__ INLINE void await_before(void)
{
#ifdef __CUDA_ARCH__
	asm volatile("griddepcontrol.launch_dependents; griddepcontrol.wait;" ::: "memory");
#endif
}

/* --- Weights, once --- */

static __device__ u16 half_of_half(u16 value)
{
	return value & 0x7f80 ? value - 0x80 : value;
}

/* One of a share's gates: r, z and n of what comes in, then of each image of the state. Of r and z it is the half: see gate_of(). */
static __device__ u16 share_gate(const struct args *a, u32 quarter, u32 i)
{
	u32 image = i / (SHARE * 64), row = i / 64 % SHARE, place = i % 64, column = (place / 8 ^ row % 8) * 8 | place % 8;
	u32 gate = row / UNITS, output = gate * H + quarter * UNITS + row % UNITS;
	u16 value = image ? a->halves[HALF_WH + output * H + (image - 1) * 64 + column]
			  : a->halves[HALF_WI + output * IN + column];

	return gate < 2 ? half_of_half(value) : value;
}

/* Of the outputs: a row for each. */
static __device__ u16 share_output(const struct args *a, u32 quarter, u32 i)
{
	u32 row = i / 64, place = i % 64, column = (place / 8 ^ row % 8) * 8 | place % 8;

	return a->halves[HALF_WO + row * H + quarter * UNITS + column];
}

/* Of each 8 units, for each of four lanes that have two of them: those of r, of z, of what comes in and of what r weighs. */
static __device__ float share_bias(const struct args *a, u32 quarter, u32 i)
{
	u32 unit = quarter * UNITS + i / 32 * 8 + i / 8 % 4 * 2 + i % 2, gate = i / 2 % 4;
	const float *in = a->weights + BI + unit, *hidden = a->weights + BH + unit;

	return gate < 2 ? 0.5f * (in[gate * H] + hidden[gate * H]) : gate == 2 ? in[2 * H] : hidden[2 * H];
}

KERNEL void kwhy_flows_pack(const struct args a, u32 step, u32 first, u32 count)
{
	(void)step, (void)first, (void)count;
	for (u32 i = thread_index(); i < TEAM * SHARE_ALL; i += thread_count()) {
		u32 quarter = i / SHARE_ALL, j = i % SHARE_ALL;
		u16 *to = a.shares + i;

		if (j < SHARE_GATES)
			*to = share_gate(&a, quarter, j);
		else if (j < SHARE_GATES + SHARE_OUT)
			*to = share_output(&a, quarter, j - SHARE_GATES);
		else if (j % 2 == 0)
			*(float *)to = share_bias(&a, quarter, (j - SHARE_GATES - SHARE_OUT) / 2);
	}
}
