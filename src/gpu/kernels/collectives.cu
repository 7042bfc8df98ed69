/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums and copies over the members of a group that reach each other's memory. Each thread reads its element
 * from all members and writes it to all of them.
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
	u32 length; /* at each address: number of u64, or of floats */
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

/* Adds the floats in the order of the members, so that all members get the same bits. */
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
