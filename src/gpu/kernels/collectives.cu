/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums and copies over the members of a group that reach each other's memory: one block reads all places and
 * writes them. The order of addition does not matter, as the numbers are integers.
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

KERNEL void kwhy_collective_sum(const struct places places)
{
	for (u32 i = threadIdx.x; i < places.length; i += blockDim.x) {
		u64 total = 0;

		for (u32 k = 0; k < places.count; k++)
			total += places.from[k][i];
		for (u32 k = 0; k < places.count; k++)
			places.to[k][i] = total;
	}
}

KERNEL void kwhy_collective_max(const struct places places)
{
	for (u32 i = threadIdx.x; i < places.length; i += blockDim.x) {
		u64 most = 0;

		for (u32 k = 0; k < places.count; k++)
			most = places.from[k][i] > most ? places.from[k][i] : most;
		for (u32 k = 0; k < places.count; k++)
			places.to[k][i] = most;
	}
}

KERNEL void kwhy_collective_copy(const struct places places)
{
	for (u32 k = 0; k < places.count; k++)
		for (u32 i = threadIdx.x; i < places.length; i += blockDim.x)
			((float *)places.to[k])[i] = ((const float *)places.from[k])[i];
}
