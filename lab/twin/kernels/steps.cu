/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a float that other blocks may have written in this launch; the load bypasses the first-level cache.
 */
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

static __device__ u32 step_of(const struct lab_twin_args *a, u32 step)
{
	return step == BY_CLOCK ? a->clock[0] : step;
}

static __device__ const float *old_t(const struct lab_twin_args *a, u32 step)
{
	return a->t + (a->doubled && step % 2 ? a->cells : 0);
}

static __device__ float *new_t(const struct lab_twin_args *a, u32 step)
{
	return a->t + (a->doubled && step % 2 == 0 ? a->cells : 0);
}

static __device__ float neighbours(const struct lab_twin_args *a, const float *t, u32 i)
{
	u32 x = i % WIDTH, row = i - x;
	float north = fresh(row ? t + i - WIDTH : (a->has_edges ? a->edges : t + a->cells - WIDTH) + x);
	float south = fresh(row + WIDTH < a->cells ? t + i + WIDTH : (a->has_edges ? a->edges + WIDTH : t) + x);
	float west = fresh(t + row + (x + WIDTH - 1) % WIDTH), east = fresh(t + row + (x + 1) % WIDTH);

	return (north + south) + (west + east);
}

/* --- Sums of a block, in shared memory --- */

struct tally {
	/* a district's sum is high * 2^16 + low; neither overflows with up to 2^20 cells */
	int low[AGENTS], high[AGENTS];
	/*
	 * peak: bits of the largest |T|; limbs: the checksum, split into 22 bits each so that 32-bit atomic
	 * operations can add it up
	 */
	u32 peak, limbs[3];
};

static __device__ void tally_clear(struct tally *tally)
{
	for (u32 d = threadIdx.x; d < AGENTS; d += blockDim.x)
		tally->low[d] = tally->high[d] = 0;
	for (u32 k = threadIdx.x; k < 3; k += blockDim.x)
		tally->limbs[k] = 0;
	if (threadIdx.x == 0)
		tally->peak = 0;
	__syncthreads();
}

#ifndef BY_WARPS
#define BY_WARPS (__CUDA_ARCH__ >= 800)
#endif

/*
 * Adds up *value over a warp, if `together` says that all lanes add to the same sum and the GPU has the
 * instruction. Returns whether this lane must still add its *value: after a warp's addition only its first lane,
 * otherwise every lane.
 */
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

/*
 * Whether the 32 cells of the warp that computes cell `i` are all in the field and in the same district, so that
 * they add to the same sum.
 */
static __device__ bool is_together(const struct lab_twin_args *a, u32 i)
{
	u32 first = i - i % 32;

	return first + 31 < a->cells && district(first) == district(first + 31);
}

static __device__ void tally_cell(const struct lab_twin_args *a, struct tally *tally, u32 i, float value)
{
	bool together = is_together(a, i);
	int sum = fixed(value);

	if (add_by_warp(&sum, together)) {
		atomicAdd(&tally->low[district(i)], sum & 0xffff);
		atomicAdd(&tally->high[district(i)], sum >> 16);
	}
	raise(&tally->peak, __float_as_uint(fabsf(value)), together);
}

static __device__ u64 check_of(const struct lab_twin_args *a, u32 i, float t, float u)
{
	u64 j = a->first_cell + i;

	return (u64)__float_as_uint(t) * (2 * j + 1) + (u64)__float_as_uint(u) * (2 * j + 0x10001);
}

/* Adds each thread's `check` to the block's checksum. All threads of the block must call it. */
static __device__ void tally_check(struct tally *tally, u64 check)
{
	for (u32 k = 0; k < 3; k++) {
		int limb = (int)(check >> 22 * k & 0x3fffff);

		if (add_by_warp(&limb, true))
			atomicAdd(&tally->limbs[k], (u32)limb);
	}
}

static __device__ void tally_give(struct tally *tally, i64 *sums, u64 *check)
{
	__syncthreads();
	for (u32 d = threadIdx.x; sums && d < AGENTS; d += blockDim.x)
		if (tally->low[d] || tally->high[d])
			atomicAdd((u64 *)&sums[d], (u64)((i64)tally->high[d] * 65536 + tally->low[d]));
	if (sums && threadIdx.x == 0)
		atomicMax((u64 *)&sums[AGENTS], (u64)tally->peak);
	if (check && threadIdx.x == 0)
		atomicAdd(check, tally->limbs[0] + ((u64)tally->limbs[1] << 22) + ((u64)tally->limbs[2] << 44));
}

/*
 * Adds the sums of this block's cells after a step to sums[0] to sums[AGENTS - 1], raises the peak in sums[AGENTS],
 * and adds the checksum to *check; `sums` or `check` may be 0. step STEPS: uses the cells after the last step of
 * the run.
 */
static __device__ void tally_all(const struct lab_twin_args *a, u32 step, i64 *sums, u64 *check)
{
	__shared__ struct tally tally;
	const float *t = new_t(a, step < STEPS ? step : a->steps - 1);
	u64 sum = 0;

	tally_clear(&tally);
	for (u32 i = thread_index(); i < a->cells; i += thread_count()) {
		if (sums)
			tally_cell(a, &tally, i, t[i]);
		if (check)
			sum += check_of(a, i, t[i], a->u[i]);
	}
	if (check)
		tally_check(&tally, sum);
	tally_give(&tally, sums, check);
}

/* --- What agents see --- */

static __device__ void look_at(const struct lab_twin_args *a, u32 step, u32 first, u32 count)
{
	const float *t = new_t(a, step);

	for (u32 q = first; q < observed(step); q += count) {
		char *place = a->outbox + (a->scattered ? a->scattered * q : packed_at(q));

		if (is_wide(q))
			*(i64 *)place = *(const volatile i64 *)&a->sums[q / 8 % AGENTS] + q;
		else
			*(float *)place = fresh(t + looks_at(step, q));
	}
}

/* --- Initial state --- */

#define EACH(i, count) for (u32 i = thread_index(); i < (count); i += thread_count())

/* Defines a kernel that executes a statement for every cell. */
#define EACH_CELL(name, statement) \
	KERNEL void lab_twin_##name(const struct lab_twin_args a, u32 step) \
	{ \
		(void)step; \
		EACH(i, a.cells) statement; \
	}

EACH_CELL(begin_field, a.t[i] = start((a.first_cell + i) / CELLS, (a.first_cell + i) % CELLS))

KERNEL void lab_twin_begin_rest(const struct lab_twin_args a, u32 step)
{
	(void)step;
	EACH(i, a.cells) a.u[i] = 0;
	EACH(i, STEPS * (AGENTS + 1)) a.run_sums[i] = 0;
	EACH(i, STEPS + 1) a.checks[i] = 0;
	EACH(i, AGENTS * CONTROLS) a.controls[i] = 0;
	EACH(i, AGENTS + 1) a.sums[i] = 0;
	EACH(i, 1) a.clock[0] = a.clock[1] = a.arrived[0] = 0;
}

/* --- The ten kernels of the specification --- */

static __device__ void find_gains(const float *controls, float *gains)
{
	for (u32 i = threadIdx.x; i < AGENTS * GAINS; i += blockDim.x)
		gains[i] = gain(controls + i / GAINS * CONTROLS, i % GAINS);
}

/* Sets the sums and the peak to 0 and computes the gains of all agents from their controls. For one block. */
static __device__ void prepare(const struct lab_twin_args *a)
{
	for (u32 d = threadIdx.x; d <= AGENTS; d += blockDim.x)
		a->sums[d] = 0;
	find_gains(a->controls, a->gains);
}

KERNEL void lab_twin_gain(const struct lab_twin_args a, u32 step)
{
	(void)step;
	prepare(&a);
}

EACH_CELL(force, a.f[i] = fmaf(a.gains[district(i) * GAINS], a.t[i], a.gains[district(i) * GAINS + 1]))
EACH_CELL(spread, a.l[i] = fmaf(-4.0f, a.t[i], neighbours(&a, a.t, i)))
EACH_CELL(diffuse, a.v[i] = fmaf(0.125f, a.l[i], a.t[i]))
EACH_CELL(push, a.w[i] = fmaf(1.0f / 256.0f, a.f[i], a.v[i]))
EACH_CELL(store, a.u[i] = fmaf(a.gains[district(i) * GAINS + 2], a.w[i], 0.9375f * a.u[i]))
EACH_CELL(limit, a.t[i] = limit(a.w[i]))

KERNEL void lab_twin_sum(const struct lab_twin_args a, u32 step)
{
	tally_all(&a, step, a.sums, 0);
}

KERNEL void lab_twin_look(const struct lab_twin_args a, u32 step)
{
	look_at(&a, step, thread_index(), thread_count());
}

KERNEL void lab_twin_check(const struct lab_twin_args a, u32 step)
{
	tally_all(&a, step, 0, &a.checks[step]);
}
