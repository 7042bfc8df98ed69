/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each kernel repeats one kind of operation: arithmetic in registers, tensor instructions that one warp or
 * four warps execute, or reads and writes of memory. Data is pseudo-random from `seed`, since power depends
 * on the data. A thread does `rounds` rounds; bench/ops/rows.c says how much work a round is. A result is
 * written to `sink` only in a case that does not occur, so that the compiler can remove no work.
 */
#ifdef __cplusplus
#define KERNEL extern "C" __global__
#endif

typedef unsigned long long u64;
typedef unsigned int u32;

static __device__ u32 mix(u32 x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ (x >> 16);
}

static __device__ u32 random_of(u32 seed, u32 place)
{
	return mix(seed ^ mix((blockIdx.x * blockDim.x + threadIdx.x) * 64 + place));
}

static __device__ float unit_of(u32 seed, u32 place)
{
	return 1e-9f * (float)random_of(seed, place);
}

/*
 * Each thread rotates eight points (x, y) around the origin, so that values neither grow nor vanish. A round
 * is 16 fused multiply-adds of each thread.
 */
#define TURN(type, name)                                                                       \
	KERNEL void name(u32 seed, u32 rounds, type *sink)                                     \
	{                                                                                      \
		type x[8], y[8], step = (type)(0.5f + 1e-6f * (random_of(seed, 63) & 0xffff)), \
				 sum = 0;                                                      \
                                                                                               \
		for (int k = 0; k < 8; k++) {                                                  \
			x[k] = (type)unit_of(seed, k);                                         \
			y[k] = (type)unit_of(seed, 8 + k);                                     \
		}                                                                              \
		_Pragma("unroll 8") for (u32 i = 0; i < rounds; i++)                           \
			for (int k = 0; k < 8; k++) {                                          \
				x[k] = x[k] - step * y[k];                                     \
				y[k] = y[k] + step * x[k];                                     \
			}                                                                      \
		for (int k = 0; k < 8; k++)                                                    \
			sum += x[k] + y[k];                                                    \
		if (sum == (type)1.2345e30f)                                                   \
			*sink = sum;                                                           \
	}

TURN(float, kwhy_ops_fp32)
TURN(double, kwhy_ops_fp64)

/* A round is 16 integer multiply-adds of each thread. */
KERNEL void kwhy_ops_int32(u32 seed, u32 rounds, u32 *sink)
{
	u32 x[16], factor = random_of(seed, 62) | 1, sum = 0;

	for (int k = 0; k < 16; k++)
		x[k] = random_of(seed, k);
#pragma unroll 8
	for (u32 i = 0; i < rounds; i++)
		for (int k = 0; k < 16; k++)
			x[k] = x[k] * factor + seed;
	for (int k = 0; k < 16; k++)
		sum |= x[k] ^ 0x12345678;
	if (sum == 0)
		*sink = sum;
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 610
/*
 * A round is 16 dp4a instructions of each thread: each instruction adds four products of 8-bit integers to a
 * 32-bit sum.
 */
KERNEL void kwhy_ops_int8(u32 seed, u32 rounds, u32 *sink)
{
	int x[16], left = (int)random_of(seed, 62), sum = 0;

	for (int k = 0; k < 16; k++)
		x[k] = (int)random_of(seed, k);
#pragma unroll 8
	for (u32 i = 0; i < rounds; i++)
		for (int k = 0; k < 16; k++)
			x[k] = __dp4a(left, x[(k + 1) % 16], x[k]);
	for (int k = 0; k < 16; k++)
		sum |= x[k] ^ 0x12345678;
	if (sum == 0)
		*sink = (u32)sum;
}

/*
 * A round is 16 instructions (fma.rn.f16x2) of each thread, each of which does two fp16 fused multiply-adds.
 */
KERNEL void kwhy_ops_fp16(u32 seed, u32 rounds, u32 *sink)
{
	u32 x[16], step = 0x38003800u | (random_of(seed, 62) & 0x00ff00ffu), add = 0x2e662e66u, sum = 0;

	for (int k = 0; k < 16; k++)
		x[k] = 0x3c003c00u | (random_of(seed, k) & 0x03ff03ffu);
#pragma unroll 8
	for (u32 i = 0; i < rounds; i++)
		for (int k = 0; k < 16; k++)
			asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(x[k]) : "r"(step), "r"(add));
	for (int k = 0; k < 16; k++)
		sum |= x[k] ^ 0x12345678;
	if (sum == 0)
		*sink = sum;
}
#endif

/*
 * Packed random operands of the tensor instructions. KEEP is the mask of the random bits: sign, mantissa and
 * lowest bit of the exponent. SET is the rest of the exponent. Magnitudes thus lie from 1/8 to below 1/2
 * (fp8: from 1/2 to below 2), as in normalised data. With random exponents most values would be tiny, which
 * takes less power.
 */
static __device__ u32 operand_of(u32 seed, u32 place, u32 keep, u32 set)
{
	return (random_of(seed, place) & keep) | set;
}

#define BF16_KEEP 0x80ff80ffu
#define BF16_SET 0x3e003e00u
#define FP16_KEEP 0x87ff87ffu
#define FP16_SET 0x30003000u
#define TF32_KEEP 0x80ffffffu
#define TF32_SET 0x3e000000u
#define FP8_KEEP 0x8f8f8f8fu
#define FP8_SET 0x30303030u

/*
 * A round is 8 tensor instructions of each warp. Instruction k of a round adds a product of matrices to the
 * tile of sums c[k]. In four successive rounds, every tile adds the products A0 B, A1 B, A0 (-B) and A1 (-B),
 * so that sums neither grow nor vanish. FLIP is the mask of the sign bits in a register of B. `rounds` is a
 * multiple of four.
 */
#define TENSOR(name, number, letter, shape, KEEP, SET, FLIP)                                                   \
	KERNEL void name(u32 seed, u32 rounds, number *sink)                                                    \
	{                                                                                                       \
		u32 a[2][4], b[2];                                                                              \
		number c[8][4], sum = 0;                                                                        \
                                                                                                                \
		for (int k = 0; k < 4; k++) {                                                                   \
			a[0][k] = operand_of(seed, k, KEEP, SET);                                               \
			a[1][k] = operand_of(seed, 8 + k, KEEP, SET);                                           \
		}                                                                                               \
		for (int k = 0; k < 2; k++)                                                                     \
			b[k] = operand_of(seed, 4 + k, KEEP, SET);                                              \
		for (int k = 0; k < 8; k++)                                                                     \
			for (int j = 0; j < 4; j++)                                                             \
				c[k][j] = 0;                                                                    \
		for (u32 i = 0; i < rounds; i += 4)                                                             \
			_Pragma("unroll") for (int q = 0; q < 32; q++)                                          \
			{                                                                                       \
				u32 signs = q & 16 ? FLIP : 0, *from = a[q >> 3 & 1];                           \
				int k = q & 7;                                                                  \
                                                                                                                \
				asm volatile("mma.sync.aligned." shape                                          \
					     " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
					     : "+" letter(c[k][0]), "+" letter(c[k][1]), "+" letter(c[k][2]),   \
					     "+" letter(c[k][3])                                                \
					     : "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3]),          \
					     "r"(b[0] ^ signs), "r"(b[1] ^ signs));                             \
			}                                                                                       \
		for (int k = 0; k < 8; k++)                                                                     \
			for (int j = 0; j < 4; j++)                                                             \
				sum += c[k][j];                                                                 \
		if (sum == (number)12345678)                                                                    \
			*sink = sum;                                                                            \
	}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
/*
 * Tensor instructions of Hopper (wgmma), each executed by four warps. A round is one instruction, in which
 * each warp computes as many products as in a round of TENSOR(). Each instruction adds to 64 x 64 sums in
 * registers; A is in registers, and B (64 columns of 32 bytes) in shared memory. Four successive instructions
 * add A0 B, A1 B, -A0 B and -A1 B: PLUS and MINUS are the last immediate operands of the instruction, which
 * begin with the factor of A (1 or -1). `rounds` is a multiple of 16.
 */
#define SUMS(c)                                                                                                \
	"+" c(s[0]), "+" c(s[1]), "+" c(s[2]), "+" c(s[3]), "+" c(s[4]), "+" c(s[5]), "+" c(s[6]),             \
		"+" c(s[7]), "+" c(s[8]), "+" c(s[9]), "+" c(s[10]), "+" c(s[11]), "+" c(s[12]), "+" c(s[13]), \
		"+" c(s[14]), "+" c(s[15]), "+" c(s[16]), "+" c(s[17]), "+" c(s[18]), "+" c(s[19]),            \
		"+" c(s[20]), "+" c(s[21]), "+" c(s[22]), "+" c(s[23]), "+" c(s[24]), "+" c(s[25]),            \
		"+" c(s[26]), "+" c(s[27]), "+" c(s[28]), "+" c(s[29]), "+" c(s[30]), "+" c(s[31])
#define WIDE_PRODUCT(letter, shape, factors, from)                                                             \
	asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned." shape                \
		     " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, " \
		     "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "                      \
		     "{%32, %33, %34, %35}, %36, p" factors "; }"                                              \
		     : SUMS(letter)                                                                            \
		     : "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3]), "l"(b_place))
#define TENSOR_WIDE(name, number, letter, shape, PLUS, MINUS, KEEP, SET)                                       \
	KERNEL void name(u32 seed, u32 rounds, number *sink)                                                   \
	{                                                                                                      \
		__shared__ __align__(128) u32 b[512];                                                          \
		u32 a[2][4];                                                                                   \
		number s[32], sum = 0;                                                                         \
		u64 b_place;                                                                                   \
                                                                                                               \
		for (int k = threadIdx.x; k < 512; k += blockDim.x)                                            \
			b[k] = operand_of(seed, 16 + k / blockDim.x, KEEP, SET);                               \
		for (int k = 0; k < 4; k++) {                                                                  \
			a[0][k] = operand_of(seed, k, KEEP, SET);                                              \
			a[1][k] = operand_of(seed, 8 + k, KEEP, SET);                                          \
		}                                                                                              \
		for (int k = 0; k < 32; k++)                                                                   \
			s[k] = 0;                                                                              \
		/*
		 * b_place is the matrix descriptor of B, with addresses in units of 16 bytes. B is stored in
		 * tiles of 8 columns x 16 bytes. The next 16 bytes of these columns are 128 bytes further, the
		 * next 8 columns 256 bytes further.
		 */ \
		b_place = (u64)(__cvta_generic_to_shared(b) >> 4) | (u64)(128 >> 4) << 16 |                    \
			(u64)(256 >> 4) << 32;                                                                 \
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                                   \
		__syncthreads();                                                                               \
		for (u32 i = 0; i < rounds; i += 16) {                                                         \
			asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                                \
			_Pragma("unroll") for (int q = 0; q < 4; q++)                                          \
			{                                                                                      \
				WIDE_PRODUCT(letter, shape, PLUS, a[0]);                                       \
				WIDE_PRODUCT(letter, shape, PLUS, a[1]);                                       \
				WIDE_PRODUCT(letter, shape, MINUS, a[0]);                                      \
				WIDE_PRODUCT(letter, shape, MINUS, a[1]);                                      \
			}                                                                                      \
			asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" :::   \
					     "memory");                                                        \
		}                                                                                              \
		for (int k = 0; k < 32; k++)                                                                   \
			sum += s[k];                                                                           \
		if (sum == (number)12345678)                                                                   \
			*sink = sum;                                                                           \
	}

#define FLOAT_SUM(x) "f"(x)
#define WHOLE_SUM(x) "r"(x)
TENSOR_WIDE(kwhy_ops_bf16_tensor, float, FLOAT_SUM, "m64n64k16.f32.bf16.bf16", ", 1, 1, 0", ", -1, 1, 0", BF16_KEEP,
	BF16_SET)
TENSOR_WIDE(kwhy_ops_fp16_tensor, float, FLOAT_SUM, "m64n64k16.f32.f16.f16", ", 1, 1, 0", ", -1, 1, 0", FP16_KEEP,
	FP16_SET)
TENSOR_WIDE(kwhy_ops_tf32_tensor, float, FLOAT_SUM, "m64n64k8.f32.tf32.tf32", ", 1, 1", ", -1, 1", TF32_KEEP,
	TF32_SET)
TENSOR_WIDE(kwhy_ops_fp8_tensor, float, FLOAT_SUM, "m64n64k32.f32.e4m3.e4m3", ", 1, 1", ", -1, 1", FP8_KEEP,
	FP8_SET)
TENSOR_WIDE(kwhy_ops_int8_tensor, int, WHOLE_SUM, "m64n64k32.s32.s8.s8", "", "", 0xffffffffu, 0) /* integer sums wrap */
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
TENSOR(kwhy_ops_bf16_tensor, float, "f", "m16n8k16.row.col.f32.bf16.bf16.f32", BF16_KEEP, BF16_SET, 0x80008000u)
TENSOR(kwhy_ops_fp16_tensor, float, "f", "m16n8k16.row.col.f32.f16.f16.f32", FP16_KEEP, FP16_SET, 0x80008000u)
TENSOR(kwhy_ops_tf32_tensor, float, "f", "m16n8k8.row.col.f32.tf32.tf32.f32", TF32_KEEP, TF32_SET, 0x80000000u)
TENSOR(kwhy_ops_int8_tensor, int, "r", "m16n8k32.row.col.s32.s8.s8.s32", 0xffffffffu, 0, 0) /* integer sums wrap */
/*
 * Only architectures 89 and from 120 on have this fp8 instruction. For other architectures the compiler would
 * replace the instruction by conversions to fp16 and fp16 products, and would remove those that repeat, so
 * the kernel is left out.
 */
#if __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200
TENSOR(kwhy_ops_fp8_tensor, float, "f", "m16n8k32.row.col.f32.e4m3.e4m3.f32", FP8_KEEP, FP8_SET, 0x80808080u)
#endif
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
/* A round is 8 tensor instructions of a warp, each with 8 x 8 x 4 products. */
KERNEL void kwhy_ops_fp64_tensor(u32 seed, u32 rounds, double *sink)
{
	double a = unit_of(seed, 0), b = unit_of(seed, 1), c[8][2], sum = 0;

	for (int k = 0; k < 8; k++)
		c[k][0] = c[k][1] = 0;
#pragma unroll 8
	for (u32 i = 0; i < rounds; i++)
		for (int k = 0; k < 8; k++)
			asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
				     : "+d"(c[k][0]), "+d"(c[k][1])
				     : "d"(a), "d"(b));
	for (int k = 0; k < 8; k++)
		sum += c[k][0] + c[k][1];
	if (sum == 1.2345e30)
		*sink = sum;
}
#endif


/* Loads 16 bytes, bypassing the first-level cache. The compiler may not merge or omit these loads. */
static __device__ u32 load(const uint4 *from)
{
#ifdef __CUDA_ARCH__
	uint4 value;

	asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
		     : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
		     : "l"(from));
	return value.x ^ value.y ^ value.z ^ value.w;
#else
	return *(const volatile u32 *)from;
#endif
}

static __device__ u64 first_word(void)
{
	return (u64)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ u64 word_count(void)
{
	return (u64)gridDim.x * blockDim.x;
}

KERNEL void kwhy_ops_fill(u32 seed, uint4 *to, u64 count)
{
	for (u64 i = first_word(); i < count; i += word_count()) {
		u32 low = (u32)i * 4;
		uint4 value = {mix(seed ^ mix(low)), mix(seed ^ mix(low + 1)), mix(seed ^ mix(low + 2)),
			mix(seed ^ mix(low + 3))};

		to[i] = value;
	}
}

KERNEL void kwhy_ops_read(u32 rounds, const uint4 *from, u64 count, u32 *sink)
{
	u32 sum = 0;

	for (u32 k = 0; k < rounds; k++)
		for (u64 i = first_word(); i < count; i += word_count())
			sum |= load(from + i);
	if (sum == 0)
		*sink = sum;
}

KERNEL void kwhy_ops_write(u32 rounds, uint4 *to, u64 count, u32 seed)
{
	uint4 value = {mix(seed), mix(seed + 1), mix(seed + 2), mix(seed + 3)};

	for (u32 k = 0; k < rounds; k++)
		for (u64 i = first_word(); i < count; i += word_count()) {
			value.x += (u32)i;
			to[i] = value;
		}
}

KERNEL void kwhy_ops_copy(u32 rounds, const uint4 *from, uint4 *to, u64 count)
{
	for (u32 k = 0; k < rounds; k++)
		for (u64 i = first_word(); i < count; i += word_count())
			to[i] = from[i];
}

KERNEL void kwhy_ops_nothing(u32 seed)
{
	(void)seed;
}
