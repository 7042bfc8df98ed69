/* SPDX-License-Identifier: Apache-2.0 */
/* --- Weights lie row by row, four neighbours of a row together --- */

#define FOUR_BYTES (KIND <= TF32 ? 16 : KIND <= FP16 ? 8 : KIND == INT4 ? 2 : 4)

#if KIND == SPARSE
/* Whether of four neighbours this is one of the two that are kept: the largest. */
static __device__ int is_kept(const float v[4], u32 i)
{
	u32 larger = 0;

	for (u32 j = 0; j < 4; j++)
		larger += fabsf(v[j]) > fabsf(v[i]) || (fabsf(v[j]) == fabsf(v[i]) && j < i);
	return larger < 2;
}
#endif

/* v: already divided by the row's scale. */
static __device__ void store_four(u8 *to, const float v[4])
{
#if KIND == INT4
	u32 codes = 0;

	for (int i = 0; i < 4; i++)
		codes |= (u32)(__float2int_rn(v[i]) + 8) << 4 * i;
	*(u16 *)(void *)to = (u16)codes;
#elif KIND == SPARSE
	u32 count = 0;

	for (u32 i = 0; i < 4; i++)
		if (is_kept(v, i))
			((u16 *)(void *)to)[count++] = (u16)(((half_of(v[i]) + 2u) & 0xfffcu) | i);
#else
	for (int i = 0; i < 4; i++)
		((act *)(void *)to)[i] = act_of(v[i]);
#endif
}

static __device__ void load_four(const u8 *from, float v[4])
{
#if KIND == INT4
	for (int i = 0; i < 4; i++)
		v[i] = (float)((int)(*(const u16 *)(const void *)from >> 4 * i & 15) - 8);
#elif KIND == SPARSE
	for (u32 i = 0; i < 4; i++)
		v[i] = 0;
	for (u32 i = 0; i < 2; i++) {
		u16 both = ((const u16 *)(const void *)from)[i];

		v[both & 3] = float_of_half((u16)(both & 0xfffcu));
	}
#elif KIND == FP8
	for (int i = 0; i < 4; i++)
		v[i] = float_of_fp8(from[i]);
#elif KIND == INT8
	for (int i = 0; i < 4; i++)
		v[i] = (float)((const signed char *)from)[i];
#else
	for (int i = 0; i < 4; i++)
		v[i] = float_of_kept(((const act *)(const void *)from)[i]);
#endif
}

/* A matrix that is a piece of a whole one. */
struct piece {
	u8 *to;
	float *scales, bound;
	u32 tensor_hash, known, columns; /* rows from `known` on are zeros */
	u32 first, stride;		 /* its first number, of the whole, whose rows are so long */
};

static __device__ void fill_row(const struct piece *p, u32 row)
{
	u32 from = p->first + row * p->stride;
	float scale = 1, most = 0;

	for (u32 k = threadIdx.x; CODE_MOST > 0 && k < p->columns; k += blockDim.x)
		most = fmaxf(most, fabsf(p->bound * unit_of(p->tensor_hash, from + k)));
	if (CODE_MOST > 0)
		scale = most_of_block(most) / (CODE_MOST > 0 ? CODE_MOST : 1);
	if (threadIdx.x == 0)
		p->scales[row] = scale;
	for (u32 k = threadIdx.x; k < p->columns / 4; k += blockDim.x) {
		float v[4];

		for (u32 i = 0; i < 4; i++)
			v[i] = row < p->known ? p->bound * unit_of(p->tensor_hash, from + 4 * k + i) / scale : 0;
		store_four(p->to + ((u64)row * (p->columns / 4) + k) * FOUR_BYTES, v);
	}
}

/* A block takes a row. */
KERNEL void lab_decode_fill(u8 *to, float *scales, u32 tensor_hash, u32 rows, u32 known, u32 columns, u32 first,
	u32 stride, float bound, u32 kind)
{
	struct piece p = {to, scales, bound, tensor_hash, known, columns, first, stride};

	(void)kind; /* for the host */
	for (u32 row = blockIdx.x; row < rows; row += gridDim.x)
		fill_row(&p, row);
}

KERNEL void lab_decode_fill_floats(float *to, u32 tensor_hash, u32 count, u32 first, float bound)
{
	for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
		to[i] = bound * unit_of(tensor_hash, first + i);
}

/* Weights as the product takes them, 16 bits each; a block takes a row. */
KERNEL void lab_decode_expand(const u8 *from, const float *scales, u16 *to, u32 rows, u32 columns, u32 kind)
{
	(void)kind;
#if KIND == INT4 || KIND == SPARSE
	for (u32 row = blockIdx.x; row < rows; row += gridDim.x)
		for (u32 k = threadIdx.x; k < columns / 4; k += blockDim.x) {
			u64 place = (u64)row * (columns / 4) + k;
			float v[4];

			load_four(from + place * FOUR_BYTES, v);
			for (int i = 0; i < 4; i++)
				to[place * 4 + (u64)i] = half_of(v[i] * (KIND == INT4 ? scales[row] : 1));
		}
#else
	(void)from, (void)scales, (void)to, (void)rows, (void)columns;
#endif
}
