/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of the workload `flow` (lab/README.md). Who is where is exact: integers, whose sums have no
 * order. All kernels take a step, a first row and a count of rows; a block has 256 threads.
 */
#ifdef __cplusplus
#define KERNEL extern "C" __global__
#define INLINE __forceinline__
#else
#define INLINE
#endif

typedef unsigned long long u64;
typedef long long i64;
typedef unsigned int u32;
typedef unsigned short u16;

enum {
	THREADS = 256,
	PLACE = 16,   /* numbers of a cell */
	E = 32,	      /* energies */
	IN = 64,      /* inputs, and the width of the first layer */
	H = 256,      /* state */
	GATES = 768,
	OUT = 40,     /* energies, 6 logits, 2 zeros */
	/* Places in the weights, matrices as [inputs][outputs]. */
	W1 = 0,
	B1 = W1 + IN * IN,
	W2 = B1 + IN,
	B2 = W2 + IN * E,
	WI = B2 + E,
	BI = WI + IN * GATES,
	WH = BI + GATES,
	BH = WH + H * GATES,
	WO = BH + GATES,
	SINES = WO + H * OUT,
	COSINES = SINES + 4 * 1024,
	WEIGHTS = COSINES + 4 * 1024,
	/* The same of 16 bits, as [outputs][inputs]. */
	HALF_W1 = 0,
	HALF_W2 = HALF_W1 + IN * IN,
	HALF_WI = HALF_W2 + E * IN,
	HALF_WH = HALF_WI + GATES * IN,
	HALF_WO = HALF_WH + GATES * H,
	HALVES = HALF_WO + OUT * H
};

#define NONE 0xffffffffu

struct record {
	u64 places;
	u32 merged, exited;
};

/* As struct lab_flow_args of lab/flow/device.h. */
struct args {
	const float *weights;
	const u16 *halves;
	float *cells;
	u64 *at, *moved, *fresh;
	u32 *next;
	u64 *heads, *owners;
	const u32 *map;
	float *e, *h_rows, *outputs_rows;
	float *in, *u, *a, *gi, *gh, *h, *outputs;
	u16 *h_halves;
	float *parts;
	u32 *numbers;
	struct record *records;
	u64 *out;
	u64 *times;
	u32 flows, steps, by_argmax, by_row, width, height, depth;
};

static __device__ u64 mix(u64 x)
{
	x += 0x9E3779B97F4A7C15ull;
	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
	return x ^ (x >> 31);
}

static __device__ float unit(u64 hash)
{
	return (float)((int)(hash >> 53) - 1024) * (1.0f / 1024.0f);
}
