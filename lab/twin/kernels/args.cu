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

typedef unsigned long long u64;
typedef long long i64;
typedef unsigned int u32;

enum {
	STEPS = 288,
	AGENTS = 22,
	CONTROLS = 10,
	GAINS = 3,
	WIDTH = 256,
	CELLS = 65536,
	KEPT = 70,
	SLOT = 350,
	WIDE = 235
};

/* `cells` from `first_cell` on are one field: of one rank or of several. */
struct lab_twin_args {
	AT(float) t; /* [cells]; [2][cells] where it is doubled: odd steps read the second half and write the first */
	AT(float) u; /* [cells], as the next four */
	AT(float) f;
	AT(float) l;
	AT(float) v;
	AT(float) w;
	AT(float) controls; /* [AGENTS][CONTROLS] */
	AT(float) gains;    /* [AGENTS][GAINS] */
	AT(i64) sums;	    /* [AGENTS], then one more: the peak's bits */
	AT(u64) checks;	    /* [STEPS + 1] */
	AT(float) history;  /* [STEPS][SLOT] */
	AT(const float) above; /* [WIDTH] rows of the neighbours; 0: the field's own last and first */
	AT(const float) below;
	AT(const char) inbox; /* what agents send */
	AT(char) outbox;      /* what they see */
	AT(u32) flag;	      /* set to step + 1 when the outbox is full; 0: nobody asks */
	AT(u32) clock;	      /* [0] the step, for launches that do not say; [1] blocks done */
	AT(i64) run_sums;     /* [STEPS][AGENTS + 1] of a whole run in one launch */
	AT(u64) seen;	      /* of such a run: [STEPS] Y; */
	AT(u64) times;	      /* [STEPS + 1] its start and each step's end, ns */
	AT(u32) arrived;      /* blocks at its barrier */
	AT(const i64) gathered; /* [parts][AGENTS + 1] */
	u32 cells, first_cell, doubled;
	u32 scattered; /* bytes from one observation to the next; 0: packed */
	u32 steps, closed, reduce_every, parts;
};

/* All take the args and a step. */
#define LAB_TWIN_KERNELS(X) X(BEGIN_FIELD, begin_field) X(BEGIN_REST, begin_rest) X(GAIN, gain) X(FORCE, force) \
	X(SPREAD, spread) X(DIFFUSE, diffuse) X(PUSH, push) X(STORE, store) X(LIMIT, limit) X(SUM, sum) X(LOOK, look) \
	X(CHECK, check) X(SCATTER, scatter) X(RECEIVE, receive) X(ADVANCE, advance) X(CONCLUDE, conclude) \
	X(TALLY, tally) X(COMBINE, combine) X(RUN, run)

#define BY_CLOCK 0xffffffffu

/* A word for the host, who waits for it. */
#ifndef SIGNAL
#define SIGNAL(place, value) (*(volatile u32 *)(place) = (value))
#endif

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

static __device__ u32 looks_at(u32 step, u32 observation)
{
	return (7919 * observation + 104729 * step) % CELLS;
}

static __device__ u32 packed_at(u32 observation)
{
	return observation % 8 == 0 ? observation : WIDE * 8 + 4 * (observation - observation / 8 - 1);
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
