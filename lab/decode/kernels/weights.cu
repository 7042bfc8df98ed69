/* SPDX-License-Identifier: Apache-2.0 */
/* --- Numbers --- */

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

#if ACT_BYTES == 4
static __device__ act act_of(float value)
{
	return value;
}

static __device__ void store_two(act *to, float a, float b)
{
	to[0] = a;
	to[1] = b;
}

/* 8 neighbours as floats. */
static __device__ void load_eight(const act *from, float out[8])
{
	struct four a = load_fresh(from), b = load_fresh(from + 4);

	for (int i = 0; i < 4; i++) {
		out[i] = __uint_as_float(a.of[i]);
		out[4 + i] = __uint_as_float(b.of[i]);
	}
}
#else
#if WEIGHTS == BF16
static __device__ void unpack(u32 pair, float out[2])
{
	out[0] = __uint_as_float(pair << 16);
	out[1] = __uint_as_float(pair & 0xffff0000u);
}
#endif

static __device__ act act_of(float value)
{
	return (act)(pack(value, 0) & 0xffff);
}

static __device__ void store_two(act *to, float a, float b)
{
	*(u32 *)(void *)to = pack(a, b);
}

static __device__ void load_eight(const act *from, float out[8])
{
	struct four v = load_fresh(from);

	for (int i = 0; i < 4; i++)
		unpack(v.of[i], out + 2 * i);
}
#endif

/* Bits that are in order as the floats are. */
static __device__ u64 key_of(float logit, u32 token)
{
	u32 bits = __float_as_uint(logit), order = bits & 0x80000000u ? ~bits : bits | 0x80000000u;

	return (u64)order << 32 | (u32)~token;
}

static __device__ u64 key_of_lane(u64 key, int distance)
{
	u32 high = __shfl_xor_sync(0xffffffffu, (u32)(key >> 32), distance),
	    low = __shfl_xor_sync(0xffffffffu, (u32)key, distance);
	u64 other = (u64)high << 32 | low;

	return other > key ? other : key;
}

static __device__ float sum_of_warp(float value)
{
	for (int distance = 16; distance; distance /= 2)
		value += __shfl_xor_sync(0xffffffffu, value, distance);
	return value;
}

/* --- Weights --- */

/* Weights of 16 bytes as what the tensor instruction takes: two registers a unit and instruction. */
static __device__ void spread(const struct four w, int unit, u32 out[4])
{
#if WEIGHTS == INT8
	for (int i = 0; i < 2; i++) {
		u32 bytes = w.of[2 * unit + i] ^ 0x80808080u;

		out[2 * i] = subtract_halves(__byte_perm(bytes, 0x64646464u, 0x4140), 0x64806480u);
		out[2 * i + 1] = subtract_halves(__byte_perm(bytes, 0x64646464u, 0x4342), 0x64806480u);
	}
#elif WEIGHTS == FP8
	for (int i = 0; i < 4; i++)
		out[i] = halves_of_fp8(w.of[2 * unit + i / 2] >> 16 * (i % 2) & 0xffff);
#elif WEIGHTS == INT4
	for (int i = 0; i < 4; i++)
		out[i] = subtract_halves((w.of[unit] >> 4 * i & 0x000f000fu) | 0x64006400u, 0x64086408u);
#elif WEIGHTS == SPARSE
	for (int i = 0; i < 2; i++) {
		u32 pair = w.of[2 * unit + i];
		u64 four = (u64)(pair & 0xfffc) << 16 * (pair & 3) |
			(u64)(pair >> 16 & 0xfffc) << 16 * (pair >> 16 & 3);

		out[2 * i] = (u32)four;
		out[2 * i + 1] = (u32)(four >> 32);
	}
#else
	(void)unit;
	for (int i = 0; i < 4; i++)
		out[i] = w.of[i];
#endif
}

#if HAS_CROWDS
/* 8 neighbours of a row, of 16 bits or of 8. */
struct codes {
	u32 of[32 / EACH];
};

/* A lane's, of a tile's strip. Those of 8 bits lie by chunks of two strips, 16 bytes of a row together. */
static __device__ struct codes codes_load(const u8 *tile, u32 strip)
{
	u32 lane = threadIdx.x % 32;
	struct codes codes;
#if EACH == 8
	struct four all = load_weights(tile + strip * 512 + lane * 16);

	for (u32 i = 0; i < 4; i++)
		codes.of[i] = all.of[i];
#else
	load_weights_two(tile + strip / 2 * 512 + lane / 4 * 64 + strip % 2 * 32 + lane % 4 * 8, codes.of);
#endif
	return codes;
}

static __device__ void codes_spread(const struct codes *codes, u32 out[4])
{
	struct four all = {{0, 0, 0, 0}};

	for (u32 i = 0; i < 32 / EACH; i++)
		all.of[i] = codes->of[i];
	spread(all, 0, out);
}
#endif

#if WEIGHTS == FP32
/* Three products of the halves of either number's digits. */
static __device__ void product(float c[4], const u32 a[4], u32 b0, u32 b1)
{
	u32 high[4], low[4], b0_high = b0 & 0xffffe000u, b1_high = b1 & 0xffffe000u;

	for (int i = 0; i < 4; i++) {
		high[i] = a[i] & 0xffffe000u;
		low[i] = __float_as_uint(__uint_as_float(a[i]) - __uint_as_float(high[i]));
	}
	tensor(c, low, b0_high, b1_high);
	tensor(c, high, __float_as_uint(__uint_as_float(b0) - __uint_as_float(b0_high)),
		__float_as_uint(__uint_as_float(b1) - __uint_as_float(b1_high)));
	tensor(c, high, b0_high, b1_high);
}
#elif WEIGHTS == TF32
static __device__ void product(float c[4], const u32 a[4], u32 b0, u32 b1)
{
	const u32 rounded[4] = {round_tf32(a[0]), round_tf32(a[1]), round_tf32(a[2]), round_tf32(a[3])};

	tensor(c, rounded, round_tf32(b0), round_tf32(b1));
}
#else
#define product tensor
#endif

/* 16 bytes of the tokens g and g + 8 with one unit of weights. */
static __device__ void multiply(float c[4], const struct four *low, const struct four *high, const u32 b[4])
{
	for (int i = 0; i < 2; i++) {
		const u32 a[4] = {low->of[2 * i], high->of[2 * i], low->of[2 * i + 1], high->of[2 * i + 1]};

		product(c, a, b[2 * i], b[2 * i + 1]);
	}
}

/* The other way round: 16 bytes of the token g with one unit of weights of the rows g of two tiles. */
static __device__ void multiply_rows(float c[4], const struct four *token, const u32 one[4], const u32 two[4])
{
	for (int i = 0; i < 2; i++) {
		const u32 a[4] = {one[2 * i], two[2 * i], one[2 * i + 1], two[2 * i + 1]};

		product(c, a, token->of[2 * i], token->of[2 * i + 1]);
	}
}

static __device__ u32 first_row(int matrix)
{
	return matrix == ATTENTION     ? 0
		: matrix == PROJECTION ? 3 * MIXED
		: matrix == WIDENING   ? 3 * MIXED + WIDTH
				       : 3 * MIXED + WIDTH + INNER;
}

static __device__ u64 bytes_of(u64 weights)
{
	return weights / EACH * 16;
}

static __device__ const u8 *weights_of(const struct args *a, u32 layer, int matrix)
{
	u64 square = (u64)WIDTH * MIXED, wide = (u64)WIDTH * INNER, before;

	if (matrix == WORDS)
		return a->words + bytes_of((u64)a->first_word * WIDTH);
	before = matrix == ATTENTION ? 0 : matrix == PROJECTION ? 3 * square : 4 * square;
	if (matrix == NARROWING)
		before += wide;
	return a->layers + bytes_of(layer * (4 * square + 2 * wide) + before);
}

static __device__ const u8 *tile_of(const u8 *weights, u32 tile, u32 columns)
{
	return weights + (u64)tile * (columns / CHUNK) * 512;
}

/* The columns of a matrix are asked for into the second cache, before anybody needs them. */
static __device__ void ask_for(const struct args *a, u32 layer, int matrix)
{
	u64 weights = matrix == ATTENTION ? 3ull * WIDTH * MIXED
		: matrix == PROJECTION	  ? (u64)WIDTH * MIXED
					  : (u64)WIDTH * INNER;
	u64 step = (u64)gridDim.x * blockDim.x * 128, bytes = bytes_of(weights);
	const u8 *from;

	if (layer == a->layer_count) {
		matrix = WORDS; /* the first of them */
		bytes = bytes_of((u64)WIDTH * 5120);
		bytes = a->word_count < 5120 ? bytes_of((u64)WIDTH * a->word_count) : bytes;
	}
	from = weights_of(a, layer, matrix);
	for (u64 i = ((u64)blockIdx.x * blockDim.x + threadIdx.x) * 128; i < bytes; i += step)
		ask_line(from + i);
}

/* --- Making weights --- */

static __device__ float most_of_row(u32 hash, u32 place, u32 columns, float bound)
{
	u32 lane = threadIdx.x % 32;
	float most = 0;

	for (u32 k = lane; k < columns; k += 32)
		most = fmaxf(most, fabsf(bound * unit_of(hash, place + k)));
	for (int distance = 16; distance; distance /= 2)
		most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, distance));
	return most;
}

#if WEIGHTS == SPARSE
/* The two largest of four neighbours. */
static __device__ u32 largest_two(const float v[4])
{
	u32 out = 0, count = 0;

	for (u32 i = 0; i < 4; i++) {
		u32 larger = 0;

		for (u32 j = 0; j < 4; j++)
			larger += fabsf(v[j]) > fabsf(v[i]) || (fabsf(v[j]) == fabsf(v[i]) && j < i);
		if (larger < 2)
			out |= ((((pack(v[i], 0) & 0xffff) + 2) & 0xfffc) | i) << 16 * count++;
	}
	return out;
}
#endif

/* 16 bytes of neighbours. */
static __device__ void encode(const float *v, u32 out[4])
{
#if WEIGHTS == FP32 || WEIGHTS == TF32
	for (int i = 0; i < 4; i++)
		out[i] = __float_as_uint(v[i]);
#elif WEIGHTS == BF16 || WEIGHTS == FP16
	for (int i = 0; i < 4; i++)
		out[i] = pack(v[2 * i], v[2 * i + 1]);
#elif WEIGHTS == FP8
	for (int i = 0; i < 4; i++)
		out[i] = fp8_of(v[4 * i], v[4 * i + 1]) | fp8_of(v[4 * i + 2], v[4 * i + 3]) << 16;
#elif WEIGHTS == INT8
	for (int i = 0; i < 16; i++)
		out[i / 4] = (i % 4 ? out[i / 4] : 0) | ((u32)__float2int_rn(v[i]) & 0xff) << 8 * (i % 4);
#elif WEIGHTS == SPARSE
	for (int i = 0; i < 4; i++)
		out[i] = largest_two(v + 4 * i);
#else
	/* Neighbours lie 16 bits apart. */
	for (int i = 0; i < 32; i++)
		out[i / 8] = (i % 8 ? out[i / 8] : 0) |
			(u32)(__float2int_rn(v[i]) + 8) << (4 * (i % 8 / 2) + 16 * (i % 2));
#endif
}

#define CODE_MOST (WEIGHTS == INT8 ? 127.0f : WEIGHTS == INT4 ? 7.0f : WEIGHTS == FP8 ? 448.0f : 0.0f)

/* A warp makes a row of a piece of a matrix: its first number is at `first` of the whole, whose rows are
 * `stride` long. Rows from `known` on are zeros. */
KERNEL void kwhy_decode_fill(u8 *to, float *scales, u32 tensor_hash, u32 rows, u32 known, u32 columns,
	u32 first, u32 stride, float bound, u32 kind)
{
	u32 lane = threadIdx.x % 32, row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32,
	    from = first + row * stride;
	float scale = 1;

	(void)kind; /* for the host */
	if (row >= rows)
		return;
	if (CODE_MOST > 0)
		scale = most_of_row(tensor_hash, from, columns, bound) / CODE_MOST;
	if (lane == 0)
		scales[row] = scale;
	for (u32 k = lane * EACH; k < columns; k += 32 * EACH) {
		u64 place = ((u64)(row / 8) * (columns / CHUNK) + k / CHUNK) * 32 + row % 8 * 4 +
			k % CHUNK / EACH;
		float v[EACH];

		for (u32 i = 0; i < EACH; i++)
			v[i] = row < known ? bound * unit_of(tensor_hash, from + k + i) / scale : 0;
		encode(v, ((struct four *)(void *)to)[place].of);
	}
}

KERNEL void kwhy_decode_fill_floats(float *to, u32 tensor_hash, u32 count, u32 first, float bound)
{
	for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
		to[i] = bound * unit_of(tensor_hash, first + i);
}

/* As many neighbours as activations are in 16 bytes, of the table of tokens. */
static __device__ void load_word(const struct args *a, u32 token, u32 column, float out[UNIT])
{
	u64 place = ((u64)(token / 8) * (WIDTH / CHUNK) + column / CHUNK) * 32 + token % 8 * 4 +
		column % CHUNK / EACH;
	struct four codes = load_weights((const struct four *)(const void *)a->words + place);
#if ACT_BYTES == 4
	for (int i = 0; i < 4; i++)
		out[i] = __uint_as_float(codes.of[i]);
#else
	u32 pairs[4];

	spread(codes, (int)(column % EACH / UNIT), pairs);
	for (int i = 0; i < 4; i++)
		unpack(pairs[i], out + 2 * i);
	for (int i = 0; i < UNIT; i++)
		out[i] *= a->word_scales[token];
#endif
}
