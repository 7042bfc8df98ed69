/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums and copies over the members of a group that reach each other's memory: a thread reads all places and
 * writes them.
 */
#ifdef __cplusplus
#define KERNEL extern "C" __global__
#endif

typedef unsigned long long u64;
typedef unsigned int u32;

enum { PLACES = 16 };

/* As in collectives_own.c. */
struct places {
	u64 *to[PLACES], *from[PLACES];
	u32 count;  /* of places */
	u32 length; /* of each: u64 words, or floats to copy */
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

/* In the order of members. */
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
