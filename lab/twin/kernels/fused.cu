/* SPDX-License-Identifier: Apache-2.0 */
/* --- Packed and fused kernels --- */

/*
 * Copies the floats that agents sent in this step from the inbox, where they are packed agent after agent, to the
 * agents' rows of `controls`.
 */
KERNEL void lab_twin_scatter(const struct lab_twin_args a, u32 step)
{
	for (u32 i = threadIdx.x; i < AGENTS * CONTROLS; i += blockDim.x) {
		u32 agent = i / CONTROLS, from = i % CONTROLS;

		if (from >= sends(step, agent))
			continue;
		for (u32 before = 0; before < agent; before++)
			from += sends(step, before);
		a.controls[i] = a.inbox[from];
	}
}

/* Copies the whole table of controls from the inbox, and computes the gains from it. */
KERNEL void lab_twin_receive(const struct lab_twin_args a, u32 step)
{
	(void)step;
	for (u32 i = threadIdx.x; i < AGENTS * CONTROLS; i += blockDim.x)
		a.controls[i] = a.inbox[i];
	__syncthreads();
	prepare(&a);
}

struct cell {
	float t, u;
};

/* Kernels 2 to 7 of the ten in lab/README.md (F, L, V, W, U, T) for one cell, and its part of the history. */
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
		if (keeps_v(step))
			slot[4 * KEPT] = v;
	}
	return cell;
}

KERNEL void lab_twin_advance(const struct lab_twin_args a, u32 step)
{
	step = step_of(&a, step);
	EACH(i, a.cells) advance(&a, a.gains, step, i);
}

/*
 * Returns true in all threads of the block that comes here last. The results of all other blocks are visible to it.
 */
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

/*
 * Kernels 8 to 10 of the ten in lab/README.md: sums and peak, observations (by the last block, when the sums are
 * complete), checksum.
 */
KERNEL void lab_twin_conclude(const struct lab_twin_args a, u32 step)
{
	step = step_of(&a, step);
	tally_all(&a, step, a.sums, &a.checks[step]);
	if (!is_last(&a))
		return;
	look_at(&a, step, threadIdx.x, blockDim.x);
	if (a.flag)
		__threadfence_system();
	end_step(&a, step);
}

/*
 * Computes a field's sums, peak and checksum. Used if there are several fields; lab_twin_combine() then adds up
 * their sums.
 */
KERNEL void lab_twin_tally(const struct lab_twin_args a, u32 step)
{
	tally_all(&a, step, a.sums, &a.checks[step]);
}

/*
 * Adds up the gathered sums of all fields and takes the largest of their peaks; then writes the observations to the
 * outbox. For one block.
 */
KERNEL void lab_twin_combine(const struct lab_twin_args a, u32 step)
{
	for (u32 d = threadIdx.x; d <= AGENTS; d += blockDim.x) {
		i64 total = 0;

		for (u32 part = 0; part < a.parts; part++) {
			i64 value = a.gathered[part * (AGENTS + 1) + d];

			total = d < AGENTS ? total + value : value > total ? value : total;
		}
		a.sums[d] = total;
	}
	__syncthreads();
	if (a.first_cell == 0)
		look_at(&a, step, threadIdx.x, blockDim.x);
}
