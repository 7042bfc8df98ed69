/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On GPUs this code is compiled for one kind of weights, with ACT_TYPE, KEPT_TYPE and PACKING_TYPE as constants; on
 * the host they are read from the args.
 */
#ifdef ACT_TYPE
#define ACT(a) ACT_TYPE
#define KEPT(a) KEPT_TYPE
#define PACKING(a) PACKING_TYPE
#else
#define ACT(a) (a)->act
#define KEPT(a) (a)->kept
#define PACKING(a) (a)->packing
#endif
/* results of 8-bit products must still be multiplied by scales */
#define IS_SCALED(a) (ACT(a) == LAB_FP8 || ACT(a) == LAB_INT8)

enum { HEAD = 64 };

static __device__ u32 mix(u32 x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ (x >> 16);
}

static __device__ float unit_of(u32 hash, u32 place)
{
	return (float)(int)mix(place ^ hash) * (1.0f / 2147483648.0f);
}

/* --- Storage of weights: row by row, groups of four neighbours in a row --- */

/* Whether weight i of a group of four is one of the two with the largest magnitude, which are kept. */
static __device__ int is_kept(const float v[4], u32 i)
{
	u32 larger = 0;

	for (u32 j = 0; j < 4; j++)
		larger += fabsf(v[j]) > fabsf(v[i]) || (fabsf(v[j]) == fabsf(v[i]) && j < i);
	return larger < 2;
}

/*
 * Stores the weights 4 * place to 4 * place + 3 of a matrix; v: these weights, already divided by the scale of
 * their row. With TWO_OF_FOUR, two are stored as fp16, and the two lowest bits of each hold the weight's index in
 * the group.
 */
static __device__ void store_four(const struct lab_decode_args *a, void *to, u64 place, const float v[4])
{
	u16 *halves = (u16 *)to, half = 0;
	u32 codes = 0, count = 0;

	for (u32 i = 0; i < 4; i++) {
		if (PACKING(a) == UNPACKED)
			put(ACT(a), to, 4 * place + i, v[i]);
		else if (PACKING(a) == FOUR_BITS)
			codes |= (u32)(__float2int_rn(v[i]) + 8) << 4 * i;
		else if (is_kept(v, i)) {
			put(LAB_FP16, &half, 0, v[i]);
			halves[2 * place + count++] = (u16)(((half + 2u) & 0xfffcu) | i);
		}
	}
	if (PACKING(a) == FOUR_BITS)
		halves[place] = (u16)codes;
}

static __device__ void load_four(const struct lab_decode_args *a, const void *from, u64 place, float v[4])
{
	const u16 *halves = (const u16 *)from;

	for (u32 i = 0; i < 4; i++)
		v[i] = PACKING(a) == UNPACKED	 ? get(ACT(a), from, 4 * place + i)
			: PACKING(a) == FOUR_BITS ? (float)((int)(halves[place] >> 4 * i & 15) - 8)
						  : 0;
	for (u32 i = 0; PACKING(a) == TWO_OF_FOUR && i < 2; i++) {
		u16 both = halves[2 * place + i], half = (u16)(both & 0xfffcu);

		v[both & 3] = get(LAB_FP16, &half, 0);
	}
}

static __device__ void fill_row(const struct lab_decode_args *a, const struct lab_decode_call *c, u32 row)
{
	u32 from = c->start + row * c->stride;
	float scale = 1, most = 0, v[4];

	for (u32 k = threadIdx.x; a->code_most > 0 && k < c->columns; k += blockDim.x)
		most = fmaxf(most, fabsf(c->bound * unit_of(c->tensor_hash, from + k)));
	if (a->code_most > 0)
		scale = reduce(most, 0) / a->code_most;
	if (threadIdx.x == 0)
		c->row_scales[row] = scale;
	for (u32 k = threadIdx.x; k < c->columns / 4; k += blockDim.x) {
		for (u32 i = 0; i < 4; i++)
			v[i] = row < c->known ? c->bound * unit_of(c->tensor_hash, from + 4 * k + i) / scale : 0;
		store_four(a, c->to, (u64)row * (c->columns / 4) + k, v);
	}
}

/* Fills rows of a matrix with pseudo-random weights and computes the scale of each row; a block fills one row. */
KERNEL void lab_decode_fill(const struct lab_decode_args a, const struct lab_decode_call c)
{
	for (u32 row = blockIdx.x; row < c.rows; row += gridDim.x)
		fill_row(&a, &c, row);
}

KERNEL void lab_decode_fill_floats(const struct lab_decode_args a, const struct lab_decode_call c)
{
	for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < c.columns; i += gridDim.x * blockDim.x)
		((float *)c.to)[i] = c.bound * unit_of(c.tensor_hash, c.start + i);
}

/* Expands packed weights to the type of products; a block expands one row. */
KERNEL void lab_decode_expand(const struct lab_decode_args a, const struct lab_decode_call c)
{
	for (u32 row = blockIdx.x; row < c.rows; row += gridDim.x)
		for (u32 k = threadIdx.x; k < c.columns / 4; k += blockDim.x) {
			u64 place = (u64)row * (c.columns / 4) + k;
			float v[4];

			load_four(&a, c.from, place, v);
			for (u32 i = 0; i < 4; i++)
				put(ACT(&a), c.to, 4 * place + i, v[i] * c.row_scales[row]);
		}
}
