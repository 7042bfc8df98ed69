/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads memory that other blocks may have written since this launch began. The volatile access is not served from
 * the first-level cache.
 */
#define NEW(type, place) (*(const volatile type *)(place))

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

static __device__ u32 thread_index(void)
{
	return blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ u32 thread_count(void)
{
	return gridDim.x * blockDim.x;
}

/* --- Which flows leave, merge or stay --- */

/*
 * A flow left or merged in this step: its row gets a new flow, with the next unused number, from the next step on.
 */
static __device__ void renew(const struct lab_flow_args *a, u32 step, u32 row)
{
	a->fresh[step % 2 * a->flows + row] = (u64)(step + 1) << 32 | (a->flows + atomicAdd(&a->numbers[0], 1));
}

/*
 * A flow's entry into its new cell. claim_begin() starts the atomic operations and claim_end() uses their results, so
 * that other work can hide their latency. key: the flow's key in `owners`; 0: the flow leaves the lattice. lowest,
 * head: what `owners` and the head of the cell's list contained before.
 */
struct claim {
	u64 key, lowest, head;
	u32 row; /* row of the flow; NONE: no claim was made */
};

/*
 * Upper bits of a key in `owners` at this step. A cell keeps the lowest key (atomicMin), and keys of later steps
 * are lower than all keys of earlier steps. So `owners` need not be cleared between steps.
 */
#define STEP_OF_KEY(step) (0xffeu - (step))

static __device__ struct claim claim_begin(const struct lab_flow_args *a, u32 step, u32 row, u64 moved)
{
	struct claim claim = {0, 0, 0, row};
	u32 cell = cell_of(a, moved);

	a->moved[step % 2 * a->flows + row] = moved;
	if (z_of(moved) >= a->depth)
		return claim;
	claim.key = (u64)STEP_OF_KEY(step) << 52 | moved >> 32 << 20 | row;
	claim.lowest = atomicMin(&a->owners[cell], claim.key);
	claim.head = atomicExch(
		&a->heads[(u64)(step % 2) * a->width * a->height * a->depth + cell], (u64)(step + 1) << 32 | row);
	return claim;
}

/*
 * Of the flows that meet in a cell, all but the one with the lowest number merge into that one. A flow that finds a
 * claim of another flow in its cell compares both numbers, and gives a new flow to the row of the higher one. So each
 * merged flow is counted once.
 */
static __device__ void claim_end(const struct lab_flow_args *a, u32 step, const struct claim *claim)
{
	if (claim->row == NONE)
		return;
	if (!claim->key) {
		renew(a, step, claim->row);
		atomicAdd(&a->records[step].exited, 1);
		return;
	}
	if (claim->lowest >> 52 == STEP_OF_KEY(step)) {
		u64 goes = claim->lowest > claim->key ? claim->lowest : claim->key;

		renew(a, step, (u32)goes & 0xfffff);
		atomicAdd(&a->records[step].merged, 1);
	}
	a->next[step % 2 * a->flows + claim->row] = claim->head >> 32 == step + 1 ? (u32)claim->head : NONE;
}

/*
 * Whether a row has a new flow from the step after `step` on; *number: the new flow's number. step NONE (before the
 * first step): every row has.
 */
static __device__ bool begins(const struct lab_flow_args *a, u32 step, u32 row, u32 *number)
{
	u64 fresh;

	*number = row;
	if (step == NONE)
		return true;
	fresh = NEW(u64, &a->fresh[step % 2 * a->flows + row]);
	*number = (u32)fresh;
	return fresh >> 32 == step + 1;
}

/*
 * First row in the list of the flows that met in a cell, of which the flow of `row` is the one that stays. If the
 * host decides which flows merge (by_row), the list begins with that row.
 */
static __device__ u32 first_of(const struct lab_flow_args *a, u32 step, u32 row, u64 moved)
{
	u64 half = (u64)(step % 2) * a->width * a->height * a->depth;

	return a->by_row ? row : (u32)NEW(u64, &a->heads[half + cell_of(a, moved)]);
}

static __device__ u32 next_of(const struct lab_flow_args *a, u32 step, u32 row)
{
	return NEW(u32, &a->next[step % 2 * a->flows + row]);
}

static __device__ u64 fixed(float value)
{
	return (u64)(i64)((double)value * 4294967296.0);
}
