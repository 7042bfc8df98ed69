/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_RANDOM_H
#define KWHY_BASE_RANDOM_H

#include <stdint.h>

/* Random numbers for sampling and shuffling: the same seed gives the same numbers on every machine. */

/*
 * The step by which the state of SplitMix64 (Steele, Lea and Flood 2014) grows: 2^64 divided by the golden
 * ratio.
 */
#define KWHY_RANDOM_STEP UINT64_C(0x9e3779b97f4a7c15)

/*
 * Returns the output of SplitMix64 for a state. The n-th number for a seed (n from 1) is the output for the
 * state seed + n * KWHY_RANDOM_STEP, so numbers can be computed in any order and by any thread.
 */
static inline uint64_t kwhy_random_of(uint64_t state)
{
	state = (state ^ state >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	state = (state ^ state >> 27) * UINT64_C(0x94d049bb133111eb);
	return state ^ state >> 31;
}

/* Returns the next number of SplitMix64 and advances *state, which is the seed at first. */
static inline uint64_t kwhy_random_next(uint64_t *state)
{
	return kwhy_random_of(*state += KWHY_RANDOM_STEP);
}

/* Maps a random number of 64 bits to a real number in [0, 1) by its upper 53 bits. */
static inline double kwhy_random_share(uint64_t number)
{
	return (double)(number >> 11) * 0x1p-53;
}

/*
 * xoshiro256** of Blackman and Vigna (public domain), seeded by SplitMix64. Its period is 2^256 - 1 numbers,
 * that of SplitMix64 2^64; it is for simulations with very many numbers.
 */
struct kwhy_random {
	uint64_t state[4];
	double spare; /* normal values are made in pairs: the value that kwhy_random_normal() returns next;
			 NAN: it makes a new pair */
};

void kwhy_random_init(struct kwhy_random *random, uint64_t seed);
uint64_t kwhy_random_bits(struct kwhy_random *random);
double kwhy_random_uniform(struct kwhy_random *random); /* uniform in (0, 1) */
double kwhy_random_normal(struct kwhy_random *random);	/* normal with mean 0 and standard deviation 1 */

#endif
