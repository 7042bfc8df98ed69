/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of the workload `twin` (lab/README.md). Every float is rounded once: only fmaf() joins a
 * multiplication and an addition (compile with -fmad=false). Sums are of integers, so their order does not matter.
 * A block has a multiple of 32 threads, at most 1024. This file has the arguments of the kernels and the functions
 * that the host's program shares (inside.h). AT(type) is a pointer in kernels and a 64-bit integer in the host's
 * program.
 */
#ifndef LAB_TWIN_ARGS
#define LAB_TWIN_ARGS

#ifndef AT
#define AT(type) type *
#endif

#ifdef __cplusplus
#define KERNEL extern "C" __global__
#endif

enum {
	STEPS = 288,
	AGENTS = 22,
	CONTROLS = 10, /* floats that an agent may send */
	GAINS = 3,     /* numbers that are computed from an agent's controls */
	WIDTH = 256,
	CELLS = 65536, /* cells of a rank */
	/* cells of each of T, U, W, F (and sometimes V) that a step copies to its part of the history */
	KEPT = 70,
	SLOT = 350,
	WIDE = 235, /* observations of 8 bytes in a step */
	OUTBOX_BYTES = 16 * 1878,
	RANKS_MAX = 8
};

/* Memory of a field: X(type, name, number of elements) for each part. */
#define LAB_TWIN_PARTS(X, cells) \
	/*
	 * T of every cell. If `doubled`, even steps read the first half and write the second, odd steps the other
	 * way round; otherwise the second half is unused
	 */ \
	X(float, t, 2 * (cells)) \
	X(float, u, cells) X(float, f, cells) X(float, l, cells) X(float, v, cells) X(float, w, cells) \
	X(float, controls, AGENTS * CONTROLS) \
	X(float, gains, AGENTS * GAINS) \
	/*
	 * sum of T over each agent's district, in units of 2^-16; the last element has the largest |T|, as the bits
	 * of a float
	 */ \
	X(i64, sums, AGENTS + 1) \
	X(u64, checks, STEPS + 1) /* checksum X of each step, and of the field after the last step */ \
	X(float, history, STEPS * SLOT) \
	/*
	 * T in the rows above and below this field, copied from the neighbouring fields, or from this one if there
	 * is no other
	 */ \
	X(float, edges, 2 * WIDTH) \
	X(const volatile float, inbox, AGENTS * CONTROLS) /* what agents send */ \
	X(char, outbox, OUTBOX_BYTES) /* what agents see */ \
	/*
	 * [0]: number of the step, for kernels that are launched with BY_CLOCK, in graphs; [1]: number of blocks
	 * that have finished the current kernel
	 */ \
	X(u32, clock, 2)   \
	X(i64, run_sums, STEPS * (AGENTS + 1)) /* sums of all steps; this array and the next three are used by runs that are one launch */ \
	X(i64, seen, STEPS * AGENTS) /* what each agent saw in each step */ \
	X(u64, times, STEPS + 1) /* start of the run and end of each step, ns */ \
	/* number of times that a block came to the barrier in this run */ \
	X(u32, arrived, 1) \
	X(const i64, gathered, RANKS_MAX * (AGENTS + 1)) /* `sums` of all fields, gathered from their GPUs */

/* Arguments of kernels. The `cells` cells from `first_cell` on are one field, of one or more ranks. */
#define LAB_TWIN_MEMBER(type, name, count) AT(type) name;
struct lab_twin_args {
	LAB_TWIN_PARTS(LAB_TWIN_MEMBER, 0)
	/*
	 * word in the host's memory that the kernel sets to step + 1 when the outbox is complete; 0 (no address):
	 * the host waits for the stream instead
	 */
	AT(u32) flag;
	u32 cells, first_cell, doubled;
	/*
	 * true: the rows above and below the field are read from `edges`; false: the field is the whole ring, whose
	 * last row borders on its first
	 */
	u32 has_edges;
	u32 scattered; /* bytes from one observation to the next; 0: packed */
	u32 steps, closed, parts;
};

/* X(UPPER, lower) for each kernel. All kernels take the args and a step. */
#define LAB_TWIN_KERNELS(X) X(BEGIN_FIELD, begin_field) X(BEGIN_REST, begin_rest) X(GAIN, gain) X(FORCE, force) \
	X(SPREAD, spread) X(DIFFUSE, diffuse) X(PUSH, push) X(STORE, store) X(LIMIT, limit) X(SUM, sum) X(LOOK, look) \
	X(CHECK, check) X(SCATTER, scatter) X(RECEIVE, receive) X(ADVANCE, advance) X(CONCLUDE, conclude) \
	X(TALLY, tally) X(COMBINE, combine) X(WHOLE, whole)

#define BY_CLOCK 0xffffffffu

/* Stores a word for which the host waits. */
#ifndef SIGNAL
#define SIGNAL(place, value) (*(volatile u32 *)(place) = (value))
#endif

static __device__ float start(u32 rank, u32 cell)
{
	return unit(mix(42ull ^ (u64)rank << 40 ^ cell)) * 16.0f;
}

static __device__ u32 sends(u32 step, u32 agent)
{
	if (agent == AGENTS - 1 && 47 * step % STEPS < 47)
		return 0;
	return agent < 15 ? 10 : 8;
}

static __device__ float payload(u32 step, u32 agent, u32 place, i64 seen)
{
	return unit(mix(0x5EEDull ^ (u64)step << 32 ^ (u64)agent << 8 ^ place ^ (u64)seen * 0x2545F4914F6CDD1Dull));
}

static __device__ u32 observed(u32 step)
{
	return 1877 + (step % 16 == 0);
}

/*
 * Whether an observation has 8 bytes. Observations 0, 8, 16 and so on are sums of a district (8 bytes); others are
 * the value of a cell of rank 0 (4 bytes).
 */
static __device__ bool is_wide(u32 observation)
{
	return observation % 8 == 0;
}

static __device__ bool keeps_v(u32 step)
{
	return step % 36 == 0;
}

static __device__ u32 looks_at(u32 step, u32 observation)
{
	return (7919 * observation + 104729 * step) % CELLS;
}

static __device__ u32 packed_at(u32 observation)
{
	return is_wide(observation) ? observation : WIDE * 8 + 4 * (observation - observation / 8 - 1);
}

static __device__ u32 district(u32 cell)
{
	return (cell % CELLS) * AGENTS >> 16;
}

static __device__ int fixed(float value)
{
	/* |value| is at most 64, so the result fits in 23 bits with its sign */
	return __float2int_rn(value * 65536.0f);
}

static __device__ float gain(const float *controls, u32 j)
{
	float sum = controls[j];

	for (u32 k = j + 3; k < CONTROLS; k += 3)
		sum = sum + controls[k];
	return sum * (j == 0 ? 0.25f : j == 1 ? 1.0f : 0.125f);
}

static __device__ float limit(float value)
{
	return value < -64.0f ? -64.0f : value > 64.0f ? 64.0f : value;
}
#endif
