/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of the workload `decode` (docs/decode.md). A warp multiplies 8 rows of weights with 16 tokens
 * by its tensor instruction. Weights lie as the warp takes them: of 8 rows, 16 bytes for each lane, one
 * behind the other; which columns an instruction takes as neighbours is free as long as weights and tokens
 * agree, so that every lane loads 16 bytes of either and nothing is moved between lanes.
 *
 * Compiled for one kind of weights and one width. WEIGHTS: as enum kwhy_decode_weights. GPUs without such an
 * instruction get nothing: they are refused before.
 */
#if !defined(__cplusplus) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800)
#ifdef __cplusplus
#define KERNEL extern "C" __global__
#define ROOM(name) extern __shared__ struct four name[]
#endif

typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;

#define FP32 0
#define TF32 1
#define BF16 2
#define FP16 3
#define FP8 4
#define INT8 5
#define INT4 6

#ifndef WEIGHTS
#define WEIGHTS BF16
#define WIDTH 768
#define INNER 3072
#endif

#if WEIGHTS == FP32 || WEIGHTS == TF32
typedef float act; /* an activation */
#define ACT_BYTES 4
#define EACH 4 /* weights in 16 bytes */
#else
typedef u16 act;
#define ACT_BYTES 2
#define EACH (WEIGHTS == INT4 ? 32 : WEIGHTS == INT8 || WEIGHTS == FP8 ? 16 : 8)
#endif

enum {
	HEAD = 64,
	HEADS = WIDTH / HEAD,
	CHUNK = 4 * EACH,	       /* columns that a warp takes at once */
	UNITS = EACH * ACT_BYTES / 16, /* times 16 bytes of activations to 16 bytes of weights */
	UNIT = 16 / ACT_BYTES,	       /* activations in 16 bytes */
	ROWS = 5 * WIDTH + INNER,      /* of a layer's matrices */
	FEW = 16,		       /* tokens that thin kernels take */
	MANY = 64,		       /* tokens of a block of a wide one */
	FEW_THREADS = 256,
	MANY_THREADS = 128,
	NARROW_THREADS = 512, /* columns of the inner layer are four times as many */
	WARPS_MOST = 16,
	SHARES_MOST = 8,
	SPLITS_MOST = 8,
	STAGES = 4,
	STAGE_CHUNKS = UNITS == 1 ? 2 : 1,
	STEP = STAGE_CHUNKS * CHUNK, /* columns of a stage */
	PAD = 64 / ACT_BYTES,	     /* behind a token in shared memory, for its banks */
	PIECE = HEAD + 2 /* of attention to some of the tokens: its sums, their weight, the most */
};

/* As struct kwhy_decode_args of workload/decode_device.h. */
struct args {
	const u8 *layers;	       /* weights, a layer behind the other */
	const float *scales;	       /* [layer_count][ROWS] */
	const float *biases;	       /* [layer_count][ROWS] */
	const u8 *words;	       /* weights [vocabulary, rounded up][WIDTH] */
	const float *word_scales;      /* [vocabulary, rounded up] */
	const float *places;	       /* [positions][WIDTH] */
	act *keys, *values;	       /* [layer_count][cache_slots][HEADS][room][HEAD] */
	float *x;		       /* [tokens][WIDTH] */
	act *normal, *queries, *mixed; /* [tokens][WIDTH] */
	act *inner;		       /* [tokens][INNER] */
	float *parts;		       /* [splits][tokens][WIDTH] */
	float *pieces;		       /* [tokens][HEADS][shares][PIECE] */
	u64 *best;	   /* [slots] the likeliest token: its logit's bits in order, then ~token */
	u32 *at;	   /* [slots] the position that a slot is at */
	const u32 *prompt; /* [slots][each] */
	u32 *chosen;	   /* [slots][room] the token of every position */
	float *logits;	   /* [slots][vocabulary]; 0: nobody asks */
	u64 *times;	   /* [room] when the first slot came to a position, ns */
	u32 *arrived;	   /* blocks at the barrier */
	u32 layer_count, slots, room, vocabulary;
	u32 cache_slots;  /* that keys and values have room for */
	u32 tokens, each; /* in hand; of a slot: 1, or of a whole prompt from position 0 on */
	u32 shares;	  /* blocks that share a head's attention */
	u32 project_splits, narrow_splits; /* of a wide product's columns */
	u32 top_k, seed;		   /* of choosing: the likeliest k, 0: all */
	float top_p, temperature;     /* and as few as have this share together; 0 degrees: the likeliest */
	u32 kind, width, inner_width; /* of the host's kernels; here they are WEIGHTS, WIDTH and INNER */
};

struct __attribute__((aligned(16))) four {
	u32 of[4];
};

enum matrix { ATTENTION, PROJECTION, WIDENING, NARROWING, WORDS };

/* --- What C has no words for --- */

#ifdef __cplusplus
/* Weights: nobody writes them, nobody reads them twice. */
static __device__ struct four load_weights(const void *from)
{
	struct four v;

	asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
		: "=r"(v.of[0]), "=r"(v.of[1]), "=r"(v.of[2]), "=r"(v.of[3])
		: "l"(from));
	return v;
}

/* What other blocks may have written since: past the first cache. */
static __device__ struct four load_fresh(const void *from)
{
	struct four v;

	asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
		     : "=r"(v.of[0]), "=r"(v.of[1]), "=r"(v.of[2]), "=r"(v.of[3])
		     : "l"(from)
		     : "memory");
	return v;
}

static __device__ struct four load_shared(const struct four *from)
{
	uint4 v = *(const uint4 *)from;
	struct four result = {{v.x, v.y, v.z, v.w}};

	return result;
}

static __device__ void ask_line(const u8 *from)
{
	asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
}

/* The kernel behind this one may begin; what is before this one has ended. */
static __device__ void let_next_begin(void)
{
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

static __device__ void await_previous(void)
{
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

static __device__ void copy_async(struct four *to, const void *from)
{
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((u32)__cvta_generic_to_shared(to)),
		     "l"(from)
		     : "memory");
}

static __device__ void copy_end_stage(void)
{
	asm volatile("cp.async.commit_group;" ::: "memory");
}

/* All stages but the last STAGES - 2 are there. */
static __device__ void copy_await(void)
{
	asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
}

#if WEIGHTS == FP32 || WEIGHTS == TF32
static __device__ void tensor(float c[4], const u32 a[4], u32 b0, u32 b1)
{
	asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
		     "{%8, %9}, {%0, %1, %2, %3};"
		     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ u32 round_tf32(u32 bits)
{
	u32 result;

	asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(result) : "f"(__uint_as_float(bits)));
	return result;
}
#else
#if WEIGHTS == BF16
#define HALF "bf16"
#else
#define HALF "f16"
#endif
static __device__ void tensor(float c[4], const u32 a[4], u32 b0, u32 b1)
{
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." HALF "." HALF ".f32 {%0, %1, %2, %3}, "
		     "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ u32 pack(float low, float high)
{
	u32 result;

	asm("cvt.rn." HALF "x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
	return result;
}
#if WEIGHTS != BF16
static __device__ void unpack(u32 pair, float out[2])
{
	asm("{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}"
		: "=f"(out[0]), "=f"(out[1])
		: "r"(pair));
}

static __device__ u32 subtract_halves(u32 a, u32 b)
{
	u32 result;

	asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
	return result;
}
#endif
#if WEIGHTS == FP8
static __device__ u32 halves_of_fp8(u32 pair)
{
	u32 result;

	asm("{.reg .b16 p; cvt.u16.u32 p, %1; cvt.rn.f16x2.e4m3x2 %0, p;}" : "=r"(result) : "r"(pair));
	return result;
}

static __device__ u32 fp8_of(float low, float high)
{
	u32 result;

	asm("{.reg .b16 p; cvt.rn.satfinite.e4m3x2.f32 p, %1, %2; cvt.u32.u16 %0, p;}"
		: "=r"(result)
		: "f"(high), "f"(low));
	return result;
}
#endif
#endif

static __device__ float exp_two(float value)
{
	return exp2f(value);
}

static __device__ u64 now_ns(void)
{
	u64 ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}
#endif

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
#else
	(void)unit;
	for (int i = 0; i < 4; i++)
		out[i] = w.of[i];
#endif
}

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

static __device__ u32 first_row(int matrix)
{
	return matrix == ATTENTION     ? 0
		: matrix == PROJECTION ? 3 * WIDTH
		: matrix == WIDENING   ? 4 * WIDTH
				       : 4 * WIDTH + INNER;
}

static __device__ u64 bytes_of(u64 weights)
{
	return weights / EACH * 16;
}

static __device__ const u8 *weights_of(const struct args *a, u32 layer, int matrix)
{
	u64 square = (u64)WIDTH * WIDTH, wide = (u64)WIDTH * INNER, before;

	if (matrix == WORDS)
		return a->words;
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
	u64 weights = matrix == ATTENTION ? 3ull * WIDTH * WIDTH
		: matrix == PROJECTION	  ? (u64)WIDTH * WIDTH
					  : (u64)WIDTH * INNER;
	u64 step = (u64)gridDim.x * blockDim.x * 128, bytes = bytes_of(weights);
	const u8 *from;

	if (layer == a->layer_count) {
		matrix = WORDS; /* the first of them */
		bytes = bytes_of((u64)WIDTH * 5120);
		bytes = a->vocabulary < 5120 ? bytes_of((u64)WIDTH * a->vocabulary) : bytes;
	}
	from = weights_of(a, layer, matrix);
	for (u64 i = ((u64)blockIdx.x * blockDim.x + threadIdx.x) * 128; i < bytes; i += step)
		ask_line(from + i);
}

/* --- Making weights --- */

static __device__ float most_of_row(u32 hash, u32 row, u32 columns, float bound)
{
	u32 lane = threadIdx.x % 32;
	float most = 0;

	for (u32 k = lane; k < columns; k += 32)
		most = fmaxf(most, fabsf(bound * unit_of(hash, row * columns + k)));
	for (int distance = 16; distance; distance /= 2)
		most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, distance));
	return most;
}

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
#else
	/* Neighbours lie 16 bits apart. */
	for (int i = 0; i < 32; i++)
		out[i / 8] = (i % 8 ? out[i / 8] : 0) |
			(u32)(__float2int_rn(v[i]) + 8) << (4 * (i % 8 / 2) + 16 * (i % 2));
#endif
}

#define CODE_MOST (WEIGHTS == INT8 ? 127.0f : WEIGHTS == INT4 ? 7.0f : WEIGHTS == FP8 ? 448.0f : 0.0f)

/* A warp makes a row. Rows from `known` on are zeros. */
KERNEL void kwhy_decode_fill(
	u8 *to, float *scales, u32 tensor_hash, u32 rows, u32 known, u32 columns, float bound, u32 kind)
{
	u32 lane = threadIdx.x % 32, row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
	float scale = 1;

	(void)kind; /* for the host */
	if (row >= rows)
		return;
	if (CODE_MOST > 0)
		scale = most_of_row(tensor_hash, row, columns, bound) / CODE_MOST;
	if (lane == 0)
		scales[row] = scale;
	for (u32 k = lane * EACH; k < columns; k += 32 * EACH) {
		u64 place = ((u64)(row / 8) * (columns / CHUNK) + k / CHUNK) * 32 + row % 8 * 4 +
			k % CHUNK / EACH;
		float v[EACH];

		for (u32 i = 0; i < EACH; i++)
			v[i] = row < known ? bound * unit_of(tensor_hash, row * columns + k + i) / scale : 0;
		encode(v, ((struct four *)(void *)to)[place].of);
	}
}

KERNEL void kwhy_decode_fill_floats(float *to, u32 tensor_hash, u32 count, float bound)
{
	for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
		to[i] = bound * unit_of(tensor_hash, i);
}

/* One weight, for the table of tokens. */
static __device__ float word_of(const struct args *a, u32 token, u32 column)
{
	u64 place = ((u64)(token / 8) * (WIDTH / CHUNK) + column / CHUNK) * 32 + token % 8 * 4 +
		column % CHUNK / EACH;
	const struct four *words = (const struct four *)(const void *)a->words + place;
	u32 i = column % EACH;
#if ACT_BYTES == 4
	return __uint_as_float(words->of[i]);
#else
	float pair[2];
	u32 codes[4];

	spread(load_weights(words), (int)(i / 8), codes);
	unpack(codes[i % 8 / 2], pair);
	return pair[i % 2] * a->word_scales[token];
#endif
}

/* --- Waiting --- */

#ifndef WAIT
#define WAIT
#endif

/* All blocks run at once. */
static __device__ void barrier(const struct args *a, u32 *round)
{
	__syncthreads();
	++*round;
	if (threadIdx.x == 0) {
		__threadfence();
		atomicAdd(a->arrived, 1);
		while (*(volatile u32 *)a->arrived < *round * gridDim.x)
			WAIT;
		__threadfence();
	}
	__syncthreads();
}

/*
 * Kernels begin while the one before them still runs. What they do before this is the same whatever that
 * does: they load weights. In one launch of all steps (`round` is not 0) blocks meet here instead.
 */
static __device__ void await(const struct args *a, u32 *round)
{
	if (round)
		barrier(a, round);
	else
		await_previous();
}

/* --- Where a token is --- */

static __device__ u32 slot_of(const struct args *a, u32 token)
{
	return token / a->each;
}

static __device__ u32 position_of(const struct args *a, u32 token)
{
	return a->each == 1 ? *(volatile u32 *)(a->at + token) : token % a->each;
}

/* What begins a run of tokens: each slot is at `at`, and its next token is `first`, as a key. */
KERNEL void kwhy_decode_reset(const struct args a, u32 at, const u64 *first)
{
	u32 slot = blockIdx.x * blockDim.x + threadIdx.x;

	if (slot == 0)
		*a.arrived = 0;
	if (slot >= a.slots)
		return;
	a.at[slot] = at;
	a.best[slot] = first ? first[slot] : 0;
}

static __device__ void begin_token(const struct args *a, u32 token)
{
	u32 slot = slot_of(a, token), word, position;

	if (a->each == 1) {
		word = ~(u32) * (volatile u64 *)(a->best + slot);
		position = *(volatile u32 *)(a->at + slot) + 1;
		__syncthreads();
		if (threadIdx.x == 0) {
			a->best[slot] = 0;
			a->at[slot] = position;
			if (token == 0)
				a->times[position] = now_ns();
		}
	} else {
		word = a->prompt[token];
		position = token % a->each;
	}
	if (threadIdx.x == 0)
		a->chosen[(u64)slot * a->room + position] = word;
	for (u32 k = threadIdx.x; k < WIDTH; k += blockDim.x)
		a->x[(u64)token * WIDTH + k] = word_of(a, word, k) + a->places[(u64)position * WIDTH + k];
	__syncthreads();
}

static __device__ void begin_all(const struct args *a, u32 *round)
{
	ask_for(a, 0, ATTENTION);
	await(a, round);
	for (u32 token = blockIdx.x; token < a->tokens; token += gridDim.x)
		begin_token(a, token);
}

KERNEL void kwhy_decode_begin(const struct args a)
{
	let_next_begin();
	begin_all(&a, 0);
}

/* --- Normalising --- */

#define QUADS (WIDTH / 128) /* times 4 numbers that a lane has of a row */

static __device__ void load_row(const float *from, float v[QUADS][4])
{
	u32 lane = threadIdx.x % 32;

#pragma unroll
	for (int i = 0; i < QUADS; i++) {
		struct four quad = load_fresh(from + i * 128 + lane * 4);

		for (int j = 0; j < 4; j++)
			v[i][j] = __uint_as_float(quad.of[j]);
	}
}

static __device__ void normalise(float v[QUADS][4], act *to)
{
	u32 lane = threadIdx.x % 32;
	float sum = 0, squares = 0, scale;

#pragma unroll
	for (int i = 0; i < QUADS; i++)
		for (int j = 0; j < 4; j++)
			sum += v[i][j];
	sum = sum_of_warp(sum) / WIDTH;
#pragma unroll
	for (int i = 0; i < QUADS; i++)
		for (int j = 0; j < 4; j++)
			squares += (v[i][j] - sum) * (v[i][j] - sum);
	scale = 1 / sqrtf(sum_of_warp(squares) / WIDTH + 1e-5f);
#pragma unroll
	for (int i = 0; i < QUADS; i++)
		for (int j = 0; j < 4; j += 2)
			store_two(to + i * 128 + lane * 4 + j, (v[i][j] - sum) * scale,
				(v[i][j + 1] - sum) * scale);
}

/* --- Attention --- */

/* What a lane has summed up: of 8 columns of a head. */
struct mixture {
	float most, weight, sums[8];
};

static __device__ void mixture_scale(struct mixture *m, float most)
{
	float factor = exp_two(m->most - most);

	m->most = most;
	m->weight *= factor;
	for (int i = 0; i < 8; i++)
		m->sums[i] *= factor;
}

static __device__ void mixture_join(struct mixture *m, int distance)
{
	float most = fmaxf(m->most, __shfl_xor_sync(0xffffffffu, m->most, distance));

	mixture_scale(m, most);
	m->weight += __shfl_xor_sync(0xffffffffu, m->weight, distance);
	for (int i = 0; i < 8; i++)
		m->sums[i] += __shfl_xor_sync(0xffffffffu, m->sums[i], distance);
}

/* 16 positions from `first` on, 4 for each quarter of a warp; those from `count` on are none. */
static __device__ void mix_some(
	struct mixture *m, const float query[8], const act *keys, const act *values, u32 first, u32 count)
{
	u32 lane = threadIdx.x % 32, column = lane % 8 * 8;
	float key[4][8], value[4][8], scores[4], most = m->most;

#pragma unroll
	for (u32 i = 0; i < 4; i++) {
		u32 place = first + i * 4 + lane / 8, known = place < count ? place : count - 1;

		load_eight(keys + (u64)known * HEAD + column, key[i]);
		load_eight(values + (u64)known * HEAD + column, value[i]);
	}
#pragma unroll
	for (u32 i = 0; i < 4; i++) {
		scores[i] = 0;
		for (int j = 0; j < 8; j++)
			scores[i] += query[j] * key[i][j];
		for (int distance = 1; distance < 8; distance *= 2)
			scores[i] += __shfl_xor_sync(0xffffffffu, scores[i], distance);
		most = first + i * 4 + lane / 8 < count ? fmaxf(most, scores[i]) : most;
	}
	mixture_scale(m, most);
#pragma unroll
	for (u32 i = 0; i < 4; i++) {
		float share = first + i * 4 + lane / 8 < count ? exp_two(scores[i] - most) : 0;

		m->weight += share;
		for (int j = 0; j < 8; j++)
			m->sums[j] += share * value[i][j];
	}
}

/* The mixtures of a block's warps become one: out[HEAD] sums, then their weight and the most. */
static __device__ void join_warps(const struct mixture *m, float (*all)[PIECE])
{
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;

	if (lane < 8)
		for (int i = 0; i < 8; i++)
			all[warp][lane * 8 + i] = m->sums[i];
	if (lane == 0) {
		all[warp][HEAD] = m->weight;
		all[warp][HEAD + 1] = m->most;
	}
	__syncthreads();
}

/* Column `column` of `count` pieces together; column HEAD: their weight. */
static __device__ float join_pieces(const float *pieces, u32 count, u32 column, float most)
{
	float sum = 0;

	for (u32 i = 0; i < count; i++)
		sum += pieces[i * PIECE + column] * exp_two(pieces[i * PIECE + HEAD + 1] - most);
	return sum;
}

static __device__ float most_of_pieces(const float *pieces, u32 count)
{
	float most = pieces[HEAD + 1];

	for (u32 i = 1; i < count; i++)
		most = fmaxf(most, pieces[i * PIECE + HEAD + 1]);
	return most;
}

/* A share of one head of one token. */
static __device__ void attend(const struct args *a, u32 layer, u32 token, u32 head, u32 share)
{
	__shared__ float all[WARPS_MOST][PIECE];
	u32 warps = blockDim.x / 32, lane = threadIdx.x % 32, count = position_of(a, token) + 1;
	u64 cache = (((u64)layer * a->cache_slots + slot_of(a, token)) * HEADS + head) * a->room * HEAD;
	struct mixture m = {-1e30f, 0, {0}};
	float query[8], most;

	load_eight(a->queries + (u64)token * WIDTH + head * HEAD + lane % 8 * 8, query);
	for (int i = 0; i < 8; i++)
		query[i] *= 0.125f * 1.44269504f; /* of the head's width; to powers of 2 */
	for (u32 first = (share * warps + threadIdx.x / 32) * 16; first < count;
		first += a->shares * warps * 16)
		mix_some(&m, query, a->keys + cache, a->values + cache, first, count);
	mixture_join(&m, 8);
	mixture_join(&m, 16);
	join_warps(&m, all);
	most = most_of_pieces(all[0], warps);
	if (a->shares == 1 && threadIdx.x < HEAD)
		a->mixed[(u64)token * WIDTH + head * HEAD + threadIdx.x] = act_of(
			join_pieces(all[0], warps, threadIdx.x, most) /
			join_pieces(all[0], warps, HEAD, most));
	else if (a->shares > 1 && threadIdx.x < PIECE)
		a->pieces[(((u64)token * HEADS + head) * a->shares + share) * PIECE + threadIdx.x] =
			threadIdx.x <= HEAD ? join_pieces(all[0], warps, threadIdx.x, most) : most;
	__syncthreads();
}

static __device__ void attend_all(const struct args *a, u32 layer, u32 *round)
{
	u32 units = a->tokens * HEADS * a->shares;

	ask_for(a, layer, WIDENING);
	await(a, round);
	for (u32 unit = blockIdx.x; unit < units; unit += gridDim.x)
		attend(a, layer, unit / a->shares / HEADS, unit / a->shares % HEADS, unit % a->shares);
}

KERNEL void __launch_bounds__(FEW_THREADS) kwhy_decode_attend(const struct args a, u32 layer)
{
	let_next_begin();
	attend_all(&a, layer, 0);
}

/* A token's place among keys and values. */
struct place {
	u32 token, slot, position;
};

static __device__ struct place place_of(const struct args *a, u32 token)
{
	struct place place = {token, slot_of(a, token), position_of(a, token)};

	return place;
}

/* Where a number of queries, keys and values goes. */
static __device__ act *state_at(const struct args *a, u32 layer, const struct place *place, u32 row)
{
	u32 column = row % WIDTH, head = column / HEAD;
	act *cache = row < 2 * WIDTH ? a->keys : a->values;
	u64 run = ((u64)layer * a->cache_slots + place->slot) * HEADS + head;

	if (row < WIDTH)
		return a->queries + (u64)place->token * WIDTH + column;
	return cache + (run * a->room + place->position) * HEAD + column % HEAD;
}

/* What ends a row's sums. */
struct ends {
	float scale, bias;
};

static __device__ struct ends ends_of(const struct args *a, u32 layer, int matrix, u32 row)
{
	u64 place = (u64)layer * ROWS + first_row(matrix) + row;
	struct ends ends = {CODE_MOST > 0 ? a->scales[place] : 1, a->biases[place]};

	return ends;
}

static __device__ float word_scale(const struct args *a, u32 word)
{
	return CODE_MOST > 0 ? a->word_scales[word] : 1;
}

/* --- Few tokens: blocks take 8 rows, their warps share the columns --- */

#define DEPTH (UNITS == 1 ? 4 : UNITS == 2 ? 2 : 1) /* loads on their way */
#define STRIDE (WIDTH + PAD)			    /* of tokens in shared memory */

/* Tokens that a thin product takes. */
struct thin {
	const act *input;
	u32 stride, tokens, columns;
	int is_shared; /* else they are in memory */
};

static __device__ struct four load_token(const struct thin *t, u32 token, u32 column)
{
	const act *from = t->input + (u64)token * t->stride + column;
	const struct four none = {{0, 0, 0, 0}};

	if (token >= t->tokens)
		return none;
	return t->is_shared ? load_shared((const struct four *)(const void *)from) : load_fresh(from);
}

/* Of the tokens g and g + 8, as many columns as a lane has weights. */
static __device__ void load_tokens(
	const struct thin *t, u32 chunk, struct four low[UNITS], struct four high[UNITS])
{
	u32 lane = threadIdx.x % 32, column = chunk * CHUNK + lane % 4 * EACH;

#pragma unroll
	for (u32 u = 0; u < UNITS; u++) {
		low[u] = load_token(t, lane / 4, column + u * UNIT);
		high[u] = load_token(t, lane / 4 + 8, column + u * UNIT);
	}
}

/* A lane's weights of the chunks from `first` on, every warps-th. */
static __device__ void thin_load(const u8 *tile, u32 columns, u32 first, struct four weights[DEPTH])
{
	u32 lane = threadIdx.x % 32, warps = blockDim.x / 32;

#pragma unroll
	for (u32 i = 0; i < DEPTH; i++)
		if (first + i * warps < columns / CHUNK)
			weights[i] = load_weights(tile + ((u64)(first + i * warps) * 32 + lane) * 16);
}

static __device__ void thin_chunks(
	const struct thin *t, u32 first, const struct four weights[DEPTH], float c[4])
{
	u32 warps = blockDim.x / 32, count = t->columns / CHUNK;
	struct four low[DEPTH][UNITS], high[DEPTH][UNITS];

#pragma unroll
	for (u32 i = 0; i < DEPTH; i++)
		if (!t->is_shared && first + i * warps < count)
			load_tokens(t, first + i * warps, low[i], high[i]);
#pragma unroll
	for (u32 i = 0; i < DEPTH; i++)
		if (first + i * warps < count) {
			if (t->is_shared)
				load_tokens(t, first + i * warps, low[i], high[i]);
#pragma unroll
			for (u32 u = 0; u < UNITS; u++) {
				u32 codes[4];

				spread(weights[i], (int)u, codes);
				multiply(c, &low[i][u], &high[i][u], codes);
			}
		}
}

/*
 * The sum for this thread's token and row of a tile: token threadIdx.x / 8, row threadIdx.x % 8. The first
 * weights of the tile are there, and then those of `next`; 0: there is none.
 */
static __device__ float thin_tile(
	const struct thin *t, const u8 *tile, const u8 *next, struct four weights[DEPTH])
{
	__shared__ float parts[WARPS_MOST][FEW * 8];
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32, place;
	float c[4] = {0, 0, 0, 0}, sum = 0;

	for (u32 first = warp; first < t->columns / CHUNK; first += warps * DEPTH) {
		if (first != warp)
			thin_load(tile, t->columns, first, weights);
		thin_chunks(t, first, weights, c);
	}
	if (next)
		thin_load(next, t->columns, warp, weights);
	place = lane / 4 * 8 + lane % 4 * 2;
	__syncthreads();
	parts[warp][place] = c[0];
	parts[warp][place + 1] = c[1];
	parts[warp][place + 64] = c[2];
	parts[warp][place + 65] = c[3];
	__syncthreads();
	if (threadIdx.x < FEW * 8)
#pragma unroll
		for (u32 w = 0; w < WARPS_MOST; w++)
			sum += w < warps ? parts[w][threadIdx.x] : 0;
	return sum;
}

/* Does this thread have a token's sum? */
static __device__ int thin_has(const struct args *a)
{
	return threadIdx.x < a->tokens * 8;
}

/* All tokens, normalised, into shared memory; of a whole prompt the last ones of each slot. */
static __device__ void stage_normal(const struct args *a, act *room)
{
	for (u32 token = threadIdx.x / 32; token < a->tokens; token += blockDim.x / 32) {
		float v[QUADS][4];

		load_row(a->x + (u64)token * WIDTH, v);
		normalise(v, room + token * STRIDE);
	}
	__syncthreads();
}

/* A column of what the shares of a head's attention have found, together; all loads are on their way at once.
 */
static __device__ float shares_column(const struct args *a, const volatile float *pieces, u32 column)
{
	float mosts[SHARES_MOST], weights[SHARES_MOST], sums[SHARES_MOST], most = -1e30f, weight = 0, sum = 0;

#pragma unroll
	for (u32 s = 0; s < SHARES_MOST; s++) {
		int is_there = s < a->shares;

		mosts[s] = is_there ? pieces[s * PIECE + HEAD + 1] : -1e30f;
		weights[s] = is_there ? pieces[s * PIECE + HEAD] : 0;
		sums[s] = is_there ? pieces[s * PIECE + column] : 0;
	}
#pragma unroll
	for (u32 s = 0; s < SHARES_MOST; s++)
		most = fmaxf(most, mosts[s]);
#pragma unroll
	for (u32 s = 0; s < SHARES_MOST; s++) {
		float factor = exp_two(mosts[s] - most);

		weight += weights[s] * factor;
		sum += sums[s] * factor;
	}
	return sum / weight;
}

static __device__ void stage_pieces(const struct args *a, act *room)
{
	for (u32 i = threadIdx.x; i < a->tokens * WIDTH; i += blockDim.x) {
		u32 token = i / WIDTH, column = i % WIDTH;
		const float *pieces = a->pieces + ((u64)token * HEADS + column / HEAD) * a->shares * PIECE;

		room[token * STRIDE + column] = act_of(shares_column(a, pieces, column % HEAD));
	}
	__syncthreads();
}

/* A block's tiles of a matrix, one after the other. */
struct tiles {
	const u8 *weights;
	u32 count, columns;
	struct four first[DEPTH];
};

/* The first weights of the first tile, before the tokens are there. */
static __device__ void tiles_begin(struct tiles *tiles, const u8 *weights, u32 rows, u32 columns)
{
	tiles->weights = weights;
	tiles->count = rows / 8;
	tiles->columns = columns;
	if (blockIdx.x < tiles->count)
		thin_load(tile_of(weights, blockIdx.x, columns), columns, threadIdx.x / 32, tiles->first);
}

/* This thread's row of a tile. */
static __device__ u32 row_of(u32 tile)
{
	return tile * 8 + threadIdx.x % 8;
}

/* Of the first tile, before the tokens are there, and then of the next. */
static __device__ struct ends tiles_ends(
	const struct args *a, u32 layer, int matrix, const struct tiles *tiles, u32 tile)
{
	const struct ends none = {0, 0};

	return tile < tiles->count ? ends_of(a, layer, matrix, row_of(tile)) : none;
}

static __device__ float tiles_sum(struct tiles *tiles, const struct thin *t, u32 tile)
{
	u32 next = tile + gridDim.x;

	return thin_tile(t, tile_of(tiles->weights, tile, tiles->columns),
		next < tiles->count ? tile_of(tiles->weights, next, tiles->columns) : 0, tiles->first);
}

static __device__ void thin_attention(const struct args *a, u32 layer, act *room, u32 *round)
{
	const struct thin t = {room, STRIDE, a->tokens, WIDTH, 1};
	struct place place = {0, 0, 0};
	struct tiles tiles;
	struct ends ends;

	ask_for(a, layer, PROJECTION);
	tiles_begin(&tiles, weights_of(a, layer, ATTENTION), 3 * WIDTH, WIDTH);
	ends = tiles_ends(a, layer, ATTENTION, &tiles, blockIdx.x);
	await(a, round);
	if (thin_has(a))
		place = place_of(a, threadIdx.x / 8);
	stage_normal(a, room);
	for (u32 tile = blockIdx.x; tile < tiles.count; tile += gridDim.x) {
		float sum = tiles_sum(&tiles, &t, tile);

		if (thin_has(a))
			*state_at(a, layer, &place, row_of(tile)) = act_of(sum * ends.scale + ends.bias);
		ends = tiles_ends(a, layer, ATTENTION, &tiles, tile + gridDim.x);
	}
}

static __device__ void thin_add(const struct args *a, u32 layer, int matrix, const struct thin *t,
	struct tiles *tiles, struct ends ends)
{
	for (u32 tile = blockIdx.x; tile < tiles->count; tile += gridDim.x) {
		volatile float *x = a->x + (u64)(threadIdx.x / 8) * WIDTH + row_of(tile);
		float before = thin_has(a) ? *x : 0, sum = tiles_sum(tiles, t, tile);

		if (thin_has(a))
			*x = before + (sum * ends.scale + ends.bias);
		ends = tiles_ends(a, layer, matrix, tiles, tile + gridDim.x);
	}
}

static __device__ void thin_project(const struct args *a, u32 layer, act *room, u32 *round)
{
	const struct thin shared = {room, STRIDE, a->tokens, WIDTH, 1},
			  direct = {a->mixed, WIDTH, a->tokens, WIDTH, 0};
	struct tiles tiles;
	struct ends ends;

	ask_for(a, layer, NARROWING);
	tiles_begin(&tiles, weights_of(a, layer, PROJECTION), WIDTH, WIDTH);
	ends = tiles_ends(a, layer, PROJECTION, &tiles, blockIdx.x);
	await(a, round);
	if (a->shares > 1) {
		stage_pieces(a, room);
		thin_add(a, layer, PROJECTION, &shared, &tiles, ends);
	} else {
		thin_add(a, layer, PROJECTION, &direct, &tiles, ends);
	}
}

static __device__ void thin_widen(const struct args *a, u32 layer, act *room, u32 *round)
{
	const struct thin t = {room, STRIDE, a->tokens, WIDTH, 1};
	struct tiles tiles;
	struct ends ends;

	ask_for(a, layer + 1, ATTENTION);
	tiles_begin(&tiles, weights_of(a, layer, WIDENING), INNER, WIDTH);
	ends = tiles_ends(a, layer, WIDENING, &tiles, blockIdx.x);
	await(a, round);
	stage_normal(a, room);
	for (u32 tile = blockIdx.x; tile < tiles.count; tile += gridDim.x) {
		float sum = tiles_sum(&tiles, &t, tile);

		if (thin_has(a))
			a->inner[(u64)(threadIdx.x / 8) * INNER + row_of(tile)] = act_of(
				fmaxf(sum * ends.scale + ends.bias, 0));
		ends = tiles_ends(a, layer, WIDENING, &tiles, tile + gridDim.x);
	}
}

static __device__ void thin_narrow(const struct args *a, u32 layer, u32 *round)
{
	const struct thin t = {a->inner, INNER, a->tokens, INNER, 0};
	struct tiles tiles;
	struct ends ends;

	tiles_begin(&tiles, weights_of(a, layer, NARROWING), WIDTH, INNER);
	ends = tiles_ends(a, layer, NARROWING, &tiles, blockIdx.x);
	await(a, round);
	thin_add(a, layer, NARROWING, &t, &tiles, ends);
}

static __device__ void thin_head(const struct args *a, act *room, u32 *round)
{
	const struct thin t = {room, STRIDE, a->tokens, WIDTH, 1};
	u32 token = threadIdx.x / 8;
	struct tiles tiles;
	u64 best = 0;

	tiles_begin(&tiles, a->words, (a->vocabulary + 7) / 8 * 8, WIDTH);
	await(a, round);
	stage_normal(a, room);
	for (u32 tile = blockIdx.x; tile < tiles.count; tile += gridDim.x) {
		u32 row = row_of(tile);
		float sum = tiles_sum(&tiles, &t, tile);

		if (!thin_has(a) || row >= a->vocabulary)
			continue;
		sum *= word_scale(a, row);
		best = key_of(sum, row) > best ? key_of(sum, row) : best;
		if (a->logits)
			a->logits[(u64)token * a->vocabulary + row] = sum;
	}
	for (int distance = 1; distance < 8; distance *= 2)
		best = key_of_lane(best, distance);
	if (thin_has(a) && threadIdx.x % 8 == 0)
		atomicMax(a->best + token, best);
}

KERNEL void __launch_bounds__(FEW_THREADS) kwhy_decode_thin_attention(const struct args a, u32 layer)
{
	ROOM(room);

	let_next_begin();
	thin_attention(&a, layer, (act *)(void *)room, 0);
}

KERNEL void __launch_bounds__(FEW_THREADS) kwhy_decode_thin_project(const struct args a, u32 layer)
{
	ROOM(room);

	let_next_begin();
	thin_project(&a, layer, (act *)(void *)room, 0);
}

KERNEL void __launch_bounds__(FEW_THREADS) kwhy_decode_thin_widen(const struct args a, u32 layer)
{
	ROOM(room);

	let_next_begin();
	thin_widen(&a, layer, (act *)(void *)room, 0);
}

KERNEL void __launch_bounds__(NARROW_THREADS) kwhy_decode_thin_narrow(const struct args a, u32 layer)
{
	let_next_begin();
	thin_narrow(&a, layer, 0);
}

KERNEL void __launch_bounds__(FEW_THREADS) kwhy_decode_thin_head(const struct args a)
{
	ROOM(room);

	let_next_begin();
	thin_head(&a, (act *)(void *)room, 0);
}

/* --- All steps in one launch, of few tokens --- */

static __device__ void whole_layer(const struct args *a, u32 layer, act *room, u32 *round)
{
	thin_attention(a, layer, room, round);
	attend_all(a, layer, round);
	thin_project(a, layer, room, round);
	thin_widen(a, layer, room, round);
	thin_narrow(a, layer, round);
}

KERNEL void __launch_bounds__(FEW_THREADS, 2) kwhy_decode_whole(const struct args a, u32 steps)
{
	ROOM(room);
	u32 round = 0;

	for (u32 step = 0; step < steps; step++) {
		begin_all(&a, &round);
		for (u32 layer = 0; layer < a.layer_count; layer++)
			whole_layer(&a, layer, (act *)(void *)room, &round);
		thin_head(&a, (act *)(void *)room, &round);
	}
}

/* --- Choosing: a block a slot, of logits that the last product has left --- */

#define CHOOSING_THREADS 512

static __device__ u32 order_of(float logit)
{
	return (u32)(key_of(logit, 0) >> 32);
}

/* A token's part of all: of their number or of their probability, in 2^24ths of the likeliest's. */
static __device__ u64 part_of(float logit, float most, float scale, int by_share)
{
	return by_share ? (u64)(exp_two((logit - most) * scale) * 16777216.0f) : 1;
}

/* A digit of what is kept: the parts of the digits from it on reach `wanted`; *wanted is what is left of it.
 */
static __device__ u32 choose_digit(const u64 *sums, u64 *wanted)
{
	u32 digit = 255;

	while (digit && sums[digit] < *wanted)
		*wanted -= sums[digit--];
	return digit;
}

/*
 * The least order that is kept, of those from `least` on: the largest parts that together reach `wanted`. A
 * digit of 8 bits at a time.
 */
static __device__ u32 least_kept(
	const struct args *a, const float *logits, u32 least, float most, u64 wanted, int by_share)
{
	__shared__ u64 sums[256];
	__shared__ u32 found;
	float scale = 1.44269504f / a->temperature;
	u32 prefix = 0;

	for (int shift = 24; shift >= 0; shift -= 8) {
		u32 known = shift == 24 ? 0 : ~0u << (shift + 8);

		for (u32 i = threadIdx.x; i < 256; i += blockDim.x)
			sums[i] = 0;
		__syncthreads();
		for (u32 i = threadIdx.x; i < a->vocabulary; i += blockDim.x) {
			u32 order = order_of(logits[i]);

			if (order >= least && (order & known) == prefix)
				atomicAdd(&sums[order >> shift & 255],
					part_of(logits[i], most, scale, by_share));
		}
		__syncthreads();
		if (threadIdx.x == 0)
			found = choose_digit(sums, &wanted);
		__syncthreads();
		prefix |= found << shift;
	}
	return prefix;
}

/* Over all threads. */
static __device__ u64 most_of_block(u64 key)
{
	__shared__ u64 most;

	for (int distance = 1; distance < 32; distance *= 2)
		key = key_of_lane(key, distance);
	__syncthreads();
	if (threadIdx.x == 0)
		most = 0;
	__syncthreads();
	if (threadIdx.x % 32 == 0)
		atomicMax(&most, key);
	__syncthreads();
	return most;
}

static __device__ u64 sum_of_parts(const struct args *a, const float *logits, u32 least, float most)
{
	__shared__ u64 sum;
	float scale = 1.44269504f / a->temperature;
	u64 mine = 0;

	if (threadIdx.x == 0)
		sum = 0;
	__syncthreads();
	for (u32 i = threadIdx.x; i < a->vocabulary; i += blockDim.x)
		if (order_of(logits[i]) >= least)
			mine += part_of(logits[i], most, scale, 1);
	atomicAdd(&sum, mine);
	__syncthreads();
	return sum;
}

/* Added to logits, it makes the largest one a draw by their probabilities (Gumbel). */
static __device__ float luck_of(const struct args *a, u32 slot, u32 token)
{
	u32 hash = mix(a->seed ^ mix(slot ^ mix(a->at[slot])));
	float even = ((float)(mix(token ^ hash) >> 8) + 0.5f) * (1.0f / 16777216.0f);

	return -logf(-logf(even));
}

KERNEL void __launch_bounds__(CHOOSING_THREADS) kwhy_decode_choose(const struct args a)
{
	u32 slot = blockIdx.x, least = 0, likeliest;
	const float *logits = a.logits + (u64)slot * a.vocabulary;
	float most;
	u64 best = 0;

	let_next_begin();
	await_previous();
	likeliest = ~(u32) * (volatile u64 *)(a.best + slot);
	most = logits[likeliest];
	if (a.top_k && a.top_k < a.vocabulary)
		least = least_kept(&a, logits, 0, most, a.top_k, 0);
	if (a.top_p < 1)
		least = least_kept(&a, logits, least, most,
			1 + (u64)(a.top_p * (float)sum_of_parts(&a, logits, least, most)), 1);
	for (u32 i = threadIdx.x; i < a.vocabulary; i += blockDim.x) {
		u64 key = order_of(logits[i]) >= least
			? key_of(logits[i] / a.temperature + luck_of(&a, slot, i), i)
			: 0;

		best = key > best ? key : best;
	}
	best = most_of_block(best);
	if (threadIdx.x == 0)
		a.best[slot] = best;
}

/* --- Many tokens: blocks take 64 of them and 32 or 64 rows; copies run ahead of the products --- */

/* Of a layer's first half, its second, or of the one before: what is still to be added to x. */
enum settling { SETTLE_NOTHING, SETTLE_PROJECTION, SETTLE_NARROWING };

/* Both sums of a block's threads. */
static __device__ void sum_of_block(float *one, float *two)
{
	__shared__ float sums[2][32];
	u32 lane = threadIdx.x % 32, warps = blockDim.x / 32;

	*one = sum_of_warp(*one);
	*two = sum_of_warp(*two);
	if (lane == 0) {
		sums[0][threadIdx.x / 32] = *one;
		sums[1][threadIdx.x / 32] = *two;
	}
	__syncthreads();
	*one = sum_of_warp(lane < warps ? sums[0][lane] : 0);
	*two = sum_of_warp(lane < warps ? sums[1][lane] : 0);
}

static __device__ void load_quad(const float *from, float v[4])
{
	struct four quad = load_fresh(from);

	for (int j = 0; j < 4; j++)
		v[j] = __uint_as_float(quad.of[j]);
}

/* What a thread has of a row of x, with the parts that wide products have left for it. */
static __device__ void settle_quad(
	const struct args *a, const float *biases, u32 token, u32 splits, float v[4])
{
	float parts[SPLITS_MOST][4];
	u64 place = (u64)token * WIDTH + threadIdx.x * 4;

	load_quad(a->x + place, v);
#pragma unroll
	for (u32 s = 0; s < SPLITS_MOST; s++)
		if (s < splits)
			load_quad(a->parts + (u64)s * a->tokens * WIDTH + place, parts[s]);
#pragma unroll
	for (u32 s = 0; s < SPLITS_MOST; s++)
		for (int j = 0; j < 4; j++)
			v[j] += s < splits ? parts[s][j] : 0;
	for (int j = 0; splits && j < 4; j++) {
		v[j] += biases[threadIdx.x * 4 + j];
		a->x[place + j] = v[j];
	}
}

/*
 * A block of WIDTH / 4 threads adds to a token's x what wide products have left in parts, and normalises it.
 * last: of each slot its last token alone.
 */
KERNEL void __launch_bounds__(WIDTH / 4)
	kwhy_decode_settle(const struct args a, u32 layer, u32 what, u32 last)
{
	u32 token = last ? (blockIdx.x + 1) * a.each - 1 : blockIdx.x,
	    splits = what == SETTLE_PROJECTION ? a.project_splits
		: what == SETTLE_NARROWING     ? a.narrow_splits
					       : 0;
	const float *biases = a.biases + (u64)layer * ROWS +
		first_row(what == SETTLE_PROJECTION ? PROJECTION : NARROWING);
	act *to = a.normal + (u64)blockIdx.x * WIDTH + threadIdx.x * 4;
	float v[4], mean = 0, squares = 0, scale;

	let_next_begin();
	await_previous();
	settle_quad(&a, biases, token, splits, v);
	for (int j = 0; j < 4; j++) {
		mean += v[j];
		squares += v[j] * v[j];
	}
	sum_of_block(&mean, &squares);
	mean /= WIDTH;
	scale = 1 / sqrtf(fmaxf(squares / WIDTH - mean * mean, 0) + 1e-5f);
	store_two(to, (v[0] - mean) * scale, (v[1] - mean) * scale);
	store_two(to + 2, (v[2] - mean) * scale, (v[3] - mean) * scale);
}

/* A block's part of a product. */
struct wide {
	const u8 *weights;
	const act *input;
	u32 columns;
	u32 token, row, from, to; /* its first ones; stages of its columns */
	u32 split;
};

/* Sums of 32 tokens and a quarter or half of the block's rows: of tiles of 16 tokens and 8 rows. */
#define SUMS(rows) [2][(rows) / 16][4]

#define STAGE_TOKENS (MANY * 4 * UNITS) /* times 16 bytes of a chunk */

static __device__ void wide_copy_weights(const struct wide *w, struct four *stage, u32 step, u32 rows)
{
	u32 chunks = w->columns / CHUNK;

#pragma unroll
	for (u32 c = 0; c < STAGE_CHUNKS; c++) {
		struct four *to = stage + c * (STAGE_TOKENS + rows * 4) + STAGE_TOKENS;
		u32 chunk = step * STAGE_CHUNKS + c;

#pragma unroll
		for (u32 i = threadIdx.x; i < rows * 4; i += MANY_THREADS)
			copy_async(to + i,
				w->weights +
					(((u64)(w->row / 8 + i / 32) * chunks + chunk) * 32 + i % 32) * 16);
	}
}

static __device__ void wide_copy_tokens(const struct wide *w, struct four *stage, u32 step, u32 rows)
{
#pragma unroll
	for (u32 c = 0; c < STAGE_CHUNKS; c++) {
		struct four *to = stage + c * (STAGE_TOKENS + rows * 4);
		u32 chunk = step * STAGE_CHUNKS + c;

#pragma unroll
		for (u32 i = threadIdx.x; i < STAGE_TOKENS; i += MANY_THREADS) {
			u32 token = i / (4 * UNITS), piece = i % (4 * UNITS);

			copy_async(to + (piece % UNITS * MANY + token) * 4 + piece / UNITS,
				w->input + (u64)(w->token + token) * w->columns + chunk * CHUNK +
					piece * UNIT);
		}
	}
}

static __device__ void wide_chunk(
	const struct four *tokens, const struct four *weights, u32 rows, float c SUMS(64))
{
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = warp / 2 * 32 + lane / 4;
	struct four w[4];

#pragma unroll
	for (u32 n = 0; n < rows / 16; n++)
		w[n] = load_shared(weights + (warp % 2 * (rows / 16) + n) * 32 + lane);
#pragma unroll
	for (u32 u = 0; u < UNITS; u++) {
		u32 codes[4][4];

#pragma unroll
		for (u32 n = 0; n < rows / 16; n++)
			spread(w[n], (int)u, codes[n]);
#pragma unroll
		for (u32 m = 0; m < 2; m++) {
			struct four low = load_shared(tokens + (u * MANY + first + m * 16) * 4 + lane % 4),
				    high = load_shared(
					    tokens + (u * MANY + first + m * 16 + 8) * 4 + lane % 4);

#pragma unroll
			for (u32 n = 0; n < rows / 16; n++)
				multiply(c[m][n], &low, &high, codes[n]);
		}
	}
}

/* Weights of the first stages come before the tokens are there. */
static __device__ void wide_begin(const struct wide *w, struct four *room, u32 rows)
{
	u32 size = STAGE_CHUNKS * (STAGE_TOKENS + rows * 4);

	for (u32 i = 0; i < STAGES - 1 && w->from + i < w->to; i++)
		wide_copy_weights(w, room + i * size, w->from + i, rows);
	await_previous();
	for (u32 i = 0; i < STAGES - 1; i++) {
		if (w->from + i < w->to)
			wide_copy_tokens(w, room + i * size, w->from + i, rows);
		copy_end_stage();
	}
}

static __device__ void wide_sum(const struct wide *w, struct four *room, u32 rows, float c SUMS(64))
{
	u32 chunk = STAGE_TOKENS + rows * 4, size = STAGE_CHUNKS * chunk;

	wide_begin(w, room, rows);
	for (u32 step = w->from; step < w->to; step++) {
		const struct four *stage = room + (step - w->from) % STAGES * size;
		struct four *next = room + (step - w->from + STAGES - 1) % STAGES * size;

		copy_await();
		__syncthreads();
		if (step + STAGES - 1 < w->to) {
			wide_copy_weights(w, next, step + STAGES - 1, rows);
			wide_copy_tokens(w, next, step + STAGES - 1, rows);
		}
		copy_end_stage();
#pragma unroll
		for (u32 i = 0; i < STAGE_CHUNKS; i++)
			wide_chunk(stage + i * chunk, stage + i * chunk + STAGE_TOKENS, rows, c);
	}
}

/* Two neighbouring rows of a token, at the end of a product of a layer. */
static __device__ void wide_store(const struct args *a, u32 layer, int matrix, const struct wide *w,
	const struct place *place, u32 row, float one, float two)
{
	float *part = a->parts + ((u64)w->split * a->tokens + place->token) * WIDTH + row;

	if (matrix == ATTENTION) {
		store_two(state_at(a, layer, place, row), one, two);
	} else if (matrix == WIDENING) {
		store_two(a->inner + (u64)place->token * INNER + row, fmaxf(one, 0), fmaxf(two, 0));
	} else {
		part[0] = one;
		part[1] = two;
	}
}

/* The likeliest of a warp's rows for one of its tokens. */
static __device__ void wide_choose(
	const struct args *a, u32 slot, u32 row, u32 tiles, float c[4][4], int half)
{
	u64 best = 0;

#pragma unroll
	for (u32 n = 0; n < tiles; n++)
#pragma unroll
		for (u32 i = 0; i < 2; i++) {
			u32 word = row + n * 8 + i;
			float sum = c[n][half * 2 + i];

			if (slot >= a->slots || word >= a->vocabulary)
				continue;
			sum *= word_scale(a, word);
			best = key_of(sum, word) > best ? key_of(sum, word) : best;
			if (a->logits)
				a->logits[(u64)slot * a->vocabulary + word] = sum;
		}
	best = key_of_lane(key_of_lane(best, 1), 2);
	if (slot < a->slots && threadIdx.x % 4 == 0)
		atomicMax(a->best + slot, best);
}

static __device__ void wide_end_words(const struct args *a, const struct wide *w, u32 rows, float c SUMS(64))
{
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, slot = w->token + warp / 2 * 32 + lane / 4,
	    row = w->row + warp % 2 * (rows / 2) + lane % 4 * 2;

#pragma unroll
	for (u32 m = 0; m < 2; m++) {
		wide_choose(a, slot + m * 16, row, rows / 16, c[m], 0);
		wide_choose(a, slot + m * 16 + 8, row, rows / 16, c[m], 1);
	}
}

/* What is added to parts gets its biases with them. */
static __device__ struct ends wide_ends(const struct args *a, u32 layer, int matrix, u32 row)
{
	struct ends ends = ends_of(a, layer, matrix, row);

	if (matrix == PROJECTION || matrix == NARROWING)
		ends.bias = 0;
	return ends;
}

static __device__ void wide_end(
	const struct args *a, u32 layer, int matrix, const struct wide *w, u32 rows, float c SUMS(64))
{
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, token = w->token + warp / 2 * 32 + lane / 4,
	    row = w->row + warp % 2 * (rows / 2) + lane % 4 * 2;
	struct ends ends[4][2];

#pragma unroll
	for (u32 n = 0; n < rows / 16; n++)
#pragma unroll
		for (u32 i = 0; i < 2; i++)
			ends[n][i] = wide_ends(a, layer, matrix, row + n * 8 + i);
#pragma unroll
	for (u32 m = 0; m < 4; m++) {
		u32 here = token + m * 8;
		struct place place;

		if (here >= a->tokens)
			continue;
		place = place_of(a, here);
#pragma unroll
		for (u32 n = 0; n < rows / 16; n++)
			wide_store(a, layer, matrix, w, &place, row + n * 8,
				c[m / 2][n][m % 2 * 2] * ends[n][0].scale + ends[n][0].bias,
				c[m / 2][n][m % 2 * 2 + 1] * ends[n][1].scale + ends[n][1].bias);
	}
}

/* Blocks of the same rows are neighbours: they share the weights. */
static __device__ void wide(const struct args *a, u32 layer, int matrix, u32 rows, struct four *room)
{
	u32 tokens = matrix == WORDS ? a->slots : a->tokens, groups = (tokens + MANY - 1) / MANY,
	    splits = matrix == PROJECTION ? a->project_splits
		: matrix == NARROWING	  ? a->narrow_splits
					  : 1,
	    columns = matrix == NARROWING ? INNER : WIDTH;
	struct wide w = {weights_of(a, layer, matrix),
		matrix == PROJECTION	      ? a->mixed
			: matrix == NARROWING ? a->inner
					      : a->normal,
		columns, blockIdx.x % groups * MANY, blockIdx.x / groups / splits * rows, 0, 0,
		blockIdx.x / groups % splits};
	float c SUMS(64) = {{{0}}};

	w.from = columns / STEP * w.split / splits;
	w.to = columns / STEP * (w.split + 1) / splits;
	wide_sum(&w, room, rows, c);
	if (matrix == WORDS)
		wide_end_words(a, &w, rows, c);
	else
		wide_end(a, layer, matrix, &w, rows, c);
}

KERNEL void __launch_bounds__(MANY_THREADS) kwhy_decode_wide32(const struct args a, u32 layer, u32 matrix)
{
	ROOM(room);

	let_next_begin();
	wide(&a, layer, (int)matrix, 32, room);
}

KERNEL void __launch_bounds__(MANY_THREADS) kwhy_decode_wide64(const struct args a, u32 layer, u32 matrix)
{
	ROOM(room);

	let_next_begin();
	wide(&a, layer, (int)matrix, 64, room);
}
#endif
