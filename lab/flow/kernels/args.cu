/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of the workload `flow` (lab/README.md). Who is where is exact: integers, whose sums have no
 * order. A block has 256 threads. What kernels are given is here, with the rules of places that the host's program
 * has, too (device.h), where addresses are numbers.
 */
#ifndef LAB_FLOW_ARGS
#define LAB_FLOW_ARGS

#ifndef AT
#define AT(type) type *
#endif

#ifdef __cplusplus
#define KERNEL extern "C" __global__
#define INLINE __forceinline__
#else
#define INLINE
#endif

enum {
	THREADS = 256,
	TEAM = 4,     /* blocks that share the weights in the run in one launch, */
	ROWS = 32,    /* and rows that they have at once */
	PLACE = 16,   /* numbers of a cell */
	E = 32,	      /* energies */
	IN = 64,      /* inputs, and the width of the first layer */
	H = 256,      /* state */
	GATES = 768,
	LOGITS = 6,
	OUT = 40,     /* energies, logits, 2 zeros */
	/* Places in the weights, matrices as [inputs][outputs]. */
	W1 = 0,
	B1 = W1 + IN * IN,
	W2 = B1 + IN, /* its outputs behind E are 0, where the energies come */
	B2 = W2 + IN * IN,
	WI = B2 + E,
	WH = WI + IN * GATES, /* with the one before a matrix of [IN + H] */
	BI = WH + H * GATES,
	BH = BI + GATES,
	WO = BH + GATES,
	SINES = WO + H * OUT,
	COSINES = SINES + 4 * 1024,
	WEIGHTS = COSINES + 4 * 1024
};

/* The matrices of a step. */
enum { FIRST, SECOND, GATES_IN, GATES_HIDDEN, LAST };

#define NONE 0xffffffffu

struct record {
	u64 places;
	u32 merged, exited;
};

/* What has two halves is written by turns: in the half of the step's parity. */
struct lab_flow_args {
	AT(const float) weights; /* [WEIGHTS] */
	AT(float) cells;	 /* [cells][PLACE] */
	AT(u64) at;		 /* [flows], at the start of a step */
	AT(u64) moved;		 /* [2][flows], after it */
	AT(u64) fresh;		 /* [2][flows]: step + 1 << 32 | number of who comes into a row that is free */
	AT(u32) next;		 /* [2][flows]: rows of those in one cell */
	AT(u64) heads;		 /* [2][cells]: step + 1 << 32 | the first of those rows */
	AT(u64) owners;		 /* [cells]: who has the lowest number there */
	AT(const u32) map;	 /* [slots]: the row in a slot of the dense lattice; NONE: it is empty */
	AT(float) e;		 /* [flows][E] */
	AT(float) h_rows;	 /* [flows][H] */
	AT(float) outputs_rows;	 /* [flows][OUT] */
	AT(float) in; /* this and the next six: of the rows at hand; the last two may be those above */
	AT(float) u;
	AT(float) a;
	AT(float) gi;
	AT(float) gh;
	AT(float) h;
	AT(float) outputs;
	AT(u16) h_halves; /* bfloat16 [2][flows][H] */
	AT(float) parts;  /* [2][TEAM][flows][OUT] */
	AT(u32) numbers;  /* how many are new, blocks at the barrier; 0 at first */
	AT(struct record) records; /* [steps] */
	AT(u64) out;   /* sum of e of who left, in units of 2^-32 */
	AT(u64) times; /* [steps + 1], ns */
	u32 flows, steps, by_argmax;
	u32 by_row; /* the host decides who merges: fresh and next come from there */
	u32 width, height, depth;
};

/* Rows of inputs times a matrix, which is here in the weights; without bias. */
struct lab_flow_product {
	AT(const float) in;
	AT(float) out;
	u32 matrix, inputs, outputs;
};

static __device__ struct lab_flow_product product_of(const struct lab_flow_args *a, u32 which)
{
	const struct lab_flow_product first = {a->in, a->u, W1, IN, IN}, second = {a->u, a->a, W2, IN, IN},
		gates_in = {a->a, a->gi, WI, IN, GATES}, gates_hidden = {a->h, a->gh, WH, H, GATES},
		last = {a->h, a->outputs, WO, H, OUT};

	return which == FIRST ? first
		: which == SECOND ? second
		: which == GATES_IN ? gates_in
		: which == GATES_HIDDEN ? gates_hidden
		: last;
}

/* All take the args, a step, a first row and a count of rows; with the threads of a row. A product's step is its
 * matrix, whose outputs are the threads. */
#define LAB_FLOW_KERNELS(X) X(CELLS, cells, PLACE) X(INPUT, input, IN) X(PRODUCT, product, 0) X(RELU, relu, IN) \
	X(BIAS, bias, IN) X(GATES, gates, H) X(MOVE, move, E) X(SETTLE, settle, E) X(FRONT, front, THREADS) \
	X(SPREAD, spread, H) X(COLLECT, collect, H) X(RUN, run, THREADS)

/* --- Where a flow is: number << 32 | z << 20 | y << 10 | x --- */

static __device__ u32 x_of(u64 at)
{
	return (u32)at & 1023;
}

static __device__ u32 y_of(u64 at)
{
	return (u32)at >> 10 & 1023;
}

static __device__ u32 z_of(u64 at)
{
	return (u32)at >> 20;
}

static __device__ u64 at_of(u32 number, u32 x, u32 y, u32 z)
{
	return (u64)number << 32 | z << 20 | y << 10 | x;
}

static __device__ u32 cell_of(const struct lab_flow_args *a, u64 at)
{
	return (z_of(at) * a->height + y_of(at)) * a->width + x_of(at);
}

static __device__ u64 start(const struct lab_flow_args *a, u32 number)
{
	u64 hash = mix(0xF10Aull ^ (u64)number << 8);

	return at_of(number, (u32)(hash % a->width), (u32)((hash >> 20) % a->height), 0);
}

static __device__ float start_energy(u32 number, u32 k)
{
	return unit(mix(0xE4E2ull ^ (u64)number << 8 ^ k));
}

static __device__ u64 shift(const struct lab_flow_args *a, u64 at, u32 across, u32 along)
{
	return at_of((u32)(at >> 32), (x_of(at) + across + a->width - 1) % a->width,
		(y_of(at) + along + a->height - 1) % a->height, z_of(at) + 1);
}

static __device__ u64 move_fixed(const struct lab_flow_args *a, u64 at, u32 step)
{
	u64 hash = mix(0xD1Cull ^ at >> 32 << 16 ^ step);

	return shift(a, at, (u32)(hash % 3), (u32)((hash >> 20) % 3));
}

static __device__ u32 choice(const float *logits)
{
	u32 best = logits[1] > logits[0];

	return logits[2] > (best ? logits[1] : logits[0]) ? 2 : best;
}

static __device__ u64 move_by(const struct lab_flow_args *a, u64 at, const float *logits)
{
	return shift(a, at, choice(logits), choice(logits + 3));
}
#endif
