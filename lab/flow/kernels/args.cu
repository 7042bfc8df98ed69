/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of the workload `flow` (lab/README.md). Places of flows are exact: they are computed with integers,
 * whose sums do not depend on the order. This file has the arguments of the kernels and the functions for places,
 * which the host's program shares (device.h). AT(type) is a pointer in kernels and a 64-bit integer in the host's
 * program.
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
	TEAM = 4,     /* blocks that share the weights when the whole run is one launch */
	ROWS = 32,    /* rows (flows) of a tile, which the blocks of a team process together */
	PLACE = 16,   /* numbers per cell */
	E = 32,	      /* energies per flow */
	IN = 64,      /* inputs, and width of the first layer */
	H = 256,      /* numbers in a flow's state */
	GATES = 768,
	LOGITS = 6,
	OUT = 40,     /* outputs: 32 energies, 6 logits and 2 zeros */
	/* Positions of matrices and biases in the weights. Matrices are [inputs][outputs]. */
	W1 = 0,
	B1 = W1 + IN * IN,
	/*
	 * [IN][IN]; columns from E on are 0, because the flow's energies are later written into these columns of the
	 * layer's result
	 */
	W2 = B1 + IN,
	B2 = W2 + IN * IN,
	WI = B2 + E,
	WH = WI + IN * GATES, /* WI and WH together are a matrix with IN + H inputs */
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

/* Arguments of kernels. Arrays [2] have two halves; step t writes half t % 2. */
struct lab_flow_args {
	AT(const float) weights; /* [WEIGHTS] all weights */
	AT(float) cells;	 /* [cells][PLACE] numbers of each cell */
	AT(u64) at;		 /* [flows] number and place of each flow at the start of a step */
	AT(u64) moved;		 /* [2][flows] number and place of each flow after the step */
	/* [2][flows] (step + 1) << 32 | number of the new flow, of each row whose flow left or merged */
	AT(u64) fresh;
	/* [2][flows] row of the next flow in the list of flows that moved into the same cell; NONE: last */
	AT(u32) next;
	AT(u64) heads;		 /* [2][cells] (step + 1) << 32 | first row of the list of a cell */
	AT(u64) owners;		 /* [cells] key of the flow with the lowest number in each cell */
	/* [slots] row in each slot of the dense lattice; NONE: the slot is empty */
	AT(const u32) map;
	AT(float) e;		 /* [flows][E] energies */
	AT(float) h_rows;	 /* [flows][H] states */
	AT(float) outputs_rows;	 /* [flows][OUT] outputs */
	/*
	 * Workspace, in the order of the network: inputs, both layers, gates from the inputs and from the state,
	 * state, outputs. Each array has a row for each flow, or for each of the slots of the dense lattice that
	 * are computed together. Except in the dense lattice, h and outputs are h_rows and outputs_rows.
	 */
	AT(float) in;
	AT(float) u;
	AT(float) a;
	AT(float) gi;
	AT(float) gh;
	AT(float) h;
	AT(float) outputs;
	AT(u16) h_halves; /* [2][flows][H] states in bfloat16 */
	AT(float) parts;  /* [2][TEAM][flows][OUT] partial sums of the outputs, of each block of a team */
	/*
	 * [0]: number of new flows so far; [1]: number of times that a block came to the barrier; both 0 at the
	 * start of a run
	 */
	AT(u32) numbers;
	AT(struct record) records; /* [steps] results of each step */
	AT(u64) out;   /* sum of the energies of all flows that left, in units of 2^-32 */
	AT(u64) times; /* [0]: device's time at the start of the run; [t + 1]: at the end of step t; ns */
	u32 flows, steps, by_argmax;
	u32 by_row; /* the host decides which flows merge and provides `fresh` and `next` */
	u32 width, height, depth;
};

/*
 * A product without bias: rows of inputs times a matrix, which is at the position `matrix` of the weights.
 */
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

/*
 * X(UPPER, lower, threads for each row) for each kernel. All kernels take the args, a step, a first row and a
 * number of rows. The kernel `product` takes the number of its matrix (FIRST to LAST) in place of the step, and has
 * one thread for each output of that matrix in each row.
 */
#define LAB_FLOW_KERNELS(X) X(CELLS, cells, PLACE) X(INPUT, input, IN) X(PRODUCT, product, 0) X(RELU, relu, IN) \
	X(BIAS, bias, IN) X(GATES, gates, H) X(MOVE, move, E) X(SETTLE, settle, E) X(FRONT, front, THREADS) \
	X(SPREAD, spread, H) X(COLLECT, collect, H) X(RUN, run, THREADS)

/* --- Place of a flow: number << 32 | z << 20 | y << 10 | x --- */

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
