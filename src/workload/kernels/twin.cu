/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of the workload `twin` (docs/workloads.md). Every float is rounded once: no multiplication and
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

/* As struct kwhy_twin_args of workload/twin_device.h. */
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

/* --- Sums of a block, in shared memory --- */

struct tally {
	int low[AGENTS], high[AGENTS]; /* sums: high * 2^16 + low, of up to 2^20 cells */
	u32 peak, limbs[3];	       /* of the check, 22 bits each */
};

static __device__ void tally_clear(struct tally *tally)
{
	if (threadIdx.x < AGENTS)
		tally->low[threadIdx.x] = tally->high[threadIdx.x] = 0;
	if (threadIdx.x < 3)
		tally->limbs[threadIdx.x] = 0;
	if (threadIdx.x == 3)
		tally->peak = 0;
	__syncthreads();
}

#ifndef BY_WARPS
#define BY_WARPS (__CUDA_ARCH__ >= 800)
#endif

/* A warp adds up by itself where all its lanes are here and go to one place. False: a lane has nothing left. */
static __device__ bool add_by_warp(int *value, bool together)
{
#if BY_WARPS
	if (together) {
		*value = __reduce_add_sync(~0u, *value);
		return threadIdx.x % 32 == 0;
	}
#endif
	return true;
}

static __device__ void raise(u32 *place, u32 value, bool together)
{
#if BY_WARPS
	if (together) {
		value = __reduce_max_sync(~0u, value);
		if (threadIdx.x % 32)
			return;
	}
#endif
	atomicMax(place, value);
}

/* Whether the 32 cells around `i` are all there and of one district. */
static __device__ bool is_together(const struct args *a, u32 i)
{
	u32 first = i - i % 32;

	return first + 31 < a->cells && district(first) == district(first + 31);
}

static __device__ void tally_cell(const struct args *a, struct tally *tally, u32 i, float value)
{
	bool together = is_together(a, i);
	int sum = fixed(value);

	if (add_by_warp(&sum, together)) {
		atomicAdd(&tally->low[district(i)], sum & 0xffff);
		atomicAdd(&tally->high[district(i)], sum >> 16);
	}
	raise(&tally->peak, __float_as_uint(fabsf(value)), together);
}

static __device__ u64 check_of(const struct args *a, u32 i, float t, float u)
{
	u64 j = a->first_cell + i;

	return (u64)__float_as_uint(t) * (2 * j + 1) + (u64)__float_as_uint(u) * (2 * j + 0x10001);
}

/* All threads of the block come here. */
static __device__ void tally_check(struct tally *tally, u64 check)
{
	for (u32 k = 0; k < 3; k++) {
		int limb = (int)(check >> 22 * k & 0x3fffff);

		if (add_by_warp(&limb, true))
			atomicAdd(&tally->limbs[k], (u32)limb);
	}
}

/* Sums and peak to `sums` where that is not 0, the check to `check`. */
static __device__ void tally_give(struct tally *tally, i64 *sums, u64 *check)
{
	__syncthreads();
	if (sums && threadIdx.x < AGENTS && (tally->low[threadIdx.x] || tally->high[threadIdx.x]))
		atomicAdd((u64 *)&sums[threadIdx.x],
			(u64)((i64)tally->high[threadIdx.x] * 65536 + tally->low[threadIdx.x]));
	if (sums && threadIdx.x == AGENTS)
		atomicMax((u64 *)&sums[AGENTS], (u64)tally->peak);
	if (check && threadIdx.x == 0)
		atomicAdd(check, tally->limbs[0] + ((u64)tally->limbs[1] << 22) + ((u64)tally->limbs[2] << 44));
}

/* --- What agents see --- */

static __device__ void look_at(const struct args *a, u32 step, const float *t, const i64 *sums, u32 first, u32 count)
{
	for (u32 q = first; q < observed(step); q += count) {
		char *place = a->outbox + (a->scattered ? a->scattered * q : packed_at(q));

		if (q % 8 == 0)
			*(i64 *)place = *(const volatile i64 *)&sums[q / 8 % AGENTS] + q;
		else
			*(float *)place = fresh(t + looks_at(step, q));
	}
}

/* --- To begin with --- */

KERNEL void kwhy_twin_begin_field(const struct args a, u32 step)
{
	(void)step;
	for (u32 i = thread_index(); i < a.cells; i += thread_count()) {
		u32 j = a.first_cell + i;

		a.t[i] = unit(mix(42ull ^ (u64)(j / CELLS) << 40 ^ (j % CELLS))) * 16.0f;
	}
}

KERNEL void kwhy_twin_begin_rest(const struct args a, u32 step)
{
	(void)step;
	for (u32 i = thread_index(); i < a.cells; i += thread_count())
		a.u[i] = 0;
	for (u32 i = thread_index(); i < STEPS * (AGENTS + 1); i += thread_count())
		a.run_sums[i] = 0;
	for (u32 i = thread_index(); i <= STEPS; i += thread_count())
		a.checks[i] = 0;
	for (u32 i = thread_index(); i < AGENTS * CONTROLS; i += thread_count())
		a.controls[i] = 0;
	for (u32 i = thread_index(); i <= AGENTS; i += thread_count())
		a.sums[i] = 0;
	if (thread_index() < 2)
		a.clock[thread_index()] = 0;
	if (thread_index() == 2)
		a.arrived[0] = 0;
}

/* --- The ten of the specification --- */

static __device__ void clear_sums(const struct args *a, u32 step)
{
	if (reduces(a, step) && threadIdx.x <= AGENTS)
		a->sums[threadIdx.x] = 0;
}

KERNEL void kwhy_twin_gain(const struct args a, u32 step)
{
	u32 i = threadIdx.x;

	clear_sums(&a, step_of(&a, step));
	if (i < AGENTS * GAINS)
		a.gains[i] = gain(a.controls + i / GAINS * CONTROLS, i % GAINS);
}

KERNEL void kwhy_twin_force(const struct args a, u32 step)
{
	(void)step;
	for (u32 i = thread_index(); i < a.cells; i += thread_count())
		a.f[i] = fmaf(a.gains[district(i) * GAINS], a.t[i], a.gains[district(i) * GAINS + 1]);
}

KERNEL void kwhy_twin_spread(const struct args a, u32 step)
{
	(void)step;
	for (u32 i = thread_index(); i < a.cells; i += thread_count())
		a.l[i] = fmaf(-4.0f, a.t[i], neighbours(&a, a.t, i));
}

KERNEL void kwhy_twin_diffuse(const struct args a, u32 step)
{
	(void)step;
	for (u32 i = thread_index(); i < a.cells; i += thread_count())
		a.v[i] = fmaf(0.125f, a.l[i], a.t[i]);
}

KERNEL void kwhy_twin_push(const struct args a, u32 step)
{
	(void)step;
	for (u32 i = thread_index(); i < a.cells; i += thread_count())
		a.w[i] = fmaf(1.0f / 256.0f, a.f[i], a.v[i]);
}

KERNEL void kwhy_twin_store(const struct args a, u32 step)
{
	(void)step;
	for (u32 i = thread_index(); i < a.cells; i += thread_count())
		a.u[i] = fmaf(a.gains[district(i) * GAINS + 2], a.w[i], 0.9375f * a.u[i]);
}

KERNEL void kwhy_twin_limit(const struct args a, u32 step)
{
	(void)step;
	for (u32 i = thread_index(); i < a.cells; i += thread_count())
		a.t[i] = limit(a.w[i]);
}

KERNEL void kwhy_twin_sum(const struct args a, u32 step)
{
	__shared__ struct tally tally;

	tally_clear(&tally);
	for (u32 i = thread_index(); i < a.cells; i += thread_count())
		tally_cell(&a, &tally, i, new_t(&a, step)[i]);
	tally_give(&tally, a.sums, 0);
}

KERNEL void kwhy_twin_look(const struct args a, u32 step)
{
	look_at(&a, step, new_t(&a, step), a.sums, thread_index(), thread_count());
}

KERNEL void kwhy_twin_check(const struct args a, u32 step)
{
	__shared__ struct tally tally;
	u64 check = 0;

	tally_clear(&tally);
	for (u32 i = thread_index(); i < a.cells; i += thread_count())
		check += check_of(&a, i, new_t(&a, step)[i], a.u[i]);
	tally_check(&tally, check);
	tally_give(&tally, 0, &a.checks[step]);
}

/* --- Packed and fused --- */

/* Pieces that lie one behind the other in the inbox, to the controls of their agents. */
KERNEL void kwhy_twin_scatter(const struct args a, u32 step)
{
	u32 agent = threadIdx.x / CONTROLS, place = threadIdx.x % CONTROLS, from = place;

	if (agent >= AGENTS || place >= sends(step, agent))
		return;
	for (u32 before = 0; before < agent; before++)
		from += sends(step, before);
	a.controls[threadIdx.x] = ((const volatile float *)a.inbox)[from];
}

/* The whole table of controls from the inbox, and the gains they come to. */
KERNEL void kwhy_twin_receive(const struct args a, u32 step)
{
	u32 i = threadIdx.x;

	clear_sums(&a, step_of(&a, step));
	if (i < AGENTS * CONTROLS)
		a.controls[i] = ((const volatile float *)a.inbox)[i];
	__syncthreads();
	if (i < AGENTS * GAINS)
		a.gains[i] = gain(a.controls + i / GAINS * CONTROLS, i % GAINS);
}

struct cell {
	float t, u;
};

/* Steps 2 to 7 of one cell, and its history. */
static __device__ struct cell advance(const struct args *a, const float *gains, u32 step, u32 i)
{
	const float *t = old_t(a, step), *mine = gains + district(i) * GAINS;
	float here = fresh(t + i), f = fmaf(mine[0], here, mine[1]), l = fmaf(-4.0f, here, neighbours(a, t, i)),
	      v = fmaf(0.125f, l, here), w = fmaf(1.0f / 256.0f, f, v);
	struct cell cell = {limit(w), fmaf(mine[2], w, 0.9375f * a->u[i])};

	new_t(a, step)[i] = cell.t;
	a->u[i] = cell.u;
	if (a->first_cell + i < KEPT) {
		float *slot = a->history + step * SLOT + i;

		slot[0] = cell.t;
		slot[KEPT] = cell.u;
		slot[2 * KEPT] = w;
		slot[3 * KEPT] = f;
		if (step % 36 == 0)
			slot[4 * KEPT] = v;
	}
	return cell;
}

KERNEL void kwhy_twin_advance(const struct args a, u32 step)
{
	step = step_of(&a, step);
	for (u32 i = thread_index(); i < a.cells; i += thread_count())
		advance(&a, a.gains, step, i);
}

static __device__ void tally_all(const struct args *a, struct tally *tally, u32 step)
{
	const float *t = new_t(a, step);
	u64 check = 0;

	tally_clear(tally);
	for (u32 i = thread_index(); i < a->cells; i += thread_count()) {
		if (reduces(a, step))
			tally_cell(a, tally, i, t[i]);
		check += check_of(a, i, t[i], a->u[i]);
	}
	tally_check(tally, check);
	tally_give(tally, reduces(a, step) ? a->sums : 0, &a->checks[step]);
}

/* True in every thread of the block that comes last, once all others' sums are there. */
static __device__ bool is_last(const struct args *a)
{
	__shared__ bool last;

	__syncthreads();
	if (threadIdx.x == 0) {
		__threadfence();
		last = atomicAdd(&a->clock[1], 1) == gridDim.x - 1;
		__threadfence();
	}
	__syncthreads();
	return last;
}

static __device__ void end_step(const struct args *a, u32 step)
{
	__syncthreads();
	if (threadIdx.x)
		return;
	a->clock[0] = step + 1;
	a->clock[1] = 0;
	if (a->flag) {
		__threadfence_system();
		*(volatile u32 *)a->flag = step + 1;
	}
}

/* Sums, check and observations: steps 8 to 10. */
KERNEL void kwhy_twin_conclude(const struct args a, u32 step)
{
	__shared__ struct tally tally;

	step = step_of(&a, step);
	tally_all(&a, &tally, step);
	if (!is_last(&a))
		return;
	look_at(&a, step, new_t(&a, step), a.sums, threadIdx.x, blockDim.x);
	if (a.flag)
		__threadfence_system();
	end_step(&a, step);
}

/* The same where the sums of several fields are still to come. */
KERNEL void kwhy_twin_tally(const struct args a, u32 step)
{
	__shared__ struct tally tally;

	tally_all(&a, &tally, step);
}

/* Sums of all fields from what was gathered, then what agents see; one block. */
KERNEL void kwhy_twin_combine(const struct args a, u32 step)
{
	u32 d = threadIdx.x;

	if (reduces(&a, step) && d <= AGENTS) {
		i64 total = 0;

		for (u32 part = 0; part < a.parts; part++) {
			i64 value = a.gathered[part * (AGENTS + 1) + d];

			total = d < AGENTS ? total + value : value > total ? value : total;
		}
		a.sums[d] = total;
	}
	__syncthreads();
	if (a.first_cell == 0)
		look_at(&a, step, new_t(&a, step), a.sums, threadIdx.x, blockDim.x);
}

/* --- A whole run in one launch --- */

#ifndef WAIT
#define WAIT
#endif

/* Everything that was written before, by any block, is seen by all after. */
static __device__ void barrier(const struct args *a, u32 round)
{
	__syncthreads();
	if (threadIdx.x == 0) {
		__threadfence();
		atomicAdd(a->arrived, 1);
		while (*(volatile u32 *)a->arrived < (round + 1) * gridDim.x)
			WAIT;
		__threadfence();
	}
	__syncthreads();
}

struct agents {
	float controls[AGENTS * CONTROLS], gains[AGENTS * GAINS];
	int low[AGENTS], high[AGENTS]; /* what they saw: high * 2^24 + low */
};

static __device__ i64 seen_by(const struct agents *agents, u32 agent)
{
	return (i64)agents->high[agent] * (1 << 24) + agents->low[agent];
}

/* What agents see of a step that has ended. */
static __device__ void watch(const struct args *a, struct agents *agents, u32 step)
{
	const float *t = new_t(a, step);
	const volatile i64 *sums = a->run_sums + (step - step % a->reduce_every) * (AGENTS + 1);

	if (threadIdx.x < AGENTS)
		agents->low[threadIdx.x] = agents->high[threadIdx.x] = 0;
	__syncthreads();
	for (u32 q = threadIdx.x; q < observed(step); q += blockDim.x) {
		i64 value = q % 8 == 0 ? sums[q / 8 % AGENTS] + q : (i64)fixed(fresh(t + looks_at(step, q)));

		if (q % 8 == 0)
			atomicAdd(&agents->high[q % AGENTS], (int)(value >> 24));
		atomicAdd(&agents->low[q % AGENTS], q % 8 == 0 ? (int)(value & 0xffffff) : (int)value);
	}
	__syncthreads();
}

/* What agents do about it. */
static __device__ void decide(const struct args *a, struct agents *agents, u32 step)
{
	u32 i = threadIdx.x, agent = i / CONTROLS;

	if (i < AGENTS * CONTROLS && i % CONTROLS < sends(step, agent))
		agents->controls[i] = payload(step, agent, i % CONTROLS, step && a->closed ? seen_by(agents, agent) : 0);
	__syncthreads();
	if (i < AGENTS * GAINS)
		agents->gains[i] = gain(agents->controls + i / GAINS * CONTROLS, i % GAINS);
	__syncthreads();
}

static __device__ u64 now_ns(void)
{
#ifdef __CUDA_ARCH__
	u64 time;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
	return time;
#elif defined(__HIP_DEVICE_COMPILE__)
	return wall_clock64() * 10; /* of 100 MHz */
#else
	return 0;
#endif
}

/* The last block keeps the books, of the step before the one that the others are at. */
static __device__ void keep_books(const struct args *a, const struct agents *agents, u32 step, u64 *books)
{
	if (threadIdx.x)
		return;
	for (u32 agent = 0; agent < AGENTS; agent++)
		*books = mix(*books ^ (u64)seen_by(agents, agent));
	a->seen[step] = *books;
	a->times[step + 1] = now_ns();
}

static __device__ void work(const struct args *a, const struct agents *agents, struct tally *tally, u32 step)
{
	u32 workers = gridDim.x - 1;
	u64 check = 0;

	tally_clear(tally);
	for (u32 i = thread_index(); i < a->cells; i += workers * blockDim.x) {
		struct cell cell = advance(a, agents->gains, step, i);

		if (reduces(a, step))
			tally_cell(a, tally, i, cell.t);
		check += check_of(a, i, cell.t, cell.u);
	}
	tally_check(tally, check);
	tally_give(tally, reduces(a, step) ? a->run_sums + step * (AGENTS + 1) : 0, &a->checks[step]);
}

/* All blocks at once; all but the last have the cells, each always the same ones. */
KERNEL void __launch_bounds__(1024, 1) kwhy_twin_run(const struct args a, u32 step)
{
	__shared__ struct agents agents;
	__shared__ struct tally tally;
	u64 books = 0;
	bool clerk = blockIdx.x == gridDim.x - 1;

	(void)step;
	if (clerk && threadIdx.x == 0)
		a.times[0] = now_ns();
	for (u32 i = threadIdx.x; i < AGENTS * CONTROLS; i += blockDim.x)
		agents.controls[i] = 0;
	__syncthreads();
	for (u32 t = 0; t <= a.steps; t++) {
		if (t)
			watch(&a, &agents, t - 1);
		if (clerk && t)
			keep_books(&a, &agents, t - 1, &books);
		if (t == a.steps)
			break;
		decide(&a, &agents, t);
		if (!clerk)
			work(&a, &agents, &tally, t);
		barrier(&a, t);
	}
}
