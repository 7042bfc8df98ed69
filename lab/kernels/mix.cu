/* SPDX-License-Identifier: Apache-2.0 */
/* --- Pseudo-random number for an index, for `twin`, `flow` and `train` --- */

#ifndef LAB_MIX
#define LAB_MIX

typedef unsigned long long u64;
typedef long long i64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;

/* Finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
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
#endif
