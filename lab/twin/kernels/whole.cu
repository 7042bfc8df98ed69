/* SPDX-License-Identifier: Apache-2.0 */
/* --- A whole run in one launch --- */

#ifndef WAIT
#define WAIT
#endif

/* Barrier for all blocks. Everything that any block wrote before is visible to all blocks afterwards. */
static __device__ void barrier(const struct lab_twin_args *a, u32 round)
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
	int low[AGENTS], high[AGENTS]; /* what each agent saw in the step before: high * 2^24 + low */
};

static __device__ i64 seen_by(const struct agents *agents, u32 agent)
{
	return (i64)agents->high[agent] * (1 << 24) + agents->low[agent];
}

/* Computes what each agent sees after a step: adds up its observations, which are not stored. */
static __device__ void watch(const struct lab_twin_args *a, struct agents *agents, u32 step)
{
	const float *t = new_t(a, step);
	const volatile i64 *sums = a->run_sums + step * (AGENTS + 1);

	for (u32 i = threadIdx.x; i < AGENTS; i += blockDim.x)
		agents->low[i] = agents->high[i] = 0;
	__syncthreads();
	for (u32 q = threadIdx.x; q < observed(step); q += blockDim.x) {
		i64 value = is_wide(q) ? sums[q / 8 % AGENTS] + q : (i64)fixed(fresh(t + looks_at(step, q)));

		if (is_wide(q))
			atomicAdd(&agents->high[q % AGENTS], (int)(value >> 24));
		atomicAdd(&agents->low[q % AGENTS], is_wide(q) ? (int)(value & 0xffffff) : (int)value);
	}
	__syncthreads();
}

/* Computes the floats that agents send in a step, and the gains from them. */
static __device__ void decide(const struct lab_twin_args *a, struct agents *agents, u32 step)
{
	for (u32 i = threadIdx.x; i < AGENTS * CONTROLS; i += blockDim.x) {
		u32 agent = i / CONTROLS, place = i % CONTROLS;

		if (place < sends(step, agent))
			agents->controls[i] = payload(step, agent, place, step && a->closed ? seen_by(agents, agent) : 0);
	}
	__syncthreads();
	find_gains(agents->controls, agents->gains);
	__syncthreads();
}

static __device__ u64 now_ns(void)
{
#ifdef __CUDA_ARCH__
	u64 time;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
	return time;
#elif defined(__HIP_DEVICE_COMPILE__)
	return wall_clock64() * 10; /* ticks of 10 ns (100 MHz) */
#elif defined(NOW_NS)
	return NOW_NS();
#else
	return 0;
#endif
}

static __device__ void work(const struct lab_twin_args *a, const struct agents *agents, u32 step)
{
	__shared__ struct tally tally;
	u64 check = 0;

	tally_clear(&tally);
	EACH(i, a->cells) {
		struct cell cell = advance(a, agents->gains, step, i);

		tally_cell(a, &tally, i, cell.t);
		check += check_of(a, i, cell.t, cell.u);
	}
	tally_check(&tally, check);
	tally_give(&tally, a->run_sums + step * (AGENTS + 1), &a->checks[step]);
}

/*
 * The whole run. All blocks must be resident together, since they wait for each other. Each block processes the
 * same cells in every step and computes all agents in its own shared memory, with the same results as every other
 * block. The first block writes what the agents saw to `seen`.
 */
KERNEL void __launch_bounds__(1024, 1) lab_twin_whole(const struct lab_twin_args a, u32 step)
{
	__shared__ struct agents agents;

	if (thread_index() == 0)
		a.times[0] = now_ns();
	for (u32 i = threadIdx.x; i < AGENTS * CONTROLS; i += blockDim.x)
		agents.controls[i] = 0;
	__syncthreads();
	for (step = 0; step < a.steps; step++) {
		decide(&a, &agents, step);
		work(&a, &agents, step);
		barrier(&a, step);
		watch(&a, &agents, step);
		for (u32 i = threadIdx.x; blockIdx.x == 0 && i < AGENTS; i += blockDim.x)
			a.seen[step * AGENTS + i] = seen_by(&agents, i);
		if (thread_index() == 0)
			a.times[step + 1] = now_ns();
	}
}
