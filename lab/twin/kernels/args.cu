/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of the workload `twin` (lab/README.md). Every float is rounded once: only fmaf() joins a
 * multiplication and an addition (compile with -fmad=false). Sums are of integers, so their order does not
 * matter. A block has a multiple of 32 threads, at most 1024. This file has the arguments of kernels and the
 * rules that the host's program shares (inside.h); addresses are integers there.
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
	GAINS = 3,     /* gains that are computed from them */
	WIDTH = 256,
	CELLS = 65536, /* cells of a rank */
	KEPT = 70,     /* cells of each field that a step stores in its part of the history */
	SLOT = 350,
	WIDE = 235, /* observations of 8 bytes in a step */
	OUTBOX_BYTES = 16 * 1878,
	RANKS_MAX = 8
};

/* Memory of a field: X(type, name, number of elements) for each part. */
#define LAB_TWIN_PARTS(X, cells) \
	X(float, t, 2 * (cells)) /* if the field is doubled, odd steps read the second half and write the first */ \
	X(float, u, cells) X(float, f, cells) X(float, l, cells) X(float, v, cells) X(float, w, cells) \
	X(float, controls, AGENTS * CONTROLS) \
	X(float, gains, AGENTS * GAINS) \
	X(i64, sums, AGENTS + 1) /* sums of the agents' districts; the last element has the bits of the peak */ \
	X(u64, checks, STEPS + 1) /* checksum X of each step, and of the field after the last step */ \
	X(float, history, STEPS * SLOT) \
	X(float, edges, 2 * WIDTH) /* rows of the neighbouring fields, above and below */ \
	X(const volatile float, inbox, AGENTS * CONTROLS) /* what agents send */ \
	X(char, outbox, OUTBOX_BYTES) /* what agents see */ \
	X(u32, clock, 2) /* [0]: step, for launches that do not state it; [1]: number of blocks that are done */   \
	X(i64, run_sums, STEPS * (AGENTS + 1)) /* sums of all steps; this array and the next three are used by runs that are one launch */ \
	X(i64, seen, STEPS * AGENTS) /* what each agent saw in each step */ \
	X(u64, times, STEPS + 1) /* start of the run and end of each step, ns */ \
	X(u32, arrived, 1) /* number of blocks at the barrier */ \
	X(const i64, gathered, RANKS_MAX * (AGENTS + 1)) /* sums of all fields */

/* Arguments of kernels. The `cells` cells from `first_cell` on are one field, of one or more ranks. */
#define LAB_TWIN_MEMBER(type, name, count) AT(type) name;
struct lab_twin_args {
	LAB_TWIN_PARTS(LAB_TWIN_MEMBER, 0)
	/*
	 * in the host's memory: set to step + 1 when the outbox is full; 0: the host does not wait for it
	 */
	AT(u32) flag;
	u32 cells, first_cell, doubled;
	u32 has_edges; /* true: neighbours' rows are in `edges`; false: the field borders on itself */
	u32 scattered; /* bytes from one observation to the next; 0: packed */
	u32 steps, closed, parts;
};

/* X(UPPER, lower) for each kernel. All kernels take the args and a step. */
#define LAB_TWIN_KERNELS(X) X(BEGIN_FIELD, begin_field) X(BEGIN_REST, begin_rest) X(GAIN, gain) X(FORCE, force) \
	X(SPREAD, spread) X(DIFFUSE, diffuse) X(PUSH, push) X(STORE, store) X(LIMIT, limit) X(SUM, sum) X(LOOK, look) \
	X(CHECK, check) X(SCATTER, scatter) X(RECEIVE, receive) X(ADVANCE, advance) X(CONCLUDE, conclude) \
	X(TALLY, tally) X(COMBINE, combine) X(WHOLE, whole)

#define BY_CLOCK 0xffffffffu

/* Sets the flag for which the host waits. */
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
 * Whether an observation has 8 bytes. Every eighth is the sum of a district; the others are values of a cell
 * of rank 0.
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
	return __float2int_rn(value * 65536.0f); /* at most 64 * 65536 */
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
