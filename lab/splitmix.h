/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_SPLITMIX_H
#define KWHY_LAB_SPLITMIX_H

#include <stdint.h>

/* Numbers of reference workloads: the finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014). Pure. */
static inline uint64_t kwhy_splitmix(uint64_t x)
{
	x += 0x9E3779B97F4A7C15u;
	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
	return x ^ (x >> 31);
}

/* In [-1, 1), exact. */
static inline float kwhy_splitmix_unit(uint64_t hash)
{
	return (float)((int)(hash >> 53) - 1024) * 0x1p-10f;
}

#endif
