/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions and copies over the members of a group. One GPU runs the kernel and accesses the memory of all
 * members. For a reduction, a thread reads an element of all members and writes the result to all of them;
 * for a copy, it copies from each address in `from` to the one of the same index in `to`.
 */
#ifdef __cplusplus
#define KERNEL extern "C" __global__
#endif

typedef unsigned long long u64;
typedef unsigned int u32;

enum { PLACES = 16 };

/* collectives_own.c has the same struct. */
struct places {
	u64 *to[PLACES], *from[PLACES];
	u32 count;  /* number of addresses in `to` and `from` */
	u32 length; /* number of elements at each address: u64 for sum and max, floats for sum_floats and copy
		     */
};

static __device__ u32 first_index(void)
{
	return blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ u32 thread_count(void)
{
	return gridDim.x * blockDim.x;
}

KERNEL void kwhy_collective_sum(const struct places places)
{
	for (u32 i = first_index(); i < places.length; i += thread_count()) {
		u64 total = 0;

		for (u32 k = 0; k < places.count; k++)
			total += places.from[k][i];
		for (u32 k = 0; k < places.count; k++)
			places.to[k][i] = total;
	}
}

KERNEL void kwhy_collective_max(const struct places places)
{
	for (u32 i = first_index(); i < places.length; i += thread_count()) {
		u64 most = 0;

		for (u32 k = 0; k < places.count; k++)
			most = places.from[k][i] > most ? places.from[k][i] : most;
		for (u32 k = 0; k < places.count; k++)
			places.to[k][i] = most;
	}
}

/*
 * Each sum is computed once, by one thread, in the order of the members, and written to all members, which
 * therefore get the same bits.
 */
KERNEL void kwhy_collective_sum_floats(const struct places places)
{
	for (u32 i = first_index(); i < places.length; i += thread_count()) {
		float total = 0;

		for (u32 k = 0; k < places.count; k++)
			total += ((const float *)places.from[k])[i];
		for (u32 k = 0; k < places.count; k++)
			((float *)places.to[k])[i] = total;
	}
}

KERNEL void kwhy_collective_copy(const struct places places)
{
	for (u32 k = 0; k < places.count; k++)
		for (u32 i = first_index(); i < places.length; i += thread_count())
			((float *)places.to[k])[i] = ((const float *)places.from[k])[i];
}
