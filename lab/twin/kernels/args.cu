/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of the workload `twin` (lab/README.md). Every float is rounded once: no multiplication and
 * addition are joined but where fmaf() says so (compile with -fmad=false); sums are of integers, so that
 * their order does not matter. A block has a multiple of 32 threads, 1024 at most.
 */
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

/* As struct lab_twin_args of lab/twin/device.h. */
struct args {
	float *t, *u, *f, *l, *v, *w; /* [cells]; t: [2][cells], the second half where it is doubled */
	float *controls;	      /* [AGENTS][CONTROLS] */
	float *gains;		      /* [AGENTS][GAINS] */
	i64 *sums;		      /* [AGENTS], then one more: the peak */
	u64 *checks;		      /* [STEPS + 1] */
	float *history;		      /* [STEPS][SLOT] */
	const float *above, *below;   /* rows of the neighbours; 0: the field's own last and first */
	const char *inbox;	      /* what agents send */
	char *outbox;		      /* what they see */
	u32 *flag;		      /* set to step + 1 when the outbox is full; 0: nobody asks */
	u32 *clock;		      /* [0] the step, for launches that do not say; [1] blocks done */
	i64 *run_sums;		      /* [STEPS][AGENTS + 1] of a whole run in one launch */
	u64 *seen, *times;	      /* of such a run: [STEPS] Y; [STEPS + 1] its start and each step's end, ns */
	u32 *arrived;		      /* blocks at its barrier */
	const i64 *gathered;	      /* [parts][AGENTS + 1] */
	u32 cells, first_cell, doubled, scattered, steps, closed, reduce_every, parts;
};

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

/* What other blocks may have written since: past the first cache. */
static __device__ float fresh(const float *place)
{
	return *(const volatile float *)place;
}

static __device__ u32 thread_index(void)
{
	return blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ u32 thread_count(void)
{
	return gridDim.x * blockDim.x;
}

static __device__ u32 step_of(const struct args *a, u32 step)
{
	return step == BY_CLOCK ? a->clock[0] : step;
}

static __device__ const float *old_t(const struct args *a, u32 step)
{
	return a->t + (a->doubled && step % 2 ? a->cells : 0);
}

static __device__ float *new_t(const struct args *a, u32 step)
{
	return a->t + (a->doubled && step % 2 == 0 ? a->cells : 0);
}

static __device__ bool reduces(const struct args *a, u32 step)
{
	return step % a->reduce_every == 0;
}

static __device__ float gain(const float *controls, u32 j)
{
	float sum = controls[j];

	for (u32 k = j + 3; k < CONTROLS; k += 3)
		sum = sum + controls[k];
	return sum * (j == 0 ? 0.25f : j == 1 ? 1.0f : 0.125f);
}

static __device__ float neighbours(const struct args *a, const float *t, u32 i)
{
	u32 x = i % WIDTH, row = i - x;
	float north = fresh(row ? t + i - WIDTH : (a->above ? a->above : t + a->cells - WIDTH) + x);
	float south = fresh(row + WIDTH < a->cells ? t + i + WIDTH : (a->below ? a->below : t) + x);
	float west = fresh(t + row + (x + WIDTH - 1) % WIDTH), east = fresh(t + row + (x + 1) % WIDTH);

	return (north + south) + (west + east);
}

static __device__ float limit(float value)
{
	return value < -64.0f ? -64.0f : value > 64.0f ? 64.0f : value;
}
