/* SPDX-License-Identifier: Apache-2.0 */
/* --- Packed and fused --- */

/* Pieces that lie one behind the other in the inbox, to the controls of their agents. */
KERNEL void lab_twin_scatter(const struct lab_twin_args a, u32 step)
{
	for (u32 i = threadIdx.x; i < AGENTS * CONTROLS; i += blockDim.x) {
		u32 agent = i / CONTROLS, from = i % CONTROLS;

		if (from >= sends(step, agent))
			continue;
		for (u32 before = 0; before < agent; before++)
			from += sends(step, before);
		a.controls[i] = ((const volatile float *)a.inbox)[from];
	}
}

/* The whole table of controls from the inbox, and the gains they come to. */
KERNEL void lab_twin_receive(const struct lab_twin_args a, u32 step)
{
	clear_sums(&a, step_of(&a, step));
	for (u32 i = threadIdx.x; i < AGENTS * CONTROLS; i += blockDim.x)
		a.controls[i] = ((const volatile float *)a.inbox)[i];
	__syncthreads();
	find_gains(a.controls, a.gains);
}

struct cell {
	float t, u;
};

/* Steps 2 to 7 of one cell, and its history. */
static __device__ struct cell advance(const struct lab_twin_args *a, const float *gains, u32 step, u32 i)
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

KERNEL void lab_twin_advance(const struct lab_twin_args a, u32 step)
{
	step = step_of(&a, step);
	for (u32 i = thread_index(); i < a.cells; i += thread_count())
		advance(&a, a.gains, step, i);
}

static __device__ void tally_all(const struct lab_twin_args *a, struct tally *tally, u32 step)
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
static __device__ bool is_last(const struct lab_twin_args *a)
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

static __device__ void end_step(const struct lab_twin_args *a, u32 step)
{
	__syncthreads();
	if (threadIdx.x)
		return;
	a->clock[0] = step + 1;
	a->clock[1] = 0;
	if (a->flag) {
		__threadfence_system();
		SIGNAL(a->flag, step + 1);
	}
}

/* Sums, check and observations: steps 8 to 10. */
KERNEL void lab_twin_conclude(const struct lab_twin_args a, u32 step)
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
KERNEL void lab_twin_tally(const struct lab_twin_args a, u32 step)
{
	__shared__ struct tally tally;

	tally_all(&a, &tally, step);
}

/* Sums of all fields from what was gathered, then what agents see; one block. */
KERNEL void lab_twin_combine(const struct lab_twin_args a, u32 step)
{
	for (u32 d = threadIdx.x; reduces(&a, step) && d <= AGENTS; d += blockDim.x) {
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
