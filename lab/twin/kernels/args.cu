/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of the workload `twin` (lab/README.md). Every float is rounded once: no multiplication and
 * addition are joined but where fmaf() says so (compile with -fmad=false); sums are of integers, so that
 * their order does not matter. A block has a multiple of 32 threads, 1024 at most. What kernels are given is
 * here, with the rules that the host's program has, too (inside.h), where addresses are numbers.
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
	CONTROLS = 10, /* floats that an agent may send, */
	GAINS = 3,     /* and what they come to */
	WIDTH = 256,
	CELLS = 65536, /* a rank */
	KEPT = 70,     /* cells of each field that a step keeps in its history slot */
	SLOT = 350,
	WIDE = 235, /* observations of 8 bytes a step */
	OUTBOX_BYTES = 16 * 1878,
	RANKS_MAX = 8
};

/* The memory of a field: type, name and number of elements of each part. */
#define LAB_TWIN_PARTS(X, cells) \
	X(float, t, 2 * (cells)) /* where it is doubled, odd steps read the second half and write the first */ \
	X(float, u, cells) X(float, f, cells) X(float, l, cells) X(float, v, cells) X(float, w, cells) \
	X(float, controls, AGENTS * CONTROLS) \
	X(float, gains, AGENTS * GAINS) \
	X(i64, sums, AGENTS + 1) /* the last one is the peak's bits */ \
	X(u64, checks, STEPS + 1) /* X of each step, then of what is left at the end */ \
	X(float, history, STEPS * SLOT) \
	X(float, edges, 2 * WIDTH) /* rows of the neighbours, above and below */ \
	X(const volatile float, inbox, AGENTS * CONTROLS) /* what agents send */ \
	X(char, outbox, OUTBOX_BYTES) /* what they see */ \
	X(u32, clock, 2) /* the step, for launches that do not say; blocks done */ \
	X(i64, run_sums, STEPS * (AGENTS + 1)) /* of a whole run in one launch, as the next three: */ \
	X(i64, seen, STEPS * AGENTS) /* what each agent saw */ \
	X(u64, times, STEPS + 1) /* its start and each step's end, ns */ \
	X(u32, arrived, 1) /* blocks at its barrier */ \
	X(const i64, gathered, RANKS_MAX * (AGENTS + 1)) /* sums of all fields */

/* `cells` from `first_cell` on are one field: of one rank or of several. */
#define LAB_TWIN_MEMBER(type, name, count) AT(type) name;
struct lab_twin_args {
	LAB_TWIN_PARTS(LAB_TWIN_MEMBER, 0)
	AT(u32) flag; /* of the host's memory: set to step + 1 when the outbox is full; 0: nobody asks */
	u32 cells, first_cell, doubled;
	u32 has_edges; /* else the field borders on itself */
	u32 scattered; /* bytes from one observation to the next; 0: packed */
	u32 steps, closed, parts;
};

/* All take the args and a step. */
#define LAB_TWIN_KERNELS(X) X(BEGIN_FIELD, begin_field) X(BEGIN_REST, begin_rest) X(GAIN, gain) X(FORCE, force) \
	X(SPREAD, spread) X(DIFFUSE, diffuse) X(PUSH, push) X(STORE, store) X(LIMIT, limit) X(SUM, sum) X(LOOK, look) \
	X(CHECK, check) X(SCATTER, scatter) X(RECEIVE, receive) X(ADVANCE, advance) X(CONCLUDE, conclude) \
	X(TALLY, tally) X(COMBINE, combine) X(WHOLE, whole)

#define BY_CLOCK 0xffffffffu

/* A word for the host, who waits for it. */
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

/* Every eighth observation is a district's sum, the others look at a cell of rank 0. */
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
